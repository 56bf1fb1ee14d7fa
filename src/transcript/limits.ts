import type { ContentBlock } from '../contract/content.ts';

/** What a card carries at most: the rest is one click away in a native view, or in the log. Characters unless it says lines. */
export const LIMITS = {
  resultText: 20_000, output: 20_000, input: 4_000, error: 300, line: 500, readLines: 20_000, diffRows: 400, searchLines: 500, sources: 50, streamedInput: 1_000,
} as const;

/** The first `length` characters, with a mark where the rest was. Never half a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = isLowSurrogate(text.charCodeAt(length)) ? length - 1 : length;
  return `${text.slice(0, end)}…`;
}

/** The last `length` characters: what matters of a command's output is at its end. */
export function cutHead(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** The text of content blocks; other kinds leave a mark. */
export function plainText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' || block.type === 'reasoning' ? block.text : `[${block.type}]`)).join('\n');
}

/** A card's raw input: text as it is, JSON indented. */
export function inputText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return cut(typeof value === 'string' ? value : json(value), LIMITS.input);
}

/** What nests deeper than the stack carries is not shown. */
function json(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch {
    return '…';
  }
}
