import type { JsonValue } from '../../contract/json.ts';
import type { SearchFileMatches, SearchResultView } from '../../contract/presentation.ts';
import type { ToolResult } from '../../contract/tool.ts';

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFile(value: unknown): value is SearchFileMatches {
  return isRecord(value) && typeof value.path === 'string' && Array.isArray(value.matches)
    && value.matches.every((match) => isRecord(match) && Number.isInteger(match.lineNumber) && typeof match.line === 'string');
}

/** The result card from the logged meta; undefined for errors and for meta that is not ours (V9.2, B10.28). */
export function searchView(result: ToolResult): SearchResultView | undefined {
  const meta: JsonValue | undefined = result.meta;
  if (result.isError || !isRecord(meta)) return undefined;
  const { shape, truncated, total, files, paths } = meta;
  if (typeof truncated !== 'boolean' || typeof total !== 'number') return undefined;
  if (shape === 'matches' && Array.isArray(files) && files.every(isFile)) {
    return { card: 'search', shape, files: files as unknown as SearchFileMatches[], truncated, total };
  }
  if (shape === 'paths' && Array.isArray(paths) && paths.every((file) => typeof file === 'string')) {
    return { card: 'search', shape, paths: paths as string[], truncated, total };
  }
  return undefined;
}
