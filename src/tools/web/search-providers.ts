import type { WebSource } from '../../contract/presentation.ts';
import type { WebSearchProvider, WebSearchResult } from '../../seams/web.ts';
import { WebError } from './error.ts';

/** Sources of one search at most. */
const MAX_SOURCES = 8;
const MAX_SNIPPET_CHARS = 600;
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

/** A secret that is read when it is needed, and never kept. */
export interface KeySource {
  /** Whether there is one, without reading it. */
  available(): boolean;
  read(): Promise<string | undefined>;
}

export interface KeyedOptions {
  readonly key: KeySource;
  /** Address of the service; default: the vendor's. */
  readonly endpoint?: string;
}
export interface SearxngOptions {
  /** Address of the server as the user set it; undefined or '': not set up. */
  readonly url: () => string | undefined;
}

type Json = Record<string, unknown>;

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
function records(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', '#39': "'", '#x27': "'" };

/** Snippets come with marks around the words that were looked for. */
function plain(value: unknown): string | undefined {
  const stripped = text(value)?.replace(/<\/?[a-z][^<>]*>/gi, '').replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole).replace(/\s+/g, ' ').trim();
  if (stripped === undefined || stripped === '') return undefined;
  return stripped.length > MAX_SNIPPET_CHARS ? `${stripped.slice(0, MAX_SNIPPET_CHARS - 1)}…` : stripped;
}

