import type { JsonValue } from '../contract/json.ts';

/** One global object of a program: each function answers one tool. */
export interface CodeBindingNamespace {
  readonly global: string;
  /** By the exact name the program calls; null-prototype (C8.9). */
  readonly functions: Record<string, (args: unknown) => Promise<JsonValue>>;
  /** The error class that rejections arrive as in the program (C8.12). */
  readonly errorClass?: { readonly name: string; readonly memberNameProperty: string };
}
export interface CodeRunRequest {
  /** Body of an async function. */
  readonly program: string;
  readonly bindings: CodeBindingNamespace[];
  readonly signal?: AbortSignal;
}
export type CodeFailureKind = 'exception' | 'timeout' | 'abort' | 'worker-exit' | 'invalid-output' | 'output-limit';
/** `value` is absent when the program returned nothing; `error` is there exactly when it failed (C8.4). */
export interface CodeRunResult {
  readonly value?: JsonValue;
  readonly logs: string[];
  readonly error?: { readonly kind: CodeFailureKind; readonly message: string };
}

/** `ctx.codeRuntime`: runs one program of the code modes. Absent unless something provides it (C8.1). */
export interface CodeRuntime {
  /** `typescript` or `python`: decides which SDK text the model gets. */
  readonly language: string;
  readonly isolation?: string;
  /** Never rejects for what the program does. */
  run(request: CodeRunRequest): Promise<CodeRunResult>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { codeRuntime: CodeRuntime }
}
