/** What plugins get as `@deepseek-ai/dsh-llm`, as far as a tool plugin needs it (X13.8). */
import type { CallId as CallIdType, ContentBlock } from '../contract/content.ts';
import { HarnessError } from '../contract/error.ts';
import { createAssistantMessage as assistantMessage, createToolResultMessage as toolResultMessage } from '../contract/message.ts';
import type { AssistantMessage, Message, ModelMessageSource, ToolResultMessage } from '../contract/message.ts';
import { deepFreeze } from '../contract/snapshot.ts';

export { HarnessError } from '../contract/error.ts';
export { assertNever } from '../contract/never.ts';
export { deepFreeze } from '../contract/snapshot.ts';
export { createUserMessage } from '../contract/message.ts';
export { LlmRuntime, LlmRuntime as default } from '../model/llm.ts';
export { LlmError } from '../model/types.ts';
export type { GenerateOptions, LlmAdapter, LlmModelInfo, LlmProviderInfo } from '../model/types.ts';
export type { FinishReason, LlmFailure, StreamChunk, TokenUsage } from '../contract/event.ts';
export type {
  ContentBlock, ContentBlockMap, ContentBlockType, ImageAttachmentRef, ImageBlock, ReasoningBlock, TextBlock, ToolCallBlock,
  ToolResultBlock, ToolSchema,
} from '../contract/content.ts';
export type {
  AssistantMessage, ContextForm, Message, MessageSource, MessageSourceMap, ModelMessageSource, ToolMessageSource, ToolResultMessage,
  UserMessage,
} from '../contract/message.ts';

export type CallId = CallIdType;
/** Marks a string as a call id; the string itself is the id. */
export function CallId(id: string): CallId {
  return id;
}

export type MessageId = string;
/** Marks a string as a message id; the string itself is the id. */
export function MessageId(id: string): MessageId {
  return id;
}

/** A detached, deep-frozen copy of a message that has its id. */
export function freezeMessage<T extends Message>(message: T): T {
  return deepFreeze(structuredClone(message));
}

/** A message of any role with a fresh id, detached and deep-frozen. */
export function createMessage<T extends Omit<Message, 'id'>>(input: T): T & Pick<Message, 'id'> {
  return deepFreeze({ ...structuredClone(input), id: globalThis.crypto.randomUUID() });
}

export function createAssistantMessage(input: { content: ContentBlock[]; source: Omit<ModelMessageSource, 'kind'> }): AssistantMessage {
  return assistantMessage(structuredClone(input.content), input.source);
}

export function createToolResultMessage(input: { callId: CallId; content: ContentBlock[]; isError: boolean }): ToolResultMessage {
  return toolResultMessage(input.callId, structuredClone(input.content), input.isError);
}

/** Whether any block is an image, also inside tool results. */
export function contentHasImage(content: readonly ContentBlock[]): boolean {
  return content.some((block) => block.type === 'image' || (block.type === 'tool-result' && contentHasImage(block.content)));
}

/** Longest summary of a notice, in characters (A6.5). */
export const CONTEXT_SUMMARY_MAX_CHARS = 120;

/** A summary cut to `CONTEXT_SUMMARY_MAX_CHARS`, with an ellipsis where it was cut. */
export function boundContextSummary(summary: string): string {
  return summary.length > CONTEXT_SUMMARY_MAX_CHARS ? `${summary.slice(0, CONTEXT_SUMMARY_MAX_CHARS - 1)}…` : summary;
}

/** Whether a caught value is an error of the host's own class, not a look-alike. */
export function isHarnessError(value: unknown): value is HarnessError {
  return value instanceof HarnessError;
}
