import {
  dominantEnding, endingAround, endingsIn, isCarriageReturnOnly, lineChar, modelTextToLf, splitLines, toLf, toOwnOffsets, withEndings,
} from './endings.ts';
import type { LineEnding } from './endings.ts';
import { diffLines, splicesBetween } from './hunk.ts';
import type { Splice } from './splice.ts';

/** What a literal search found, and the edit it asks for. `splices` is empty unless the edit is unambiguous. */
export interface Replacement {
  readonly count: number;
  /** 1-based lines on which matches start, at most 20; empty for one match. */
  readonly lines: readonly number[];
  /** In the text's own endings; lines that old and new share are left out. */
  readonly splices: readonly Splice[];
}

const MAX_REPORTED_LINES = 20;

/**
 * Replaces `oldText` by `newText`, literally and exactly (A19), matching on the LF view (A3). New lines take the
 * endings of the lines they replace, else of the lines around them (A1). Without `all` more than one match, even an
 * overlapping one, gives no splices.
 */
export function replaceText(text: string, oldText: string, newText: string, all: boolean): Replacement {
  const carriageReturns = isCarriageReturnOnly(text);
  const normalize = (part: string): string => carriageReturns ? modelTextToLf(part).replaceAll('\r', '\n') : modelTextToLf(part);
  const view = toLf(text);
  const before = normalize(oldText);
  const after = normalize(newText);
  const matches = before === '' ? [] : findMatches(view, before, all);
  const lines = matches.length > 1 && !all ? linesOf(view, matches.slice(0, MAX_REPORTED_LINES)) : [];
  if (before === after || matches.length === 0 || (matches.length > 1 && !all)) return { count: matches.length, lines, splices: [] };

  const parts = splicesBetween(before, after);
  const viewOffsets = matches.flatMap((match) => parts.flatMap((part) => [match + part.start, match + part.end]));
  const offsets = view === text ? viewOffsets : toOwnOffsets(text, viewOffsets);
  const splices: Splice[] = [];
  for (let i = 0; i < offsets.length; i += 2) {
    const part = parts[(i / 2) % parts.length];
    const start = offsets[i];
    const end = offsets[i + 1];
    if (part === undefined || start === undefined || end === undefined) continue;
    const removed = endingsIn(text.slice(start, end), lineChar(text));
    const inserted = part.text.includes('\n') ? withEndings(part.text, removed, endingAround(text, end)) : part.text;
    splices.push(trimSplice(text, { start, end, text: inserted }));
  }
  return { count: matches.length, lines, splices };
}

/**
 * What replaces a whole file when the model wrote `content`: lines that stay keep their ending byte for byte, new ones
 * take the ending of what they replace or stand next to. Content that brings CRs of its own is taken as it is.
 */
export function adoptEndings(before: string, content: string): string {
  if (content.includes('\r') || !before.includes('\r')) return content;
  const char = lineChar(before);
  const view = toLf(before);
  const own = splitLines(before, char);
  const parts: string[] = [];
  let at = 0;
  for (const hunk of diffLines(view, content)) {
    for (; at < hunk.oldStart - 1; at++) parts.push(own[at] ?? '');
    const removed = own.slice(at, at + hunk.oldLines.length);
    parts.push(withEndings(hunk.newLines.join(''), endingsIn(removed.join(''), char), nearbyEnding(own, at, before)));
    at += hunk.oldLines.length;
  }
  for (; at < own.length; at++) parts.push(own[at] ?? '');
  return parts.join('');
}

/** `splice` without what it shares with the text it replaces; never splits a surrogate pair or a CRLF. */
function trimSplice(text: string, splice: Splice): Splice {
  const removed = text.slice(splice.start, splice.end);
  const inserted = splice.text;
  const limit = Math.min(removed.length, inserted.length);
  let head = 0;
  while (head < limit && removed.charCodeAt(head) === inserted.charCodeAt(head)) head++;
  while (head > 0 && (isInside(removed, head, text[splice.end]) || isInside(inserted, head, text[splice.end]))) head--;
  let tail = 0;
  while (tail < limit - head && removed.charCodeAt(removed.length - tail - 1) === inserted.charCodeAt(inserted.length - tail - 1)) tail++;
  const before = text[splice.start - 1];
  while (
    tail > 0
    && (isInside(removed, removed.length - tail, undefined, before) || isInside(inserted, inserted.length - tail, undefined, before))
  ) tail--;
  return { start: splice.start + head, end: splice.end - tail, text: inserted.slice(head, inserted.length - tail) };
}

/** Whether offset `at` cuts a surrogate pair or a CRLF in two; `next` and `previous` stand beyond the text's ends. */
function isInside(text: string, at: number, next?: string, previous?: string): boolean {
  const left = at > 0 ? text[at - 1] : previous;
  const right = at < text.length ? text[at] : next;
  if (left === undefined || right === undefined) return false;
  if (left === '\r' && right === '\n') return true;
  return left >= '\ud800' && left <= '\udbff' && right >= '\udc00' && right <= '\udfff';
}

function findMatches(view: string, wanted: string, all: boolean): number[] {
  const found: number[] = [];
  for (let at = view.indexOf(wanted); at !== -1;) {
    const whole = !isInside(view, at) && !isInside(view, at + wanted.length);
    if (whole) found.push(at);
    at = view.indexOf(wanted, all && whole ? at + wanted.length : at + 1);
  }
  return found;
}

function linesOf(view: string, offsets: readonly number[]): number[] {
  const lines: number[] = [];
  let line = 1;
  let at = 0;
  for (const offset of offsets) {
    for (let next = view.indexOf('\n', at); next !== -1 && next < offset; next = view.indexOf('\n', at)) {
      line++;
      at = next + 1;
    }
    if (lines.at(-1) !== line) lines.push(line);
  }
  return lines;
}

function nearbyEnding(lines: readonly string[], at: number, text: string): LineEnding {
  const char = lineChar(text);
  return endingsIn(lines[at] ?? '', char)[0] ?? endingsIn(lines[at - 1] ?? '', char)[0] ?? dominantEnding(text);
}
