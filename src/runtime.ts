import { Context, Logger, type Exporter, type Fiber } from '@deepseek-ai/cordis';
import { Agents, type AgentsConfig } from './agent/agents.ts';
import { JobRuntime } from './jobs/runtime.ts';
import { LlmRuntime } from './model/llm.ts';
import * as retry from './model/retry.ts';
import { Approval, type Config as ApprovalConfig } from './policy/approval.ts';
import * as observation from './policy/observation.ts';
import { Permissions, type PermissionOptions } from './policy/permissions.ts';
import { SystemPrompt } from './prompt/system-prompt.ts';
import { ToolRuntime } from './registry/runtime.ts';
import { Checkpoints } from './review/checkpoints.ts';
import { Review } from './review/review.ts';
import { Sessions } from './session/sessions.ts';
import * as toolAsk from './tools/ask/plugin.ts';
import { UserQuestions } from './tools/ask/service.ts';
import * as toolFs from './tools/fs/plugin.ts';
import * as argumentHints from './tools/hints/plugin.ts';
import * as toolJobs from './tools/jobs/plugin.ts';
import { listKeyFiles } from './tools/search/left-out.ts';
import * as toolSearch from './tools/search/plugin.ts';
import * as toolShell from './tools/shell/plugin.ts';
import * as toolSpill from './tools/spill/plugin.ts';
import * as toolTimeout from './tools/timeout/plugin.ts';
import * as repeatReminder from './tools/timeout/repeat.ts';
import * as toolTodo from './tools/todo/plugin.ts';
import * as toolWeb from './tools/web/plugin.ts';
import * as webProviders from './tools/web/providers.ts';
import { WebRuntime, type Config as WebConfig } from './tools/web/service.ts';

/** Adds a loading plugin to the composition: resolves once it is active, rejects when it can't be. */
export type Mount = (loading: Fiber) => Promise<void>;

/** cordis's state of a plugin that runs; its enum can't be imported from an isolated module. */
const ACTIVE = 2;

export interface RuntimeOptions {
  /** Absolute folder of the session files; absent: sessions live in memory and reviews end with the process. */
  readonly sessionsDir?: string;
  /** Loads what is different on each host: `fs`, `shell`, `ripgrep`, and what else the tools may find (spill store, web). */
  readonly providers: (mount: Mount, ctx: Context) => Promise<void>;
  /** Loads what belongs on top: model adapters, approval answers, workspace plugins. */
  readonly extras?: (mount: Mount, ctx: Context) => Promise<void>;
  readonly agents?: AgentsConfig;
  readonly approval?: ApprovalConfig;
  readonly permissions?: PermissionOptions;
  /** Which web provider is used, and what the search services are set up with. */
  readonly web?: WebConfig & webProviders.Config;
  /** Where log messages go; absent: nowhere. */
  readonly log?: (entry: LogEntry) => void;
  /** Text for the persona section of the system prompt. */
  readonly persona?: string;
}
export interface LogEntry { readonly level: 'error' | 'info' | 'warn' | 'debug'; readonly name: string; readonly text: string }

/** UTF-8 bytes of one result that go to the model as they are (C8.21). */
const MAX_INLINE_BYTES = 50_000;

/** A running core. `dispose` resolves when nothing of it is left. */
export interface Runtime { readonly ctx: Context; dispose(): Promise<void> }

