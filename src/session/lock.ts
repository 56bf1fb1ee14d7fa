import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { HarnessError } from '../contract/error.ts';

/** How often an owner shows that it lives, and after which silence its lock counts as left behind. Milliseconds. */
const HEARTBEAT = 15_000;
const SILENCE = 120_000;

/** Another window writes to this session. Open it read-only, or fork it. */
export class SessionInUseError extends HarnessError {
  constructor(id: string) {
    super(`session "${id}" is open in another window: close it there, open it read-only, or fork it`, 'SESSION_IN_USE');
  }
}

/** Held while a session file is written to: one writer a file. */
export interface FileLock { release(): Promise<void> }

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (Date.now() - mtimeMs > SILENCE) return true;
    const owner = JSON.parse(text) as { pid?: unknown; host?: unknown };
    return owner.host === hostname() && typeof owner.pid === 'number' && !isAlive(owner.pid);
  } catch (error) {
    // Vanished: free. Half-written: its owner is at it right now.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Takes `path` as a lock file. Throws SessionInUseError while its owner lives. */
export async function acquireLock(path: string, id: string): Promise<FileLock> {
  const text = JSON.stringify({ pid: process.pid, host: hostname() });
  for (let attempt = 0; ; attempt++) {
    try {
      await writeFile(path, text, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (attempt > 1 || !(await isAbandoned(path))) throw new SessionInUseError(id);
      await rm(path, { force: true });
    }
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT);
  beat.unref();
  return {
    async release() {
      clearInterval(beat);
      await rm(path, { force: true });
    },
  };
}
