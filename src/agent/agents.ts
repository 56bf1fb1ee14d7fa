import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import type { Agent, AgentOptions } from '../contract/agent.ts';
import { HarnessError } from '../contract/error.ts';
import type { SessionEvent } from '../contract/event.ts';
import { createScope, scopeOf } from '../scope/scope.ts';
import type { SessionLog } from '../session/log.ts';
import type {} from '../model/types.ts';
import type {} from '../registry/events.ts';
import { notify } from './events.ts';
import type { LlmCallConfig, SessionStartSource } from './events.ts';
import type { LoopSettings } from './host.ts';
import { LiveAgent } from './live-agent.ts';

declare module '@deepseek-ai/cordis' {
  interface Context { agents: Agents }
}

export interface AgentsConfig {
  /** Where requests go when an agent's options leave it open; asked at each request. */
  defaultModel?: () => Partial<LlmCallConfig> | undefined;
  /** Parallel-safe calls that may overlap (default 10). */
  maxParallelToolCalls?: number;
  /** Requests a turn may take; absent: no limit. */
  maxSteps?: number;
  /** Milliseconds between two logged pieces of a streamed block (default 40); 0 logs every delta. */
  chunkIntervalMs?: number;
  /** Share of the context window from which history is summarised (default 0.8), and what it is brought down to (0.16). 0: never. */
  compactAt?: number;
  compactKeep?: number;
}

/** Composes an agent's scope before anybody sees the agent. It must not drive it. */
export type AgentSetup = (agentCtx: Context) => Promise<void> | void;

export interface CreateAgent {
  /** Shared by the agent and its session; fresh by default. */
  readonly sessionId?: string;
  readonly meta?: {
    readonly cwd?: string; readonly parentSession?: string; readonly origin?: 'subagent'; readonly delegationDepth?: number; readonly agentPreset?: string;
  };
  /** A fork's history: whole turns, numbered from 0. */
  readonly seed?: readonly SessionEvent[];
  readonly agentOptions?: AgentOptions;
  readonly setup?: AgentSetup;
  readonly signal?: AbortSignal;
}
export interface ResumeAgent {
  readonly resumeSessionId: string;
  readonly agentOptions?: AgentOptions;
  readonly setup?: AgentSetup;
  readonly signal?: AbortSignal;
}
/** `dispose` stops the loop, waits for it, unwinds the scope, and closes the session. */
export interface AgentHandle { readonly agent: Agent; dispose(): Promise<void> }

/** `ctx.agents`: the conversations that run here (A6). An agent belongs to the fiber that created it, and to this service. */
export class Agents extends Service {
  static inject = ['sessions', 'systemPrompt', 'tools', 'llm'];

  private readonly home: Context;
  private readonly settings: LoopSettings;
  private readonly agents = new Map<string, LiveAgent>();
  private readonly taken = new Set<string>();

  constructor(ctx: Context, config: AgentsConfig = {}) {
    super(ctx, 'agents');
    this.home = ctx;
    this.settings = {
      maxParallelToolCalls: config.maxParallelToolCalls ?? 10, maxSteps: config.maxSteps, chunkIntervalMs: config.chunkIntervalMs ?? 40,
      defaultModel: config.defaultModel ?? (() => undefined), compactAt: config.compactAt ?? 0.8, compactKeep: config.compactKeep ?? 0.16,
    };
    if (!('agent' in ctx)) ctx.reflect.accessor('agent', { get: () => undefined });
  }

  /** A new agent on a new session. Rejects when the id is taken, or with what `setup` threw; nothing is left then. */
  async create(options: CreateAgent = {}): Promise<AgentHandle> {
    const { sessionId = globalThis.crypto.randomUUID(), meta, seed } = options;
    return this.launch(this.ctx, sessionId, options, 'startup', (agent) => {
      const session = this.home.sessions.create({ id: sessionId, ...meta, ...(seed && { seed }), scope: agent });
      return Promise.resolve(session);
    });
  }

  /** An agent on a stored session, repaired (L11.6); input that was pending when its host stopped is pending again. */
  async resume(options: ResumeAgent): Promise<AgentHandle> {
    const { resumeSessionId } = options;
    return this.launch(this.ctx, resumeSessionId, options, 'resume', (agent) => {
      if (this.home.sessions.get(resumeSessionId)) throw new HarnessError(`session "${resumeSessionId}" is open already`, 'SESSION_EXISTS');
      return this.home.sessions.open(resumeSessionId, { scope: agent });
    });
  }

  get(id: string): Agent | undefined {
    return this.agents.get(id);
  }

  /** Live agents, oldest first. */
  list(): Agent[] {
    return [...this.agents.values()];
  }

  private async launch(
    owner: Context, id: string, options: Pick<CreateAgent, 'agentOptions' | 'setup' | 'signal'>, source: SessionStartSource,
    open: (agent: LiveAgent) => Promise<SessionLog>,
  ): Promise<AgentHandle> {
    const { home, agents, taken } = this;
    options.signal?.throwIfAborted();
    if (taken.has(id)) throw new HarnessError(`agent "${id}" runs already`, 'AGENT_EXISTS');
    taken.add(id);
    const agent = new LiveAgent(home, id, options.agentOptions ?? {}, this.settings);
    const parent = scopeOf(owner);
    let session: SessionLog | undefined;
    let published = false;

    const leave = async (): Promise<void> => {
      if (published) {
        agents.delete(id);
        notify(home, agent.carrier, 'agent/disposed', { agent });
      }
      if (session) await home.get('sessions')?.close(session);
      taken.delete(id);
    };
    const quiesce = async (): Promise<void> => {
      if (!session) return;
      agent.cancel({ kind: 'disposed' });
      await agent.whenIdle();
    };
    // Undone in reverse: the loop comes to rest, then the scope unwinds, then the agent and its session leave.
    const end = home.effect(function* () {
      yield leave;
      const scope = createScope(home, agent, parent && !(parent instanceof LiveAgent) ? { parent } : {});
      agent.enter(scope.ctx.extend({ agent }));
      yield scope.rawDispose;
      yield quiesce;
    }, 'agent');
    let ended: Promise<void> | undefined;
    const dispose = (): Promise<void> => (ended ??= Promise.resolve(end()).then(() => undefined));

    try {
      const release = owner.effect(() => dispose, 'agents.create()');
      session = await open(agent);
      agent.attach(session);
      if (source === 'startup') agent.inbox.discard();
      await options.setup?.(agent.ctx);
      options.signal?.throwIfAborted();
      if (ended) throw new HarnessError(`agent "${id}" was disposed while it was being set up`, 'AGENT_DISPOSED');
      agents.set(id, agent);
      published = true;
      notify(home, agent.carrier, 'agent/created', { agent });
      notify(home, agent.carrier, 'agent/session-start', { agent, source });
      return { agent, dispose: async () => { await release(); await dispose(); } };
    } catch (error) {
      await dispose();
      throw error;
    }
  }
}

export default Agents;
