import { Service, type Context } from '@deepseek-ai/cordis';
import { AgentCancelledError } from '../agent/failure.ts';
import { HarnessError } from '../contract/error.ts';
import type { ToolExecution } from '../contract/tool.ts';
import type { FileDecision, FileIntent } from '../seams/fs.ts';
import type { ReviewFile, ReviewHunk, ReviewService, UndoOptions } from '../seams/review.ts';
import { splicesBetween } from '../text/hunk.ts';
import { Answers } from './answers.ts';
import { ChangeBook } from './book.ts';
import { Change, pendingHunks } from './change.ts';
import { ReviewDisk } from './disk.ts';
import { moveAlong } from './drift.ts';
import { Landing } from './landing.ts';
import { News } from './news.ts';
import { carry, rebase } from './rebase.ts';
import { optional, recordOf, targetOf } from './record.ts';
import { ChangeStore } from './store.ts';

export interface ReviewOptions {
  /** Absolute folder of the sessions; pending changes are kept below it. Absent: in memory only. */
  readonly sessions?: string;
  /** What happens to a change before it lands: `stage` = it waits for the user, `apply` = it lands and stays open, `pass` = it lands. */
  mode(intent: FileIntent): 'stage' | 'apply' | 'pass';
}

/** How often a decision is tried again when the file changes just while it is written. */
const ATTEMPTS = 3;

/**
 * The review (design 4): sits on the file intents, so that no tool knows about it. Staged changes wait here until every
 * hunk is decided; applied ones stay listed as Keep or Undo. The disk is written through `ctx.fs.commit` alone, and
 * `ctx.checkpoints` gets to see each file before.
 */
export class Review extends Service implements ReviewService {
  private readonly book: ChangeBook;
  private readonly answers: Answers;
  private readonly disk: ReviewDisk;
  private readonly landing: Landing;
  private readonly options: ReviewOptions;
  private closing = false;

  static inject = ['fs', 'tools'];

  constructor(ctx: Context, options: ReviewOptions) {
    super(ctx, 'review');
    this.options = options;
    this.book = new ChangeBook(options.sessions === undefined ? undefined : new ChangeStore(options.sessions));
    this.answers = new Answers(new News(options.sessions));
    this.disk = new ReviewDisk(ctx);
    this.landing = new Landing(this.book, this.answers, this.disk);
    ctx.on('fs/write-intent', (intent, next) => this.intent(intent, next));
    ctx.on('fs/edit-intent', (intent, next) => this.intent(intent, next));
    ctx.on('tools/post-execute', async (exec: ToolExecution, result, next) => {
      const decision = await next();
      const report = this.answers.takeReport(exec.callId);
      if (report === undefined || decision.kind !== 'accept' || decision.value !== undefined) return decision;
      return { ...decision, content: [...(decision.content ?? result.content), { type: 'text', text: report }] };
    });
    ctx.on('agent/pre-step', async ({ agent }, next) => {
      const decision = await next();
      if (decision.kind !== 'enter') return decision;
      await this.rememberOpen(agent.session.id);
      const told = await this.answers.notices(agent.session.id);
      return told.length === 0 ? decision : { ...decision, messages: [...told, ...decision.messages] };
    });
    ctx.effect(() => async () => {
      this.closing = true;
      this.answers.refuseAll(closed);
      await this.book.close();
      await this.answers.close();
    }, 'review');
  }

  /** Pending changes of earlier sessions come back before the first intent. */
  async [Service.init](): Promise<void> {
    await this.book.load((message) => this.ctx.logger.warn(message));
  }

  files(): readonly ReviewFile[] {
    return this.book.all().map((change) => change.view);
  }

  file(id: string): ReviewFile | undefined {
    return this.book.file(id);
  }

  forCall(callId: string): ReviewFile | undefined {
    return this.book.forCall(callId);
  }

