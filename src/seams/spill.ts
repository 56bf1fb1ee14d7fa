import type { CallId } from '../contract/content.ts';

/** C8.21: texts too big for the model's context, kept under the session. */
export interface SpillText {
  readonly owner: { readonly sessionId: string };
  readonly source: { readonly toolName: string; readonly callId: CallId; readonly label: string };
  readonly suggestedName: string;
  readonly content: string;
}
/** `locator` is a path the read tool accepts; `retrievalHint` one sentence for the model. */
export interface SpilledText { readonly locator: string; readonly retrievalHint: string }

export interface SpillStore {
  saveText(text: SpillText): Promise<SpilledText>;
  /** An absolute directory for a call's own files (shell streams), made on demand. */
  directory(owner: { readonly sessionId: string }): Promise<string>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { spillStore: SpillStore }
}
