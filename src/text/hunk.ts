import { lineChar, splitLines, toLf } from './endings.ts';
import { linesIn, lineRanges, type LineRange } from './line-diff.ts';
import { applySplices, commonPrefix, commonSuffix } from './splice.ts';
import type { Splice } from './splice.ts';

/**
 * One changed region, line by line. Lines carry their own endings, so hunks describe bytes, not just words.
 * `oldStart` and `newStart` are 1-based; with no old lines it is an insertion before line `oldStart`.
 */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: readonly string[];
  readonly newStart: number;
  readonly newLines: readonly string[];
}

/** A hunk with context, as a diff card shows it: LF text without a final newline. */
export interface UnifiedHunk {
  readonly oldText: string;
  readonly newText: string;
  /** Lines on the old side, context included. */
  readonly oldCount: number;
  readonly newCount: number;
}

/** Changed regions from `before` to `after`, in order. Identical texts give none. */
export function diffLines(before: string, after: string): Hunk[] {
  const window = changedWindow(before, after);
  if (window === undefined) return [];
  // both sides are split alike: a window of texts with unlike endings is the whole of them
  const { ranges, old, now } = lineRanges(
    { text: before, start: window.start, end: window.oldEnd, ending: lineChar(before) },
    { text: after, start: window.start, end: window.newEnd, ending: lineChar(after) },
  );
  const firstLine = 1 + countLines(before, window.start);
  return ranges.map((range) => ({
    oldStart: firstLine + range.oldFrom,
    oldLines: linesIn(old, range.oldFrom, range.oldTo),
    newStart: firstLine + range.newFrom,
    newLines: linesIn(now, range.newFrom, range.newTo),
  }));
}

/** `before` with only those hunks applied that `keep` accepts; every other byte is `before`'s own. */
export function applyHunks(before: string, hunks: readonly Hunk[], keep: (hunk: Hunk, index: number) => boolean): string {
  const lines = splitLines(before);
  const parts: string[] = [];
  let at = 0;
  hunks.forEach((hunk, index) => {
    const from = hunk.oldStart - 1;
    const to = from + hunk.oldLines.length;
    if (from < at || to > lines.length || hunk.oldLines.some((line, i) => lines[from + i] !== line)) {
      throw new RangeError(`hunk at line ${hunk.oldStart} does not fit the text`);
    }
    for (; at < from; at++) parts.push(lines[at] ?? '');
    // joined: as arguments of one call, the lines of a big hunk would not fit the stack
    parts.push((keep(hunk, index) ? hunk.newLines : hunk.oldLines).join(''));
    at = to;
  });
  for (; at < lines.length; at++) parts.push(lines[at] ?? '');
  return parts.join('');
}

/** The splices that lead from `before` to `after`: whole lines, so that unchanged lines are never touched. */
export function splicesBetween(before: string, after: string): Splice[] {
  const hunks = diffLines(before, after);
  const splices: Splice[] = [];
  let line = 1;
  let offset = 0;
  const ending = lineChar(before);
  for (const hunk of hunks) {
    for (; line < hunk.oldStart; line++) {
      const next = before.indexOf(ending, offset);
      offset = next === -1 ? before.length : next + 1;
    }
    const length = hunk.oldLines.reduce((sum, text) => sum + text.length, 0);
    splices.push({ start: offset, end: offset + length, text: hunk.newLines.join('') });
    offset += length;
    line += hunk.oldLines.length;
  }
  return splices;
}

/** Unified hunks of the LF views, with `context` lines around each change. */
export function unifiedHunks(before: string, after: string, context = 3): UnifiedHunk[] {
  return unifiedLfHunks(toLf(before), toLf(after), context);
}

