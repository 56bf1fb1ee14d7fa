import type { TranscriptItem, TranscriptPatch } from '../protocol.ts';

/** Items in order, changed by patches: what a view keeps, and what the host keeps of it. */
export class ItemList {
  readonly #items = new Map<string, TranscriptItem>();

  get(id: string): TranscriptItem | undefined {
    return this.#items.get(id);
  }

  all(): TranscriptItem[] {
    return [...this.#items.values()];
  }

  apply(patch: TranscriptPatch): void {
    switch (patch.op) {
      case 'put': this.#items.set(patch.item.id, patch.item); break;
      case 'remove': this.#items.delete(patch.id); break;
      case 'append': {
        const item = this.#items.get(patch.id);
        if (item?.kind !== 'assistant') return;
        const blocks = [...item.blocks];
        const block = blocks[patch.block];
        blocks[patch.block] = { type: patch.type, text: (block?.text ?? '') + patch.text };
        this.#items.set(patch.id, { ...item, blocks });
        break;
      }
      case 'output': {
        const item = this.#items.get(patch.id);
        if (item?.kind !== 'tool' || item.view.card !== 'terminal') return;
        this.#items.set(patch.id, { ...item, view: { ...item.view, output: (item.view.output ?? '') + patch.text } });
        break;
      }
    }
  }
}
