import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import { Service, type Context } from '@deepseek-ai/cordis';
import { HarnessError } from '../contract/error.ts';
import type { CheckpointPlace, CheckpointService, RewindItem, RewindOutcome, RewindPlan } from '../seams/checkpoints.ts';
import type { FileTarget } from '../seams/fs.ts';
import { decodeText } from '../text/encoding.ts';
import { CheckpointLog, type BeforeEntry } from './checkpoint-log.ts';

export interface CheckpointOptions {
  /** Absolute folder of the sessions. */
  readonly sessions: string;
  /** Bytes above which a file is not kept; default 20 MiB (N3). */
  readonly maxBytes?: number;
}

/** A file as it is: an open document with unsaved edits counts as what its editor shows. */
interface Look {
  readonly version: string | null;
  readonly hash: string | null;
  /** Null when there is no file, or no text. */
  readonly text: string | null;
  readonly bytes: Uint8Array | null;
  readonly tooBig: boolean;
}

/** A rewind as it is kept, so that it can be taken back. */
interface RewindRecord {
  readonly id: string;
  readonly items: readonly {
    readonly path: string; readonly file: string; readonly realPath: string;
    /** What was there, and the hash of what is there since. */
    readonly image: string | null; readonly hash: string | null; readonly leftBefore: string | null | undefined;
  }[];
}

const ABSENT: Look = { version: null, hash: null, text: null, bytes: null, tooBig: false };

/** `ctx.checkpoints` on the sessions' folder. Only `ctx.fs` touches the user's files. */
export class Checkpoints extends Service implements CheckpointService {
  static inject = ['fs'];

  private readonly log: CheckpointLog;
  private readonly maxBytes: number;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(ctx: Context, options: CheckpointOptions) {
    super(ctx, 'checkpoints');
    this.log = new CheckpointLog(options.sessions);
    this.maxBytes = options.maxBytes ?? 20 * 1024 * 1024;
    ctx.effect(() => async () => void (await this.queue.catch(() => undefined)), 'checkpoints');
  }

  before(place: CheckpointPlace, target: FileTarget, displayPath: string): Promise<void> {
    return this.ordered(async () => {
      if (insideGit(target.realPath)) return;
      const { sessionId, turn } = place;
      const state = await this.log.state(sessionId);
      const known = state.before.some((entry) => entry.realPath === target.realPath && entry.turn === turn);
      const left = state.after.get(target.realPath);
      if (known && left === undefined) return;
      const now = await this.look(target);
      const mixed = left !== undefined && left.hash !== now.hash;
      // kept once a turn; a second entry says that somebody else's change lies between
      if (known && !mixed) return;
      const image = now.tooBig ? undefined : now.bytes === null ? null : await this.log.keep(sessionId, now.bytes);
      await this.log.append(sessionId, {
        op: 'before', turn, path: displayPath, file: target.path, realPath: target.realPath, image, ...(mixed && { mixed }),
      });
    });
  }

  after(place: CheckpointPlace, target: FileTarget, createdDirectories?: readonly string[]): Promise<void> {
    return this.ordered(async () => {
      if (insideGit(target.realPath)) return;
      const { hash } = await this.look(target);
      const made = createdDirectories ?? (await this.log.state(place.sessionId)).after.get(target.realPath)?.createdDirectories;
      await this.log.append(place.sessionId, { op: 'after', realPath: target.realPath, hash, ...(made === undefined ? {} : { createdDirectories: made }) });
    });
  }

