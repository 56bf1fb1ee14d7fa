import path from 'node:path';
import type { Context } from '@deepseek-ai/cordis';
import { AbortError } from '../../contract/abort.ts';
import { defineTool } from '../../contract/define-tool.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { ToolCallView, ToolResultView } from '../../contract/presentation.ts';
import type { ToolExecution, ToolResult, ToolRunContext } from '../../contract/tool.ts';
import type { JobHandle, JobOutcome, JobService } from '../../jobs/types.ts';
import type { ShellProcess, ShellResult, ShellService } from '../../seams/shell.ts';
import { expandHome } from '../../text/home.ts';
import '../../prompt/system-prompt.ts';
import '../../registry/events.ts';
import { refuseEscalation } from '../escalation.ts';
import { registerWithLook } from '../preflight.ts';
import { endMarker, parseEnd, renderForeground, renderNew, streamValue } from './text.ts';

export interface Config {
  /** Ms for a command that names none; default 120,000 (B10.16). */
  readonly defaultTimeoutMs?: number;
  /** Ms at most; default 600,000 (B10.16). */
  readonly maxTimeoutMs?: number;
  /** Default true; false hides and rejects `run_in_background` (B10.14). */
  readonly enableRunInBackground?: boolean;
}

export const name = 'tool-shell';
export const inject = ['tools', 'shell', 'systemPrompt'];

interface Args { command: string; description: string; timeoutMs?: number; workdir?: string; run_in_background?: boolean }

const DESCRIPTIONS = {
  bash: [
    'Run one command line in a fresh non-interactive bash (`bash -c`) and get its output and exit status.',
    'Nothing carries over to the next call: use `workdir` or chain with `&&`. There is no terminal and stdin is empty, so avoid programs that ask questions or open a pager.',
    'Every process the command started is ended when its shell ends. Use `run_in_background` for servers, watchers and anything that should go on while you do other work.',
    'A long output is cut to its end; the text names the file that holds all of it.',
  ].join('\n'),
  pwsh: [
    'Run one command line in a fresh non-interactive PowerShell and get its output and exit status.',
    'Nothing carries over to the next call: use `workdir`, and separate statements with `;`. Paths are native Windows paths. There is no terminal and no input.',
    'Every process the command started is ended when PowerShell ends. Use `run_in_background` for servers, watchers and anything that should go on while you do other work.',
    'A long output is cut to its end; the text names the file that holds all of it.',
  ].join('\n'),
};

const GUIDANCE = {
  bash: 'Use `bash` for builds, tests, version control and programs. For reading, finding and changing files prefer the tools made for it: their results are exact and the user can review them.',
  pwsh: 'Use `pwsh` for builds, tests, version control and programs. For reading, finding and changing files prefer the tools made for it: their results are exact and the user can review them.',
};

const BASE_PARAMETERS = {
  command: { type: 'string', description: 'The command line to run.', required: true },
  description: { type: 'string', description: 'What the command does, in five to ten words, for the user.', required: true },
  timeoutMs: { type: 'number', description: 'Milliseconds after which the command is ended.' },
  workdir: { type: 'string', description: 'Directory to run in, absolute or relative to the session directory (the default).' },
} as const;
const PARAMETERS = {
  ...BASE_PARAMETERS,
  run_in_background: { type: 'boolean', description: 'Start it as a background job and return its id at once. Read it with job_output, stop it with job_kill.' },
} as const;

const STREAM = {
  type: 'object', additionalProperties: false, required: true,
  properties: { text: { type: 'string', required: true }, truncated: { type: 'boolean', required: true }, spillPath: { type: 'string' } },
} as const;
const OUTPUT = {
  oneOf: [
    {
      type: 'object', additionalProperties: false,
      properties: { kind: { type: 'string', const: 'background', required: true }, jobId: { type: 'string', required: true } },
    },
    {
      type: 'object', additionalProperties: false,
      properties: {
        kind: { type: 'string', const: 'foreground', required: true },
        exitCode: { oneOf: [{ type: 'integer' }, { type: 'null' }], required: true },
        signal: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
        timedOut: { type: 'boolean', required: true },
        aborted: { type: 'boolean', required: true },
        timeoutMs: { type: 'number', required: true },
        stdout: STREAM,
        stderr: STREAM,
        sandbox: {
          type: 'object', additionalProperties: false,
          properties: {
            mode: { type: 'string', required: true }, denied: { type: 'boolean', required: true },
            enforcement: { type: 'string' }, runnerFailed: { type: 'boolean' },
          },
        },
      },
    },
  ],
} as const;

