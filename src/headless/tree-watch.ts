import { readFileSync, readdirSync } from 'node:fs';
import { statRow } from './process-tree.ts';
import type { TreeRoot } from './process-tree.ts';

/** Between two looks, in ms: what the last look cost times {@link SHARE}, within these bounds. */
const SOONEST_MS = 20;
const LATEST_MS = 1_000;
const SHARE = 50;
/** Threads of one process whose children are looked at. */
const MAX_THREADS = 64;

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).slice(0, MAX_THREADS).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter((child) => child !== '').map(Number));
  } catch {
    // gone meanwhile, or a system that does not list children
    return [];
  }
}

/**
 * Remembers the descendants of a command while it runs. A process that leaves the group, the session, the environment and
 * the mark behind is no descendant any more once its parent is gone; one that was seen before is still known then (D1).
 * Looks every {@link SOONEST_MS} to {@link LATEST_MS} ms, a fiftieth of the time at most; what comes and leaves between
 * two looks is missed. Linux only, elsewhere it sees nothing.
 */
export class TreeWatch {
  readonly #root: TreeRoot;
  readonly #since: number;
  /** Process id → start time. */
  readonly #seen = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(root: TreeRoot, since: number) {
    this.#root = root;
    this.#since = since;
    if (process.platform === 'linux') this.#schedule(SOONEST_MS);
  }

  /** Whether this is a process that was seen in the tree, and no later one with its number. */
  knows(pid: number, started: number): boolean {
    return this.#seen.get(pid) === started;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      const from = performance.now();
      this.#look();
      this.#schedule(Math.min(LATEST_MS, Math.max(SOONEST_MS, SHARE * (performance.now() - from))));
    }, ms).unref();
  }

  #look(): void {
    const looked = new Set<number>();
    const visit = (pid: number): void => {
      if (looked.has(pid)) return;
      looked.add(pid);
      for (const child of childrenOf(pid)) {
        const row = statRow(child);
        if (row === undefined || row.started < this.#since) continue;
        this.#seen.set(child, row.started);
        visit(child);
      }
    };
    visit(this.#root.pid);
    for (const [pid, started] of this.#seen) {
      if (statRow(pid)?.started === started) visit(pid);
      else this.#seen.delete(pid);
    }
  }
}
