import type { SearchFileMatches, SearchLineMatch } from '../../src/contract/presentation.ts';

/** One row of the list of matches or paths. `group` is the place of the file in the page. */
export type ResultRow =
  | { readonly kind: 'file'; readonly group: number; readonly path: string; readonly count: number; readonly open: boolean }
  | { readonly kind: 'line'; readonly group: number; readonly path: string; readonly match: SearchLineMatch; readonly place: number; readonly of: number }
  | { readonly kind: 'path'; readonly group: number; readonly path: string };

/** The rows of grouped matches: those of closed files are left out, those that don't contain `filter` too. */
export function matchRows(files: readonly SearchFileMatches[], closed: ReadonlySet<string>, filter: string): ResultRow[] {
  const wanted = filter.trim().toLowerCase();
  const rows: ResultRow[] = [];
  files.forEach((file, group) => {
    const whole = wanted === '' || file.path.toLowerCase().includes(wanted);
    const matches = whole ? file.matches : file.matches.filter((match) => match.line.toLowerCase().includes(wanted));
    if (matches.length === 0 && !whole) return;
    const open = !closed.has(file.path);
    rows.push({ kind: 'file', group, path: file.path, count: matches.length, open });
    if (open) matches.forEach((match, at) => rows.push({ kind: 'line', group, path: file.path, match, place: at + 1, of: matches.length }));
  });
  return rows;
}

/** The rows of a list of paths. */
export function pathRows(paths: readonly string[], filter: string): ResultRow[] {
  const wanted = filter.trim().toLowerCase();
  return paths.flatMap((path, group): ResultRow[] => (wanted === '' || path.toLowerCase().includes(wanted) ? [{ kind: 'path', group, path }] : []));
}

/** How many results the rows stand for, whether or not their file is open. */
export function countRows(rows: readonly ResultRow[]): number {
  return rows.reduce((sum, row) => sum + (row.kind === 'file' ? row.count : row.kind === 'path' ? 1 : 0), 0);
}

/** Matches as lines of `path:line: text`, paths one a line: for the clipboard. */
export function rowsText(rows: readonly ResultRow[]): string {
  return rows.flatMap((row) => (row.kind === 'line' ? [`${row.path}:${row.match.lineNumber}: ${row.match.line}`] : row.kind === 'path' ? [row.path] : row.open ? [] : [row.path])).join('\n');
}

/** What a key does to the list. */
export type TreeMove = { readonly to: number } | { readonly toggle: string } | undefined;

/** Arrow, Home and End in a tree of `rows`, from the row at `active`; `page` is how many rows fit. */
export function treeMove(rows: readonly ResultRow[], active: number, key: string, page: number): TreeMove {
  const row = rows[active];
  const last = rows.length - 1;
  switch (key) {
    case 'ArrowDown': return { to: Math.min(last, active + 1) };
    case 'ArrowUp': return { to: Math.max(0, active - 1) };
    case 'Home': return { to: 0 };
    case 'End': return { to: last };
    case 'PageDown': return { to: Math.min(last, active + page) };
    case 'PageUp': return { to: Math.max(0, active - page) };
    case 'ArrowRight':
      if (row?.kind !== 'file') return undefined;
      return row.open ? (rows[active + 1]?.kind === 'line' ? { to: active + 1 } : undefined) : { toggle: row.path };
    case 'ArrowLeft':
      if (row?.kind === 'file') return row.open ? { toggle: row.path } : undefined;
      if (row?.kind === 'line') return { to: rows.findLastIndex((other, at) => at < active && other.kind === 'file') };
      return undefined;
    default: return undefined;
  }
}
