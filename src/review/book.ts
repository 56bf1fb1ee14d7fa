import type { ReviewFile } from '../seams/review.ts';
import { Change, type ChangeRecord } from './change.ts';
import type { ChangeStore } from './store.ts';

/** The open changes: in memory, on disk below their session, and told to whoever looks on. One decision at a time per file. */
export class ChangeBook {
  readonly #changes = new Map<string, Change>();
  /** The newest review of each call; of a decided one without its texts. */
  readonly #byCall = new Map<string, ReviewFile>();
  readonly #listeners = new Set<(file: ReviewFile) => void>();
  readonly #locks = new Map<string, Promise<unknown>>();
  readonly #store: ChangeStore | undefined;

  /** Without a store, changes are gone with the host. */
  constructor(store: ChangeStore | undefined) {
    this.#store = store;
  }

  /** What earlier hosts left undecided. */
  async load(report: (message: string) => void): Promise<void> {
    for (const record of (await this.#store?.load(report)) ?? []) {
      const change = new Change(record);
      if (change.isDecided) continue;
      this.#changes.set(record.id, change);
      for (const callId of record.callIds) this.#byCall.set(callId, change.view);
    }
  }

  get(id: string): Change | undefined {
    return this.#changes.get(id);
  }

  /** Oldest first. */
  all(): readonly Change[] {
    return [...this.#changes.values()];
  }

  file(id: string): ReviewFile | undefined {
    return this.#changes.get(id)?.view ?? [...this.#byCall.values()].find((file) => file.id === id);
  }

  forCall(callId: string): ReviewFile | undefined {
    return this.#byCall.get(callId);
  }

  onChange(listener: (file: ReviewFile) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Enters a change, or what became of it. */
  async put(change: Change): Promise<void> {
    this.#changes.set(change.record.id, change);
    await this.#store?.save(change.record);
    this.#changed(change);
  }

  /** Takes out a change of which nothing is left to decide. */
  async drop(change: Change): Promise<void> {
    this.#changes.delete(change.record.id);
    await this.#store?.remove(change.record);
    this.#changed(change);
  }

  /** A change that could not be stored never was. */
  forget(id: string): void {
    this.#changes.delete(id);
  }

  /** On disk only: a host that dies while it writes the file finds it at its next start. */
  async saveAhead(record: ChangeRecord): Promise<void> {
    await this.#store?.save(record);
  }

  async removeSaved(record: ChangeRecord): Promise<void> {
    await this.#store?.remove(record);
  }

  async locked<T>(realPath: string, work: () => Promise<T>): Promise<T> {
    const run = (this.#locks.get(realPath) ?? Promise.resolve()).catch(() => undefined).then(work);
    this.#locks.set(realPath, run);
    try {
      return await run;
    } finally {
      if (this.#locks.get(realPath) === run) this.#locks.delete(realPath);
    }
  }

  /** Tells nobody any more, and waits for what is being written. */
  async close(): Promise<void> {
    this.#listeners.clear();
    await Promise.allSettled(this.#locks.values());
    await this.#store?.close();
  }

  #changed(change: Change): void {
    const { view } = change;
    // of a decided change the cards need the decisions, not the texts
    const kept = change.isDecided ? { ...view, base: '', proposed: '', original: '' } : view;
    for (const callId of change.record.callIds) this.#byCall.set(callId, kept);
    for (const listener of this.#listeners) listener(view);
  }
}
