import { randomUUID } from 'node:crypto';
import { Service, type Context } from '@deepseek-ai/cordis';
import { AgentCancelledError } from '../agent/failure.ts';
import { HarnessError } from '../contract/error.ts';
import type { ToolExecution } from '../contract/tool.ts';
import type { FileDecision, FileIntent, FileTarget } from '../seams/fs.ts';
import type { ReviewFile, ReviewHunk, ReviewService } from '../seams/review.ts';
import { splicesBetween } from '../text/hunk.ts';
import { Change, type ChangeRecord } from './change.ts';
import { rebase } from './rebase.ts';
import { rejectionText, reviewReport } from './report.ts';
import { ChangeStore } from './store.ts';

export interface ReviewOptions {
  /** Absolute folder of the sessions; pending changes are kept below it. Absent: in memory only. */
  readonly sessions?: string;
  /** What happens to a change before it lands: `stage` = it waits for the user, `apply` = it lands and stays open. */
  mode(intent: FileIntent): 'stage' | 'apply' | 'pass';
}

interface Waiter { settle(decision: FileDecision): void }

/**
 * The review (design 4): sits on the file intents, so that no tool knows about it. Staged changes wait here until every
 * hunk is decided; applied ones stay listed as Keep or Undo. The disk is written through `ctx.fs.commit` alone.
 */
export class Review extends Service implements ReviewService {
  private readonly changes = new Map<string, Change>();
  private readonly waiters = new Map<string, Waiter>();
  private readonly byCall = new Map<string, ReviewFile>();
  private readonly reports = new Map<string, string>();
  private readonly listeners = new Set<(file: ReviewFile) => void>();
  private readonly locks = new Map<string, Promise<unknown>>();
  private readonly store: ChangeStore | undefined;
  private readonly options: ReviewOptions;
  private closing = false;

  static inject = ['fs', 'tools'];

  constructor(ctx: Context, options: ReviewOptions) {
    super(ctx, 'review');
    this.options = options;
    this.store = options.sessions === undefined ? undefined : new ChangeStore(options.sessions);
    ctx.on('fs/write-intent', (intent, next) => this.intent(intent, next));
    ctx.on('fs/edit-intent', (intent, next) => this.intent(intent, next));
    ctx.on('tools/post-execute', async (exec: ToolExecution, result, next) => {
      const decision = await next();
      const report = this.reports.get(exec.callId);
      this.reports.delete(exec.callId);
      if (report === undefined || decision.kind !== 'accept' || decision.value !== undefined) return decision;
      return { ...decision, content: [...(decision.content ?? result.content), { type: 'text', text: report }] };
    });
    ctx.effect(() => async () => {
      this.closing = true;
      for (const waiter of [...this.waiters.values()]) waiter.settle({ kind: 'refuse', error: closed() });
      this.listeners.clear();
      await this.store?.settled();
    }, 'review');
  }

  /** Pending changes of earlier sessions come back before the first intent. */
  async [Service.init](): Promise<void> {
    for (const record of (await this.store?.load((message) => this.ctx.logger.warn(message))) ?? []) {
      const change = new Change(record);
      if (change.isDecided) continue;
      this.changes.set(record.id, change);
      for (const callId of record.callIds) this.byCall.set(callId, change.view);
    }
  }

  files(): readonly ReviewFile[] {
    return [...this.changes.values()].map((change) => change.view);
  }

  file(id: string): ReviewFile | undefined {
    return this.changes.get(id)?.view ?? [...this.byCall.values()].find((file) => file.id === id);
  }

  forCall(callId: string): ReviewFile | undefined {
    return this.byCall.get(callId);
  }

