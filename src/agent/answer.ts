import type { CallId, ContentBlock, ToolCallBlock } from '../contract/content.ts';
import type { FinishReason, StreamChunk, TokenUsage } from '../contract/event.ts';
import type { DeltaLog } from './delta-log.ts';

type Open =
  | { readonly type: 'text' | 'reasoning'; text: string }
  | { readonly type: 'tool-call'; readonly id: CallId; name: string; arguments: string }
  | { readonly type: 'other'; readonly block: ContentBlock };

/** Puts the blocks of one answer together from its chunks (M16.1), and logs the deltas on the way. */
export class Answer {
  usage: TokenUsage | undefined;
  finish: FinishReason | undefined;
  replayState: unknown;
  readonly #blocks = new Map<number, Open>();
  readonly #log: DeltaLog;
  readonly #freshId: (id: CallId) => CallId;

  /** `freshId` answers the id a call goes by: providers repeat ids, and leave them out. */
  constructor(log: DeltaLog, freshId: (id: CallId) => CallId) {
    this.#log = log;
    this.#freshId = freshId;
  }

  accept(chunk: StreamChunk): void {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.#text(chunk.index, chunk.type === 'text-delta' ? 'text' : 'reasoning');
        block.text += chunk.text;
        this.#log.add(chunk);
        break;
      }
      case 'tool-call-delta': {
        const block = this.#call(chunk.index, chunk.id);
        if (chunk.name !== undefined) block.name = chunk.name;
        block.arguments += chunk.argumentsDelta;
        this.#log.add({ ...chunk, id: block.id });
        break;
      }
      case 'block-end': this.#close(chunk.index, chunk.block); break;
      case 'usage': this.usage = chunk.usage; break;
      case 'finish':
        this.finish = chunk.reason;
        this.replayState = chunk.replayState;
        break;
      case 'block-start': break;
    }
  }

  /** Everything, in the order of the blocks; blocks without text are left out. */
  content(): ContentBlock[] {
    return [...this.#blocks].sort(([a], [b]) => a - b).flatMap(([, block]): ContentBlock[] => {
      switch (block.type) {
        case 'text':
        case 'reasoning': return block.text === '' ? [] : [{ type: block.type, text: block.text }];
        case 'tool-call': return [{ type: 'tool-call', id: block.id, name: block.name, arguments: block.arguments }];
        case 'other': return [block.block];
      }
    });
  }

  /** Text and reasoning alone: what is kept of an answer that was cut (O15.5, D7). */
  prose(): ContentBlock[] {
    return this.content().filter((block) => block.type === 'text' || block.type === 'reasoning');
  }

  calls(): ToolCallBlock[] {
    return this.content().filter((block): block is ToolCallBlock => block.type === 'tool-call');
  }

  #text(index: number, type: 'text' | 'reasoning'): Extract<Open, { text: string }> {
    const known = this.#blocks.get(index);
    if (known?.type === type) return known as Extract<Open, { text: string }>;
    const block = { type, text: '' };
    this.#blocks.set(index, block);
    return block;
  }

  #call(index: number, id: CallId): Extract<Open, { type: 'tool-call' }> {
    const known = this.#blocks.get(index);
    if (known?.type === 'tool-call') return known;
    const block = { type: 'tool-call' as const, id: this.#freshId(id), name: '', arguments: '' };
    this.#blocks.set(index, block);
    return block;
  }

  /** The adapter's own idea of the finished block wins. */
  #close(index: number, block: ContentBlock): void {
    switch (block.type) {
      case 'text':
      case 'reasoning': this.#text(index, block.type).text = block.text; break;
      case 'tool-call': {
        const open = this.#call(index, block.id);
        open.name = block.name;
        open.arguments = block.arguments;
        break;
      }
      default: this.#blocks.set(index, { type: 'other', block });
    }
  }
}
