import type { Agent } from '../../contract/agent.ts';
import type { JobService } from '../../jobs/types.ts';
import type { JobItem } from '../../protocol.ts';
import type { ShellOutput } from '../../seams/shell.ts';
import { OutputDecoders } from './output-decoders.ts';

/** Between two posts while a job prints, in ms. */
const PAUSE_MS = 200;
/** Characters of a job's output shown in the list; its terminal has all. */
const TAIL_CHARS = 2_000;

/** The background jobs of the session on show, each with the end of what it prints. */
export class JobList {
  readonly #decoders = new OutputDecoders();
  readonly #tails = new Map<string, string>();
  readonly #read: () => ReturnType<JobService['list']>;
  readonly #changed: (jobs: readonly JobItem[]) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #items: readonly JobItem[] = [];

  /** @param read the jobs the session may see, as they are now */
  constructor(read: () => ReturnType<JobService['list']>, changed: (jobs: readonly JobItem[]) => void) {
    this.#read = read;
    this.#changed = changed;
  }

  get items(): readonly JobItem[] {
    return this.#items;
  }

  /** A command of this agent starts: it may turn out to be a job. */
  started(callId: string, agent: Agent | undefined): void {
    if (agent !== undefined) this.#tails.set(callId, '');
  }

  output(event: ShellOutput): void {
    const tail = this.#tails.get(event.callId);
    if (tail === undefined) return;
    this.#tails.set(event.callId, (tail + this.#decoders.decode(event)).slice(-TAIL_CHARS));
    if (this.#items.some((job) => job.callId === event.callId)) this.#timer ??= setTimeout(() => this.refresh(), PAUSE_MS);
  }

  ended(callId: string): void {
    const rest = this.#decoders.end(callId);
    const tail = this.#tails.get(callId);
    if (tail === undefined) return;
    if (this.#items.some((job) => job.callId === callId)) this.#tails.set(callId, (tail + rest).slice(-TAIL_CHARS));
    else this.#tails.delete(callId);
  }

  refresh(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#items = this.#read().map(({ id, kind, label, status, detail, startedAt, callId }) => {
      const tail = callId === undefined ? undefined : this.#tails.get(callId);
      return {
        id, kind, label, status, startedAt, ...(detail === undefined ? {} : { detail }), ...(callId === undefined ? {} : { callId }),
        ...(tail === undefined || tail === '' ? {} : { tail }),
      };
    });
    this.#changed(this.#items);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}
