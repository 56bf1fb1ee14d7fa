/** What a call's row says of its arguments when the tool itself says nothing (V9.7), and paths as the workspace's user knows them. */

import type { TodoItem } from '../contract/event.ts';
import { cut, LIMITS } from './limits.ts';

const MOST_TODOS = 100;
/** Characters. */
const LONGEST = 120;
const FIELDS = ['description', 'command', 'path', 'file_path', 'url', 'query', 'pattern', 'queries'];

/** One line of the arguments, the most telling first; undefined when none of them tells anything. */
export function summaryOf(args: unknown): string | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const fields = args as Readonly<Record<string, unknown>>;
  for (const name of FIELDS) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const text = Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(', ') : value;
    if (typeof text !== 'string' || text.trim() === '') continue;
    // cut before the pattern runs: an argument may be megabytes
    const line = text.slice(0, LONGEST * 4).replace(/\s+/g, ' ').trim();
    return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
  }
  return undefined;
}

/** The list in a todo call's arguments (B10.34), unless something in it is not as it should be. */
export function todosOf(args: unknown): readonly TodoItem[] | undefined {
  const { todos } = (typeof args === 'object' && args !== null ? args : {}) as { readonly todos?: unknown };
  if (!Array.isArray(todos) || todos.length === 0 || !todos.every(isTodo)) return undefined;
  return todos.slice(0, MOST_TODOS).map(({ content, status }) => ({ content: cut(content.trim(), LIMITS.line), status }));
}

function isTodo(value: unknown): value is TodoItem {
  const { content, status } = (typeof value === 'object' && value !== null ? value : {}) as Partial<Record<keyof TodoItem, unknown>>;
  return typeof content === 'string' && (status === 'pending' || status === 'in_progress' || status === 'completed');
}

/** `text` with paths below the workspace as paths within it. `root` is absolute; anything that only looks like it stays. */
export function withinRoot(text: string, root: string | undefined): string {
  if (root === undefined || root.length < 2 || !text.includes(root)) return text;
  const inner = root.replace(/[\\/]+$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(new RegExp(`(^|[\\s"'\`(\\[:=,])${inner}[\\\\/](?=[^\\s\\\\/])`, 'g'), '$1');
}
