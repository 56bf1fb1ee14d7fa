import type { Agent } from './agent.ts';
import type { CallId, ContentBlock, ToolSchema } from './content.ts';
import type { JsonValue } from './json.ts';
import type { JsonSchemaNode } from './json-schema.ts';
import type { UserMessage } from './message.ts';
import type { ToolCallView, ToolResultView } from './presentation.ts';

/** The return contract of a tool: one canonical JSON value, its text for the model, and its durable card data. */
export interface ToolOutputDefinition {
  readonly schema: JsonSchemaNode;
  render(args: unknown, value: JsonValue): ContentBlock[];
  /** Projected only for calls without a parent (P4.21); logged, handed to `presentResult`. */
  presentationMeta?(args: unknown, value: JsonValue): JsonValue;
}

/** What the registry runs (T2.2). Borrowed, not copied (R3.5). */
export interface ToolDefinition extends ToolSchema {
  readonly output: ToolOutputDefinition;
  execute(args: unknown, exec: ToolRunContext): Promise<unknown>;
  finalizeContent?(exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>): ContentBlock[] | undefined;
  /** Policy metadata in ms; the registry never enforces it (T2.3). */
  timeoutMs?: number;
  isConcurrencySafe?(args: unknown): boolean;
  presentCall?(args: unknown): ToolCallView | undefined;
  presentResult?(args: unknown, result: ToolResult): ToolResultView | undefined;
}

/** What a result presenter sees, live and on replay (V9.6). */
export interface ToolResult { content: ContentBlock[]; isError: boolean; meta?: JsonValue }

declare const tokenBrand: unique symbol;
/** Opaque identity of one execution (P4.3). */
export type ToolExecutionToken = symbol & { readonly [tokenBrand]: true };

/** Argument of `ctx.tools.execute` (R3.16). */
export interface ToolExecutionInput {
  readonly callId: CallId;
  readonly rootCallId?: CallId;
  readonly name: string;
  readonly arguments: unknown;
  readonly agent?: Agent;
  readonly parent?: ToolExecutionToken;
  readonly signal: AbortSignal;
}
export interface ToolExecution extends ToolExecutionInput { readonly rootCallId: CallId; readonly token: ToolExecutionToken }
/** Inside `tools/execute` the signal may be replaced and must be restored (P4.18). */
export interface ToolDispatchExecution extends Omit<ToolExecution, 'signal'> { signal: AbortSignal }
/** What a body sees. */
export interface ToolRunContext extends ToolExecution {
  /** Hands the model one more message with this result (P4.26). */
  deferContext(context: UserMessage): void;
  /** Ends the turn after this batch when the call succeeds (P4.35). */
  concludeTurn(): void;
}

export type ToolExecutionMode = { kind: 'parallel' } | { kind: 'exclusive' };
export interface ToolErrorInfo { name: string; code: string }
export interface ToolFailure { message: string; info?: ToolErrorInfo }

/** D5.1. `value` is execution-local and never persisted (D5.2). */
export interface ToolExecutionSuccess {
  readonly isError: false; readonly value: JsonValue; readonly content: ContentBlock[]; readonly error?: never;
  readonly meta?: JsonValue; readonly additionalContexts?: UserMessage[]; readonly concludesTurn?: true;
}
export interface ToolExecutionFailure {
  readonly isError: true; readonly error: ToolFailure; readonly value?: never; readonly content: ContentBlock[];
  readonly meta?: JsonValue; readonly additionalContexts?: UserMessage[]; readonly concludesTurn?: never;
}
export type ToolExecutionResult = ToolExecutionSuccess | ToolExecutionFailure;

/** P4.9. */
export type PreToolDecision = { kind: 'allow' } | { kind: 'deny'; reason: string } | { kind: 'ask'; reason?: string };
/** P4.27: `content` or `value`, never both. */
export type PostToolDecision =
  | { kind: 'accept'; content?: ContentBlock[]; value?: never; additionalContexts?: UserMessage[] }
  | { kind: 'accept'; value: JsonValue; content?: never; additionalContexts?: UserMessage[] }
  | { kind: 'block'; feedback: ContentBlock[]; additionalContexts?: UserMessage[] };

export type ToolPresentationMode = 'native' | 'code' | 'both';
export interface ToolRestriction { readonly allow?: readonly string[]; readonly deny?: readonly string[] }
/** Any string denies, also `''` (P4.17). */
export type ToolGuard = (execution: Readonly<ToolExecution>) => string | undefined;
