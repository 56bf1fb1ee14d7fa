import type { Session } from '../contract/agent.ts';
import type { StreamChunk } from '../contract/event.ts';

type Delta = Extract<StreamChunk, { type: 'text-delta' | 'reasoning-delta' | 'tool-call-delta' }>;

/**
 * Of a call's arguments only this many characters are streamed into the log: enough to show what is being written. The
 * whole text follows with the answer, and is never used when the answer does not come (D7).
 */
const ARGUMENTS_SHOWN = 1000;

/** One delta out of two of the same block, or undefined when they do not belong together. */
function join(a: Delta, b: Delta): Delta | undefined {
  if (a.index !== b.index) return undefined;
  if (a.type === 'tool-call-delta') {
    if (b.type !== 'tool-call-delta' || a.id !== b.id || (b.name !== undefined && b.name !== a.name)) return undefined;
    return { ...a, argumentsDelta: a.argumentsDelta + b.argumentsDelta };
  }
  return a.type === b.type ? { ...a, text: a.text + b.text } : undefined;
}

/**
 * Logs streamed deltas as `assistant/chunk` events, several of one block as one: at once after a pause, else at most
 * every `interval` milliseconds (F5).
 */
export class DeltaLog {
  readonly #session: Session;
  readonly #place: { readonly turn: number; readonly step: number };
  readonly #interval: number;
  readonly #shown = new Map<string, number>();
  #pending: Delta | undefined;
  #timer: NodeJS.Timeout | undefined;
  #last = -Infinity;
  #error: unknown;

  constructor(session: Session, place: { readonly turn: number; readonly step: number }, interval: number) {
    this.#session = session;
    this.#place = place;
    this.#interval = interval;
  }

  add(delta: Delta): void {
    if (this.#error !== undefined) throw this.#error;
    const shown = this.#shorten(delta);
    if (!shown) return;
    const joined = this.#pending && join(this.#pending, shown);
    if (this.#pending && !joined) this.flush();
    this.#pending = joined ?? shown;
    const wait = this.#last + this.#interval - performance.now();
    if (wait <= 0) this.flush();
    else this.#timer ??= setTimeout(() => this.#timedFlush(), wait);
  }

  /** Logs what waits. Call it before anything else of the answer is logged. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const chunk = this.#pending;
    if (!chunk) return;
    this.#pending = undefined;
    this.#last = performance.now();
    this.#session.append('assistant/chunk', { ...this.#place, chunk });
  }

  #timedFlush(): void {
    try {
      this.flush();
    } catch (error) {
      this.#error = error;
    }
  }

  #shorten(delta: Delta): Delta | undefined {
    if (delta.type !== 'tool-call-delta') return delta.text === '' ? undefined : delta;
    const before = this.#shown.get(delta.id);
    const room = ARGUMENTS_SHOWN - (before ?? 0);
    const argumentsDelta = delta.argumentsDelta.slice(0, Math.max(0, room));
    this.#shown.set(delta.id, (before ?? 0) + argumentsDelta.length);
    return before !== undefined && argumentsDelta === '' ? undefined : { ...delta, argumentsDelta };
  }
}
