import { AbortError } from '../contract/abort.ts';

/** On file systems that ignore case two spellings are one file. */
const FOLD_CASE = process.platform === 'win32' || process.platform === 'darwin';

/** One holder at a time per path, in the order of asking (A11). */
export class PathLock {
  private readonly tails = new Map<string, Promise<void>>();
  private readonly foldCase: boolean;

  /** `foldCase`: `c:\a` and `C:\A` are one path (E5); default: what is usual on this platform. */
  constructor(foldCase = FOLD_CASE) {
    this.foldCase = foldCase;
  }

  /** Runs `task` once everything asked for earlier on `path` has settled. An abort while waiting throws AbortError. */
  async run<T>(path: string, signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    const key = this.foldCase ? path.toLowerCase() : path;
    const previous = this.tails.get(key);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => { release = resolve; });
    const tail = (previous ?? Promise.resolve()).then(() => held);
    this.tails.set(key, tail);
    try {
      if (previous !== undefined) await waitFor(previous, signal);
      if (signal?.aborted) throw new AbortError();
      return await task();
    } finally {
      release();
      if (this.tails.get(key) === tail) this.tails.delete(key);
    }
  }
}

async function waitFor(turn: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return turn;
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => reject(new AbortError());
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