function check(args: Args, background: boolean): void {
  if (args.command.trim() === '') throw new Error('invalid command: expected a non-empty string');
  if (args.description.trim() === '') throw new Error('invalid description: expected a non-empty string');
  if (args.timeoutMs !== undefined && !(Number.isFinite(args.timeoutMs) && args.timeoutMs > 0)) {
    throw new Error(`invalid timeoutMs: expected a positive number, got ${args.timeoutMs}`);
  }
  refuseEscalation(args);
  if (args.run_in_background === true && !background) {
    throw new Error('run_in_background is disabled for this deployment (enableRunInBackground: false)');
  }
}

function jobsOf(ctx: Context): JobService {
  const jobs = ctx.get('jobs');
  if (jobs === undefined) throw new Error('background jobs unavailable: load @deepseek-ai/dsh-jobs and @deepseek-ai/dsh-tool-jobs');
  return jobs;
}

function outcome(result: ShellResult, cancelled: boolean): JobOutcome {
  if (result.signal !== null) return { status: 'killed', detail: `signal: ${result.signal}` };
  if (cancelled || result.exitCode === null) return { status: 'killed', detail: 'killed before exit' };
  return { status: 'completed', detail: `exit code: ${result.exitCode}` };
}

/** The command as a job: `started` rejects when the shell cannot be started, `done` settles when the tree is gone. */
function commandJob(starting: Promise<ShellProcess>): JobHandle {
  let running: ShellProcess | undefined;
  let cancelled = false;
  const done = starting.then(
    async (process): Promise<JobOutcome> => {
      running = process;
      if (cancelled) process.kill();
      return outcome(await process.done, cancelled);
    },
    async (error: unknown): Promise<JobOutcome> => {
      // the call that started it goes first: it tells the error itself
      await new Promise((resolve) => { setImmediate(resolve); });
      return { status: 'failed', detail: error instanceof Error ? error.message : String(error) };
    },
  );
  return {
    cancel() {
      cancelled = true;
      running?.kill();
    },
    done,
    readOutput: () => (running === undefined ? '' : renderNew(running.readNew())),
  };
}

function consoleFence(text: string): ToolResultView {
  const fence = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  return { card: 'generic', content: [{ type: 'text', text: `${fence}console\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}` }] };
}

function statusOf(meta: JsonValue | undefined): { exitCode: number | null; signal: string | null } | undefined {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return undefined;
  const { exitCode, signal } = meta;
  if (typeof exitCode !== 'number' && exitCode !== null) return undefined;
  if (typeof signal !== 'string' && signal !== null) return undefined;
  return { exitCode, signal };
}

function presentCall(args: Args): ToolCallView {
  if (args.run_in_background === true) {
    return { card: 'generic', title: args.command, kind: 'execute', rawInput: args.command, content: [{ type: 'text', text: args.description }] };
  }
  return { card: 'terminal', title: args.command, description: args.description, ...(args.workdir !== undefined ? { cwd: args.workdir } : {}) };
}

function presentResult(args: Args, result: ToolResult): ToolResultView | undefined {
  const [block] = result.content;
  if (result.content.length !== 1 || block?.type !== 'text') return undefined;
  if (result.isError || args.run_in_background === true) return consoleFence(block.text);
  const status = statusOf(result.meta);
  if (status === undefined) return { card: 'terminal', ...parseEnd(block.text) };
  const marker = endMarker(status.exitCode, status.signal);
  const output = marker !== undefined && block.text.endsWith(marker) ? block.text.slice(0, -marker.length).replace(/\n$/, '') : block.text;
  return {
    card: 'terminal', output,
    ...(status.signal !== null ? { signal: status.signal } : status.exitCode !== null ? { exitCode: status.exitCode } : {}),
  };
}

