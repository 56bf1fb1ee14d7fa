import { TextDecodeError, UTF8 } from '../../text/codec.ts';
import type { Codec } from '../../text/codec.ts';
import { countNewlines, incompleteTail, skipLines, Utf8Check } from '../../text/scan.ts';

/** What a read asks for. Lines are 1-based. */
export interface WindowRequest {
  readonly offset: number;
  readonly limit: number;
  /** UTF-16 units; a longer line is cut and says so. */
  readonly maxLineLength: number;
  /** UTF-8 bytes of all text shown, one more per line break. */
  readonly maxBytes: number;
}

interface NumberedLine { number: number; text: string }

/** `totalLines` counts the whole file, also when the window was cut (B10.3). */
export interface TextWindow { readonly lines: NumberedLine[]; readonly totalLines: number }

/** Collects the lines of a window until the limit or the byte cap. */
class WindowCollector {
  readonly lines: NumberedLine[] = [];
  private readonly request: WindowRequest;
  private bytes = 0;
  private full = false;

  constructor(request: WindowRequest) {
    this.request = request;
  }

  get done(): boolean {
    return this.full || this.lines.length >= this.request.limit;
  }

  /** `text` without its ending; it may have been cut behind `maxLineLength` already. */
  add(text: string): void {
    const { maxLineLength, maxBytes, offset } = this.request;
    const shown = text.length > maxLineLength ? cut(text, maxLineLength) : text;
    const cost = Buffer.byteLength(shown, 'utf8') + (this.lines.length > 0 ? 1 : 0);
    // the first line always fits: a window without lines could not be continued
    if (this.lines.length > 0 && this.bytes + cost > maxBytes) {
      this.full = true;
      return;
    }
    this.bytes += cost;
    this.lines.push({ number: offset + this.lines.length, text: shown });
  }
}

/** The first `length` units, without half a surrogate pair, and the note that there was more. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
  return `${text.slice(0, end)}... (line truncated to ${length} chars)`;
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** The window of a text in memory. Only CR before LF is stripped; a lone CR stays (B10.3). */
export function windowOfText(text: string, request: WindowRequest): TextWindow {
  const collector = new WindowCollector(request);
  let line = 0;
  for (let at = 0; at < text.length;) {
    const next = text.indexOf('\n', at);
    const end = next === -1 ? text.length : next;
    line++;
    if (line >= request.offset && !collector.done) {
      const own = text.slice(at, end);
      collector.add(next === -1 ? own : withoutCarriageReturn(own));
    }
    at = next === -1 ? text.length : next + 1;
  }
  return { lines: collector.lines, totalLines: line };
}

/**
 * The same window from a stream of bytes, in constant memory whatever the size of file and lines. `codec` must keep LF
 * bytes for line feeds. Throws TextDecodeError for NULs and, in UTF-8, for a broken sequence anywhere.
 */
export async function windowOfBytes(chunks: AsyncIterable<Uint8Array>, codec: Codec, request: WindowRequest): Promise<TextWindow> {
  const collector = new WindowCollector(request);
  const check = codec === UTF8 ? new Utf8Check() : undefined;
  // four bytes hold any character, so this many hold a line longer than the cap
  const keep = (request.maxLineLength + 1) * 4;
  let line: Buffer[] = [];
  let kept = 0;
  let newlines = 0;
  let size = 0;
  let last = 0x0a;
  const finish = (ended: boolean): void => {
    let bytes = Buffer.concat(line);
    line = [];
    if (kept > keep) {
      bytes = bytes.subarray(0, codec === UTF8 ? bytes.length - incompleteTail(bytes) : bytes.length);
    } else if (ended && bytes.at(-1) === 0x0d) {
      bytes = bytes.subarray(0, -1);
    }
    const text = kept > keep && codec !== UTF8 ? decodePrefix(bytes, codec) : codec.decode(bytes);
    kept = 0;
    collector.add(text);
  };

  for await (const chunk of chunks) {
    if (chunk.includes(0)) throw new TextDecodeError('binary', codec.name);
    if (check !== undefined && !check.push(chunk)) throw new TextDecodeError('invalid', codec.name);
    let at = size === 0 && codec === UTF8 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? 3 : 0;
    size += chunk.length;
    last = chunk[chunk.length - 1] ?? last;
    const before = newlines;
    newlines += countNewlines(chunk);
    if (collector.done || newlines + 1 < request.offset) continue;
    if (before + 1 < request.offset) at = skipLines(chunk, at, request.offset - 1 - before);
    while (!collector.done && at < chunk.length) {
      const next = chunk.indexOf(0x0a, at);
      const end = next === -1 ? chunk.length : next;
      if (kept <= keep) line.push(Buffer.from(chunk.subarray(at, Math.min(end, at + keep + 1 - kept))));
      kept += end - at;
      if (next === -1) break;
      finish(true);
      at = next + 1;
    }
  }
  if (check !== undefined && !check.end()) throw new TextDecodeError('invalid', codec.name);
  const unfinished = size > 0 && last !== 0x0a;
  const totalLines = newlines + (unfinished ? 1 : 0);
  if (unfinished && !collector.done && totalLines >= request.offset) finish(false);
  return { lines: collector.lines, totalLines };
}

/** A cut line of a multi-byte encoding: up to three bytes at its end may be half a character. */
function decodePrefix(bytes: Buffer, codec: Codec): string {
  for (let drop = 0; drop < 4; drop++) {
    try {
      return codec.decode(bytes.subarray(0, bytes.length - drop));
    } catch (error) {
      if (drop === 3) throw error;
    }
  }
  return '';
}

