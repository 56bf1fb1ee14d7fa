import type { Message } from '../contract/message.ts';
import type { ToolSchema } from '../contract/content.ts';
import type { LlmFailure, StreamChunk } from '../contract/event.ts';
import { HarnessError } from '../contract/error.ts';

/** M16.2. `id` is unique within its provider. Token counts. */
export interface LlmModelInfo {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly contextWindow?: number;
  readonly defaultMaxTokens?: number;
  readonly inputModalities?: readonly ('text' | 'image')[];
}
export interface LlmProviderInfo { readonly id: string; readonly name: string }

export interface GenerateOptions {
  readonly provider: string;
  readonly model: string;
  readonly reasoningEffort?: string;
  readonly messages: readonly Message[];
  readonly system?: string;
  readonly tools?: readonly ToolSchema[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly signal?: AbortSignal;
  readonly sessionId?: string;
  readonly purpose?: 'compaction' | 'session-title';
}

/** A thrown LlmError becomes the terminal finish chunk's failure (M16.2, M16.7). */
export class LlmError extends HarnessError {
  readonly failure: LlmFailure;
  constructor(message: string, code: string, options: ErrorOptions & Omit<Partial<LlmFailure>, 'message' | 'code'> = {}) {
    const { cause, ...rest } = options;
    super(message, code, cause === undefined ? undefined : { cause });
    this.failure = { message, code, ...rest };
  }
}

export interface LlmAdapter {
  providerInfo(provider: string): LlmProviderInfo;
  listModels(provider: string, signal?: AbortSignal): Promise<readonly LlmModelInfo[]>;
  resolveModel(provider: string, model: string, signal?: AbortSignal): Promise<LlmModelInfo>;
  /** Abort ends the stream with an `aborted` finish; errors may be thrown (LlmError) or finished. */
  stream(options: GenerateOptions): AsyncIterable<StreamChunk>;
}

/** `ctx.llm` (M16.2). */
export interface LlmService {
  registerAdapter(providers: readonly string[], adapter: LlmAdapter): () => void;
  listProviders(): readonly LlmProviderInfo[];
  listModels(provider: string, signal?: AbortSignal): Promise<readonly LlmModelInfo[]>;
  resolveModel(provider: string, model: string, signal?: AbortSignal): Promise<LlmModelInfo>;
  /** Never throws while iterating: every stream ends in exactly one `finish`. */
  stream(options: GenerateOptions): AsyncIterable<StreamChunk>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { llm: LlmService }
  interface Events {
    'llm/adapters-updated'(): void;
  }
}
