import { isUtf8 } from 'node:buffer';

/**
 * Looking through bytes at the speed of memory: what streaming readers of big files need. Chunks may be cut anywhere.
 */

/** Lines shorter than this are counted word by word, longer ones newline by newline; each wins on its side. */
const SHORT_LINE = 28;

/** Counts LF bytes, chunk after chunk. */
export class NewlineCounter {
  private dense = false;

  count(chunk: Uint8Array): number {
    const found = this.dense ? countByWord(chunk) : countByLine(chunk);
    this.dense = found * SHORT_LINE > chunk.length;
    return found;
  }
}

function countByLine(chunk: Uint8Array): number {
  let count = 0;
  for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) count++;
  return count;
}

/** Four bytes at a time: a byte of `zero` is 1 where the word has an LF; 255 words fit the four byte counters. */
function countByWord(chunk: Uint8Array): number {
  const head = Math.min(chunk.length, (4 - (chunk.byteOffset & 3)) & 3);
  const words = new Int32Array(chunk.buffer, chunk.byteOffset + head, (chunk.length - head) >> 2);
  let count = 0;
  for (let at = 0; at < words.length;) {
    const end = Math.min(words.length, at + 255);
    let sums = 0;
    for (; at < end; at++) {
      const word = (words[at] ?? 0) ^ 0x0a0a0a0a;
      const zero = ~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word | 0x7f7f7f7f);
      sums += (zero >>> 7) & 0x01010101;
    }
    count += (sums & 255) + ((sums >>> 8) & 255) + ((sums >>> 16) & 255) + ((sums >>> 24) & 255);
  }
  const rest = head + words.length * 4;
  return count + countByLine(chunk.subarray(0, head)) + countByLine(chunk.subarray(rest));
}

/** Offset just behind the `count`-th LF from `start`, or -1 when there are fewer. */
export function skipLines(chunk: Uint8Array, start: number, count: number): number {
  let at = start;
  for (let i = 0; i < count; i++) {
    const next = chunk.indexOf(0x0a, at);
    if (next === -1) return -1;
    at = next + 1;
  }
  return at;
}

/** Strict UTF-8 over chunks cut anywhere. */
export class Utf8Check {
  /** The first bytes of a character whose rest is still to come. */
  private pending: Uint8Array = new Uint8Array(0);

  /** false: the bytes so far are not UTF-8. */
  push(chunk: Uint8Array): boolean {
    let body = chunk;
    if (this.pending.length > 0) {
      const missing = sequenceLength(this.pending[0] ?? 0) - this.pending.length;
      const joined = Buffer.concat([this.pending, chunk.subarray(0, missing)]);
      if (chunk.length < missing) {
        this.pending = joined;
        return true;
      }
      if (!isUtf8(joined)) return false;
      body = chunk.subarray(missing);
    }
    const tail = incompleteTail(body);
    this.pending = Uint8Array.from(body.subarray(body.length - tail));
    return isUtf8(body.subarray(0, body.length - tail));
  }

  /** false: the bytes end within a character. */
  end(): boolean {
    return this.pending.length === 0;
  }
}

/** Length of the character a lead byte starts; 1 for every other byte. */
function sequenceLength(lead: number): number {
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

/** How many bytes at the end begin a character that is not complete. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}
