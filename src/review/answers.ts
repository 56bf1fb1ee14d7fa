import { randomUUID } from 'node:crypto';
import { HarnessError } from '../contract/error.ts';
import type { FileDecision } from '../seams/fs.ts';
import type { Change } from './change.ts';
import type { News } from './news.ts';
import { lateReport, refusalOf, reviewReport, undoReport } from './report.ts';

interface Notice {
  readonly id: string;
  readonly role: 'user';
  readonly content: { type: 'text'; text: string }[];
  readonly source: { kind: 'plugin'; plugin: string; form: 'notice'; summary: string };
}

/** Who hears what was decided: the call that waits for it, else the model at its next step. */
export class Answers {
  readonly #waiting = new Map<string, (decision: FileDecision) => void>();
  /** What is added to a call's result, by call. */
  readonly #reports = new Map<string, string>();
  readonly #news: News;

  constructor(news: News) {
    this.#news = news;
  }

  /** The outcome of a staged change; `stopped` is called when its call is stopped first. */
  wait(id: string, signal: AbortSignal | undefined, stopped: () => void): Promise<FileDecision> {
    return new Promise((resolve) => {
      this.#waiting.set(id, (decision) => {
        this.#waiting.delete(id);
        signal?.removeEventListener('abort', stopped);
        resolve(decision);
      });
      signal?.addEventListener('abort', stopped, { once: true });
    });
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  refuse(id: string, error: Error): void {
    this.#waiting.get(id)?.({ kind: 'refuse', error });
  }

  refuseAll(error: () => Error): void {
    for (const id of [...this.#waiting.keys()]) this.refuse(id, error());
  }

  /** Adds a text to the result of a call. */
  report(callId: string, text: string): void {
    this.#reports.set(callId, text);
  }

  takeReport(callId: string): string | undefined {
    const report = this.#reports.get(callId);
    this.#reports.delete(callId);
    return report;
  }

  /** Nothing of this change is left to decide. */
  async ended(change: Change): Promise<void> {
    const { record } = change;
    const settle = this.#waiting.get(record.id);
    if (settle === undefined) return this.remember(change);
    if (record.state === 'staged' && record.decided.every((hunk) => hunk.state === 'undone')) {
      const { code, text } = refusalOf(record);
      return settle({ kind: 'refuse', error: new HarnessError(text, code) });
    }
    const report = reviewReport(record, record.base);
    if (report !== undefined) for (const callId of record.callIds) this.report(callId, report);
    settle({ kind: 'applied', text: record.base, version: record.version });
  }

  /** Decided after its call had ended: the model learns of it at its next step, of this host or the next. */
  async remember(change: Change): Promise<void> {
    const { record } = change;
    const text = record.state === 'applied' ? undoReport(record) : lateReport(record, change.hunks.length);
    if (text !== undefined && record.sessionId !== 'none') await this.#news.add(record.sessionId, { id: record.id, summary: `Review of ${record.path}`.slice(0, 120), text });
  }

  /** Everything remembered that the model of this session was not told yet. */
  async notices(sessionId: string): Promise<Notice[]> {
    return (await this.#news.take(sessionId)).map(({ text, summary }) => ({
      id: randomUUID(), role: 'user', content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'review', form: 'notice', summary },
    }));
  }

  async close(): Promise<void> {
    await this.#news.settled();
  }
}