/**
 * Composes the core on a new root context, each plugin awaited before the next (design 2). What fails to load fails the
 * start with its name, and what had been loaded is taken down again.
 */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const ctx = new Context();
  const fibers: Fiber[] = [];
  const mount: Mount = async (fiber) => {
    fibers.push(fiber);
    await fiber;
    if (fiber.state !== ACTIVE) throw new Error(`the plugin "${fiber.name}" did not start: a service it needs is not there`);
  };
  let ending: Promise<void> | undefined;
  const dispose = (): Promise<void> => (ending ??= unload(ctx, fibers));
  try {
    if (options.log) exportLog(ctx, options.log);
    await mountCore(mount, ctx, options);
    return { ctx, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function mountCore(mount: Mount, ctx: Context, options: RuntimeOptions): Promise<void> {
  const { sessionsDir } = options;
  // every context has it, but a plugin that injects it would wait for somebody to provide it (X13.9)
  ctx.provide('logger', ctx.logger);
  await mount(ctx.plugin(SystemPrompt, options.persona === undefined ? {} : { persona: options.persona }));
  await mount(ctx.plugin(ToolRuntime, {}));
  await mount(ctx.plugin(Sessions, sessionsDir === undefined ? {} : { dir: sessionsDir }));
  await mount(ctx.plugin(LlmRuntime));
  await options.providers(mount, ctx);
  await mount(ctx.plugin(JobRuntime, {}));
  await mount(ctx.plugin(Approval, options.approval ?? {}));
  // before the review: what must be asked is asked before a change is shown
  await mount(ctx.plugin(Permissions, { keysIn: (places, cwd) => keysIn(ctx, places, cwd), ...options.permissions }));
  await mount(ctx.plugin(observation));
  if (sessionsDir !== undefined) await mount(ctx.plugin(Checkpoints, { sessions: sessionsDir }));
  await mount(ctx.plugin(Review, {
    ...(sessionsDir === undefined ? {} : { sessions: sessionsDir }),
    mode: (intent) => ctx.permissions.reviewMode(intent),
  }));
  await mount(ctx.plugin(Agents, options.agents ?? {}));
  await mount(ctx.plugin(retry, {}));
  await mount(ctx.plugin(toolFs, {}));
  await mount(ctx.plugin(toolSearch, { sampleOverCapGlobResults: false }));
  await mount(ctx.plugin(toolShell, {}));
  await mount(ctx.plugin(toolJobs, {}));
  await mount(ctx.plugin(toolTodo, { allowParallelInProgress: false }));
  await mount(ctx.plugin(UserQuestions));
  await mount(ctx.plugin(toolAsk));
  await mount(ctx.plugin(WebRuntime, options.web ?? {}));
  await mount(ctx.plugin(webProviders, options.web ?? {}));
  await mount(ctx.plugin(toolWeb, { searchTimeoutMs: 60_000 }));
  await mount(ctx.plugin(toolTimeout, {}));
  await mount(ctx.plugin(toolSpill, { maxInlineBytes: MAX_INLINE_BYTES }));
  await mount(ctx.plugin(repeatReminder));
  await mount(ctx.plugin(argumentHints));
  await mount(ctx.plugin(environment));
  await options.extras?.(mount, ctx);
}

/** Looking through a folder for files with keys, before a command that searches it: given up after this many ms. */
const KEY_SEARCH_MS = 5_000;

async function keysIn(ctx: Context, places: readonly string[], cwd: string): Promise<readonly string[] | undefined> {
  try {
    const program = await ctx.ripgrep.locate();
    return await listKeyFiles({ program, cwd, places, limit: 1, thorough: true, signal: AbortSignal.timeout(KEY_SEARCH_MS) });
  } catch (error) {
    ctx.logger('permissions').warn('a folder could not be looked through for keys, so a command that searches it asks: %s', error);
    return undefined;
  }
}

/** Tells the model where it works. */
const environment = {
  name: 'environment',
  inject: ['systemPrompt'],
  apply(ctx: Context): void {
    ctx.systemPrompt.context({
      name: 'environment',
      order: 0,
      text: ({ agent }) => [
        ...(agent ? [`Working directory: ${agent.session.cwd}`] : []),
        `Platform: ${process.platform}`,
        `Date: ${new Date().toISOString().slice(0, 10)}`,
      ].join('\n'),
    });
  },
};

/** Last loaded, first unloaded; a plugin that fails to end keeps nobody else from ending. */
async function unload(ctx: Context, fibers: readonly Fiber[]): Promise<void> {
  const errors: unknown[] = [];
  for (const fiber of [...fibers].reverse()) {
    try {
      await fiber.dispose();
      while (fiber.inertia) await fiber.inertia;
    } catch (error) {
      errors.push(error);
    }
  }
  await ctx.fiber.dispose();
  if (errors.length > 0) throw new AggregateError(errors, 'some parts did not end cleanly');
}

function exportLog(ctx: Context, write: (entry: LogEntry) => void): void {
  const exporter: Exporter = {
    colors: false,
    // cordis counts warnings as chattier than infos: 2 is "all but debug"
    levels: { default: 2 },
    export: (message) => write({ level: message.type, name: message.name, text: Logger.format(exporter, message) }),
  };
  ctx.logger.exporter(exporter);
}
