import type { ContentBlock } from './content.ts';

/**
 * Render intents (V9.1): what a tool says about how its call and its result look. Purely data, derived from
 * arguments and `{content, isError, meta}` alone, the same live and on replay (V9.6). Each UI maps a card to
 * its own native view and falls back to `generic` for what it does not know (V9.2).
 */
export type ToolCallKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'fetch' | 'other';

/** A place in a file. `line` is 1-based. `path` is as the tool was given it: absolute, or relative to the session's cwd. */
export interface FileLocation { path: string; line?: number }

/** `oldText` null: a new file, or prior text unknown (V9.5). Texts are LF-normalized. */
export interface FileDiff { path: string; oldText: string | null; newText: string }

export interface GenericCallView {
  card: 'generic'; title: string; kind?: ToolCallKind; rawInput?: unknown; content?: ContentBlock[]; locations?: FileLocation[];
}
/** `title` is the command; `description` is drawn above it; relative `cwd` resolves against the session's cwd (V9.4). */
export interface TerminalCallView { card: 'terminal'; title: string; description?: string; cwd?: string }
export interface DiffCallView { card: 'diff'; title: string; diffs: FileDiff[]; locations?: FileLocation[] }
export type ToolCallView = GenericCallView | TerminalCallView | DiffCallView;

export interface GenericResultView { card: 'generic'; title?: string; content?: ContentBlock[] }
/** `exitCode` and `signal` exclude each other. */
export interface TerminalResultView { card: 'terminal'; title?: string; output?: string; exitCode?: number; signal?: string }
export interface DiffResultView { card: 'diff'; title?: string; diffs: FileDiff[] }
/** `lineNumber` is 1-based. */
export interface SearchLineMatch { lineNumber: number; line: string }
export interface SearchFileMatches { path: string; matches: SearchLineMatch[] }
/** `total` counts everything found, `truncated` says that less is listed here. */
export interface SearchMatchesResultView {
  card: 'search'; shape: 'matches'; title?: string; files: SearchFileMatches[]; truncated: boolean; total: number;
}
export interface SearchPathsResultView {
  card: 'search'; shape: 'paths'; title?: string; paths: string[]; truncated: boolean; total: number;
}
export type SearchResultView = SearchMatchesResultView | SearchPathsResultView;
/** `number` is 1-based. */
export interface ReadFileLine { number: number; text: string }
/** `offset` is the 1-based first line shown; `totalLines` counts the whole file. */
export interface ReadResultView {
  card: 'read'; title?: string; path: string; offset: number; lines: ReadFileLine[]; totalLines: number; lang?: string; content?: ContentBlock[];
}
export interface WebSource { url: string; title?: string; snippet?: string; publishedAt?: string }
export interface WebSearchResultView { card: 'web'; kind: 'search'; title?: string; sources: WebSource[]; answer?: string; truncated: boolean }
export interface WebFetchResultView { card: 'web'; kind: 'fetch'; title?: string; url: string; statusCode: number; truncated: boolean }
export type WebResultView = WebSearchResultView | WebFetchResultView;

export type ToolResultView = GenericResultView | TerminalResultView | DiffResultView | SearchResultView | ReadResultView | WebResultView;
