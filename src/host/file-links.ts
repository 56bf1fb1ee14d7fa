/** A place named in a line of output: where it stands in the line, and what it means. `line` and `column` are 1-based. */
export interface FileLinkSpan { readonly start: number; readonly length: number; readonly file: string; readonly line: number; readonly column?: number }

/** What a path is made of in output; spaces are told apart by quotes only. */
const TOKEN = /[^\s"'`()[\]{}<>|;,=]+/g;
/** `src/a.ts:12:3`, `./Makefile:4`, `C:\x\a.ts:1`: a path with a folder or an ending, then its line. */
const PLACE = /^((?:[A-Za-z]:)?[^:]*[^:./\\]):(\d{1,9})(?::(\d{1,9}))?(?=$|:)/;
const QUOTED = /(["'`])([^"'`:]+:\d{1,9}(?::\d{1,9})?)\1/g;
/** Compilers that write `a.ts(12,3)`. */
const PARENTHESES = /(?<=^|[\s"'`()[\]{}<>|;,=:])([^\s"'`()[\]{}<>|;,=:]+)\((\d{1,9})(?:,(\d{1,9}))?\)/g;
/** Longer lines are not output meant for reading. */
const LONGEST = 4_000;

function named(file: string): boolean {
  return /[/\\]/.test(file) || /\.[a-z]\w*$/i.test(file);
}

/** What looks like a place in one line of output; whether the file is there is for the caller to see. */
export function fileLinks(line: string): FileLinkSpan[] {
  const spans: FileLinkSpan[] = [];
  if (line.length > LONGEST) return spans;
  const add = (start: number, match: RegExpExecArray | RegExpMatchArray, length: number): void => {
    const [, file = '', row, column] = match;
    if (!named(file) || /^\w+:\/\//.test(line.slice(start))) return;
    if (spans.some((span) => start < span.start + span.length && span.start < start + length)) return;
    spans.push({ start, length, file, line: Number(row), ...(column === undefined ? {} : { column: Number(column) }) });
  };
  for (const match of line.matchAll(QUOTED)) {
    const place = PLACE.exec(match[2] ?? '');
    if (place !== null) add(match.index + 1, place, place[0].length);
  }
  for (const match of line.matchAll(PARENTHESES)) add(match.index, match, match[0].length);
  for (const match of line.matchAll(TOKEN)) {
    const place = PLACE.exec(match[0]);
    if (place !== null) add(match.index, place, place[0].length);
  }
  return spans.sort((a, b) => a.start - b.start);
}
