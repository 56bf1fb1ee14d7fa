import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, openSync, unlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShellProcess, ShellResult } from '../seams/shell.ts';
import { HarnessError } from '../contract/error.ts';
import { PipeReader } from './pipe-reader.ts';
import { endTree, startTime } from './process-tree.ts';
import type { TreeRoot } from './process-tree.ts';
import { TreeWatch } from './tree-watch.ts';
import { OutputCapture } from './stream-capture.ts';
import type { SpillFolder } from './stream-capture.ts';
import type { Watchdog } from './watchdog.ts';

/** Between SIGTERM and SIGKILL, in ms (B10.16). */
export const GRACE_MS = 3_000;
/** How long what the shell left behind may go on printing after the shell itself ended, in ms. */
const AFTERMATH_MS = 1_000;
/** Name of the environment variable by which a command's processes are known. */
const TOKEN_NAME = 'DSH_RUN_ID';

/*
 * Waits until the watchdog knows this process, then becomes the command. Output goes through named pipes: Node's own
 * child pipes are sockets, on which `> /dev/stdout` and `tee /dev/stderr` fail. Descriptor 9 is a mark that descendants
 * inherit even with an emptied environment.
 */
const PRELUDE = `mkfifo -m 600 "$1" "$2" || exit 125
printf m >&3
read -r _ <&3 || exit 125
exec >"$1" 2>"$2" 9<"$3"
printf o >&3
exec 3>&-
shift 3
exec "$@"`;

export interface CommandOptions {
  /** Program and arguments. */
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly watchdog: Watchdog;
  /** Absolute folder for this process's named pipes. */
  readonly pipes: string;
  readonly spillFolder: SpillFolder;
  /** Start of the spill files' names. */
  readonly label: string;
  readonly codePage?: string;
  readonly graceMs?: number;
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
}

/** `stdout`, `stderr`: what a {@link PipeReader} reads. */
interface Launched { child: ChildProcess; pid: number; root: TreeRoot; since: number; stdout: Readable | number; stderr: Readable | number }

function startError(argv: readonly string[], cwd: string, cause: unknown): HarnessError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const why =
    code === 'E2BIG'
      ? 'the command is longer than the system allows; put it into a script file and run that'
      : cause instanceof Error ? cause.message : String(cause);
  return new HarnessError(`cannot start ${argv[0]} in "${cwd}": ${why}`, 'SHELL_START_FAILED', { cause });
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid!));
  });
}