/** Registers `bash` or `pwsh`, after the shell that `ctx.shell` runs (B10.14-B10.22). */
export function apply(ctx: Context, config: Config = {}): void {
  const shell: ShellService = ctx.shell;
  const background = config.enableRunInBackground !== false;
  const maxTimeout = config.maxTimeoutMs ?? 600_000;
  const defaultTimeout = config.defaultTimeoutMs ?? 120_000;

  function startJob(args: Args, exec: ToolRunContext, cwd: string): { id: string; started: Promise<ShellProcess> } {
    const jobs = jobsOf(ctx);
    if (exec.signal.aborted) throw new AbortError();
    let started: Promise<ShellProcess> | undefined;
    const id = jobs.start({
      kind: shell.kind,
      label: args.command,
      callId: exec.callId,
      ...(exec.agent !== undefined ? { owner: exec.agent } : {}),
      run: () => {
        started = shell.start({ command: args.command, cwd, callId: exec.callId, ...(exec.agent !== undefined ? { agent: exec.agent } : {}) });
        return commandJob(started);
      },
    });
    return { id, started: started! };
  }

  const cwdOf = (args: Args, exec: ToolExecution): string => path.resolve(exec.agent?.session.cwd ?? process.cwd(), expandHome(args.workdir ?? '.'));
  const look = (args: Args, exec: ToolExecution): void => {
    check(args, background);
    if (args.run_in_background === true) jobsOf(ctx);
    shell.check({ command: args.command, cwd: cwdOf(args, exec) });
  };

  registerWithLook(ctx, defineTool({
    name: shell.kind,
    description: DESCRIPTIONS[shell.kind],
    parameters: background ? PARAMETERS : (BASE_PARAMETERS as unknown as typeof PARAMETERS),
    output: {
      schema: OUTPUT,
      render: (_args, value) => [{
        type: 'text',
        text: value.kind === 'background' ? `started background job ${value.jobId}` : renderForeground(value),
      }],
      presentationMeta: (_args, value): JsonValue => {
        if (value.kind === 'background') return { jobId: value.jobId };
        const files = [value.stdout.spillPath, value.stderr.spillPath].filter((file) => file !== undefined);
        return {
          exitCode: value.exitCode, signal: value.signal, timedOut: value.timedOut,
          truncated: value.stdout.truncated || value.stderr.truncated,
          ...(files.length > 0 ? { files } : {}),
        };
      },
    },
    async execute(args, exec) {
      check(args, background);
      const cwd = cwdOf(args, exec);
      if (args.run_in_background === true) {
        const job = startJob(args, exec, cwd);
        try {
          await job.started;
        } catch (error) {
          // told here and now: a job stopped by its owner is not announced again
          ctx.get('jobs')?.kill(job.id, exec.agent);
          throw error;
        }
        return { kind: 'background' as const, jobId: job.id };
      }
      if (exec.signal.aborted) throw new AbortError();
      const timeoutMs = Math.min(args.timeoutMs ?? defaultTimeout, maxTimeout);
      const running = await shell.start({
        command: args.command, cwd, timeoutMs, signal: exec.signal, callId: exec.callId,
        ...(exec.agent !== undefined ? { agent: exec.agent } : {}),
      });
      const result = await running.done;
      if (result.aborted) throw new AbortError();
      return {
        kind: 'foreground' as const, exitCode: result.exitCode, signal: result.signal, timedOut: result.timedOut, aborted: false, timeoutMs,
        stdout: streamValue(result.stdout), stderr: streamValue(result.stderr),
      };
    },
    presentCall,
    presentResult,
  }), look);
  ctx.systemPrompt.section({ name: `tools:${shell.kind}`, order: 105, text: GUIDANCE[shell.kind] });
}