  onChange(listener: (file: ReviewFile) => void): () => void {
    return this.book.onChange(listener);
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
      case 'apply': return this.book.locked(intent.target.realPath, () => this.landing.applied(intent, after));
      case 'pass': return intent.agent === undefined ? decision : this.landing.passed(intent, after);
    }
  }

  /** Ask preset: nothing is written until every hunk is decided. */
  private async stage(intent: FileIntent, after: string): Promise<FileDecision> {
    const change = new Change(recordOf(intent, after, 'staged'));
    const { id } = change.record;
    const stopped = () => void this.stopped(id, intent.signal?.reason);
    // it may be decided as soon as it is listed
    const decision = this.answers.wait(id, intent.signal, stopped);
    try {
      await this.book.locked(change.record.realPath, () => this.book.put(change));
    } catch (error) {
      this.book.forget(id);
      this.answers.refuse(id, error instanceof Error ? error : new Error(String(error)));
      return decision;
    }
    if (intent.signal?.aborted === true) stopped();
    if (this.closing) this.answers.refuse(id, closed());
    if (this.answers.isWaiting(id)) this.ctx.emit('review/staged', change.view);
    return decision;
  }

  /**
   * The call was stopped while its change waited. What the user typed on the proposed side stays pending; an untouched
   * proposal goes with the call. A host that closes keeps everything for the next start.
   */
  private async stopped(id: string, reason: unknown): Promise<void> {
    const byHost = reason instanceof AgentCancelledError && reason.agentCause.kind === 'disposed';
    const change = this.book.get(id);
    this.answers.refuse(id, new HarnessError('tool call aborted', 'ABORTED'));
    if (change === undefined || this.closing || byHost) return;
    const { original, proposed, base, decided } = change.record;
    const untouched = decided.length === 0 ? proposed === original : proposed === base;
    if (untouched) await this.book.drop(change.with({ decided: change.decide(change.hunks, 'undone') }));
  }

  async setProposed(id: string, text: string, since?: string): Promise<void> {
    // what was typed was typed against the base as it stood: it moves along with it when the file has changed
    await this.work(id, async (change) => this.book.put(change.with({ typedBack: change.hunks.length === 0 })), (change) => {
      const { state, proposed } = change.record;
      if (state !== 'staged') return change;
      // typing alone decides nothing, not even when the proposal is typed back
      return change.with({ typedBack: true, proposed: since === undefined || since === proposed ? text : carry(proposed, since, text) });
    });
  }

  async refresh(id: string): Promise<void> {
    if (this.book.get(id) !== undefined) await this.work(id, async () => undefined);
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
    if (hunk === undefined) throw decidedAlready(`this change of "${change.record.path}" is decided already, or its text has changed since`);
    return hunk;
  }

  /** A decision. When it can't be carried out the change stays open, and says why until the next one. */
  private async decide(id: string, work: (change: Change) => Promise<void>): Promise<void> {
    try {
      await this.work(id, work, (change) => change.with({ problem: undefined }));
    } catch (error) {
      const expected = error instanceof HarnessError && (error.code === 'REVIEW_EDITED' || error.code === 'REVIEW_DECIDED');
      const change = expected ? undefined : this.book.get(id);
      if (change !== undefined) {
        const problem = { kind: 'failed', message: error instanceof Error ? error.message : String(error) } as const;
        await this.book.locked(change.record.realPath, async () => {
          const now = this.book.get(id);
          if (now !== undefined && !this.closing) await this.book.put(now.with({ problem }));
        }).catch(() => undefined);
      }
      throw error;
    }
  }

  /** Does something to a change, on top of what the file holds now; tried again when the file changes under it. */
  private async work(id: string, work: (change: Change) => Promise<void>, first = (change: Change) => change): Promise<void> {
    const realPath = this.book.get(id)?.record.realPath;
    if (realPath === undefined) throw decidedAlready();
    await this.book.locked(realPath, async () => {
      for (let attempt = 1; ; attempt++) {
        const change = this.book.get(id);
        if (change === undefined || this.closing) throw decidedAlready();
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
    const { change: there, lost } = moveAlong(change, { text: now?.text ?? null, version: now?.version ?? version });
    const moved = there.gaveUp(lost.length);
    if (lost.length > 0) this.ctx.emit('review/drift', moved.view, lost);
    await this.settle(moved);
    return this.book.get(record.id);
  }

  /** Accept (staged): write the hunks. Keep (applied): they become part of what was there before. */
  private async keep(change: Change, hunks: readonly ReviewHunk[]): Promise<void> {
    const ids = new Set(hunks.map((hunk) => hunk.id));
    const base = change.baseWith((hunk) => ids.has(hunk.id));
    const decided = change.decide(hunks, 'kept');
    const { record } = change;
    if (record.state === 'applied') return this.settle(change.with({ base, decided }));
    if (record.typedBack === true && hunks.length === 0) return this.takenBack(change, undefined);
    const { version, text, createdDirectories } = await this.disk.write(record, base, splicesBetween(record.base, base));
    const kept = change.with({
      base, version, decided: decided.length === 0 ? [EMPTY_FILE] : decided, ...optional('createdDirectories', createdDirectories ?? record.createdDirectories),
    });
    if (text === base) return this.settle(kept);
    // formatted while it was saved: what is still pending moves along
    const { proposed, lost } = rebase(base, text, kept.hunks);
    const moved = kept.with({ base: text, proposed }).gaveUp(lost.length);
    await this.settle(moved.with({ decided: kept.giveUp(lost, 'the lines were formatted when the file was saved') }));
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
    const { version, text } = await this.disk.write(record, remove ? null : proposed, splicesBetween(record.proposed, proposed));
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
    if (!change.isDecided) return this.book.put(change);
    await this.book.drop(change);
    await this.answers.ended(change);
  }

  /** What was decided about changes that are still open, their calls having ended, since the model was asked last. */
  private async rememberOpen(sessionId: string): Promise<void> {
    for (const { record } of this.book.all()) {
      if (record.sessionId !== sessionId || this.answers.isWaiting(record.id) || record.decided.length === (record.told ?? 0)) continue;
      await this.book.locked(record.realPath, async () => {
        const now = this.book.get(record.id);
        if (now === undefined) return;
        await this.answers.remember(now);
        await this.book.put(now.with({ told: now.record.decided.length }));
      });
    }
  }
}

/** Stands for the one decision about a new file without content. */
const EMPTY_FILE: ReviewHunk = { id: 'file', state: 'kept', oldStart: 1, oldLines: [], newStart: 1, newLines: [] };

function decidedAlready(message = 'this change is decided already'): Error {
  return new HarnessError(message, 'REVIEW_DECIDED');
}

function closed(): Error {
  return new HarnessError('the window was closed during the review; the change is still pending', 'REVIEW_INTERRUPTED');
}