async function launchPosix(options: CommandOptions, id: string, env: NodeJS.ProcessEnv): Promise<Launched> {
  const fifos = [path.join(options.pipes, `${id}.out`), path.join(options.pipes, `${id}.err`)] as const;
  const mark = path.join(options.pipes, `${id}.mark`);
  writeFileSync(mark, '', { flag: 'wx', mode: 0o600 });
  const child = spawn('/bin/sh', ['-c', PRELUDE, 'dsh', ...fifos, mark, ...options.argv], {
    cwd: options.cwd, env, detached: true, stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const pid = await spawned(child);
  const since = startTime(pid);
  const root = { pid, token: `${TOKEN_NAME}=${id}`, mark };
  const control = child.stdio[3] as net.Socket;
  const complaints: Buffer[] = [];
  child.stderr!.on('data', (chunk: Buffer) => complaints.push(chunk));
  const steps = control[Symbol.asyncIterator]();
  const step = async (): Promise<void> => {
    const { done } = await steps.next();
    if (done !== true) return;
    await sleep(5);
    throw new Error(Buffer.concat(complaints).toString('utf8').trim() || 'the shell ended before the command began');
  };
  control.on('error', () => undefined);
  const fds: number[] = [];
  try {
    await options.watchdog.guard(pid, id);
    await step();
    for (const fifo of fifos) fds.push(openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK));
    control.write('go\n');
    await step();
  } catch (error) {
    for (const fd of fds) new net.Socket({ fd }).destroy();
    await endTree(root, since, 0);
    options.watchdog.release(pid);
    throw error;
  } finally {
    for (const file of [...fifos, mark]) {
      try {
        unlinkSync(file);
      } catch {
        // never made
      }
    }
  }
  control.destroy();
  const [stdout, stderr] = fds as [number, number];
  return { child, pid, root, since, stdout, stderr };
}

async function launchWindows(options: CommandOptions, id: string, env: NodeJS.ProcessEnv): Promise<Launched> {
  const [program, ...args] = options.argv;
  const child = spawn(program!, args, { cwd: options.cwd, env, windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const pid = await spawned(child);
  return { child, pid, root: { pid, token: `${TOKEN_NAME}=${id}` }, since: 0, stdout: child.stdout!, stderr: child.stderr! };
}

/**
 * Starts a command in a session of its own and follows it until its whole tree is gone. Whoever is still running when
 * the shell itself has ended is ended too.
 * @throws HarnessError SHELL_START_FAILED
 */
export async function startCommand(options: CommandOptions): Promise<ShellProcess> {
  const id = randomUUID();
  const env = { ...options.env, [TOKEN_NAME]: id };
  let launched: Launched;
  try {
    launched = await (process.platform === 'win32' ? launchWindows : launchPosix)(options, id, env);
  } catch (error) {
    throw startError(options.argv, options.cwd, error);
  }
  return new RunningCommand(launched, options);
}

class RunningCommand implements ShellProcess {
  readonly pid: number;
  readonly done: Promise<ShellResult>;
  private readonly launched: Launched;
  private readonly options: CommandOptions;
  private readonly out: OutputCapture;
  private readonly err: OutputCapture;
  private readonly watch: TreeWatch;
  private readonly timer: NodeJS.Timeout | undefined;
  private readonly onAbort = (): void => {
    this.aborted = true;
    this.kill();
  };
  private readonly readers: readonly PipeReader[];
  private ending: Promise<boolean> | undefined;
  private timedOut = false;
  private aborted = false;
  private over = false;

  constructor(launched: Launched, options: CommandOptions) {
    this.launched = launched;
    this.options = options;
    this.pid = launched.pid;
    this.watch = new TreeWatch(launched.root, launched.since);
    let folder: Promise<string> | undefined;
    const spillFolder: SpillFolder = () => (folder ??= options.spillFolder());
    this.out = new OutputCapture(`${options.label}-stdout.txt`, spillFolder, options.codePage);
    this.err = new OutputCapture(`${options.label}-stderr.txt`, spillFolder, options.codePage);
    if (options.timeoutMs !== undefined) {
      this.timer = setTimeout(() => {
        this.timedOut = true;
        this.kill();
      }, options.timeoutMs);
    }
    const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      const { child } = launched;
      if (child.exitCode !== null || child.signalCode !== null) resolve({ code: child.exitCode, signal: child.signalCode });
      else child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.readers = [this.follow(launched.stdout, this.out, 'stdout'), this.follow(launched.stderr, this.err, 'stderr')];
    this.done = this.settle(exited, Promise.all(this.readers.map((reader) => reader.ended)));
    if (options.signal?.aborted === true) this.onAbort();
    else options.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  private follow(source: Readable | number, capture: OutputCapture, name: 'stdout' | 'stderr'): PipeReader {
    return new PipeReader(source, (block) => {
      const wait = capture.push(block);
      this.options.onOutput?.(name, block);
      return wait;
    });
  }

  private async settle(exited: Promise<{ code: number | null; signal: string | null }>, streams: Promise<unknown>): Promise<ShellResult> {
    const { code, signal } = await exited;
    const stopDrain = new AbortController();
    if (this.ending === undefined) {
      await Promise.race([streams, sleep(AFTERMATH_MS, undefined, { signal: stopDrain.signal }).catch(() => undefined)]);
    }
    await this.end();
    // nobody is left to write: what is in the pipes is all there will be, unless an outsider holds them
    for (let seen = -1; seen !== this.out.totalBytes + this.err.totalBytes; ) {
      seen = this.out.totalBytes + this.err.totalBytes;
      await Promise.race([streams.then(() => stopDrain.abort()), sleep(AFTERMATH_MS, undefined, { signal: stopDrain.signal }).catch(() => undefined)]);
      if (stopDrain.signal.aborted) break;
    }
    for (const reader of this.readers) reader.close();
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.watch.stop();
    this.options.watchdog.release(this.pid);
    const [stdout, stderr] = await Promise.all([this.out.finish(), this.err.finish()]);
    this.over = true;
    return { exitCode: code, signal, timedOut: this.timedOut, aborted: this.aborted, stdout, stderr };
  }

  private end(): Promise<boolean> {
    this.ending ??= endTree(this.launched.root, this.launched.since, this.options.graceMs ?? GRACE_MS, this.watch);
    return this.ending;
  }

  kill(): void {
    if (!this.over) void this.end();
  }

  readNew(): { stdout: string; stderr: string; dropped: boolean; spillPath?: string } {
    const out = this.out.readNew(this.over);
    const err = this.err.readNew(this.over);
    const spillPath = out.dropped ? this.out.spillPath : err.dropped ? this.err.spillPath : undefined;
    return { stdout: out.text, stderr: err.text, dropped: out.dropped || err.dropped, ...(spillPath !== undefined ? { spillPath } : {}) };
  }
}
