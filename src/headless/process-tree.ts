import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A command's processes: its group, its session, their descendants, and whoever carries its token in the environment or
 * its mark among the open files, so that a process that left the group is found as well (D1).
 */
export interface TreeRoot {
  /** Process id of the shell, which leads a group and a session of its own. */
  readonly pid: number;
  /** `NAME=value` that only this command's processes have in their environment. */
  readonly token: string;
  /** Absolute path of the file that its processes have open as descriptor 9. */
  readonly mark?: string;
}

/** What the system says of a process; `started` in clock ticks since boot. */
export interface Row { pid: number; parent: number; group: number; session: number; started: number }

const LINUX = process.platform === 'linux';
const WINDOWS = process.platform === 'win32';

/** Linux only. Undefined for a process that is gone, or a zombie. */
export function statRow(pid: number): Row | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // the second field is the name in brackets and may hold anything, brackets too
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // a zombie runs nothing any more; whose child it is decides when it goes
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return { pid, parent: Number(fields[1]), group: Number(fields[2]), session: Number(fields[3]), started: Number(fields[19]) };
}

function carries(pid: number, token: Buffer, mark: string | undefined): boolean {
  try {
    if (readFileSync(`/proc/${pid}/environ`).includes(token)) return true;
    return mark !== undefined && readlinkSync(`/proc/${pid}/fd/9`).startsWith(mark);
  } catch {
    return false;
  }
}

/** For this long after the root started, in clock ticks (1/100 s), numbers cannot have been given out all the way round. */
const YOUNG_TICKS = 1_000;

/** The lowest number a younger process can have: 0 when numbers have started from the bottom again since, or may have. */
function lowestYounger(root: number, since: number): number {
  try {
    const now = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 100;
    const newest = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ')[4]);
    if (newest >= root && now - since < YOUNG_TICKS) return root;
  } catch {
    // then all of them
  }
  return 0;
}

function procRows(root: number, since: number): Row[] {
  const rows: Row[] = [];
  const first = lowestYounger(root, since);
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid < first) continue;
    const row = statRow(pid);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

async function psRows(): Promise<Row[]> {
  const text = await new Promise<string>((resolve) => {
    execFile('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='], { maxBuffer: 16 << 20 }, (error, out) => resolve(error ? '' : out));
  });
  const rows: Row[] = [];
  for (const line of text.split('\n')) {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (pid === undefined || state === undefined || state.startsWith('Z')) continue;
    rows.push({ pid: Number(pid), parent: Number(parent), group: Number(group), session: -1, started: 0 });
  }
  return rows;
}

/** When the process started, in clock ticks since boot; 0 when that cannot be told. */
export function startTime(pid: number): number {
  return LINUX ? (statRow(pid)?.started ?? 0) : 0;
}

/** What is known of a tree from the time when it ran. */
export interface Seen { knows(pid: number, started: number): boolean }

/** What was found of a tree while it is ended: whoever is left behind by one that went is still found. */
class Found implements Seen {
  readonly #seen: Seen | undefined;
  readonly #members = new Map<number, number>();
  /** Process id of who founded it → start time. */
  readonly #sessions = new Map<number, number>();

  constructor(seen: Seen | undefined) {
    this.#seen = seen;
  }

  knows(pid: number, started: number): boolean {
    return this.#members.get(pid) === started || this.#seen?.knows(pid, started) === true;
  }

  /** The sessions that members founded. A number that somebody else has by now counts no more. */
  sessions(rows: readonly Row[], members: ReadonlySet<number>): ReadonlySet<number> {
    for (const { pid, session, started } of rows) {
      if (members.has(pid) && session === pid) this.#sessions.set(pid, started);
      else if (this.#sessions.has(pid) && this.#sessions.get(pid) !== started) this.#sessions.delete(pid);
    }
    return new Set(this.#sessions.keys());
  }

  keep(rows: readonly Row[], members: ReadonlySet<number>): void {
    for (const { pid, started } of rows) if (members.has(pid)) this.#members.set(pid, started);
  }
}

/**
 * Living processes of the tree (zombies are not). On Linux stragglers are found by session, descent, token, mark, and by
 * having been seen, elsewhere by group and descent; a session that one of them founded is theirs as a whole.
 * @param since start time of the root ({@link startTime}): older processes cannot belong to it
 */
async function treeMembers(root: TreeRoot, since: number, found: Found): Promise<number[]> {
  const rows = LINUX ? procRows(root.pid, since) : await psRows();
  const token = Buffer.from(root.token);
  const members = new Set<number>();
  for (const row of rows) {
    if (row.pid === process.pid || row.started < since) continue;
    const stayed = row.pid === root.pid || row.group === root.pid || row.session === root.pid;
    if (stayed || found.knows(row.pid, row.started) || (LINUX && carries(row.pid, token, root.mark))) members.add(row.pid);
  }
  const sessions = found.sessions(rows, members);
  for (const row of rows) if (sessions.has(row.session)) members.add(row.pid);
  for (let grew = true; grew; ) {
    grew = false;
    for (const row of rows) {
      if (!members.has(row.pid) && members.has(row.parent) && row.pid !== process.pid) {
        members.add(row.pid);
        grew = true;
      }
    }
  }
  found.keep(rows, members);
  return [...members];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone already, or not ours to signal
  }
}

function signalAll(root: TreeRoot, members: readonly number[], name: NodeJS.Signals): void {
  signal(-root.pid, name);
  for (const pid of members) signal(pid, name);
}

/**
 * Ends every process of the tree: SIGTERM, after `graceMs` SIGKILL, until none is left. `seen` knows who belonged to it.
 * @returns whether all are gone; false only for processes the system will not end (waiting for a dead disk, say)
 */
export async function endTree(root: TreeRoot, since: number, graceMs: number, seen?: Seen): Promise<boolean> {
  if (WINDOWS) return endTreeWindows(root.pid);
  const found = new Found(seen);
  let members = await treeMembers(root, since, found);
  if (members.length === 0) return true;
  signalAll(root, members, 'SIGTERM');
  // a stopped process acts on nothing until it is continued
  signalAll(root, members, 'SIGCONT');
  const polite = Date.now() + graceMs;
  for (let pause = 4; Date.now() < polite; pause = Math.min(100, pause * 2)) {
    await sleep(pause);
    members = await treeMembers(root, since, found);
    if (members.length === 0) return true;
  }
  const forced = Date.now() + 10_000;
  for (let pause = 4; Date.now() < forced; pause = Math.min(200, pause * 2)) {
    signalAll(root, members, 'SIGKILL');
    await sleep(pause);
    members = await treeMembers(root, since, found);
    if (members.length === 0) return true;
  }
  return false;
}

function endTreeWindows(pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true }, (error) => resolve(error === null));
  });
}
