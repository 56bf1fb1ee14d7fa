import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';
import type { Scoped } from '../scope/carrier.ts';
import type { SessionLog } from '../session/log.ts';
import type { LlmCallConfig } from './events.ts';
import type { AgentInbox } from './inbox.ts';

/** How the loops of one host behave. */
export interface LoopSettings {
  /** Parallel-safe calls that may overlap (O15.3). */
  readonly maxParallelToolCalls: number;
  /** Requests a turn may take; undefined: as many as it needs (O15.1). */
  readonly maxSteps: number | undefined;
  /** Milliseconds between two logged pieces of one streamed block; 0: every delta (F5). */
  readonly chunkIntervalMs: number;
  /** Where requests go when the agent's own options do not say. */
  readonly defaultModel: () => Partial<LlmCallConfig> | undefined;
  /** Shares of the context window: summarise from, and down to (O15.7). 0 turns compaction off. */
  readonly compactAt: number;
  readonly compactKeep: number;
}

/** What the parts of one agent's loop share. */
export interface LoopHost {
  readonly agent: Agent;
  /** Where services are looked up and events dispatched. */
  readonly ctx: Context;
  readonly carrier: Scoped<Agent>;
  readonly session: SessionLog;
  readonly inbox: AgentInbox;
  readonly settings: LoopSettings;
  /** Call ids used in this session. */
  readonly callIds: Set<CallId>;
}
