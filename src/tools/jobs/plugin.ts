import type { Context } from '@deepseek-ai/cordis';
import { AbortError } from '../../contract/abort.ts';
import { defineTool } from '../../contract/define-tool.ts';
import type { ToolExecution } from '../../contract/tool.ts';
import type {} from '../../jobs/types.ts';
import '../../prompt/system-prompt.ts';
import '../../registry/events.ts';
import { deliverNotices } from './notices.ts';
import type { NoticeConfig } from './notices.ts';
import { jobStatus, jobValue, lastBytes } from './text.ts';

export type Config = NoticeConfig;

export const name = 'tool-jobs';
export const inject = ['tools', 'jobs', 'systemPrompt'];

const DEFAULT_WAIT_MS = 30_000;
const MAX_WAIT_MS = 600_000;

const JOB_FIELDS = {
  id: { type: 'string', required: true },
  kind: { type: 'string', required: true },
  label: { type: 'string', required: true },
  status: { type: 'string', enum: ['running', 'stopping', 'completed', 'killed', 'failed'], required: true },
  detail: { type: 'string' },
  startedAt: { type: 'number', required: true },
  finishedAt: { type: 'number' },
} as const;
const JOB_ID = { type: 'string', description: 'Id of the job, such as bash-1.', required: true } as const;

function checkId(id: string): void {
  if (id === '') throw new Error('invalid job_id: expected a non-empty string, got ""');
}

/** The tools around `ctx.jobs`; while they are loaded, agents may start background jobs (B10.33, J7.10). */
export function apply(ctx: Context, config: Config = {}): void {
  const { jobs } = ctx;

  ctx.tools.register(defineTool({
    name: 'job_output',
    description: 'Read what a background job has printed since the last read, and its status. With wait, the call first waits until the job is over or the time is up; running out of time is no error.',
    parameters: {
      job_id: JOB_ID,
      wait: { type: 'boolean', description: 'Wait for the job to end before reading.' },
      timeout_ms: { type: 'number', description: `Milliseconds to wait at most; default ${DEFAULT_WAIT_MS}, at most ${MAX_WAIT_MS}.` },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: { text: { type: 'string', required: true }, job: { type: 'object', additionalProperties: false, properties: JOB_FIELDS, required: true } },
      },
      render: (_args, { text, job }) => [{ type: 'text', text: `${text === '' ? '(no new output)' : text.replace(/\n$/, '')}\n${jobStatus(job)}` }],
    },
    async execute(args, exec) {
      checkId(args.job_id);
      const { timeout_ms: timeout = DEFAULT_WAIT_MS } = args;
      if (!(Number.isFinite(timeout) && timeout > 0)) throw new Error(`invalid timeout_ms: expected a positive number, got ${timeout}`);
      if (args.wait === true) {
        try {
          await jobs.wait(args.job_id, Math.min(timeout, MAX_WAIT_MS), exec.agent, exec.signal);
        } catch (error) {
          throw exec.signal.aborted ? new AbortError() : error;
        }
      }
      const { text, snapshot } = jobs.read(args.job_id, exec.agent);
      return { text, job: jobValue(snapshot) };
    },
    finalizeContent(exec: Readonly<ToolExecution>, result) {
      const [block] = result.content;
      if (result.isError || result.content.length !== 1 || block?.type !== 'text') return undefined;
      const limit = jobs.get((exec.arguments as { job_id: string }).job_id, exec.agent).outputLimitBytes;
      const text = limit === undefined ? undefined : lastBytes(block.text, limit);
      return text === undefined ? undefined : [{ type: 'text', text }];
    },
    presentCall: (args) => ({ card: 'generic', kind: 'read', title: `Read output from background job ${args.job_id}` }),
  }));

  ctx.tools.register(defineTool({
    name: 'job_list',
    description: 'List the background jobs of this conversation with their status.',
    parameters: {},
    output: {
      schema: { type: 'array', items: { type: 'object', additionalProperties: false, properties: JOB_FIELDS } },
      render: (_args, list) => [{
        type: 'text',
        text: list.length === 0 ? '(no background jobs)' : list.map((job) => `${job.id} [${job.kind}] ${job.status} — ${job.label}`).join('\n'),
      }],
    },
    execute: async (_args, exec) => jobs.list(exec.agent).map(jobValue),
    presentCall: () => ({ card: 'generic', kind: 'read', title: 'List background jobs' }),
  }));

  ctx.tools.register(defineTool({
    name: 'job_kill',
    description: 'Stop a background job with everything it started.',
    parameters: { job_id: JOB_ID, reason: { type: 'string', description: 'Why it is stopped.' } },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          outcome: { type: 'string', enum: ['cancellation-requested', 'already-finished'], required: true },
          job: { type: 'object', additionalProperties: false, properties: JOB_FIELDS, required: true },
        },
      },
      render: (_args, { outcome, job }) => [{
        type: 'text',
        text: outcome === 'already-finished' ? `job ${job.id} had already finished ${jobStatus(job)}` : `requested cancellation of job ${job.id}`,
      }],
    },
    async execute(args, exec) {
      checkId(args.job_id);
      const requested = jobs.kill(args.job_id, exec.agent, args.reason) === 'requested';
      return { outcome: requested ? 'cancellation-requested' as const : 'already-finished' as const, job: jobValue(jobs.get(args.job_id, exec.agent)) };
    },
    presentCall: (args) => ({ card: 'generic', kind: 'execute', title: `Kill background job ${args.job_id}` }),
  }));

  jobs.attachController(name);
  deliverNotices(ctx, config);
  ctx.systemPrompt.section({
    name: 'tools:jobs', order: 106,
    text: 'Background jobs go on while you work; you are told when one ends. Read them with `job_output`, and stop those you no longer need with `job_kill`. Do not poll: wait with `job_output` when there is nothing else to do.',
  });
}
