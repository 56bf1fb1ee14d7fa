import type { ChatMeta, TranscriptPatch } from '../../protocol.ts';

/** Milliseconds between two posts while text streams: about a frame (F5). */
const FRAME_MS = 16;

/** Most output of one command posted per frame: a view keeps a tail only, the terminal and the spill file have all. */
const OUTPUT_CHARS = 64 * 1024;

/** Gathers what changes within a frame: deltas of one block become one, later fields of the meta win. */
export class Outbox {
  readonly #post: (ops: readonly TranscriptPatch[], meta: Partial<ChatMeta> | undefined) => void;
  #ops: TranscriptPatch[] = [];
  #meta: Partial<ChatMeta> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(post: (ops: readonly TranscriptPatch[], meta: Partial<ChatMeta> | undefined) => void) {
    this.#post = post;
  }

  patches(ops: readonly TranscriptPatch[]): void {
    for (const op of ops) {
      const last = this.#ops.at(-1);
      if (op.op === 'append' && last?.op === 'append' && last.id === op.id && last.block === op.block) {
        this.#ops[this.#ops.length - 1] = { ...last, text: last.text + op.text };
      } else if (op.op === 'output' && last?.op === 'output' && last.id === op.id) {
        this.#ops[this.#ops.length - 1] = { ...last, text: (last.text + op.text).slice(-OUTPUT_CHARS) };
      } else if (op.op === 'put' && last?.op === 'put' && last.item.id === op.item.id) {
        this.#ops[this.#ops.length - 1] = op;
      } else this.#ops.push(op);
    }
    this.#schedule();
  }

  meta(fields: Partial<ChatMeta>): void {
    this.#meta = { ...this.#meta, ...fields };
    this.#schedule();
  }

  #schedule(): void {
    if (this.#ops.length === 0 && this.#meta === undefined) return;
    this.#timer ??= setTimeout(() => this.flush(), FRAME_MS);
  }

  /** Posts what is there now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [ops, meta] = [this.#ops, this.#meta];
    this.#ops = [];
    this.#meta = undefined;
    if (ops.length > 0 || meta !== undefined) this.#post(ops, meta);
  }

  /** Drops what is there: a whole state follows. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#ops = [];
    this.#meta = undefined;
  }
}