/** The same for texts that are LF already. */
export function unifiedLfHunks(oldText: string, newText: string, context = 3): UnifiedHunk[] {
  const changed = changedWindow(oldText, newText);
  if (changed === undefined) return [];
  const window = widen(oldText, newText, changed, context);
  const { ranges, old, now } = lineRanges(
    { text: oldText, start: window.start, end: window.oldEnd, ending: '\n' }, { text: newText, start: window.start, end: window.newEnd, ending: '\n' },
  );
  const oldCount = old.starts.length - 1;
  const groups: LineRange[] = [];
  for (const range of ranges) {
    const last = groups.at(-1);
    if (last !== undefined && range.oldFrom - last.oldTo <= 2 * context) {
      last.oldTo = range.oldTo;
      last.newTo = range.newTo;
    } else {
      groups.push({ ...range });
    }
  }
  return groups.map((group) => {
    const lead = Math.min(context, group.oldFrom);
    const trail = Math.min(context, oldCount - group.oldTo);
    const olds = linesIn(old, group.oldFrom - lead, group.oldTo + trail);
    const news = linesIn(now, group.newFrom - lead, group.newTo + trail);
    let [oldSide, newSide] = [joinLf(olds), joinLf(news)];
    // only the final newline differs: show it, or both sides would look the same
    if (oldSide === newSide) [oldSide, newSide] = [olds.join(''), news.join('')];
    return { oldText: oldSide, newText: newSide, oldCount: olds.length, newCount: news.length };
  });
}

/**
 * The same for LF text that `splices` change: looks at the lines around them only, whatever the size of the text.
 */
export function unifiedSpliceHunks(text: string, splices: readonly Splice[], context = 3): UnifiedHunk[] {
  const groups: { start: number; end: number; splices: Splice[] }[] = [];
  for (const splice of splices) {
    const { start, end } = widenInText(text, splice.start, splice.end, context);
    const last = groups.at(-1);
    if (last !== undefined && start <= last.end) {
      last.end = Math.max(last.end, end);
      last.splices.push(splice);
    } else {
      groups.push({ start, end, splices: [splice] });
    }
  }
  return groups.flatMap(({ start, end, splices: own }) => {
    const before = text.slice(start, end);
    const moved = own.map((splice) => ({ start: splice.start - start, end: splice.end - start, text: splice.text }));
    return unifiedLfHunks(before, applySplices(before, moved), context);
  });
}

/** The lines that `start`..`end` lie in, and `context` more on each side. */
function widenInText(text: string, start: number, end: number, context: number): { start: number; end: number } {
  let from = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1;
  for (let i = 0; i < context && from > 0; i++) from = from < 2 ? 0 : text.lastIndexOf('\n', from - 2) + 1;
  let to = end;
  for (let i = 0; i <= context && to < text.length; i++) {
    const next = text.indexOf('\n', to);
    to = next === -1 ? text.length : next + 1;
  }
  return { start: from, end: to };
}

interface Window { start: number; oldEnd: number; newEnd: number }

/** The smallest whole-line window outside which both texts are the same; undefined for identical texts. */
function changedWindow(before: string, after: string): Window | undefined {
  const prefix = commonPrefix(before, after);
  if (prefix === before.length && prefix === after.length) return undefined;
  const suffix = commonSuffix(before, after, Math.min(before.length, after.length) - prefix);
  // both sides must be split alike: lone CRs end lines only in texts without LF
  const ending = lineChar(before);
  if (lineChar(after) !== ending) return { start: 0, oldEnd: before.length, newEnd: after.length };
  const start = prefix === 0 ? 0 : before.lastIndexOf(ending, prefix - 1) + 1;
  let oldEnd = before.length - suffix;
  let newEnd = after.length - suffix;
  const atBoundary = oldEnd >= start && newEnd >= start
    && (oldEnd === start || before[oldEnd - 1] === ending) && (newEnd === start || after[newEnd - 1] === ending);
  if (!atBoundary) {
    const next = before.indexOf(ending, oldEnd);
    const move = next === -1 ? suffix : next + 1 - oldEnd;
    oldEnd += move;
    newEnd += move;
  }
  return { start, oldEnd, newEnd };
}

/** `window` with `context` more lines on each side. */
function widen(before: string, after: string, window: Window, context: number): Window {
  let { start, oldEnd } = window;
  for (let i = 0; i < context && start > 0; i++) start = start < 2 ? 0 : before.lastIndexOf('\n', start - 2) + 1;
  for (let i = 0; i < context && oldEnd < before.length; i++) {
    const next = before.indexOf('\n', oldEnd);
    oldEnd = next === -1 ? before.length : next + 1;
  }
  return { start, oldEnd, newEnd: after.length - (before.length - oldEnd) };
}

function countLines(text: string, end: number): number {
  const ending = lineChar(text);
  let count = 0;
  for (let at = text.indexOf(ending); at !== -1 && at < end; at = text.indexOf(ending, at + 1)) count++;
  return count;
}

function joinLf(lines: readonly string[]): string {
  const text = lines.join('');
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
