import { HarnessError } from '../../contract/error.ts';
import { toLf } from '../../text/endings.ts';
import { replaceText } from '../../text/replace.ts';
import type { Replacement } from '../../text/replace.ts';
import { applySplices } from '../../text/splice.ts';
import type { Splice } from '../../text/splice.ts';
import { stringSpans } from './json-spans.ts';

/** Jupyter notebooks are edited by cell, and an edit that breaks the notebook is refused (A21). */
export function isNotebook(path: string): boolean {
  return path.toLowerCase().endsWith('.ipynb');
}

/** Throws unless the notebook is still one after the splices. */
export function checkNotebook(text: string, splices: readonly Splice[], shownPath: string): void {
  if (cellsOf(applySplices(text, splices)) !== undefined) return;
  if (cellsOf(text) === undefined) return; // it was broken before: repairing it must stay possible
  throw new HarnessError(
    `cannot edit "${shownPath}": the result would not be a valid notebook — give the text of one cell as old_string, or keep the JSON intact`,
    'FS_NOTEBOOK',
  );
}

/** Throws when a whole new content would not be a notebook. Emptying a file is allowed (A17). */
export function checkNotebookContent(content: string, shownPath: string): void {
  if (content.trim() === '' || cellsOf(content.replace(/^\uFEFF/, '')) !== undefined) return;
  throw new HarnessError(
    `cannot write "${shownPath}": the content is not a valid notebook — a .ipynb file is JSON with a list of cells`, 'FS_NOTEBOOK',
  );
}

/**
 * Replaces text inside the sources of cells, written as a person sees it. Only the changed cell's `source` is written
 * anew, in the form it had (list of lines, or one string).
 */
export function replaceInNotebook(text: string, shownPath: string, oldText: string, newText: string, all: boolean): Replacement {
  const none = { count: 0, lines: [], splices: [] };
  if (cellsOf(text) === undefined) return none;
  const sources = sourceSpans(text, shownPath);
  const found = sources.map((source) => ({ source, replacement: replaceText(source.value, oldText, newText, all) }));
  const hits = found.filter(({ replacement }) => replacement.count > 0);
  const count = hits.reduce((sum, { replacement }) => sum + replacement.count, 0);
  if (count === 0 || (count > 1 && !all)) return { count, lines: [], splices: [] };
  return {
    count, lines: [],
    splices: hits.map(({ source, replacement }) => ({
      start: source.start, end: source.end, text: source.write(applySplices(source.value, replacement.splices)),
    })),
  };
}

function cellsOf(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || !('cells' in parsed) || !Array.isArray(parsed.cells)) return undefined;
    return parsed.cells;
  } catch {
    return undefined;
  }
}

interface SourceSpan { readonly start: number; readonly end: number; readonly value: string; write(value: string): string }

/** Where each cell's `source` stands in the JSON, what it says, and how to write it in the same layout. */
function sourceSpans(text: string, shownPath: string): SourceSpan[] {
  const spans = stringSpans(text, (path) => path[0] === 'cells' && path[2] === 'source' && path.length === 3);
  return spans.map(({ start, end }) => {
    const raw = text.slice(start, end);
    const parsed: unknown = JSON.parse(raw);
    if (typeof parsed === 'string') return { start, end, value: parsed, write: (value) => JSON.stringify(value) };
    if (!Array.isArray(parsed) || !parsed.every((line) => typeof line === 'string')) {
      throw new HarnessError(`cannot edit "${shownPath}": a cell's source is neither text nor a list of lines`, 'FS_NOTEBOOK');
    }
    const layout = /^\[(\s*)[\s\S]*?(\s*)\]$/.exec(raw);
    const [open, close] = [layout?.[1] ?? '', layout?.[2] ?? ''];
    return {
      start, end, value: parsed.join(''),
      write(value) {
        const lines = toLf(value).split(/(?<=\n)/).filter((line) => line !== '').map((line) => JSON.stringify(line));
        return lines.length === 0 ? '[]' : `[${open}${lines.join(`,${open || ' '}`)}${close}]`;
      },
    };
  });
}
