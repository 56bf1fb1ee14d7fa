import { createRequire } from 'node:module';

/**
 * The published packages, loaded without their types: their declarations extend the same cordis interfaces as ours, and
 * one program cannot hold both. Typed by ours instead, which is what the comparison is about.
 */
const require = createRequire(import.meta.url);

function load<T>(name: string): T {
  return require(name) as T;
}

export const publishedTools = load<typeof import('../../src/registry/dsh-tools.ts')>('@deepseek-ai/dsh-tools');
export const publishedPrompt = load<typeof import('../../src/prompt/dsh-system-prompt.ts')>('@deepseek-ai/dsh-system-prompt');
export const publishedScope = load<typeof import('../../src/scope/dsh-scope.ts')>('@deepseek-ai/dsh-scope');
export const publishedLlm = load<{ HarnessError: typeof import('../../src/contract/error.ts').HarnessError } & typeof import('../../src/contract/message.ts')>('@deepseek-ai/dsh-llm');
export const publishedSession = load<{ isJsonValue(value: unknown): boolean; snapshotJsonValue(value: unknown): unknown }>('@deepseek-ai/dsh-session');
