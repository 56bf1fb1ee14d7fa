import type { Context } from '@deepseek-ai/cordis';
import '../../seams/web.ts';
import { HttpFetchProvider } from './http-fetch.ts';
import type { HttpFetchOptions } from './http-fetch.ts';
import { brave, exa, perplexity, searxng, tavily } from './search-providers.ts';
import type { KeySource } from './search-providers.ts';

/** Search services that want a key; the ids are also what a user chooses by. */
export const KEYED_SEARCH = { exa, perplexity, tavily, brave } as const;
export type KeyedSearchId = keyof typeof KEYED_SEARCH;

export interface Config {
  /** Address of the user's SearXNG server, asked for at every search. */
  readonly searxngUrl?: () => string | undefined;
  /** Where each key is; services without an entry are not offered. */
  readonly keys?: Partial<Record<KeyedSearchId, KeySource>>;
  readonly fetch?: HttpFetchOptions;
}

export const name = 'web-providers';
export const inject = ['web'];

/** Registers the fetcher and the search services that can be set up here (B10.32). */
export function apply(ctx: Context, config: Config = {}): void {
  ctx.web.registerFetchProvider(new HttpFetchProvider(config.fetch));
  if (config.searxngUrl !== undefined) ctx.web.registerSearchProvider(searxng({ url: config.searxngUrl }));
  for (const [id, provider] of Object.entries(KEYED_SEARCH)) {
    const key = config.keys?.[id as KeyedSearchId];
    if (key !== undefined) ctx.web.registerSearchProvider(provider({ key }));
  }
}
