import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import type { WebFetchProvider, WebFetchRequest, WebFetchResult, WebSearchProvider, WebSearchRequest, WebSearchResult, WebService } from '../../seams/web.ts';
import { WebError } from './error.ts';

/** An id, or how to find out which one the user has chosen now. */
export type ProviderChoice = string | (() => string | undefined);

export interface Config {
  readonly searchProvider?: ProviderChoice;
  readonly fetchProvider?: ProviderChoice;
  /** One sentence for the model and the user: how to set up a search provider in this host. */
  readonly searchSetup?: string;
}

interface Provider { readonly id: string; available(): boolean }

const SETUP = 'set the address of a SearXNG server, or a key for Exa, Perplexity, Tavily or Brave';

function choose<P extends Provider>(what: string, providers: ReadonlyMap<string, P>, choice: ProviderChoice | undefined, setup: string): P {
  const id = typeof choice === 'function' ? choice() : choice;
  if (id !== undefined && id !== '') {
    const chosen = providers.get(id);
    if (chosen === undefined) {
      const known = [...providers.keys()].join(', ') || 'none';
      throw new WebError(`the chosen ${what} provider "${id}" does not exist here (there are: ${known})`, 'WEB_PROVIDER_CONFIGURED_MISSING');
    }
    if (!chosen.available()) {
      throw new WebError(`the chosen ${what} provider "${id}" is not set up: ${setup}`, 'WEB_PROVIDER_CONFIGURED_UNAVAILABLE');
    }
    return chosen;
  }
  const ready = [...providers.values()].filter((provider) => provider.available());
  if (ready.length === 1) return ready[0]!;
  if (ready.length === 0) throw new WebError(`no ${what} provider is set up: ${setup}`, 'WEB_PROVIDER_UNAVAILABLE');
  throw new WebError(`several ${what} providers are set up (${ready.map((provider) => provider.id).join(', ')}): choose one`, 'WEB_PROVIDER_AMBIGUOUS');
}

/** `ctx.web`: the providers that are there, and the one that is chosen (B10.32). */
export class WebRuntime extends Service implements WebService {
  private readonly config: Config;
  private readonly searchers = new Map<string, WebSearchProvider>();
  private readonly fetchers = new Map<string, WebFetchProvider>();

  constructor(ctx: Context, config: Config = {}) {
    super(ctx, 'web');
    this.config = config;
  }

  private add<P extends Provider>(what: string, providers: Map<string, P>, provider: P): () => void {
    if (providers.has(provider.id)) throw new WebError(`there is a ${what} provider "${provider.id}" already`, 'WEB_DUPLICATE_PROVIDER');
    return this.ctx.effect(() => {
      providers.set(provider.id, provider);
      return () => void providers.delete(provider.id);
    }, `web ${what} provider "${provider.id}"`);
  }

  registerSearchProvider(provider: WebSearchProvider): () => void {
    return this.add('search', this.searchers, provider);
  }

  registerFetchProvider(provider: WebFetchProvider): () => void {
    return this.add('fetch', this.fetchers, provider);
  }

  private searcher(): WebSearchProvider {
    return choose('web search', this.searchers, this.config.searchProvider, this.config.searchSetup ?? SETUP);
  }

  private fetcher(): WebFetchProvider {
    return choose('web fetch', this.fetchers, this.config.fetchProvider, 'none is part of this composition');
  }

  checkSearch(): void {
    this.searcher();
  }

  checkFetch(request: WebFetchRequest): void {
    this.fetcher().check?.(request);
  }

  /** Of more sources than `maxResults` the first are kept, and the result says so. */
  async search(request: WebSearchRequest, signal?: AbortSignal): Promise<WebSearchResult> {
    if (signal?.aborted) throw new WebError('the search was stopped', 'WEB_ABORTED');
    const result = await this.searcher().search(request, signal);
    const { maxResults = Infinity } = request;
    return result.sources.length > maxResults ? { ...result, sources: result.sources.slice(0, maxResults), truncated: true } : result;
  }

  async fetch(request: WebFetchRequest, signal?: AbortSignal): Promise<WebFetchResult> {
    if (signal?.aborted) throw new WebError('the fetch was stopped', 'WEB_ABORTED');
    return this.fetcher().fetch(request, signal);
  }
}
