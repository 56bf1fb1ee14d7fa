/** Lines `oldFrom`..`oldTo` (0-based, exclusive) became lines `newFrom`..`newTo`. */
export interface LineRange { oldFrom: number; oldTo: number; newFrom: number; newTo: number }

/** Edit distance up to which the shortest edit is looked for right away. */
const SMALL = 256;
/** Edit distance beyond which two stretches without a common unique line count as rewritten. */
const LARGE = 1500;

/** The part of a text from `start` to `end` (UTF-16 offsets), whose lines end with `ending`. */
export interface TextPart { readonly text: string; readonly start?: number; readonly end?: number; readonly ending: '\n' | '\r' }

/** A text's lines: line n is `text.slice(starts[n], starts[n + 1])`. */
export interface TextLines { readonly text: string; readonly starts: Int32Array }

/** Two hashes per line. */
interface Hashed extends TextLines { readonly first: Int32Array; readonly second: Int32Array }

/**
 * Changed ranges between the lines of two texts, in order. A few edits give the shortest edit script (Myers); many are
 * first cut apart at lines that occur once on both sides (patience), so that the time stays near linear. The same input
 * always gives the same ranges, on any machine.
 */
export function lineRanges(before: TextPart, after: TextPart): { ranges: LineRange[]; old: TextLines; now: TextLines } {
  const old = hashLines(before);
  const now = hashLines(after);
  const table = new IdTable(old.starts.length + now.starts.length);
  const a = table.ids(old);
  const b = table.ids(now);
  const walk = new Walk(a, b, table.count);
  walk.between(0, a.length, 0, b.length);
  // lines were compared by their hashes: what is said to be the same must be
  const ranges = sameOutside(old, now, walk.ranges) ? walk.ranges : exactRanges(old, now);
  return { ranges, old, now };
}

/** Reads the text in place: of a slice, every character would cost more. */
function hashLines({ text, start: from = 0, end: to = text.length, ending }: TextPart): Hashed {
  const last = ending.charCodeAt(0);
  let room = 16 + ((to - from) >> 5);
  let starts = new Int32Array(room + 1);
  let first = new Int32Array(room);
  let second = new Int32Array(room);
  let count = 0;
  for (let start = from; start < to; count++) {
    let h1 = 0x811c9dc5 | 0;
    let h2 = 0;
    let i = start;
    for (let c = -1; i < to && c !== last; i++) {
      c = text.charCodeAt(i);
      h1 = Math.imul(h1 ^ c, 0x01000193);
      h2 = (Math.imul(h2, 31) + c) | 0;
    }
    if (count === room) {
      room *= 2;
      starts = grown(starts, room + 1);
      first = grown(first, room);
      second = grown(second, room);
    }
    starts[count] = start;
    first[count] = h1;
    second[count] = h2;
    start = i;
  }
  starts[count] = to;
  return { text, starts: starts.subarray(0, count + 1), first: first.subarray(0, count), second: second.subarray(0, count) };
}

function grown(array: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(size);
  larger.set(array);
  return larger;
}

/** Numbers lines: equal hashes, equal number. */
class IdTable {
  count = 0;
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #first: Int32Array;
  readonly #second: Int32Array;

  constructor(lines: number) {
    const size = 1 << (33 - Math.clz32(Math.max(lines, 8)));
    this.#slots = new Int32Array(size).fill(-1);
    this.#mask = size - 1;
    this.#first = new Int32Array(lines);
    this.#second = new Int32Array(lines);
  }

