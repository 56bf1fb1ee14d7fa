import type { Context, Events } from '@deepseek-ai/cordis';
import type { Agent, AgentStatus } from '../contract/agent.ts';
import type { LlmFailure } from '../contract/event.ts';
import type { UserMessage } from '../contract/message.ts';
import type { Scoped } from '../scope/carrier.ts';

/** Whether a proposed step is entered, and with which messages (O15.1). */
export type PreStepDecision = { readonly kind: 'reject' } | { readonly kind: 'enter'; readonly messages: UserMessage[] };
/** `retry` sends the same request again, in the same step (O15.6). */
export type RequestErrorAction = { readonly kind: 'retry' } | undefined;
/** Where a request goes. Listeners of `agent/request` may answer another one. */
export interface LlmCallConfig { readonly provider: string; readonly model: string; readonly maxTokens?: number; readonly reasoningEffort?: string }
export type SessionStartSource = 'startup' | 'resume' | 'clear' | 'compact';

declare module '@deepseek-ai/cordis' {
  interface Context {
    /** The agent whose scope this context belongs to; undefined elsewhere. */
    agent?: Agent;
  }
  /** A6.6. All of them are scope-filtered: a listener on `agent.ctx` hears of that agent only. */
  interface Events {
    'agent/created'(this: Scoped<Agent>, payload: { agent: Agent }): void;
    'agent/disposed'(this: Scoped<Agent>, payload: { agent: Agent }): void;
    'agent/status'(this: Scoped<Agent>, payload: { agent: Agent; status: AgentStatus }): void;
    'agent/inbox/inserted'(this: Scoped<Agent>, payload: { agent: Agent; message: UserMessage }): void;
    'agent/inbox/claimed'(this: Scoped<Agent>, payload: { agent: Agent; message: UserMessage; turn: number }): void;
    'agent/inbox/discarded'(this: Scoped<Agent>, payload: { agent: Agent; message: UserMessage }): void;
    'agent/session-start'(this: Scoped<Agent>, payload: { agent: Agent; source: SessionStartSource }): void;
    'agent/error'(this: Scoped<Agent>, payload: { agent: Agent; turn: number; step: number; error: unknown }): void;
    /** Waterfall: reject a step or change what enters it. */
    'agent/pre-step'(
      this: Scoped<Agent>, payload: { agent: Agent; messages: UserMessage[]; turn: number; step: number; signal: AbortSignal },
      next: () => Promise<PreStepDecision>,
    ): Promise<PreStepDecision>;
    /** Waterfall: choose provider and model of a request. */
    'agent/request'(
      this: Scoped<Agent>, payload: { agent: Agent; turn: number; step: number; signal: AbortSignal }, next: () => Promise<LlmCallConfig>,
    ): Promise<LlmCallConfig>;
    /** Waterfall: own the recovery of a failed request. The default gives up. */
    'agent/request-error'(
      this: Scoped<Agent>,
      payload: { agent: Agent; turn: number; step: number; provider: string; failure: LlmFailure; signal: AbortSignal },
      next: () => Promise<RequestErrorAction>,
    ): Promise<RequestErrorAction>;
    /** Serial: the turn is about to end. A listener that objects steers. */
    'agent/turn-stopping'(this: Scoped<Agent>, payload: { agent: Agent; turn: number; signal: AbortSignal }): Promise<void> | void;
  }
}

type Notification =
  | 'agent/created' | 'agent/disposed' | 'agent/status' | 'agent/inbox/inserted' | 'agent/inbox/claimed' | 'agent/inbox/discarded'
  | 'agent/session-start' | 'agent/error';

type Payload<K extends Notification> = Parameters<Events[K]>[0];

/** Calls every listener; what one throws or rejects with is logged and stops neither the others nor the agent. */
export function notify<K extends Notification>(
  ctx: Context, carrier: Scoped<Agent>, name: K, payload: Payload<K>,
): void {
  const failed = (error: unknown) => ctx.logger('agent').error(error);
  for (const listener of ctx.events.dispatch('emit', [carrier, name, payload])) {
    try {
      const returned: unknown = listener(payload);
      if (returned instanceof Promise) returned.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}
