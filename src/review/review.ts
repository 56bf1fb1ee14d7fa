import { randomUUID } from 'node:crypto';
import { Service, type Context } from '@deepseek-ai/cordis';
import { AgentCancelledError } from '../agent/failure.ts';
import { HarnessError } from '../contract/error.ts';
import type { ToolExecution } from '../contract/tool.ts';
import type { FileDecision, FileIntent, FileTarget, TextSplice } from '../seams/fs.ts';
import type { ReviewFile, ReviewHunk, ReviewService, UndoOptions } from '../seams/review.ts';
import { splicesBetween } from '../text/hunk.ts';
import { Change, pendingHunks, type ChangeRecord } from './change.ts';
import { moveAlong } from './drift.ts';
import { News } from './news.ts';
import { carry, rebase } from './rebase.ts';
import { optional, recordOf, splicesOf, targetOf } from './record.ts';
import { lateReport, rejectionText, reviewReport, savedReport, undoReport } from './report.ts';
import { ChangeStore } from './store.ts';

export interface ReviewOptions {
  /** Absolute folder of the sessions; pending changes are kept below it. Absent: in memory only. */
  readonly sessions?: string;
  /** What happens to a change before it lands: `stage` = it waits for the user, `apply` = it lands and stays open, `pass` = it lands. */
  mode(intent: FileIntent): 'stage' | 'apply' | 'pass';
}

interface Waiter { settle(decision: FileDecision): void }
interface Written { readonly version: string | null; readonly text: string; readonly createdDirectories?: readonly string[] }

/** How often a decision is tried again when the file changes just while it is written. */
const ATTEMPTS = 3;

/**
 * The review (design 4): sits on the file intents, so that no tool knows about it. Staged changes wait here until every
 * hunk is decided; applied ones stay listed as Keep or Undo. The disk is written through `ctx.fs.commit` alone, and
 * `ctx.checkpoints` gets to see each file before.
 */
export class Review extends Service implements ReviewService {
  private readonly changes = new Map<string, Change>();
  private readonly waiters = new Map<string, Waiter>();
  private readonly byCall = new Map<string, ReviewFile>();
  private readonly reports = new Map<string, string>();
  private readonly listeners = new Set<(file: ReviewFile) => void>();
  private readonly locks = new Map<string, Promise<unknown>>();
  private readonly store: ChangeStore | undefined;
  private readonly news: News;
  private readonly options: ReviewOptions;
  private closing = false;

  static inject = ['fs', 'tools'];

