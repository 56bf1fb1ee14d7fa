import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import { HarnessError } from '../contract/error.ts';
import type { Agent } from '../contract/agent.ts';
import type { ShellProcess, ShellRequest, ShellService } from '../seams/shell.ts';
import '../seams/spill.ts';
import { startCommand } from './command.ts';
import { systemCodePage } from './output-decoder.ts';
import { Watchdog } from './watchdog.ts';

export interface ShellConfig {
  /** Absent: bash where there is one, else PowerShell. */
  readonly kind?: 'bash' | 'pwsh';
  /** Program to use instead of the one found on PATH. */
  readonly program?: string;
  /** Value of DSH_HOME for commands (B10.16). */
  readonly home?: string;
  /** Absolute path of a session's log, for DSH_SESSION_JSONL (B10.16). */
  readonly sessionFile?: (sessionId: string) => string | undefined;
  /** Environment to scrub and hand on; default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** Between the polite and the forced end, in ms; default 3,000 (B10.16). */
  readonly graceMs?: number;
}

const SECRET_NAME = /KEY|PASSWORD|SECRET|TOKEN/i;
/** The editor's own plumbing: it would make `code`, Electron and Node programs started from a command misbehave. */
const EDITOR_NAME = /^(?:VSCODE_|ELECTRON_RUN_AS_NODE$|ELECTRON_NO_ATTACH_CONSOLE$)/;

/**
 * What commands see of this process's environment: no credentials, no `DSH_*` of ours, no colour or pager (B10.16).
 */
export function scrubEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || SECRET_NAME.test(name) || /^DSH_/i.test(name) || EDITOR_NAME.test(name)) continue;
    kept[name] = value;
  }
  return { ...kept, NO_COLOR: '1', TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' };
}

function runnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function onPath(names: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? env.Path ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const suffixes = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
  for (const name of names) {
    for (const folder of folders) {
      for (const suffix of suffixes) if (runnable(path.join(folder, name + suffix))) return path.join(folder, name + suffix);
    }
  }
  return undefined;
}

function findBash(env: NodeJS.ProcessEnv): string | undefined {
  if (process.platform !== 'win32') return onPath(['bash'], env) ?? ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find(runnable);
  // not PATH: System32\bash.exe there is the gate to WSL, which sees other paths
  const roots = [env.ProgramFiles, env['ProgramFiles(x86)'], env.LOCALAPPDATA && path.join(env.LOCALAPPDATA, 'Programs')];
  return roots.filter((root) => root !== undefined && root !== '').map((root) => path.join(root!, 'Git', 'bin', 'bash.exe')).find(runnable);
}

function findPowerShell(env: NodeJS.ProcessEnv): string | undefined {
  return onPath(process.platform === 'win32' ? ['pwsh', 'powershell'] : ['pwsh'], env);
}

/** `ctx.shell` on plain Node: B10.14-B10.22. */
export class NodeShell extends Service implements ShellService {
  readonly kind: 'bash' | 'pwsh';
  private readonly program: string | undefined;
  private readonly config: ShellConfig;
  private readonly folder: string;
  private readonly watchdog: Watchdog;
  private readonly running = new Set<ShellProcess>();
  private readonly launching = new Set<Promise<ShellProcess>>();
  private closed = false;
  private count = 0;

  constructor(ctx: Context, config: ShellConfig = {}) {
    super(ctx, 'shell');
    const env = config.env ?? process.env;
    this.config = config;
    const bash = config.kind === 'pwsh' ? undefined : findBash(env);
    this.kind = config.kind ?? (bash !== undefined || process.platform !== 'win32' ? 'bash' : 'pwsh');
    this.program = config.program ?? (this.kind === 'bash' ? bash : findPowerShell(env));
    this.folder = path.join(os.tmpdir(), `dsh-shell-${randomUUID()}`);
    this.watchdog = new Watchdog(this.folder);
    ctx.effect(() => () => this.close(), 'shell processes');
  }

