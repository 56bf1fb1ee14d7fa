import { defineTool } from '../../contract/define-tool.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { WebSource } from '../../contract/presentation.ts';
import type { ToolDefinition, ToolResult } from '../../contract/tool.ts';
import type { WebSearchResult, WebService } from '../../seams/web.ts';

const MAX_QUERIES = 4;
/** Sources of one call at most (B10.29). */
const MAX_SOURCES = 8;

/** The queries, each once. Throws what B10.29 rejects. */
export function checkedQueries(queries: readonly string[]): string[] {
  if (queries.length === 0) throw new Error('queries must contain at least one query');
  if (queries.length > MAX_QUERIES) throw new Error(`queries must contain at most ${MAX_QUERIES} queries`);
  if (queries.some((query) => query.trim() === '')) throw new Error('each query must be a non-empty string');
  return [...new Set(queries)];
}

/** All at once; the first that fails stops the others (B10.29). */
async function searchAll(web: WebService, queries: readonly string[], signal: AbortSignal): Promise<WebSearchResult[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    return await Promise.all(queries.map((query) => web.search({ query }, either)));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
}

/** First ranks first, each address once (B10.29). */
function merge(queries: readonly string[], results: readonly WebSearchResult[]): { content?: string; sources: WebSource[]; truncated: boolean } {
  const sources: WebSource[] = [];
  const seen = new Set<string>();
  const longest = Math.max(...results.map((result) => result.sources.length));
  for (let rank = 0; rank < longest; rank++) {
    for (const { sources: own } of results) {
      const candidate = own[rank];
      if (candidate === undefined || seen.has(candidate.url)) continue;
      seen.add(candidate.url);
      sources.push(candidate);
    }
  }
  const answers = results.map(({ content }, index) => (content === undefined || content === '' ? undefined : queries.length === 1 ? content : `### ${queries[index]}\n\n${content}`)).filter((answer) => answer !== undefined);
  return {
    sources: sources.slice(0, MAX_SOURCES),
    truncated: sources.length > MAX_SOURCES || results.some((result) => result.truncated),
    ...(answers.length > 0 ? { content: answers.join('\n\n') } : {}),
  };
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return url;
  }
}

function sourceLine({ url, title, snippet, publishedAt }: WebSource): string {
  const label = (title ?? hostOf(url)).replace(/[[\]]/g, '\\$&');
  return `- [${label}](${url})${snippet !== undefined ? ` — ${snippet}` : ''}${publishedAt !== undefined ? ` (${publishedAt})` : ''}`;
}

/** B10.30. */
export function renderSearch({ content, sources, truncated }: { content?: string; sources: readonly WebSource[]; truncated: boolean }): string {
  const parts: string[] = [];
  if (content !== undefined) parts.push(content);
  if (sources.length > 0) parts.push(`Sources:\n${sources.map(sourceLine).join('\n')}`);
  else parts.push('No results found.');
  if (truncated) parts.push(`(Showing the first ${sources.length} sources. Refine the query for more.)`);
  if (sources.length > 0) parts.push('Name the sources you use, as links, in your answer.');
  return parts.join('\n\n');
}

function isSource(value: unknown): value is WebSource {
  if (typeof value !== 'object' || value === null) return false;
  const { url, title, snippet, publishedAt } = value as Record<string, unknown>;
  return typeof url === 'string' && [title, snippet, publishedAt].every((field) => field === undefined || typeof field === 'string');
}

function presentResult(queries: readonly string[], { isError, meta }: ToolResult) {
  if (isError || typeof meta !== 'object' || meta === null || Array.isArray(meta)) return undefined;
  const { sources, truncated, answer } = meta as { [key: string]: JsonValue };
  if (!Array.isArray(sources) || !(sources as unknown[]).every(isSource) || typeof truncated !== 'boolean') return undefined;
  return {
    card: 'web' as const, kind: 'search' as const, title: queries.join(', '), sources: sources as unknown as WebSource[], truncated,
    ...(typeof answer === 'string' ? { answer } : {}),
  };
}

/** B10.29, B10.30. */
export function webSearchTool(web: WebService, timeoutMs: number): ToolDefinition {
  return defineTool({
    name: 'web_search',
    description: 'Search the web and get sources with short excerpts, and an answer where the search service gives one. Several queries of one call run at the same time. Read a source with web_fetch.',
    parameters: {
      queries: { type: 'array', items: { type: 'string' }, description: `One to ${MAX_QUERIES} queries.`, required: true },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          content: { type: 'string' },
          sources: {
            type: 'array', required: true,
            items: {
              type: 'object', additionalProperties: false,
              properties: { url: { type: 'string', required: true }, title: { type: 'string' }, snippet: { type: 'string' }, publishedAt: { type: 'string' } },
            },
          },
          truncated: { type: 'boolean', required: true },
        },
      },
      render: (_args, value) => [{ type: 'text', text: renderSearch(value) }],
      presentationMeta: (_args, { content, sources, truncated }): JsonValue => ({
        sources: sources as unknown as JsonValue, truncated, ...(content !== undefined ? { answer: content } : {}),
      }),
    },
    timeoutMs,
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      const queries = checkedQueries(args.queries);
      return merge(queries, await searchAll(web, queries, exec.signal));
    },
    presentCall: (args) => ({ card: 'generic', kind: 'search', title: `Search the web for ${args.queries.join(', ')}`, rawInput: args.queries.join('\n') }),
    presentResult: (args, result) => presentResult(args.queries, result),
  });
}
