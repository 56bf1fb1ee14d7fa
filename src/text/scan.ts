import { isUtf8 } from 'node:buffer';
import { newlineKernel } from './newline-kernel.ts';

/**
 * Looking through bytes at the speed of memory: what streaming readers of big files need. Chunks may be cut anywhere.
 */

let kernel: ((chunk: Uint8Array) => number) | undefined;

/** How many LF bytes `chunk` holds. */
export function countNewlines(chunk: Uint8Array): number {
  kernel ??= newlineKernel() ?? countByLine;
  return kernel(chunk);
}

/** The same without WebAssembly. */
export function countByLine(chunk: Uint8Array): number {
  let count = 0;
  for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) count++;
  return count;
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