  constructor(ctx: Context, options: ReviewOptions) {
    super(ctx, 'review');
    this.options = options;
    this.store = options.sessions === undefined ? undefined : new ChangeStore(options.sessions);
    this.news = new News(options.sessions);
    ctx.on('fs/write-intent', (intent, next) => this.intent(intent, next));
    ctx.on('fs/edit-intent', (intent, next) => this.intent(intent, next));
    ctx.on('tools/post-execute', async (exec: ToolExecution, result, next) => {
      const decision = await next();
      const report = this.reports.get(exec.callId);
      this.reports.delete(exec.callId);
      if (report === undefined || decision.kind !== 'accept' || decision.value !== undefined) return decision;
      return { ...decision, content: [...(decision.content ?? result.content), { type: 'text', text: report }] };
    });
    ctx.on('agent/pre-step', async ({ agent }, next) => {
      const decision = await next();
      if (decision.kind !== 'enter') return decision;
      const told = await this.tell(agent.session.id);
      return told.length === 0 ? decision : { ...decision, messages: [...told, ...decision.messages] };
    });
    ctx.effect(() => async () => {
      this.closing = true;
      for (const waiter of [...this.waiters.values()]) waiter.settle({ kind: 'refuse', error: closed() });
      this.listeners.clear();
      await Promise.allSettled(this.locks.values());
      await this.store?.close();
      await this.news.settled();
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
    if (this.closing) return { kind: 'refuse', error: closed() };
    const after = decision.text ?? intent.after;
    const mode = this.options.mode(intent);
    if (intent.version !== null && after === intent.before?.text) return decision;
    switch (mode) {
      case 'stage': return this.stage(intent, after);
      case 'apply': return this.locked(intent.target.realPath, () => this.applied(intent, after));
      case 'pass': return intent.agent === undefined ? decision : this.passed(intent, after);
    }
  }

  /** The one way to the disk: what the file held is kept for a rewind, and what it holds then is told. */
  private async write(record: ChangeRecord, text: string | null, splices: readonly TextSplice[] | undefined, signal?: AbortSignal): Promise<Written> {
    const target = targetOf(record);
    const checkpoints = record.sessionId === 'none' ? undefined : this.ctx.get('checkpoints');
    await checkpoints?.before(record, target, record.path);
    let made: readonly string[] | undefined;
    try {
      const written = await this.ctx.fs.commit(target, text, {
        expect: record.version, ...optional('splices', splices), ...optional('encoding', record.encoding), ...optional('signal', signal),
        ...(text === null ? optional('removeDirectories', record.createdDirectories) : {}),
      });
      made = written.createdDirectories;
      return { version: written.version, text: written.text ?? text ?? '', ...optional('createdDirectories', made) };
    } finally {
      await checkpoints?.after(record, target, made);
    }
  }

  /** Full preset: the change lands and is nobody's to decide; it can still be rewound. */
  private async passed(intent: FileIntent, after: string): Promise<FileDecision> {
    const { version, text } = await this.write(recordOf(intent, after, 'applied'), after, splicesOf(intent, after), intent.signal);
    this.formatted(intent, after, text);
    return { kind: 'applied', text, version };
  }

  /** Ask preset: nothing is written until every hunk is decided. */
  private async stage(intent: FileIntent, after: string): Promise<FileDecision> {
    const change = new Change(recordOf(intent, after, 'staged'));
    const { id } = change.record;
    // it may be decided as soon as it is listed
    const decision = new Promise<FileDecision>((resolve) => {
      const abort = () => void this.stopped(id, intent.signal?.reason);
      const settle = (answer: FileDecision) => {
        this.waiters.delete(id);
        intent.signal?.removeEventListener('abort', abort);
        resolve(answer);
      };
      this.waiters.set(id, { settle });
      intent.signal?.addEventListener('abort', abort, { once: true });
    });
    try {
      await this.locked(change.record.realPath, () => this.put(change));
    } catch (error) {
      this.waiters.delete(id);
      this.changes.delete(id);
      throw error;
    }
    if (intent.signal?.aborted === true) void this.stopped(id, intent.signal.reason);
    if (this.closing) this.waiters.get(id)?.settle({ kind: 'refuse', error: closed() });
    if (!this.waiters.has(id)) return decision;
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
    const { realPath } = intent.target;
    const fresh = recordOf(intent, after, 'applied');
    const found = [...this.changes.values()].find((change) => change.record.realPath === realPath && change.record.state === 'applied');
    const earlier = found === undefined ? undefined : moveAlong(found, { text: intent.before?.text ?? null, version: intent.version }).change;
    const next = (text: string, version: string | null): Change => {
      if (earlier === undefined) return new Change({ ...fresh, proposed: text, original: text, version });
      const { base, proposed, original, callIds } = earlier.record;
      return earlier.with({
        base, proposed: text, original: carry(original, proposed, text), version, callIds: [...callIds, ...fresh.callIds],
        turn: fresh.turn, sessionId: fresh.sessionId,
      });
    };
    const noText = intent.version !== null && intent.before === null;
    const bytesBefore = noText && earlier === undefined ? await this.bytes(intent.target) : undefined;
    // stored first: a host that dies after the write still knows what it was
    await this.store?.save({ ...next(after, intent.version).record, ...optional('bytesBefore', bytesBefore) });
    let written: Written;
    try {
      written = await this.write(fresh, after, splicesOf(intent, after), intent.signal);
    } catch (error) {
      await (found === undefined ? this.store?.remove(fresh) : this.store?.save(found.record));
      throw error;
    }
    const { text, version, createdDirectories } = written;
    if (earlier !== undefined && earlier.record.sessionId !== fresh.sessionId) await this.store?.remove(earlier.record);
    const change = next(text, version).with({ ...optional('createdDirectories', earlier?.record.createdDirectories ?? createdDirectories), ...optional('bytesBefore', bytesBefore ?? earlier?.record.bytesBefore) });
    await (change.isDecided ? this.drop(change) : this.put(change));
    this.formatted(intent, after, text);
    return { kind: 'applied', text, version };
  }

  private formatted(intent: FileIntent, written: string, saved: string): void {
    if (intent.callId !== undefined && written !== saved) this.reports.set(intent.callId, savedReport(intent.displayPath, written, saved));
  }

  private async bytes(target: FileTarget): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of this.ctx.fs.readBytes(target)) parts.push(Buffer.from(part));
    return Buffer.concat(parts).toString('base64');
  }

  async setProposed(id: string, text: string, since?: string): Promise<void> {
    // what was typed was typed against the base as it stood: it moves along with it when the file has changed
    await this.decide(id, async (change) => this.put(change.with({ typedBack: change.hunks.length === 0 })), (change) => {
      const { state, proposed } = change.record;
      if (state !== 'staged') return change;
      // typing alone decides nothing, not even when the proposal is typed back
      return change.with({ typedBack: true, proposed: since === undefined || since === proposed ? text : carry(proposed, since, text) });
    });
  }

