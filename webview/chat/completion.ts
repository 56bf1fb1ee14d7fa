import type { ToolSummary } from '../../src/protocol.ts';

/** What is being completed: the characters from `start` to the caret are replaced. */
export interface CompletionQuery { readonly kind: 'tool' | 'file'; readonly start: number; readonly query: string }
export interface CompletionEntry { readonly insert: string; readonly label: string; readonly detail: string }

/** A `/tool` at the start of the text, or an `@file` after white space, that ends at the caret. */
export function completionAt(text: string, caret: number): CompletionQuery | undefined {
  const before = text.slice(0, caret);
  const tool = /^\/([\w-]*)$/.exec(before);
  if (tool?.[1] !== undefined) return { kind: 'tool', start: 0, query: tool[1] };
  const file = /(?:^|\s)@([^\s@"]{0,200})$/.exec(before);
  return file?.[1] === undefined ? undefined : { kind: 'file', start: caret - file[1].length - 1, query: file[1] };
}

/** Tools whose name starts with the query, then those that contain it. */
export function toolEntries(tools: readonly ToolSummary[], query: string): CompletionEntry[] {
  const wanted = query.toLowerCase();
  const rank = (tool: ToolSummary): number => (tool.name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return tools
    .filter((tool) => tool.name.toLowerCase().includes(wanted))
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
    .map((tool) => ({ insert: `/${tool.name} `, label: `/${tool.name}`, detail: tool.description.split('\n', 1)[0] ?? '' }));
}

/** Files as entries; a path with a space is quoted. */
export function fileEntries(paths: readonly string[]): CompletionEntry[] {
  return paths.map((path) => {
    const at = path.lastIndexOf('/');
    return { insert: /\s/.test(path) ? `@"${path}" ` : `@${path} `, label: path.slice(at + 1), detail: at > 0 ? path.slice(0, at) : '' };
  });
}

/** The text with an entry put in, and where the caret goes. */
export function complete(text: string, caret: number, query: CompletionQuery, entry: CompletionEntry): { text: string; caret: number } {
  const after = text.slice(caret).replace(/^ /, '');
  return { text: text.slice(0, query.start) + entry.insert + after, caret: query.start + entry.insert.length };
}