  private async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.launching);
    for (const running of this.running) running.kill();
    await Promise.all([...this.running].map((running) => running.done));
    this.watchdog.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The folder comes after the watchdog that removes it: no moment to die in between leaves it behind. */
  private prepare(): void {
    if (existsSync(this.folder)) return;
    this.watchdog.start();
    mkdirSync(this.folder, { mode: 0o700 });
  }

  private argv(command: string): string[] {
    if (this.program === undefined) {
      throw new HarnessError(
        this.kind === 'bash'
          ? 'no bash found: looked on PATH and in the usual folders; install bash (on Windows: Git for Windows)'
          : 'no PowerShell found on PATH; install PowerShell 7 (pwsh)',
        'SHELL_NOT_FOUND',
      );
    }
    if (this.kind === 'bash') return [this.program, '-c', command];
    return [this.program, '-NoLogo', '-NoProfile', '-NonInteractive', '-Command', command];
  }

  private environment(agent: Agent | undefined, extra: Readonly<Record<string, string>> | undefined): Record<string, string> {
    const sessionId = agent?.session.id;
    const log = sessionId === undefined ? undefined : this.config.sessionFile?.(sessionId);
    return {
      ...scrubEnvironment(this.config.env ?? process.env),
      ...(this.config.home !== undefined ? { DSH_HOME: this.config.home } : {}),
      DSH_SHELL: '1',
      ...(sessionId !== undefined ? { DSH_SESSION_ID: sessionId } : {}),
      ...(log !== undefined ? { DSH_SESSION_JSONL: log } : {}),
      ...extra,
    };
  }

  private async spillFolder(agent: Agent | undefined): Promise<string> {
    const store = agent === undefined ? undefined : this.ctx.get('spillStore');
    if (store === undefined || agent === undefined) return this.folder;
    return store.directory({ sessionId: agent.session.id });
  }

  check(request: Pick<ShellRequest, 'command' | 'cwd'>): void {
    if (this.closed) throw new HarnessError('the shell is shutting down: no command starts any more', 'SHELL_CLOSED');
    this.argv(request.command);
    if (request.command.includes('\0')) throw new HarnessError('invalid command: it contains a NUL character', 'SHELL_START_FAILED');
    try {
      if (!statSync(request.cwd).isDirectory()) throw new Error('not a directory');
      accessSync(request.cwd, constants.X_OK);
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const why = code === 'ENOENT' ? 'no such directory' : code === 'EACCES' ? 'permission denied' : message;
      throw new HarnessError(`cannot run in "${request.cwd}": ${why}`, 'SHELL_START_FAILED', { cause });
    }
  }

  async start(request: ShellRequest): Promise<ShellProcess> {
    this.check(request);
    const argv = this.argv(request.command);
    const { callId, agent } = request;
    const label = `${this.kind}-${(callId ?? 'command').replace(/[^\w.-]+/g, '_').slice(-80)}-${++this.count}`;
    const codePage = await systemCodePage(this.config.env ?? process.env);
    let running: ShellProcess;
    try {
      this.prepare();
      if (callId !== undefined) this.ctx.emit('shell/started', { callId, command: request.command, cwd: request.cwd, agent });
      const launch = startCommand({
        argv, cwd: request.cwd, env: this.environment(agent, request.env), watchdog: this.watchdog, pipes: this.folder, label,
        spillFolder: () => this.spillFolder(agent),
        ...(request.timeoutMs !== undefined ? { timeoutMs: request.timeoutMs } : {}),
        ...(request.signal !== undefined ? { signal: request.signal } : {}),
        ...(codePage !== undefined ? { codePage } : {}),
        ...(this.config.graceMs !== undefined ? { graceMs: this.config.graceMs } : {}),
        ...(callId !== undefined ? { onOutput: (stream, chunk) => this.ctx.emit('shell/output', { callId, stream, chunk }) } : {}),
      });
      this.launching.add(launch);
      void launch.finally(() => this.launching.delete(launch)).catch(() => undefined);
      running = await launch;
    } catch (error) {
      if (callId !== undefined) this.ctx.emit('shell/ended', { callId, exitCode: null, signal: null });
      throw error;
    }
    this.running.add(running);
    if (this.closed) running.kill();
    void running.done.then(({ exitCode, signal }) => {
      this.running.delete(running);
      if (callId !== undefined) this.ctx.emit('shell/ended', { callId, exitCode, signal });
    });
    return running;
  }
}