  async refresh(id: string): Promise<void> {
    if (this.changes.has(id)) await this.decide(id, async () => undefined);
  }

  async acceptHunk(fileId: string, hunkId: string): Promise<void> {
    await this.decide(fileId, async (change) => this.keep(change, [this.hunk(change, hunkId)]));
  }

  async accept(fileId: string): Promise<void> {
    await this.decide(fileId, async (change) => this.keep(change, change.hunks));
  }

  async rejectHunk(fileId: string, hunkId: string, note?: string, options: UndoOptions = {}): Promise<void> {
    await this.decide(fileId, async (change) => this.undo(change, [this.hunk(change, hunkId)], note, options));
  }

  async reject(fileId: string, note?: string, options: UndoOptions = {}): Promise<void> {
    await this.decide(fileId, async (change) => {
      const free = options.edited === 'undo' ? change.hunks : change.hunks.filter((hunk) => hunk.edited !== true);
      await this.undo(change, free.length === 0 ? change.hunks : free, note, options);
    });
  }

  private hunk(change: Change, id: string): ReviewHunk {
    const hunk = change.hunk(id);
    if (hunk === undefined) throw new Error(`this change of "${change.record.path}" is decided already, or its text has changed since`);
    return hunk;
  }

  /** One at a time per file. */
  private async locked<T>(realPath: string, work: () => Promise<T>): Promise<T> {
    const run = (this.locks.get(realPath) ?? Promise.resolve()).catch(() => undefined).then(work);
    this.locks.set(realPath, run);
    try {
      return await run;
    } finally {
      if (this.locks.get(realPath) === run) this.locks.delete(realPath);
    }
  }

  /** A decision, on top of what the file holds now; tried again when the file changes under it. */
  private async decide(id: string, work: (change: Change) => Promise<void>, first = (change: Change) => change): Promise<void> {
    const realPath = this.changes.get(id)?.record.realPath;
    if (realPath === undefined) throw new Error('this change is decided already');
    await this.locked(realPath, async () => {
      for (let attempt = 1; ; attempt++) {
        const change = this.changes.get(id);
        if (change === undefined || this.closing) throw new Error('this change is decided already');
        const current = await this.current(first(change));
        if (current === undefined) return;
        try {
          return await work(current);
        } catch (error) {
          if (attempt === ATTEMPTS || !(error instanceof HarnessError && error.code === 'FS_STALE_VERSION')) throw error;
        }
      }
    });
  }

  /** The change on top of what the file holds now, or undefined when nothing of it is left to decide. */
  private async current(change: Change): Promise<Change | undefined> {
    const { record } = change;
    const target = targetOf(record);
    const version = (await this.ctx.fs.stat(target))?.version ?? null;
    if (version === record.version) return change;
    const now = version === null ? undefined : await this.ctx.fs.readText(target, record.path).catch((error: unknown) => {
      if (error instanceof HarnessError && ['FS_NOT_TEXT', 'FS_NOT_FOUND', 'FS_NOT_REGULAR_FILE', 'FS_TOO_LARGE', 'FS_ENCODING'].includes(error.code)) return undefined;
      throw error;
    });
    const { change: moved, lost } = moveAlong(change, { text: now?.text ?? null, version: now?.version ?? version });
    if (lost.length > 0) this.ctx.emit('review/drift', moved.view, lost);
    await this.settle(moved);
    return this.changes.get(record.id);
  }

  /** Accept (staged): write the hunks. Keep (applied): they become part of what was there before. */
  private async keep(change: Change, hunks: readonly ReviewHunk[]): Promise<void> {
    const ids = new Set(hunks.map((hunk) => hunk.id));
    const base = change.baseWith((hunk) => ids.has(hunk.id));
    const decided = change.decide(hunks, 'kept');
    const { record } = change;
    if (record.state === 'applied') return this.settle(change.with({ base, decided }));
    if (record.typedBack === true && hunks.length === 0) return this.takenBack(change, undefined);
    const { version, text, createdDirectories } = await this.write(record, base, splicesBetween(record.base, base));
    const kept = change.with({
      base, version, decided: decided.length === 0 ? [EMPTY_FILE] : decided, ...optional('createdDirectories', createdDirectories ?? record.createdDirectories),
    });
    if (text === base) return this.settle(kept);
    // formatted while it was saved: what is still pending moves along
    const { proposed, lost } = rebase(base, text, kept.hunks);
    const moved = kept.with({ base: text, proposed });
    await this.settle(moved.with({ decided: kept.decide(lost as readonly ReviewHunk[], 'undone', 'not written, the lines were formatted when the file was saved') }));
  }