  plan(place: CheckpointPlace): Promise<RewindPlan> {
    return this.ordered(async () => {
      const { before, after } = await this.log.state(place.sessionId);
      const firsts = new Map<string, BeforeEntry>();
      const mixed = new Set<string>();
      for (const entry of before) {
        if (entry.turn < place.turn) continue;
        if (!firsts.has(entry.realPath)) firsts.set(entry.realPath, entry);
        else if (entry.mixed === true) mixed.add(entry.realPath);
      }
      const items: RewindItem[] = [];
      const uncovered: string[] = [];
      for (const entry of firsts.values()) {
        if (entry.image === undefined) {
          uncovered.push(entry.path);
          continue;
        }
        const now = await this.look(targetOf(entry));
        const bytes = entry.image === null ? null : await this.log.image(place.sessionId, entry.image);
        const then = bytes === null ? null : await textOf(bytes, this.ctx.fs.encodingFor(targetOf(entry)));
        const hash = bytes === null ? null : hashOf(then, bytes);
        if (hash === now.hash) continue;
        items.push({
          path: entry.path, file: entry.file, realPath: entry.realPath, action: entry.image === null ? 'remove' : 'restore',
          drift: mixed.has(entry.realPath) || after.get(entry.realPath)?.hash !== now.hash, now: now.text, then,
        });
      }
      return { place, items, uncovered };
    });
  }

  rewind(plan: RewindPlan, realPaths: readonly string[]): Promise<RewindOutcome> {
    return this.ordered(async () => {
      const { sessionId } = plan.place;
      const { before, after } = await this.log.state(sessionId);
      const id = randomUUID();
      const outcome = { id, done: [] as string[], failed: [] as { path: string; reason: string }[] };
      const record: { id: string; items: RewindRecord['items'][number][] } = { id, items: [] };
      for (const item of plan.items.filter(({ realPath }) => realPaths.includes(realPath))) {
        const entry = before.find(({ realPath, turn }) => realPath === item.realPath && turn >= plan.place.turn);
        if (entry === undefined || entry.image === undefined) continue;
        try {
          const now = await this.look(targetOf(item));
          if (now.text !== item.now) throw new Error('it changed while the preview was open');
          if (now.tooBig) throw new Error('it is too big to be kept for taking this back');
          const image = now.bytes === null ? null : await this.log.keep(sessionId, now.bytes);
          const left = after.get(item.realPath);
          const bytes = entry.image === null ? null : await this.log.image(sessionId, entry.image);
          // kept before it is done: a host that dies in between can still take it back
          record.items.push({ path: item.path, file: item.file, realPath: item.realPath, image, hash: null, leftBefore: left?.hash });
          await this.log.saveRewind(sessionId, record);
          await this.put(targetOf(item), now, bytes, left?.createdDirectories);
          const { hash } = await this.look(targetOf(item));
          record.items[record.items.length - 1] = { ...record.items.at(-1)!, hash };
          await this.log.saveRewind(sessionId, record);
          await this.log.append(sessionId, { ...left, op: 'after', realPath: item.realPath, hash });
          outcome.done.push(item.path);
        } catch (error) {
          if (record.items.at(-1)?.realPath === item.realPath) record.items.pop();
          outcome.failed.push({ path: item.path, reason: error instanceof Error ? error.message : String(error) });
        }
      }
      return outcome;
    });
  }

  undo(sessionId: string, rewindId: string, options: { readonly force?: boolean } = {}): Promise<RewindOutcome> {
    return this.ordered(async () => {
      const record = await this.stored(sessionId);
      if (record?.id !== rewindId) throw new HarnessError('this rewind can no longer be taken back: another one followed', 'REWIND_GONE');
      const outcome = { id: rewindId, done: [] as string[], failed: [] as { path: string; reason: string }[] };
      const rest: RewindRecord['items'][number][] = [];
      for (const item of record.items) {
        try {
          const now = await this.look(targetOf(item));
          if (now.hash !== item.hash && options.force !== true) throw new Error('it was changed since the rewind');
          await this.put(targetOf(item), now, item.image === null ? null : await this.log.image(sessionId, item.image), undefined);
          if (item.leftBefore !== undefined) {
            const left = (await this.log.state(sessionId)).after.get(item.realPath);
            await this.log.append(sessionId, { ...left, op: 'after', realPath: item.realPath, hash: item.leftBefore });
          }
          outcome.done.push(item.path);
        } catch (error) {
          rest.push(item);
          outcome.failed.push({ path: item.path, reason: error instanceof Error ? error.message : String(error) });
        }
      }
      await (rest.length === 0 ? this.log.removeRewind(sessionId) : this.log.saveRewind(sessionId, { id: rewindId, items: rest }));
      return outcome;
    });
  }

