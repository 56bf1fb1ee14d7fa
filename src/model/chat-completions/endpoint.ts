import type { LlmModelInfo } from '../types.ts';

/** One service that speaks chat-completions. `id` is the provider's name in requests, logs and settings. */
export interface Endpoint {
  readonly id: string;
  readonly name: string;
  /** Up to, not including, `/chat/completions`. */
  readonly baseURL: string;
  /** `deepseek` adds the thinking switch (M16.4) and insists on `[DONE]` (M16.6); `generic` takes what compatible servers send. */
  readonly dialect: 'deepseek' | 'generic';
  /** Without a key, a request fails with MISSING_CREDENTIAL when true, and is sent without one when false (local servers). */
  readonly needsKey: boolean;
  /** Known models; absent: the endpoint's own `/models` list is asked. */
  readonly models?: readonly LlmModelInfo[];
  /** Sent with every request, besides the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream silent for this long fails with TIMEOUT. Milliseconds; default 300 000. */
  readonly idleTimeoutMs?: number;
}

export const DEEPSEEK_PROVIDER = 'deepseek-official';
export const DEEPSEEK_DEFAULT_MODEL = 'deepseek-v4-flash';
const DEEPSEEK_BASE_URL = 'https://api.deepseek.com';

function deepseekModel(id: string, name: string, description: string, inputModalities: LlmModelInfo['inputModalities']): LlmModelInfo {
  return {
    provider: DEEPSEEK_PROVIDER, id, name, description, contextWindow: 1_000_000, defaultMaxTokens: 256_000, inputModalities,
  };
}

/** The default entry (M16.3). An empty `baseURL` means the public one. */
export function deepseekEndpoint(baseURL?: string): Endpoint {
  return {
    id: DEEPSEEK_PROVIDER,
    name: 'DeepSeek',
    baseURL: baseURL?.trim() || DEEPSEEK_BASE_URL,
    dialect: 'deepseek',
    needsKey: true,
    models: [
      deepseekModel(DEEPSEEK_DEFAULT_MODEL, 'DeepSeek V4 Flash', 'Fast; thinks before it answers', ['text']),
      deepseekModel('deepseek-v4-pro', 'DeepSeek V4 Pro', 'Stronger and slower', ['text']),
      deepseekModel('deepseek-v4-flash-vision-exp', 'DeepSeek V4 Flash Vision', 'Experimental: also sees pictures', ['text', 'image']),
    ],
  };
}

/** The endpoint's URL for `path` (`chat/completions`, `models`), whatever slashes `baseURL` ends in. */
export function endpointURL(endpoint: Endpoint, path: string): string {
  return `${endpoint.baseURL.replace(/\/+$/, '')}/${path}`;
}