  /** Reject (staged): the proposal loses the hunks. Undo (applied): the file does. */
  private async undo(change: Change, hunks: readonly ReviewHunk[], note: string | undefined, options: UndoOptions): Promise<void> {
    const { record } = change;
    if (options.edited !== 'undo' && hunks.some((hunk) => hunk.edited === true)) {
      throw new HarnessError(`these lines of "${record.path}" were edited after the agent changed them; undoing would take the edit too`, 'REVIEW_EDITED');
    }
    if (record.typedBack === true && hunks.length === 0) return this.takenBack(change, note);
    const ids = new Set(hunks.map((hunk) => hunk.id));
    const proposed = change.baseWith((hunk) => !ids.has(hunk.id));
    const decided = change.decide(hunks, 'undone', note);
    if (record.state === 'staged') {
      await this.settle(change.with({ proposed, decided: decided.length === 0 ? [{ ...EMPTY_FILE, state: 'undone' }] : decided }));
      return;
    }
    const whole = proposed === record.base;
    if (whole && record.bytesBefore !== undefined) {
      const { version } = await this.ctx.fs.commitBytes(targetOf(record), Buffer.from(record.bytesBefore, 'base64'), { expect: record.version });
      return this.settle(change.with({ proposed, version, decided }));
    }
    const remove = record.operation === 'create' && proposed === '';
    const { version, text } = await this.write(record, remove ? null : proposed, splicesBetween(record.proposed, proposed));
    // what a formatter did meanwhile is nothing to decide on
    await this.settle(change.with({ base: carry(record.base, proposed, text), proposed: text, version, decided }));
  }

  /** Whatever is decided about a proposal the user typed back, nothing of it is taken. */
  private async takenBack(change: Change, note: string | undefined): Promise<void> {
    const { base, original } = change.record;
    await this.settle(change.with({ typedBack: false, decided: change.decide(pendingHunks(base, original), 'undone', note) }));
  }

  /** Stores a change, or ends it when nothing of it is left to decide. */
  private async settle(change: Change): Promise<void> {
    if (!change.isDecided) return this.put(change);
    const { record } = change;
    const waiter = this.waiters.get(record.id);
    const nothing = record.state === 'staged' && record.decided.every((hunk) => hunk.state === 'undone');
    await this.drop(change);
    if (waiter === undefined) return this.remember(change);
    if (nothing) return waiter.settle({ kind: 'refuse', error: new HarnessError(rejectionText(record), 'REVIEW_REJECTED') });
    const report = reviewReport(record, record.base);
    if (report !== undefined) for (const callId of record.callIds) this.reports.set(callId, report);
    waiter.settle({ kind: 'applied', text: record.base, version: record.version });
  }

  /** Decided after its call had ended: the model learns of it at its next step. */
  private async remember(change: Change): Promise<void> {
    const { record } = change;
    const text = record.state === 'applied' ? undoReport(record) : lateReport(record, change.hunks.length);
    if (text !== undefined && record.sessionId !== 'none') await this.news.add(record.sessionId, { id: record.id, summary: `Review of ${record.path}`.slice(0, 120), text });
  }

  /** Messages about everything decided since the model of this session was asked last. */
  private async tell(sessionId: string): Promise<{ id: string; role: 'user'; content: { type: 'text'; text: string }[]; source: { kind: 'plugin'; plugin: string; form: 'notice'; summary: string } }[]> {
    for (const change of this.changes.values()) {
      const { record } = change;
      if (record.sessionId !== sessionId || this.waiters.has(record.id) || record.decided.length === (record.told ?? 0)) continue;
      await this.locked(record.realPath, async () => {
        const now = this.changes.get(record.id);
        if (now === undefined) return;
        await this.remember(now);
        await this.put(now.with({ told: now.record.decided.length }));
      });
    }
    return (await this.news.take(sessionId)).map(({ text, summary }) => ({
      id: randomUUID(), role: 'user', content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'review', form: 'notice', summary },
    }));
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
    // of a decided change the cards need the decisions, not the texts
    const kept = change.isDecided ? { ...view, base: '', proposed: '', original: '' } : view;
    for (const callId of change.record.callIds) this.byCall.set(callId, kept);
    for (const listener of this.listeners) listener(view);
  }
}

/** Stands for the one decision about a new file without content. */
const EMPTY_FILE: ReviewHunk = { id: 'file', state: 'kept', oldStart: 1, oldLines: [], newStart: 1, newLines: [] };

function closed(): Error {
  return new HarnessError('the window was closed during the review; the change is still pending', 'REVIEW_INTERRUPTED');
}
