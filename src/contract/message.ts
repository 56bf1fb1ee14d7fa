import type { CallId, ContentBlock, ToolResultBlock } from './content.ts';
import { deepFreeze } from './snapshot.ts';

/** The form of a plugin-sourced context (A6.5); `summary` holds at most 120 characters. */
export type ContextForm =
  | { form?: undefined }
  | { form: 'instructions' }
  | { form: 'catalog' }
  | { form: 'snapshot'; sections: readonly { name: string; text: string }[] }
  | { form: 'notice'; summary: string }
  | { form: 'relay' }
  | { form: 'recall' };

/** Merge-extensible table of message sources (A6.5). */
export interface MessageSourceMap {
  user: { kind: 'user' };
  plugin: { kind: 'plugin'; plugin: string } & ContextForm;
  model: ModelMessageSource;
  tool: ToolMessageSource;
}
export interface ModelMessageSource { kind: 'model'; provider: string; model: string; replayState?: unknown }
export interface ToolMessageSource { kind: 'tool'; callId: CallId }
export type MessageSource = MessageSourceMap[keyof MessageSourceMap];

export interface Message {
  readonly id: string;
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: ContentBlock[];
  readonly source: MessageSource;
}
export interface UserMessage extends Message { readonly role: 'user' }
export interface AssistantMessage extends Message { readonly role: 'assistant'; readonly source: ModelMessageSource }
export interface ToolResultMessage extends Message {
  readonly role: 'user';
  readonly content: [ToolResultBlock];
  readonly source: ToolMessageSource;
}

/** What `agent.inject` and friends accept: id and role are filled in when missing (A6.3). */
export type UserMessageInput = Pick<UserMessage, 'content' | 'source'> & Partial<Pick<UserMessage, 'id' | 'role'>>;

function newId(): string {
  return globalThis.crypto.randomUUID();
}

/** A user-role message with a fresh id, detached and deep-frozen (A6.3). */
export function createUserMessage<T extends Pick<UserMessage, 'content' | 'source'>>(input: T): T & UserMessage {
  return deepFreeze({ ...structuredClone(input), id: newId(), role: 'user' as const });
}

/** Completes what a plugin passed to `inject`, `steer` or `followup` (A6.3). */
export function completeUserMessage(input: UserMessageInput): UserMessage {
  return deepFreeze({ ...structuredClone(input), id: input.id ?? newId(), role: 'user' as const });
}

/** The model's answer of one step, deep-frozen. */
export function createAssistantMessage(
  content: ContentBlock[], source: Omit<ModelMessageSource, 'kind'>,
): AssistantMessage {
  return deepFreeze({ id: newId(), role: 'assistant' as const, content, source: { kind: 'model' as const, ...source } });
}

/** The message that carries one tool's result back to the model (L11.3). */
export function createToolResultMessage(callId: CallId, content: ContentBlock[], isError: boolean): ToolResultMessage {
  const block: ToolResultBlock = { type: 'tool-result', toolCallId: callId, content, ...(isError ? { isError } : {}) };
  return deepFreeze({ id: newId(), role: 'user' as const, content: [block] as [ToolResultBlock], source: { kind: 'tool' as const, callId } });
}
