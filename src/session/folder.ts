import { appendFile, mkdir, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HarnessError } from '../contract/error.ts';
import type { SessionHeader } from '../contract/event.ts';
import { acquireLock } from './lock.ts';
import type { FileLock } from './lock.ts';
import { parseLog } from './parse.ts';
import type { ParsedLog } from './parse.ts';
import { packRows } from './rows.ts';
import { summarize } from './summary.ts';
import type { SessionInfo } from './summary.ts';

const EXTENSION = '.jsonl';
const TRASH = '.trash';
/** Ids become file names: letters, digits and a few marks, nothing that could leave the folder. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
/** Files looked at together while listing. */
const LIST_WIDTH = 16;

/** A session's files, opened for writing. */
export interface OpenedFile { readonly log: ParsedLog; readonly lock: FileLock; readonly size: number }

/** What undoes a deletion (G7). */
export interface Deletion { undo(): Promise<void> }

function notFound(id: string): HarnessError {
  return new HarnessError(`session "${id}" was not found: it may have been deleted; look in the session list`, 'SESSION_NOT_FOUND');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, () => false);
}

/** Rejects ids that are no plain file name. */
export function checkSessionId(id: string): void {
  if (!SAFE_ID.test(id)) throw new HarnessError(`"${id}" is not a session id: use letters, digits, ".", "_" and "-"`, 'SESSION_BAD_ID');
}

/**
 * One folder of sessions: `<id>.jsonl` is the log, `<id>.meta.json` what the user calls it, `<id>.bad` lines that could
 * not be read, `<id>/` spill and reviews, `.trash/` what was deleted.
 */
export class SessionFolder {
  readonly dir: string;
  readonly #cache = new Map<string, { stamp: string; info: SessionInfo | undefined }>();

  constructor(dir: string) {
    this.dir = dir;
  }

  path(id: string): string {
    checkSessionId(id);
    return join(this.dir, id + EXTENSION);
  }

  lockPath(id: string): string {
    return `${this.path(id)}.lock`;
  }

  /** Reads a log without changing anything. */
  async read(id: string): Promise<ParsedLog> {
    const path = this.path(id);
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? notFound(id) : error;
    });
    return parseLog(bytes, path, id);
  }

  /** Takes the lock, reads, and makes the file whole: torn tail cut (G1), bad lines moved to a sidecar (G3). */
  async openForWriting(id: string): Promise<OpenedFile> {
    const path = this.path(id);
    if (!(await exists(path))) throw notFound(id);
    const lock = await acquireLock(this.lockPath(id), id);
    try {
      const log = await this.read(id);
      if (log.bad.length > 0) await appendFile(join(this.dir, `${id}.bad`), Buffer.concat(log.bad.flatMap((line) => [line, Buffer.from('\n')])));
      if (log.rewrite) await this.#rewrite(path, log);
      else {
        await truncate(path, log.soundBytes);
        if (log.missingNewline) await appendFile(path, '\n');
      }
      const { size } = await stat(path);
      return { log, lock, size };
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Sessions newest first; with `cwd`, only that folder's (G5). Reads the ends of files, never whole ones. */
  async list(cwd?: string): Promise<SessionInfo[]> {
    const names = await readdir(this.dir).catch(() => [] as string[]);
    const ids = names.filter((name) => name.endsWith(EXTENSION)).map((name) => name.slice(0, -EXTENSION.length)).filter((id) => SAFE_ID.test(id));
    const found: SessionInfo[] = [];
    for (let i = 0; i < ids.length; i += LIST_WIDTH) {
      const infos = await Promise.all(ids.slice(i, i + LIST_WIDTH).map((id) => this.info(id)));
      for (const info of infos) if (info && (cwd === undefined || info.cwd === cwd)) found.push(info);
    }
    return found.sort((a, b) => b.time - a.time);
  }

  /** One session's line in the list; undefined when the file is gone or is no session. */
  async info(id: string): Promise<SessionInfo | undefined> {
    const path = this.path(id);
    const [log, meta] = await Promise.all([stat(path).catch(() => undefined), stat(this.#metaPath(id)).catch(() => undefined)]);
    if (!log) return undefined;
    const stamp = `${log.mtimeMs}:${log.size}:${meta?.mtimeMs ?? 0}`;
    const cached = this.#cache.get(id);
    if (cached?.stamp === stamp) return cached.info;
    const info = await summarize(path, id, log.size, await this.#title(id)).catch(() => undefined);
    this.#cache.set(id, { stamp, info });
    return info;
  }

  /** Gives a session a name of the user's own; an empty one goes back to the first message. */
  async rename(id: string, title: string): Promise<void> {
    const trimmed = title.trim();
    if (trimmed === '') await rm(this.#metaPath(id), { force: true });
    else await this.#replace(this.#metaPath(id), Buffer.from(JSON.stringify({ title: trimmed })));
  }

  /** Moves a session and all that belongs to it to the trash; the answer brings it back (G7). */
  async remove(id: string): Promise<Deletion> {
    if (!(await exists(this.path(id)))) throw notFound(id);
    const lock = await acquireLock(this.lockPath(id), id);
    const bin = join(this.dir, TRASH, `${id}-${Date.now()}`);
    const parts = [id + EXTENSION, `${id}.meta.json`, `${id}.bad`, id];
    try {
      await mkdir(bin, { recursive: true });
      for (const part of parts) if (await exists(join(this.dir, part))) await rename(join(this.dir, part), join(bin, part));
    } finally {
      await lock.release();
    }
    return {
      undo: async () => {
        if (await exists(this.path(id))) throw new HarnessError(`session "${id}" cannot be brought back: a session with that id exists again`, 'SESSION_EXISTS');
        // The log goes last: until it is there, the session is not listed half.
        for (const part of [...parts].reverse()) if (await exists(join(bin, part))) await rename(join(bin, part), join(this.dir, part));
        await rm(bin, { recursive: true, force: true });
      },
    };
  }

  /** Deletes for good what has been in the trash for `ms` milliseconds. */
  async emptyTrash(ms: number): Promise<void> {
    const trash = join(this.dir, TRASH);
    for (const name of await readdir(trash).catch(() => [] as string[])) {
      const when = Number(name.slice(name.lastIndexOf('-') + 1));
      if (Number.isFinite(when) && Date.now() - when >= ms) await rm(join(trash, name), { recursive: true, force: true });
    }
  }

  #metaPath(id: string): string {
    return join(this.dir, `${id}.meta.json`);
  }

  async #title(id: string): Promise<string | undefined> {
    try {
      const meta = JSON.parse(await readFile(this.#metaPath(id), 'utf8')) as { title?: unknown };
      return typeof meta.title === 'string' ? meta.title : undefined;
    } catch {
      return undefined;
    }
  }

  async #rewrite(path: string, log: { header: SessionHeader; events: ParsedLog['events'] }): Promise<void> {
    const lines = [log.header, ...packRows(log.events)].map((row) => `${JSON.stringify(row)}\n`);
    await this.#replace(path, Buffer.from(lines.join(''), 'utf8'));
  }

  async #replace(path: string, bytes: Buffer): Promise<void> {
    const next = `${path}.${process.pid}.tmp`;
    await writeFile(next, bytes);
    const file = await open(next, 'r+');
    await file.datasync().finally(() => file.close());
    await rename(next, path);
  }
}
