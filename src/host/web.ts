import * as vscode from 'vscode';
import { KEYED_SEARCH, type Config as ProvidersConfig, type KeyedSearchId } from '../tools/web/providers.ts';
import type { Config as ServiceConfig } from '../tools/web/service.ts';
import type { ApiKeys } from './secrets.ts';
import { setting } from './settings.ts';

/** Search services a key can be set for, with their names for the user. */
export const SEARCH_SERVICES: Readonly<Record<KeyedSearchId, string>> = { exa: 'Exa', perplexity: 'Perplexity', tavily: 'Tavily', brave: 'Brave Search' };

/**
 * How web search and fetch are set up in this window: keys from secret storage, the choice from the settings.
 * @param keep takes what must be disposed with the host
 */
export async function webConfig(keys: ApiKeys, keep: (subscription: vscode.Disposable) => void): Promise<ServiceConfig & ProvidersConfig> {
  const ids = Object.keys(KEYED_SEARCH) as KeyedSearchId[];
  const present = new Set<string>();
  const look = () => Promise.all(ids.map(async (id) => (await keys.get(id)) === undefined ? present.delete(id) : present.add(id)));
  await look();
  keep(keys.onChange(() => void look()));
  return {
    searchProvider: () => setting('webSearch'),
    searxngUrl: () => setting('searxngUrl') || undefined,
    searchSetup: vscode.l10n.t('Run "DSH: Set API Key..." for Exa, Perplexity, Tavily or Brave Search, or set "dshHost.searxngUrl".'),
    keys: Object.fromEntries(ids.map((id) => [id, { available: () => present.has(id), read: () => keys.get(id) }])),
  };
}
