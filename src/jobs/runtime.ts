import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';
import { isWithinScope, scopeOf } from '../scope/scope.ts';
import type { ScopeKey } from '../scope/scope.ts';
import type { JobHandle, JobOutcome, JobService, JobSnapshot, JobStart, JobStatus } from './types.ts';

export interface Config {
  /** Running and stopping jobs of one owner at most; default 10 (J7.1). */
  readonly maxActivePerOwner?: number;
}

interface Job {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly owner: Agent | undefined;
  readonly outputLimitBytes: number | undefined;
  readonly callId: CallId | undefined;
  /** Given up when the job is over, with what the producer keeps. */
  handle: JobHandle | undefined;
  /** Its output is handed over once, in pieces. */
  readonly streams: boolean;
  readonly startedAt: number;
  status: JobStatus;
  detail?: string;
  finishedAt?: number;
  reported: boolean;
  /** Rest of the stream, or the final output (J7.3). */
  output: string;
  waiters: number;
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

function isActive(job: Job): boolean {
  return job.status === 'running' || job.status === 'stopping';
}

function isSafePositive(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `ctx.jobs`: work that goes on after the call that started it (J7). */
export class JobRuntime extends Service implements JobService {
  private readonly limit: number;
  private readonly jobs = new Map<string, Job>();
  private readonly numbers = new Map<string, number>();
  private readonly controllers = new Set<{ readonly name: string; readonly scope: ScopeKey | undefined }>();
  private readonly doneListeners = new Set<(job: JobSnapshot, owner: Agent | undefined) => void>();
  private readonly changeListeners = new Set<() => void>();
  private readonly cleanups = new Map<Agent, () => unknown>();
  private closed = false;

  constructor(ctx: Context, config: Config = {}) {
    super(ctx, 'jobs');
    this.limit = config.maxActivePerOwner ?? 10;
    ctx.effect(() => () => this.close(), 'background jobs');
  }

  private serves(owner: Agent | undefined): boolean {
    return [...this.controllers].some(({ scope }) => scope === undefined || (owner !== undefined && isWithinScope(owner, scope)));
  }

  /** @throws Error for a start the fence, the limit or the arguments forbid; nothing is left then (J7.1) */
  start(job: JobStart): string {
    const { kind, label, owner, outputLimitBytes, callId } = job;
    if (this.closed) throw new Error('background jobs unavailable: the jobs service is disposed');
    if (!this.serves(owner)) {
      throw new Error('background jobs unavailable: no job controller serves this agent (load @deepseek-ai/dsh-tool-jobs in its composition)');
    }
    if (typeof kind !== 'string' || kind === '') throw new Error('job kind must be a non-empty string');
    if (typeof label !== 'string' || label === '') throw new Error('job label must be a non-empty string');
    if (outputLimitBytes !== undefined && !isSafePositive(outputLimitBytes)) throw new Error('job outputLimitBytes must be a positive safe integer');
    if (owner !== undefined) this.attachOwner(owner);
    let active = 0;
    for (const other of this.jobs.values()) if (other.owner === owner && isActive(other)) active++;
    if (active >= this.limit) {
      throw new Error(`background job limit reached for this owner (limit: ${this.limit}); use job_kill to stop an unneeded job, wait for it to finish, then retry`);
    }
    const handle = job.run();
    const number = (this.numbers.get(kind) ?? 0) + 1;
    this.numbers.set(kind, number);
    const id = `${kind}-${number}`;
    let settle = (): void => undefined;
    const record: Job = {
      id, kind, label, owner, outputLimitBytes, callId, handle, streams: handle.readOutput !== undefined, startedAt: Date.now(), status: 'running', reported: false, output: '', waiters: 0,
      settle: () => settle(), settled: new Promise((resolve) => { settle = resolve; }),
    };
    this.jobs.set(id, record);
    Promise.resolve(handle.done).then(
      (outcome) => this.finish(record, outcome),
      (error: unknown) => {
        this.ctx.logger.warn('background job %s: its outcome was rejected: %s', id, errorText(error));
        this.finish(record, { status: 'failed', detail: errorText(error) });
      },
    );
    this.changed();
    return id;
  }

  /** Ties an owner's jobs to its life; throws when it is not alive (J7.1, J7.9). */
  private attachOwner(owner: Agent): void {
    if (this.cleanups.has(owner)) return;
    const agents = this.ctx.get('agents') as { get?(id: string): Agent | undefined } | undefined;
    const dead = (): Error => new Error(`agent "${owner.id}" is not the registered agent instance (background job owner must be live)`);
    if (agents?.get !== undefined && agents.get(owner.id) !== owner) throw dead();
    try {
      this.cleanups.set(owner, owner.ctx.effect(() => async () => {
        this.cleanups.delete(owner);
        await this.drop([...this.jobs.values()].filter((job) => job.owner === owner), 'owner disposed');
      }, 'background jobs'));
    } catch {
      throw dead();
    }
  }

  private finish(job: Job, outcome: JobOutcome): void {
    if (!isActive(job)) return;
    try {
      // what the stream still holds is read now, so that the producer's buffers can go
      job.output += job.handle?.readOutput?.() ?? outcome.output ?? '';
    } catch (error) {
      this.ctx.logger.warn('background job %s: its output cannot be read: %s', job.id, errorText(error));
    }
    job.handle = undefined;
    job.status = outcome.status;
    if (outcome.detail !== undefined) job.detail = outcome.detail;
    job.finishedAt = Date.now();
    if (job.waiters > 0) job.reported = true;
    job.settle();
    this.changed();
    if (!this.closed) this.each(this.doneListeners, (listener) => listener(this.snapshot(job), job.owner));
  }

  private each<T>(listeners: ReadonlySet<T>, call: (listener: T) => void): void {
    for (const listener of [...listeners]) {
      try {
        call(listener);
      } catch (error) {
        this.ctx.logger.warn('a listener of background jobs failed: %s', errorText(error));
      }
    }
  }

  private changed(): void {
    this.each(this.changeListeners, (listener) => listener());
  }

  private snapshot(job: Job): JobSnapshot {
    return {
      id: job.id, kind: job.kind, label: job.label, status: job.status, startedAt: job.startedAt, reported: job.reported,
      ...(job.outputLimitBytes !== undefined ? { outputLimitBytes: job.outputLimitBytes } : {}),
      ...(job.owner !== undefined ? { ownerSession: job.owner.session.id } : {}),
      ...(job.detail !== undefined ? { detail: job.detail } : {}),
      ...(job.finishedAt !== undefined ? { finishedAt: job.finishedAt } : {}),
      ...(job.callId !== undefined ? { callId: job.callId } : {}),
    };
  }

  private reach(id: string, caller: Agent | undefined): Job {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`unknown job ${id}`);
    if (job.owner !== undefined && job.owner.id !== caller?.id) throw new Error(`job ${id} belongs to another session`);
    return job;
  }

  list(caller?: Agent): JobSnapshot[] {
    return [...this.jobs.values()].filter((job) => job.owner === undefined || job.owner.id === caller?.id).map((job) => this.snapshot(job));
  }

  get(id: string, caller?: Agent): JobSnapshot {
    return this.snapshot(this.reach(id, caller));
  }

  read(id: string, caller?: Agent): { text: string; snapshot: JobSnapshot } {
    const job = this.reach(id, caller);
    if (isActive(job)) return { text: job.handle?.readOutput?.() ?? '', snapshot: this.snapshot(job) };
    const text = job.output;
    // a stream is handed over once, a final output as often as it is asked for
    if (job.streams) job.output = '';
    if (!job.reported) {
      job.reported = true;
      this.changed();
    }
    return { text, snapshot: this.snapshot(job) };
  }

  kill(id: string, caller?: Agent, reason?: string): 'requested' | 'already-finished' {
    const job = this.reach(id, caller);
    const live = isActive(job);
    if (live) job.handle?.cancel(reason);
    // a cancel may settle the job at once
    if (isActive(job)) job.status = 'stopping';
    job.reported = true;
    this.changed();
    return live ? 'requested' : 'already-finished';
  }

  async wait(id: string, ms: number, caller?: Agent, signal?: AbortSignal): Promise<JobSnapshot> {
    const job = this.reach(id, caller);
    if (!(Number.isFinite(ms) && ms > 0)) throw new Error(`invalid wait: expected a positive number of milliseconds, got ${ms}`);
    if (isActive(job)) {
      if (signal?.aborted === true) throw new Error('wait aborted');
      job.waiters++;
      let timer: NodeJS.Timeout | undefined;
      let onAbort: (() => void) | undefined;
      try {
        await Promise.race([
          job.settled,
          new Promise<void>((resolve) => { timer = setTimeout(resolve, Math.min(ms, 0x7fff_ffff)); }),
          new Promise<void>((_resolve, reject) => {
            onAbort = () => isActive(job) && reject(new Error('wait aborted'));
            signal?.addEventListener('abort', onAbort, { once: true });
          }),
        ]);
      } finally {
        job.waiters--;
        clearTimeout(timer);
        if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
      }
    } else {
      job.reported = true;
    }
    return this.snapshot(job);
  }

  onJobDone(listener: (job: JobSnapshot, owner: Agent | undefined) => void): () => void {
    return this.ctx.effect(() => {
      this.doneListeners.add(listener);
      return () => void this.doneListeners.delete(listener);
    }, 'jobs.onJobDone');
  }

  onJobsChanged(listener: () => void): () => void {
    return this.ctx.effect(() => {
      this.changeListeners.add(listener);
      return () => void this.changeListeners.delete(listener);
    }, 'jobs.onJobsChanged');
  }

  /** Whoever lets agents of the calling scope read and stop jobs; without one no job starts (J7.1). */
  attachController(name: string): () => void {
    const controller = { name, scope: scopeOf(this.ctx) };
    return this.ctx.effect(() => {
      this.controllers.add(controller);
      return () => void this.controllers.delete(controller);
    }, `jobs.attachController("${name}")`);
  }

  /** Cancels, waits until the work is over, forgets (J7.9). */
  private async drop(jobs: readonly Job[], reason: string): Promise<void> {
    await Promise.all(jobs.map(async (job) => {
      job.reported = true;
      if (!isActive(job)) return;
      try {
        job.handle?.cancel(reason);
        if (isActive(job)) job.status = 'stopping';
      } catch (error) {
        job.status = 'failed';
        job.detail = `cancel threw during teardown; work may be orphaned: ${errorText(error)}`;
        job.finishedAt = Date.now();
        job.settle();
        return;
      }
      await job.settled;
    }));
    for (const job of jobs) this.jobs.delete(job.id);
    this.changed();
  }

  private async close(): Promise<void> {
    this.closed = true;
    await this.drop([...this.jobs.values()], 'jobs service disposed');
    for (const detach of [...this.cleanups.values()]) await detach();
    this.doneListeners.clear();
    this.changeListeners.clear();
  }
}
