import type { WebSource } from '../contract/presentation.ts';

/** B10.29-B10.32. */
export interface WebSearchResult { readonly content?: string; readonly sources: readonly WebSource[]; readonly truncated: boolean }
export interface WebFetchResult {
  readonly url: string;
  readonly statusCode: number;
  readonly body: { readonly kind: 'html' | 'text'; readonly content: string };
  readonly truncated: boolean;
}
export interface WebSearchRequest { readonly query: string; /** Sources wanted at most. */ readonly maxResults?: number }
export interface WebFetchRequest { readonly url: string }
export interface WebSearchProvider {
  readonly id: string;
  available(): boolean;
  search(request: WebSearchRequest, signal?: AbortSignal): Promise<WebSearchResult>;
}
export interface WebFetchProvider {
  readonly id: string;
  available(): boolean;
  /** Throws what `fetch` is going to throw, as far as that can be told without asking anybody. */
  check?(request: WebFetchRequest): void;
  fetch(request: WebFetchRequest, signal?: AbortSignal): Promise<WebFetchResult>;
}
export interface WebService {
  registerSearchProvider(provider: WebSearchProvider): () => void;
  registerFetchProvider(provider: WebFetchProvider): () => void;
  /** Throws when no search can be made: no provider is set up, several are. */
  checkSearch(): void;
  /** Throws what `fetch` is going to throw, as far as that can be told without sending anything. */
  checkFetch(request: WebFetchRequest): void;
  search(request: WebSearchRequest, signal?: AbortSignal): Promise<WebSearchResult>;
  fetch(request: WebFetchRequest, signal?: AbortSignal): Promise<WebFetchResult>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { web: WebService }
}
