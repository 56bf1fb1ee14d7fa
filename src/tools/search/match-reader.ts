import { isAscii, isUtf8 } from 'node:buffer';

/** What ripgrep says after the matches of a file that turned out to be binary: one line, and no path with a NUL before it. */
const BINARY_WARNING = /^: WARNING: stopped searching binary file after match \(found "[^"\n]*" byte around offset \d+\)\n/;

/** Takes a match; `path` as `show` made it. */
export type OnMatch<Shown> = (path: Shown, lineNumber: number, line: string) => void;

/**
 * Reads ripgrep's plain output with `--null --with-filename --line-number`: path, NUL, number, colon, line, newline. Each line
 * comes once, however many hits it has, where `--json` lists every one; a newline in a path is no end of a record.
 */
export class MatchReader<Shown> {
  /** The path of the last record as bytes (latin1), and as it is shown. */
  private lastBytes = '';
  private lastPath: Shown | undefined;
  private readonly onMatch: OnMatch<Shown>;
  private readonly show: (path: string) => Shown;

  /** @param show what becomes of a path as ripgrep gives it; asked once for the matches of a file */
  constructor(onMatch: OnMatch<Shown>, show: (path: string) => Shown) {
    this.onMatch = onMatch;
    this.show = show;
  }

  /** Reads the whole records at the start of `bytes`; returns how many bytes they are. */
  take(bytes: Buffer): number {
    // latin1: an offset in the text is one in the bytes
    const raw = bytes.toString('latin1');
    const ascii = isAscii(bytes);
    for (let at = 0; ;) {
      const pathEnd = raw.indexOf('\0', at);
      const end = pathEnd < 0 ? -1 : raw.indexOf('\n', pathEnd);
      if (end < 0) return at;
      const colon = raw.indexOf(':', pathEnd);
      const lineNumber = Number(raw.slice(pathEnd + 1, colon));
      if (colon < 0 || !Number.isInteger(lineNumber) || lineNumber < 1) throw new Error(`no line number in ${JSON.stringify(raw.slice(at, end))}`);
      const textEnd = raw[end - 1] === '\r' && end - 1 > colon ? end - 1 : end;
      const line = ascii ? raw.slice(colon + 1, textEnd) : decodeLine(bytes.subarray(colon + 1, textEnd));
      this.onMatch(this.pathOf(raw, at, pathEnd, ascii), lineNumber, line);
      at = end + 1;
    }
  }

  /** Whether `bytes`, left at the end, are the word on a binary file. */
  mayRemain(bytes: Buffer): boolean {
    return this.afterWarning(bytes.toString('latin1')) === '';
  }

  private pathOf(raw: string, start: number, end: number, ascii: boolean): Shown {
    const { lastBytes } = this;
    if (lastBytes !== '' && end - start === lastBytes.length && raw.startsWith(lastBytes, start)) return this.lastPath!;
    this.lastBytes = this.afterWarning(raw.slice(start, end));
    const bytes = this.lastBytes;
    return (this.lastPath = this.show(ascii ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')));
  }

  private afterWarning(bytes: string): string {
    if (this.lastBytes === '' || !bytes.startsWith(this.lastBytes)) return bytes;
    const rest = bytes.slice(this.lastBytes.length);
    const warning = BINARY_WARNING.exec(rest);
    return warning === null ? bytes : rest.slice(warning[0].length);
  }
}

function decodeLine(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : '(line is not valid UTF-8)';
}