  ids({ first, second }: Hashed): Int32Array {
    const out = new Int32Array(first.length);
    for (let i = 0; i < first.length; i++) {
      const [h1, h2] = [first[i]!, second[i]!];
      let slot = (h1 ^ (h1 >>> 15)) & this.#mask;
      let id = this.#slots[slot]!;
      while (id !== -1 && (this.#first[id] !== h1 || this.#second[id] !== h2)) {
        slot = (slot + 1) & this.#mask;
        id = this.#slots[slot]!;
      }
      if (id === -1) {
        id = this.count++;
        this.#slots[slot] = id;
        this.#first[id] = h1;
        this.#second[id] = h2;
      }
      out[i] = id;
    }
    return out;
  }
}

function sameOutside(old: TextLines, now: TextLines, ranges: readonly LineRange[]): boolean {
  let [oldAt, newAt] = [0, 0];
  const same = (oldTo: number, newTo: number): boolean =>
    old.text.slice(old.starts[oldAt], old.starts[oldTo]) === now.text.slice(now.starts[newAt], now.starts[newTo]);
  for (const range of ranges) {
    if (!same(range.oldFrom, range.newFrom)) return false;
    [oldAt, newAt] = [range.oldTo, range.newTo];
  }
  return same(old.starts.length - 1, now.starts.length - 1);
}

/** The same with the lines themselves: for texts made to collide. */
function exactRanges(old: TextLines, now: TextLines): LineRange[] {
  const known = new Map<string, number>();
  const ids = ({ text, starts }: TextLines): Int32Array => Int32Array.from({ length: starts.length - 1 }, (_, i) => {
    const line = text.slice(starts[i], starts[i + 1]);
    let id = known.get(line);
    if (id === undefined) known.set(line, id = known.size);
    return id;
  });
  const [a, b] = [ids(old), ids(now)];
  const walk = new Walk(a, b, known.size);
  walk.between(0, a.length, 0, b.length);
  return walk.ranges;
}

/** Lines `from`..`to` of a text, with their endings. */
export function linesIn({ text, starts }: TextLines, from: number, to: number): string[] {
  const lines: string[] = [];
  for (let i = from; i < to; i++) lines.push(text.slice(starts[i], starts[i + 1]));
  return lines;
}

class Walk {
  readonly ranges: LineRange[] = [];
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  /** Occurrences per line within the stretch at hand, and where the last one was. */
  readonly #inOld: Int32Array;
  readonly #inNew: Int32Array;
  readonly #at: Int32Array;

  constructor(a: Int32Array, b: Int32Array, ids: number) {
    this.#a = a;
    this.#b = b;
    this.#inOld = new Int32Array(ids);
    this.#inNew = new Int32Array(ids);
    this.#at = new Int32Array(ids);
  }

