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