function source(fields: { url: unknown; title?: unknown; snippet?: unknown; publishedAt?: unknown }): WebSource | undefined {
  const url = text(fields.url);
  // what a view will offer to open
  if (url === undefined || !/^https?:\/\//i.test(url)) return undefined;
  const title = plain(fields.title);
  const snippet = plain(fields.snippet);
  const publishedAt = text(fields.publishedAt);
  return { url, ...(title !== undefined ? { title } : {}), ...(snippet !== undefined ? { snippet } : {}), ...(publishedAt !== undefined ? { publishedAt } : {}) };
}

function result(sources: readonly (WebSource | undefined)[], answer?: string): WebSearchResult {
  const found = sources.filter((candidate) => candidate !== undefined);
  return { sources: found.slice(0, MAX_SOURCES), truncated: found.length > MAX_SOURCES, ...(answer !== undefined ? { content: answer } : {}) };
}

async function readCapped(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let body = '';
  let seen = 0;
  for await (const chunk of (response.body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    seen += chunk.length;
    if (seen > MAX_ANSWER_BYTES) throw new Error(`its answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    body += decoder.decode(chunk, { stream: true });
  }
  return body + decoder.decode();
}

/** Asks a service for JSON. The key is in a header only, and in no message. */
async function ask(name: string, url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<Json> {
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, { ...init, signal: signal ?? null, redirect: 'error' });
    body = await readCapped(response);
  } catch (cause) {
    if (signal?.aborted) throw new WebError(`the search with ${name} was stopped`, 'WEB_ABORTED', { cause });
    const inner = (cause as { cause?: unknown }).cause;
    const why = inner instanceof Error ? inner.message : cause instanceof Error ? cause.message : String(cause);
    throw new WebError(`${name} could not be asked: ${why}`, 'WEB_PROVIDER_ERROR', { cause });
  }
  if (!response.ok) {
    const hint = response.status === 401 || response.status === 403 ? ' (check the key, or that JSON answers are switched on)' : '';
    throw new WebError(`${name} answered with HTTP ${response.status}${hint}: ${body.slice(0, 200).replace(/\s+/g, ' ').trim() || 'no text'}`, 'WEB_PROVIDER_ERROR');
  }
  try {
    return record(JSON.parse(body));
  } catch (cause) {
    throw new WebError(`${name} answered with something that is not JSON`, 'WEB_PROVIDER_ERROR', { cause });
  }
}

async function keyOf(name: string, key: KeySource): Promise<string> {
  const value = await key.read();
  if (value === undefined || value === '') throw new WebError(`${name} has no key: set one up`, 'WEB_PROVIDER_CONFIGURED_UNAVAILABLE');
  return value;
}

function post(body: Json, headers: Record<string, string>): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** A SearXNG server of the user's; it must have the JSON format switched on. */
export function searxng({ url }: SearxngOptions): WebSearchProvider {
  return {
    id: 'searxng',
    available: () => (url() ?? '').trim() !== '',
    async search({ query }, signal) {
      const base = (url() ?? '').trim();
      let address: URL;
      try {
        address = new URL(`${base.replace(/\/+$/, '').replace(/\/search$/, '')}/search`);
      } catch (cause) {
        throw new WebError(`the address of the SearXNG server, "${base}", is not a URL`, 'WEB_PROVIDER_ERROR', { cause });
      }
      address.searchParams.set('q', query);
      address.searchParams.set('format', 'json');
      const answer = await ask('SearXNG', address, { headers: { accept: 'application/json' } }, signal);
      const answers = (Array.isArray(answer.answers) ? answer.answers : []).map((entry) => text(entry) ?? text(record(entry).answer)).filter((entry) => entry !== undefined);
      return result(
        records(answer.results).map((hit) => source({ url: hit.url, title: hit.title, snippet: hit.content, publishedAt: hit.publishedDate })),
        answers.length > 0 ? answers.join('\n') : undefined,
      );
    },
  };
}

export function exa({ key, endpoint = 'https://api.exa.ai' }: KeyedOptions): WebSearchProvider {
  return {
    id: 'exa',
    available: () => key.available(),
    async search({ query }, signal) {
      const body = { query, numResults: MAX_SOURCES, type: 'auto', contents: { highlights: { numSentences: 3, highlightsPerUrl: 1 }, text: { maxCharacters: MAX_SNIPPET_CHARS } } };
      const answer = await ask('Exa', new URL('/search', endpoint), post(body, { 'x-api-key': await keyOf('Exa', key) }), signal);
      return result(records(answer.results).map((hit) => source({
        url: hit.url, title: hit.title, publishedAt: hit.publishedDate,
        snippet: (Array.isArray(hit.highlights) ? text(hit.highlights[0]) : undefined) ?? hit.text,
      })));
    },
  };
}

export function perplexity({ key, endpoint = 'https://api.perplexity.ai' }: KeyedOptions): WebSearchProvider {
  return {
    id: 'perplexity',
    available: () => key.available(),
    async search({ query }, signal) {
      const headers = { authorization: `Bearer ${await keyOf('Perplexity', key)}` };
      const answer = await ask('Perplexity', new URL('/search', endpoint), post({ query, max_results: MAX_SOURCES }, headers), signal);
      return result(records(answer.results).map((hit) => source({ url: hit.url, title: hit.title, snippet: hit.snippet, publishedAt: hit.date ?? hit.last_updated })));
    },
  };
}

export function tavily({ key, endpoint = 'https://api.tavily.com' }: KeyedOptions): WebSearchProvider {
  return {
    id: 'tavily',
    available: () => key.available(),
    async search({ query }, signal) {
      const headers = { authorization: `Bearer ${await keyOf('Tavily', key)}` };
      const answer = await ask('Tavily', new URL('/search', endpoint), post({ query, max_results: MAX_SOURCES, include_answer: true }, headers), signal);
      return result(
        records(answer.results).map((hit) => source({ url: hit.url, title: hit.title, snippet: hit.content, publishedAt: hit.published_date })),
        text(answer.answer),
      );
    },
  };
}

export function brave({ key, endpoint = 'https://api.search.brave.com' }: KeyedOptions): WebSearchProvider {
  return {
    id: 'brave',
    available: () => key.available(),
    async search({ query }, signal) {
      const address = new URL('/res/v1/web/search', endpoint);
      address.searchParams.set('q', query);
      address.searchParams.set('count', String(MAX_SOURCES));
      const headers = { accept: 'application/json', 'x-subscription-token': await keyOf('Brave', key) };
      const answer = await ask('Brave', address, { headers }, signal);
      return result(records(record(answer.web).results).map((hit) => source({ url: hit.url, title: hit.title, snippet: hit.description, publishedAt: hit.page_age ?? hit.age })));
    },
  };
}