  onChange(listener: (file: ReviewFile) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private async intent(intent: FileIntent, next: () => Promise<FileDecision>): Promise<FileDecision> {
    const decision = await next();
    if (decision.kind !== 'apply') return decision;
    const after = decision.text ?? intent.after;
    const mode = this.options.mode(intent);
    if (mode === 'pass' || (intent.version !== null && after === intent.before?.text)) return decision;
    return mode === 'stage' ? this.stage(intent, after) : this.applied(intent, after);
  }

  private record(intent: FileIntent, after: string, state: 'staged' | 'applied'): ChangeRecord {
    const session = intent.agent?.session;
    return {
      id: randomUUID(), turn: lastTurn(intent), sessionId: session?.id ?? 'none', callIds: intent.callId === undefined ? [] : [intent.callId],
      path: intent.displayPath, file: intent.target.path, realPath: intent.target.realPath, operation: intent.version === null ? 'create' : 'update',
      state, toolName: intent.toolName, encoding: intent.before?.encoding, version: intent.version,
      base: intent.before?.text ?? '', proposed: after, original: after, decided: [],
    };
  }

  /** Ask preset: nothing is written until every hunk is decided. */
  private async stage(intent: FileIntent, after: string): Promise<FileDecision> {
    const change = new Change(this.record(intent, after, 'staged'));
    const { id } = change.record;
    await this.put(change);
    const decision = new Promise<FileDecision>((resolve) => {
      const abort = () => void this.stopped(id, intent.signal?.reason);
      const settle = (answer: FileDecision) => {
        this.waiters.delete(id);
        intent.signal?.removeEventListener('abort', abort);
        resolve(answer);
      };
      this.waiters.set(id, { settle });
      intent.signal?.addEventListener('abort', abort, { once: true });
      if (intent.signal?.aborted === true) abort();
    });
    this.ctx.emit('review/staged', change.view);
    return decision;
  }

  /**
   * The call was stopped while its change waited. What the user typed on the proposed side stays pending; an untouched
   * proposal goes with the call. A host that closes keeps everything for the next start.
   */
  private async stopped(id: string, reason: unknown): Promise<void> {
    const byHost = reason instanceof AgentCancelledError && reason.agentCause.kind === 'disposed';
    const change = this.changes.get(id);
    const waiter = this.waiters.get(id);
    waiter?.settle({ kind: 'refuse', error: new HarnessError('tool call aborted', 'ABORTED') });
    if (change === undefined || this.closing || byHost) return;
    const { original, proposed, base, decided } = change.record;
    const untouched = decided.length === 0 ? proposed === original : proposed === base;
    if (untouched) await this.drop(change.with({ decided: change.decide(change.hunks, 'undone') }));
  }

  /** Auto-edit preset: the change lands, and stays open as Keep or Undo; several of one file are one change. */
  private async applied(intent: FileIntent, after: string): Promise<FileDecision> {
    const { target } = intent;
    const { version } = await this.ctx.fs.commit(target, after, {
      expect: intent.version, splices: intent.splices, ...optional('encoding', intent.before?.encoding), ...optional('signal', intent.signal),
    });
    const earlier = [...this.changes.values()].find((change) => change.record.realPath === target.realPath && change.record.state === 'applied');
    const fresh = this.record(intent, after, 'applied');
    const change = earlier === undefined ? new Change({ ...fresh, version })
      : earlier.with({ proposed: after, original: after, version, callIds: [...earlier.record.callIds, ...fresh.callIds], turn: fresh.turn });
    await (change.isDecided ? this.drop(change) : this.put(change));
    return { kind: 'applied', text: after, version };
  }

  async setProposed(id: string, text: string): Promise<void> {
    // what was typed was typed against the base as it stood: it moves along with it when the file has changed
    await this.locked(id, async (change) => this.put(change), (change) => (change.record.state === 'staged' ? change.with({ proposed: text }) : change));
  }

  async refresh(id: string): Promise<void> {
    if (this.changes.has(id)) await this.locked(id, async () => undefined);
  }

  async acceptHunk(fileId: string, hunkId: string): Promise<void> {
    await this.locked(fileId, async (change) => this.keep(change, [this.hunk(change, hunkId)]));
  }

  async accept(fileId: string): Promise<void> {
    await this.locked(fileId, async (change) => this.keep(change, change.hunks));
  }

  async rejectHunk(fileId: string, hunkId: string, note?: string): Promise<void> {
    await this.locked(fileId, async (change) => this.undo(change, [this.hunk(change, hunkId)], note));
  }

  async reject(fileId: string, note?: string): Promise<void> {
    await this.locked(fileId, async (change) => this.undo(change, change.hunks, note));
  }

  private hunk(change: Change, id: string): ReviewHunk {
    const hunk = change.hunk(id);
    if (hunk === undefined) throw new Error(`this change of "${change.record.path}" is decided already, or its text has changed since`);
    return hunk;
  }

  /** One decision at a time per file, on top of what the file holds now. */
  private async locked(id: string, work: (change: Change) => Promise<void>, first = (change: Change) => change): Promise<void> {
    const before = this.locks.get(id) ?? Promise.resolve();
    const run = before.catch(() => undefined).then(async () => {
      const change = this.changes.get(id);
      if (change === undefined) throw new Error('this change is decided already');
      await work(await this.current(first(change)));
    });
    this.locks.set(id, run);
    try {
      await run;
    } finally {
      if (this.locks.get(id) === run) this.locks.delete(id);
    }
  }

  private target(record: ChangeRecord): FileTarget {
    return { path: record.file, realPath: record.realPath };
  }

  /** The change on top of what the file holds now: it may have been edited, saved or deleted during the review. */
  private async current(change: Change): Promise<Change> {
    const { record } = change;
    const target = this.target(record);
    const stat = await this.ctx.fs.stat(target);
    if ((stat?.version ?? null) === record.version) return change;
    const text = stat === null ? '' : (await this.ctx.fs.readText(target, record.path)).text;
    const version = stat?.version ?? null;
    if (record.state === 'applied') {
      const rebased = change.with({ proposed: text, version });
      await this.put(rebased);
      return rebased;
    }
    if (text === record.base) return change.with({ version });
    const { proposed, lost } = rebase(record.base, text, change.hunks);
    const lostHunks = lost.map((hunk) => hunk as ReviewHunk);
    const rebased = change.with({
      base: text, version, proposed,
      decided: lostHunks.length === 0 ? record.decided : change.decide(lostHunks, 'undone', 'the file was changed here during the review'),
    });
    await this.put(rebased);
    return rebased;
  }

  /** Accept (staged): write the hunks. Keep (applied): they become part of what was there before. */
  private async keep(change: Change, hunks: readonly ReviewHunk[]): Promise<void> {
    const ids = new Set(hunks.map((hunk) => hunk.id));
    const base = change.baseWith((hunk) => ids.has(hunk.id));
    const decided = change.decide(hunks, 'kept');
    const { record } = change;
    if (record.state === 'applied') return this.settle(change.with({ base, decided }));
    const { version } = await this.ctx.fs.commit(this.target(record), base, {
      expect: record.version, splices: splicesBetween(record.base, base), ...optional('encoding', record.encoding),
    });
    await this.settle(change.with({ base, version, decided: decided.length === 0 ? [EMPTY_FILE] : decided }));
  }

  /** Reject (staged): the proposal loses the hunks. Undo (applied): the file does. */
  private async undo(change: Change, hunks: readonly ReviewHunk[], note: string | undefined): Promise<void> {
    const ids = new Set(hunks.map((hunk) => hunk.id));
    const proposed = change.baseWith((hunk) => !ids.has(hunk.id));
    const decided = change.decide(hunks, 'undone', note);
    const { record } = change;
    if (record.state === 'staged') {
      await this.settle(change.with({ proposed, decided: decided.length === 0 ? [{ ...EMPTY_FILE, state: 'undone' }] : decided }));
      return;
    }
    const created = record.operation === 'create' && proposed === '';
    const { version } = await this.ctx.fs.commit(this.target(record), created ? null : proposed, {
      expect: record.version, splices: splicesBetween(record.proposed, proposed), ...optional('encoding', record.encoding),
    });
    await this.settle(change.with({ proposed, version, decided }));
  }

  /** Stores a change, or ends it when nothing of it is left to decide. */
  private async settle(change: Change): Promise<void> {
    if (!change.isDecided) return this.put(change);
    const { record } = change;
    const waiter = this.waiters.get(record.id);
    const nothing = record.state === 'staged' && record.decided.every((hunk) => hunk.state === 'undone');
    const report = reviewReport(record, record.base);
    await this.drop(change);
    if (waiter !== undefined) {
      if (nothing) waiter.settle({ kind: 'refuse', error: new HarnessError(rejectionText(record), 'REVIEW_REJECTED') });
      else {
        if (report !== undefined) for (const callId of record.callIds) this.reports.set(callId, report);
        waiter.settle({ kind: 'applied', text: record.base, version: record.version });
      }
      return;
    }
    // decided after its call had ended: the model learns of it at its next step
    const told = nothing ? rejectionText(record) : record.state === 'applied' ? undoReport(record) : report ?? `the user accepted the change to "${record.path}"`;
    if (told !== undefined) this.tell(record, told);
  }

  private tell(record: ChangeRecord, text: string): void {
    const agent = this.ctx.get('agents')?.get(record.sessionId);
    try {
      agent?.inject({
        content: [{ type: 'text', text }],
        source: { kind: 'plugin', plugin: 'review', form: 'notice', summary: `Review of ${record.path}`.slice(0, 120) },
      });
    } catch (error) {
      this.ctx.logger.warn(error);
    }
  }

  private async put(change: Change): Promise<void> {
    this.changes.set(change.record.id, change);
    await this.store?.save(change.record);
    this.changed(change);
  }

  private async drop(change: Change): Promise<void> {
    this.changes.delete(change.record.id);
    await this.store?.remove(change.record);
    this.changed(change);
  }

  private changed(change: Change): void {
    const { view } = change;
    for (const callId of change.record.callIds) this.byCall.set(callId, view);
    for (const listener of this.listeners) listener(view);
  }
}

/** Stands for the one decision about a new file without content. */
const EMPTY_FILE: ReviewHunk = { id: 'file', state: 'kept', oldStart: 1, oldLines: [], newStart: 1, newLines: [] };

function closed(): Error {
  return new HarnessError('the window was closed during the review; the change is still pending', 'REVIEW_INTERRUPTED');
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function lastTurn(intent: FileIntent): number {
  const events = intent.agent?.session.events ?? [];
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (event?.type === 'turn/start') return event.data.turn;
  }
  return 0;
}

/** For Keep and Undo: only what was undone is news. */
function undoReport(record: ChangeRecord): string | undefined {
  if (record.decided.every((hunk) => hunk.state === 'kept')) return undefined;
  return reviewReport(record, record.proposed);
}
