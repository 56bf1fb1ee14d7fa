/** Replaces UTF-16 offsets `start` (inclusive) to `end` (exclusive) by `text`. Lists are sorted and do not overlap. */
export interface Splice { readonly start: number; readonly end: number; readonly text: string }

/** Throws RangeError unless `splices` are in order, do not overlap and lie within `length`. */
export function assertSplices(splices: readonly Splice[], length: number): void {
  let last = 0;
  for (const { start, end } of splices) {
    if (!Number.isInteger(start) || !Number.isInteger(end) || start < last || end < start || end > length) {
      throw new RangeError(`splice ${start}..${end} is out of order or outside 0..${length}`);
    }
    last = end;
  }
}

/** The text after `splices`. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  if (splices.length === 0) return text;
  assertSplices(splices, text.length);
  let result = '';
  let at = 0;
  for (const splice of splices) {
    result += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return result + text.slice(at);
}

/** The splices that lead back from `applySplices(text, splices)` to `text`. */
export function reverseSplices(text: string, splices: readonly Splice[]): Splice[] {
  let shift = 0;
  return splices.map(({ start, end, text: inserted }) => {
    const reversed = { start: start + shift, end: start + shift + inserted.length, text: text.slice(start, end) };
    shift += inserted.length - (end - start);
    return reversed;
  });
}

const BLOCK = 4096;

/** How many leading UTF-16 units `a` and `b` share. Compares block-wise: megabytes cost about a millisecond. */
export function commonPrefix(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let at = 0;
  while (at + BLOCK <= limit && a.slice(at, at + BLOCK) === b.slice(at, at + BLOCK)) at += BLOCK;
  while (at < limit && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

/** How many trailing UTF-16 units `a` and `b` share, at most `limit`. */
export function commonSuffix(a: string, b: string, limit = Math.min(a.length, b.length)): number {
  let count = 0;
  while (
    count + BLOCK <= limit
    && a.slice(a.length - count - BLOCK, a.length - count) === b.slice(b.length - count - BLOCK, b.length - count)
  ) count += BLOCK;
  while (count < limit && a.charCodeAt(a.length - count - 1) === b.charCodeAt(b.length - count - 1)) count++;
  return count;
}

/**
 * The same change in splices that an editor takes quickly: each without what it leaves as it is, and at most `limit` of
 * those that change the number of lines, each of which costs an editor the length of its text. Beyond that neighbours
 * become one, with the text between them.
 */
export function lighterSplices(text: string, splices: readonly Splice[], limit = 64): Splice[] {
  const narrow = splices.map((splice) => narrowed(text, splice)).filter(({ start, end, text: inserted }) => end > start || inserted !== '');
  const costly = narrow.filter((splice) => changesLines(text, splice)).length;
  if (costly <= limit) return narrow;
  const share = Math.ceil(costly / limit);
  const result: Splice[] = [];
  let group: Splice[] = [];
  let count = 0;
  for (const splice of narrow) {
    if (!changesLines(text, splice) && group.length === 0) {
      result.push(splice);
      continue;
    }
    group.push(splice);
    if (changesLines(text, splice)) count += 1;
    if (count === share) {
      result.push(merged(text, group));
      [group, count] = [[], 0];
    }
  }
  if (group.length > 0) result.push(merged(text, group));
  return result;
}

function narrowed(text: string, { start, end, text: inserted }: Splice): Splice {
  const old = text.slice(start, end);
  const prefix = commonPrefix(old, inserted);
  const suffix = commonSuffix(old, inserted, Math.min(old.length, inserted.length) - prefix);
  // a pair of surrogates, or of CR and LF, is one character
  const from = prefix - (splits(old, prefix) || splits(inserted, prefix) ? 1 : 0);
  const left = suffix - (splits(old, old.length - suffix) || splits(inserted, inserted.length - suffix) ? 1 : 0);
  return { start: start + from, end: end - left, text: inserted.slice(from, inserted.length - left) };
}

function splits(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return (before === 13 && after === 10) || (before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000);
}

function changesLines(text: string, { start, end, text: inserted }: Splice): boolean {
  return /[\r\n]/.test(inserted) || /[\r\n]/.test(text.slice(start, end));
}

function merged(text: string, group: readonly Splice[]): Splice {
  const [first, last] = [group[0]!, group.at(-1)!];
  let at = first.start;
  let result = '';
  for (const { start, end, text: inserted } of group) {
    result += text.slice(at, start) + inserted;
    at = end;
  }
  return { start: first.start, end: last.end, text: result };
}