  async lastRewind(sessionId: string): Promise<string | undefined> {
    const record = await this.stored(sessionId);
    return record === undefined || record.items.length === 0 ? undefined : record.id;
  }

  copy(place: CheckpointPlace, toSessionId: string): Promise<void> {
    return this.ordered(() => this.log.copy(place.sessionId, place.turn, toSessionId));
  }

  private async stored(sessionId: string): Promise<RewindRecord | undefined> {
    const record = await this.log.loadRewind(sessionId) as Partial<RewindRecord> | undefined;
    return typeof record?.id === 'string' && Array.isArray(record.items) ? record as RewindRecord : undefined;
  }

  /** One at a time: entries must stand in the order of what happened. */
  private ordered<T>(work: () => Promise<T>): Promise<T> {
    const run = this.queue.catch(() => undefined).then(work);
    this.queue = run;
    return run;
  }

  private async look(target: FileTarget): Promise<Look> {
    const { fs } = this.ctx;
    const stat = await fs.stat(target);
    if (stat === null) return ABSENT;
    if (stat.kind !== 'file') throw new HarnessError(`"${target.path}" is not a regular file`, 'FS_NOT_REGULAR_FILE');
    const { version } = stat;
    if (stat.size > this.maxBytes) return { version, hash: `version ${version}`, text: null, bytes: null, tooBig: true };
    const document = await fs.openDocument(target);
    if (document?.dirty === true) {
      const bytes = Buffer.from(document.text, 'utf8');
      return { version, hash: hashOf(document.text, bytes), text: document.text, bytes, tooBig: false };
    }
    const parts: Buffer[] = [];
    for await (const part of fs.readBytes(target)) parts.push(Buffer.from(part));
    const bytes = Buffer.concat(parts);
    const text = await textOf(bytes, fs.encodingFor(target));
    return { version, hash: hashOf(text, bytes), text, bytes, tooBig: false };
  }

  /** Makes a file what it was: through its editor when it is open, so that it can be undone there too; the bytes decide. */
  private async put(target: FileTarget, now: Look, bytes: Uint8Array | null, createdDirectories: readonly string[] | undefined): Promise<void> {
    const { fs } = this.ctx;
    if (insideGit(target.realPath)) throw new Error('it is inside a .git folder');
    if (bytes === null) {
      await fs.commit(target, null, { expect: now.version, ...(createdDirectories === undefined ? {} : { removeDirectories: createdDirectories }) });
      return;
    }
    const text = await textOf(bytes, fs.encodingFor(target));
    const document = await fs.openDocument(target);
    let expect = now.version;
    // a file that is gone is made anew, folders included
    if (now.version === null || (text !== null && document !== undefined)) {
      ({ version: expect } = await fs.commit(target, text ?? '', { expect }));
      // unsaved edits were there: the disk is the user's to write
      if ((await fs.openDocument(target))?.dirty === true) return;
      const written = await this.look(target);
      if (written.bytes !== null && Buffer.compare(written.bytes, bytes) === 0) return;
      expect = written.version;
    }
    await fs.commitBytes(target, bytes, { expect });
  }
}

function targetOf(entry: { readonly file: string; readonly realPath: string }): FileTarget {
  return { path: entry.file, realPath: entry.realPath };
}

/** Nothing of the user's repository itself is kept or written (N1). */
function insideGit(realPath: string): boolean {
  return realPath.split(path.sep).includes('.git');
}

async function textOf(bytes: Uint8Array, encoding: string): Promise<string | null> {
  try {
    return (await decodeText(bytes, encoding)).text;
  } catch {
    return null;
  }
}

/** Of the text where there is one, so that saving an unsaved document changes nothing. */
function hashOf(text: string | null, bytes: Uint8Array): string {
  return createHash('sha256').update(text ?? bytes).digest('hex');
}