  between(oldFrom: number, oldTo: number, newFrom: number, newTo: number): void {
    const a = this.#a;
    const b = this.#b;
    while (oldFrom < oldTo && newFrom < newTo && a[oldFrom] === b[newFrom]) {
      oldFrom++;
      newFrom++;
    }
    while (oldFrom < oldTo && newFrom < newTo && a[oldTo - 1] === b[newTo - 1]) {
      oldTo--;
      newTo--;
    }
    if (oldFrom === oldTo && newFrom === newTo) return;
    if (oldFrom === oldTo || newFrom === newTo) return this.#push(oldFrom, oldTo, newFrom, newTo);
    if (this.#shortest(oldFrom, oldTo, newFrom, newTo, SMALL)) return;
    const anchors = this.#anchors(oldFrom, oldTo, newFrom, newTo);
    if (anchors.length === 0) {
      if (!this.#shortest(oldFrom, oldTo, newFrom, newTo, LARGE)) this.#rewritten(oldFrom, oldTo, newFrom, newTo);
      return;
    }
    for (let i = 0; i < anchors.length; i += 2) {
      const [oldAt, newAt] = [anchors[i]!, anchors[i + 1]!];
      this.between(oldFrom, oldAt, newFrom, newAt);
      [oldFrom, newFrom] = [oldAt + 1, newAt + 1];
    }
    this.between(oldFrom, oldTo, newFrom, newTo);
  }

  #push(oldFrom: number, oldTo: number, newFrom: number, newTo: number): void {
    const last = this.ranges.at(-1);
    if (last !== undefined && last.oldTo === oldFrom && last.newTo === newFrom) {
      last.oldTo = oldTo;
      last.newTo = newTo;
    } else {
      this.ranges.push({ oldFrom, oldTo, newFrom, newTo });
    }
  }

  /** Line n against line n, as a replacement all over a file leaves them; else one range. */
  #rewritten(oldFrom: number, oldTo: number, newFrom: number, newTo: number): void {
    if (oldTo - oldFrom !== newTo - newFrom) return this.#push(oldFrom, oldTo, newFrom, newTo);
    for (let i = 0; i < oldTo - oldFrom; i++) {
      if (this.#a[oldFrom + i] !== this.#b[newFrom + i]) this.#push(oldFrom + i, oldFrom + i + 1, newFrom + i, newFrom + i + 1);
    }
  }

  /** Old and new positions, alternating, of lines that occur once on both sides and keep their order. */
  #anchors(oldFrom: number, oldTo: number, newFrom: number, newTo: number): Int32Array {
    const inOld = this.#inOld;
    const inNew = this.#inNew;
    for (let i = oldFrom; i < oldTo; i++) inOld[this.#a[i]!]!++;
    for (let j = newFrom; j < newTo; j++) {
      const id = this.#b[j]!;
      inNew[id]!++;
      this.#at[id] = j;
    }
    const oldAt: number[] = [];
    const newAt: number[] = [];
    for (let i = oldFrom; i < oldTo; i++) {
      const id = this.#a[i]!;
      if (inOld[id] === 1 && inNew[id] === 1) {
        oldAt.push(i);
        newAt.push(this.#at[id]!);
      }
    }
    for (let i = oldFrom; i < oldTo; i++) inOld[this.#a[i]!] = 0;
    for (let j = newFrom; j < newTo; j++) inNew[this.#b[j]!] = 0;
    const kept = longestIncreasing(newAt);
    const anchors = new Int32Array(kept.length * 2);
    for (let k = 0; k < kept.length; k++) {
      anchors[2 * k] = oldAt[kept[k]!]!;
      anchors[2 * k + 1] = newAt[kept[k]!]!;
    }
    return anchors;
  }

  /** Myers' greedy search; false when the edit is longer than `limit`. */
  #shortest(oldFrom: number, oldTo: number, newFrom: number, newTo: number, limit: number): boolean {
    const a = this.#a;
    const b = this.#b;
    const n = oldTo - oldFrom;
    const m = newTo - newFrom;
    const max = Math.min(limit, n + m);
    const offset = max + 1;
    const v = new Int32Array(2 * max + 3);
    const trace: Int32Array[] = [];
    let found = -1;
    for (let d = 0; d <= max && found === -1; d++) {
      for (let k = -d; k <= d; k += 2) {
        let x = k === -d || (k !== d && v[offset + k - 1]! < v[offset + k + 1]!) ? v[offset + k + 1]! : v[offset + k - 1]! + 1;
        let y = x - k;
        while (x < n && y < m && a[oldFrom + x] === b[newFrom + y]) {
          x++;
          y++;
        }
        v[offset + k] = x;
        if (x >= n && y >= m) {
          found = d;
          break;
        }
      }
      trace.push(v.slice(offset - d, offset + d + 1));
    }
    if (found === -1) return false;
    const steps: LineRange[] = [];
    let [x, y] = [n, m];
    for (let d = found; d > 0; d--) {
      const previous = trace[d - 1]!; // of diagonals −(d−1)..(d−1)
      const reach = (k: number): number => (Math.abs(k) > d - 1 ? -1 : previous[k + d - 1]!);
      const k = x - y;
      const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
      const fromK = down ? k + 1 : k - 1;
      const fromX = reach(fromK);
      const fromY = fromX - fromK;
      steps.push(down
        ? { oldFrom: oldFrom + fromX, oldTo: oldFrom + fromX, newFrom: newFrom + fromY, newTo: newFrom + fromY + 1 }
        : { oldFrom: oldFrom + fromX, oldTo: oldFrom + fromX + 1, newFrom: newFrom + fromY, newTo: newFrom + fromY });
      [x, y] = [fromX, fromY];
    }
    for (const step of steps.reverse()) this.#push(step.oldFrom, step.oldTo, step.newFrom, step.newTo);
    return true;
  }
}

/** Indices of a longest increasing subsequence. */
function longestIncreasing(values: readonly number[]): number[] {
  const tails: number[] = [];
  const previous = new Int32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    // lines mostly keep their order
    let low = tails.length > 0 && values[tails.at(-1)!]! < values[i]! ? tails.length : 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]!]! < values[i]!) low = middle + 1;
      else high = middle;
    }
    previous[i] = low > 0 ? tails[low - 1]! : -1;
    tails[low] = i;
  }
  const result: number[] = [];
  for (let i = tails.at(-1) ?? -1; i !== -1; i = previous[i]!) result.push(i);
  return result.reverse();
}
