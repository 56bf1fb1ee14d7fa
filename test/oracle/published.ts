/**
 * The published packages, loaded without their types: their declarations extend the same cordis interfaces as ours, and
 * one program cannot hold both. Typed by ours instead, which is what the comparison is about.
 */
async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T;
}

export const publishedTools = await load<typeof import('../../src/registry/dsh-tools.ts')>('@deepseek-ai/dsh-tools');
export const publishedPrompt = await load<typeof import('../../src/prompt/dsh-system-prompt.ts')>('@deepseek-ai/dsh-system-prompt');
export const publishedScope = await load<typeof import('../../src/scope/dsh-scope.ts')>('@deepseek-ai/dsh-scope');
export const publishedLlm = await load<{ HarnessError: typeof import('../../src/contract/error.ts').HarnessError } & typeof import('../../src/contract/message.ts')>('@deepseek-ai/dsh-llm');
export const publishedSession = await load<{ isJsonValue(value: unknown): boolean; snapshotJsonValue(value: unknown): unknown }>('@deepseek-ai/dsh-session');
