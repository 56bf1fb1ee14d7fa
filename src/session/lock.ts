import { createHash } from 'node:crypto';
import { link, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, uptime } from 'node:os';
import { HarnessError } from '../contract/error.ts';

/** How often an owner shows that it lives, and after which silence an owner nobody can look at counts as gone. Milliseconds. */
const HEARTBEAT = 15_000;
const SILENCE = 120_000;
/** Looks at a lock that keeps coming and going, before it counts as somebody else's. */
const ATTEMPTS = 5;

/** Another window writes to this session. Open it read-only, or fork it. */
export class SessionInUseError extends HarnessError {
  constructor(id: string) {
    super(`session "${id}" is open in another window: close it there, open it read-only, or fork it`, 'SESSION_IN_USE');
  }
}

/** Held while a session file is written to: one writer a file. */
export interface FileLock {
  /** False when somebody else has it by now, or it was deleted: nothing may be written any more. Rejects when that can't be found out. */
  isHeld(): Promise<boolean>;
  /** Leaves alone what is not ours any more. */
  release(): Promise<void>;
}

interface Owner { readonly pid?: unknown; readonly host?: unknown; readonly start?: unknown }

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

interface ProcessFacts {
  /** When it began, as its system counts: tells it from a later one with its number. */
  readonly start?: string | undefined;
  /** Over, though its parent has not taken note of it yet. */
  readonly over: boolean;
}

/** What the system says of a process. Only Linux says anything. */
async function factsOf(pid: number): Promise<ProcessFacts> {
  if (process.platform !== 'linux') return { over: false };
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name, in brackets, which may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { start: fields[19], over: /^[ZX]/.test(fields[0] ?? '') };
}

async function isAlive(pid: number, start: unknown, seen: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  const { start: now, over } = await factsOf(pid);
  if (over) return false;
  if (typeof start === 'string' && now !== undefined) return start === now;
  // No process outlives its machine; a minute for clocks that were set.
  return seen > Date.now() - uptime() * 1000 - 60_000;
}

/**
 * Whether who wrote this lock is gone. An owner on this machine is asked for by its number: however long it was silent
 * (asleep, held by a debugger), it goes on to write when it wakes.
 */
async function isAbandoned(text: string, seen: number): Promise<boolean> {
  let owner: Owner = {};
  try {
    owner = (JSON.parse(text) ?? {}) as Owner;
  } catch {
    // Half-written: its owner is at it right now, or died in the middle.
  }
  if (owner.host === hostname() && typeof owner.pid === 'number') return !(await isAlive(owner.pid, owner.start, seen));
  return Date.now() - seen > SILENCE;
}

interface Found { readonly text: string; readonly abandoned: boolean }

/** Undefined: free. */
async function look(path: string): Promise<Found | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    return { text, abandoned: await isAbandoned(text, mtimeMs) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What file systems without hard links say. */
const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EMLINK', 'UNKNOWN']);

/**
 * False: there is one already. It comes into being whole: an owner killed while it wrote would leave a lock that does not
 * say whose it is, and that nobody may take for two minutes.
 */
async function make(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${globalThis.crypto.randomUUID()}.new`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await link(draft, path).catch((error: unknown) => {
      if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
      return writeFile(path, text, { flag: 'wx' });
    });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * The right to clear away the abandoned lock that says `dead`, as a chain of files: each is made by one process only, the
 * next one by one that found the last one's maker dead. Since no two locks say the same, it is no right to another lock.
 * Undefined: somebody else has it.
 */
async function claim(path: string, dead: string, text: string): Promise<string[] | undefined> {
  const name = createHash('sha256').update(dead).digest('hex').slice(0, 16);
  const chain: string[] = [];
  for (;;) {
    const next = `${path}.${name}.${chain.length}`;
    chain.push(next);
    if (await make(next, text)) return chain;
    if (!(await look(next))?.abandoned) return undefined;
  }
}

/**
 * Makes the lock where another one stands, if that one is abandoned. Of two that found the same dead lock, the slower must
 * not clear away the new one of the faster.
 */
async function takeOver(path: string, text: string): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await look(path);
    if (found && !found.abandoned) return false;
    if (found) {
      const chain = await claim(path, found.text, text);
      if (!chain) continue;
      try {
        if (await holds(path, found.text)) await rm(path, { force: true });
      } catch (error) {
        await rm(chain.at(-1)!, { force: true });
        throw error;
      }
      // While the dead lock stood, none of these could be removed: the right would have been given twice.
      for (const file of chain) await rm(file, { force: true });
    }
    if (await make(path, text)) return true;
  }
  return false;
}

async function holds(path: string, text: string): Promise<boolean> {
  try {
    return await readFile(path, 'utf8') === text;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function removeOwn(path: string, text: string): Promise<void> {
  if (await holds(path, text)) await rm(path, { force: true });
}

/** Takes `path` as a lock file. Throws SessionInUseError while its owner lives. */
export async function acquireLock(path: string, id: string): Promise<FileLock> {
  const { start } = await factsOf(process.pid);
  const text = JSON.stringify({ pid: process.pid, host: hostname(), ...(start !== undefined && { start }), token: globalThis.crypto.randomUUID() });
  if (!(await make(path, text)) && !(await takeOver(path, text))) throw new SessionInUseError(id);
  const beat = setInterval(() => {
    holds(path, text).then((held) => {
      const now = new Date();
      return held ? utimes(path, now, now) : clearInterval(beat);
    }).catch(() => undefined);
  }, HEARTBEAT);
  beat.unref();
  return {
    isHeld: () => holds(path, text),
    async release() {
      clearInterval(beat);
      await removeOwn(path, text);
    },
  };
}
