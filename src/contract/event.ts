import type { AskReason } from './ask-reason.ts';
import type { CallId, ContentBlock, ContentBlockType, ToolSchema } from './content.ts';
import type { JsonValue } from './json.ts';
import type { AssistantMessage, ToolResultMessage, UserMessage } from './message.ts';
import type { AgentCancelCause, InboxTarget } from './agent.ts';

/** First line of a session file (L11.7). `cwd` is absolute, `createdAt` is ms since the epoch. */
export interface SessionHeader {
  readonly type: 'session';
  readonly version: 0;
  readonly id: string;
  readonly cwd?: string;
  readonly createdAt: number;
  readonly parentSession?: string;
  readonly seedLength?: number;
  readonly origin?: 'subagent';
  readonly delegationDepth: number;
  readonly agentPreset?: string;
}

/** A model request that failed. `code` per M16.7; `providerRetryAfterMs` in ms. */
export interface LlmFailure {
  readonly message: string; readonly code: string; readonly status?: number; readonly providerRetryAfterMs?: number; readonly requestId?: string;
}
export interface TokenUsage {
  inputTokens: number; outputTokens: number; cacheReadTokens?: number; cacheWriteTokens?: number; reasoningTokens?: number;
}
export type FinishReason =
  | { kind: 'stop' } | { kind: 'tool-calls' } | { kind: 'max-tokens' }
  | { kind: 'aborted'; failure: LlmFailure } | { kind: 'error'; failure: LlmFailure };

/** What a model adapter streams (M16.1): usage precedes finish, nothing follows it. */
export type StreamChunk =
  | { type: 'block-start'; index: number; blockType: ContentBlockType }
  | { type: 'text-delta'; index: number; text: string }
  | { type: 'reasoning-delta'; index: number; text: string }
  | { type: 'tool-call-delta'; index: number; id: CallId; name?: string; argumentsDelta: string }
  | { type: 'block-end'; index: number; block: ContentBlock }
  | { type: 'usage'; usage: TokenUsage }
  | { type: 'finish'; reason: FinishReason; replayState?: unknown };

/** How a turn ended (L11.5). */
export type TurnEndReason =
  | { kind: 'completed' } | { kind: 'aborted'; reason: AgentCancelCause } | { kind: 'blocked' }
  | { kind: 'error'; error: LlmFailure } | { kind: 'max-tokens' } | { kind: 'interrupted' };

export interface TodoItem { content: string; status: 'pending' | 'in_progress' | 'completed' }
export type ApprovalOutcome = 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable';
export type ApprovalPolicy = 'ask' | 'never';
/**
 * What the user allowed for the rest of a session: a tool, one exact command in one folder (a real path), or commands that begin
 * with these words.
 */
export type ApprovalRule =
  | { kind: 'tool'; toolName: string }
  | { kind: 'command'; toolName: string; command: string; cwd: string }
  | { kind: 'command-prefix'; toolName: string; words: string[] };

/** Merge-extensible table of session events (L11.2). No canonical `value` is ever in it (D5.2). */
export interface SessionEventMap {
  'turn/start': { turn: number };
  'turn/end': { turn: number; reason: TurnEndReason };
  'step/start': { turn: number; step: number };
  'step/end': { turn: number; step: number };
  'user/message': UserMessage;
  'assistant/chunk': { turn: number; step: number; chunk: StreamChunk };
  'assistant/message': { turn: number; step: number; message: AssistantMessage; usage?: TokenUsage; interrupted?: true };
  'tool/call': { turn: number; step: number; callId: CallId; name: string; arguments: string };
  'tool/result': { turn: number; step: number; message: ToolResultMessage; error?: { name: string; code: string }; meta?: JsonValue };
  'tool/code-dispatch-start': { rootCallId: CallId; parentCallId: CallId; subCallId: CallId; name: string; arguments: JsonValue };
  'tool/code-dispatch': {
    rootCallId: CallId; parentCallId: CallId; subCallId: CallId; name: string; arguments: JsonValue; isError: boolean; content: ContentBlock[];
  };
  'todo/write': { todos: TodoItem[] };
  /**
   * `why` is the reason as data, where policy gave one of its own; `reason` is always there with it, in English.
   * `remember` names what may be allowed for the rest of the session instead of once.
   */
  'approval/asked': { id: string; toolName: string; callId?: CallId; reason?: string; why?: AskReason; remember?: { label: string } };
  'approval/decided': { id: string; outcome: ApprovalOutcome };
  /** `id` is the request whose offer was taken. */
  'approval/remembered': { id: string; rule: ApprovalRule };
  'approval/policy': { policy: ApprovalPolicy; source?: 'delegation' };
  'permission/preset': { preset: string };
  'agent/inbox/spliced': { target: InboxTarget; start: number; removedCount?: number; inserted: UserMessage[]; outcome?: 'canceled' };
  'request/header': {
    header: { config: { provider: string; model: string; maxTokens?: number; reasoningEffort?: string }; system?: string; tools?: ToolSchema[] };
    reason: 'initial' | 'resume' | 'change';
  };
  'request/context': { provider: string; model: string; contextWindow?: number };
  'llm/retry': { turn: number; step: number; attempt: number; delayMs: number; failure: LlmFailure };
}
export type SessionEventType = keyof SessionEventMap;

/** `replace` swaps the surface entries from event seq `start` to `end` (compaction, pruning; L11.4). */
export type SurfaceOp = 'append' | { op: 'replace'; start: number; end: number };
export interface SurfaceIntent { surfaceOp?: SurfaceOp; sourceEventSeqs?: number[]; ignorable?: true }

/** One record of the log (L11.1): `seq` is contiguous from 0, `time` is ms since the epoch. */
export type SessionEvent<T extends SessionEventType = SessionEventType> = {
  [K in T]: { readonly type: K; readonly seq: number; readonly time: number; readonly data: SessionEventMap[K] } & Readonly<SurfaceIntent>;
}[T];
