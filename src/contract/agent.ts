import type { Context } from '@deepseek-ai/cordis';
import type { Message, UserMessage, UserMessageInput } from './message.ts';
import type { SessionEvent, SessionEventMap, SessionEventType, SessionHeader, SurfaceIntent } from './event.ts';

export type AgentStatus = 'idle' | 'running';

/** Why an agent was stopped. `hook` carries the text a plugin gave. */
export type AgentCancelCause =
  | { readonly kind: 'user' }
  | { readonly kind: 'parent' }
  | { readonly kind: 'hook'; readonly reason: string }
  | { readonly kind: 'disposed' };

/** `next-step` is claimed at the next step boundary, `next-turn` opens a turn of its own (A6.4). */
export type InboxTarget = 'next-turn' | 'next-step';

/** Provider and model that an agent's requests go to; absent fields fall back to the host's selection. */
export interface AgentOptions { provider?: string; model?: string; maxTokens?: number; reasoningEffort?: string }

/** The pending input of an agent, in order. */
export interface Inbox {
  readonly nextTurn: readonly UserMessage[];
  readonly nextStep: readonly UserMessage[];
}

/** One conversation's append-only log (L11.1). `events` is frozen data; `cwd` is absolute. */
export interface Session {
  readonly id: string;
  readonly header: SessionHeader;
  readonly cwd: string;
  readonly events: readonly SessionEvent[];
  /**
   * Appends one event and returns it with `seq` and `time` (ms since the epoch) filled in. Throws when data is not
   * lossless JSON, or on a re-entrant append (L11.1).
   */
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], intent?: SurfaceIntent): SessionEvent<T>;
  /** Model history: the projection of the surface (L11.4). */
  messages(): Message[];
  /** Called after each append; returns the disposer. A throwing listener is logged and isolated. */
  onAppend(listener: (event: SessionEvent) => void): () => void;
  /** Resolves once everything appended so far is on disk (or at once for a session kept in memory). */
  flush(): Promise<void>;
}

/** A running conversation, and the scope key of everything registered for it (A6.1). */
export interface Agent {
  readonly id: string;
  readonly options: AgentOptions;
  readonly session: Session;
  readonly inbox: Inbox;
  readonly status: AgentStatus;
  /** Scoped context: registrations through it are this agent's own (R3.9). */
  readonly ctx: Context;
  cancel(cause: AgentCancelCause, options?: { keepInbox?: boolean }): void;
  whenIdle(): Promise<void>;
  /** Runs `task` while no turn runs; new input waits until it settled. */
  runMaintenance<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T>;
  send(message: UserMessageInput, target: InboxTarget, wakeup: boolean): void;
  /** Next turn, and wake (A6.4). */
  followup(message: UserMessageInput): void;
  /** Next step, and wake (A6.4). */
  steer(message: UserMessageInput): void;
  /** Next step, without waking (A6.2). */
  inject(message: UserMessageInput): void;
}
