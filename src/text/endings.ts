/**
 * Line endings. The model speaks LF; a file keeps what it has. Texts are matched on an LF view and spliced by offset in
 * their own endings (A1, A3). A lone CR counts as an ending only in a text without any LF (classic Mac).
 */
export type LineEnding = '\n' | '\r\n' | '\r';

/** Whether `text` ends its lines with lone CRs. */
export function isCarriageReturnOnly(text: string): boolean {
  // LF first: it is near the start of nearly every text, CR would be looked for to the end
  return !text.includes('\n') && text.includes('\r');
}

/** The LF view of a file's text. */
export function toLf(text: string): string {
  if (!text.includes('\r')) return text;
  return text.replaceAll(text.includes('\n') ? '\r\n' : '\r', '\n');
}

/** LF view of text from the model, which may carry CRLF by accident. Lone CRs stay. */
export function modelTextToLf(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
}

/**
 * Maps offsets in `toLf(text)` (ascending) to offsets in `text`. A view's LF stands for the whole pair: the offset
 * before it maps before the CR, the offset after it behind the LF.
 */
export function toOwnOffsets(text: string, viewOffsets: readonly number[]): number[] {
  if (!text.includes('\r\n')) return [...viewOffsets];
  const own: number[] = [];
  let pairs = 0;
  let next = text.indexOf('\r\n');
  for (const offset of viewOffsets) {
    // the pair at own offset `next` is the view's LF at `next - pairs`
    while (next !== -1 && next - pairs < offset) {
      pairs++;
      next = text.indexOf('\r\n', next + 2);
    }
    own.push(offset + pairs);
  }
  return own;
}

/** Counts of each ending in `text`. */
function countEndings(text: string): { lf: number; crlf: number; cr: number } {
  const counts = { lf: 0, crlf: 0, cr: 0 };
  if (!text.includes('\r')) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) counts.lf++;
    return counts;
  }
  for (const match of text.matchAll(/\r\n|\n|\r/g)) {
    if (match[0] === '\n') counts.lf++;
    else if (match[0] === '\r') counts.cr++;
    else counts.crlf++;
  }
  return counts;
}

/** The ending most lines of `text` have; `\n` for a text without any. */
export function dominantEnding(text: string): LineEnding {
  const { lf, crlf, cr } = countEndings(text);
  if (lf === 0 && crlf === 0) return cr > 0 ? '\r' : '\n';
  return crlf > lf ? '\r\n' : '\n';
}

/** The ending that a line inserted at offset `at` should have: of the line it lies in, else of the line before, else `\n`. */
export function endingAround(text: string, at: number): LineEnding {
  if (isCarriageReturnOnly(text)) return '\r';
  const next = text.indexOf('\n', at);
  if (next !== -1) return next > 0 && text[next - 1] === '\r' ? '\r\n' : '\n';
  const previous = at > 0 ? text.lastIndexOf('\n', at - 1) : -1;
  if (previous !== -1) return previous > 0 && text[previous - 1] === '\r' ? '\r\n' : '\n';
  return '\n';
}

/** The character that ends lines in `text`: CR in classic Mac texts, else LF. */
export function lineChar(text: string): '\n' | '\r' {
  return isCarriageReturnOnly(text) ? '\r' : '\n';
}

/**
 * Lines with their endings: joined they give `text` again. The last line has no ending unless the text ends with one;
 * an empty text has no lines. Pass `ending` when `text` is a part of a larger one.
 */
export function splitLines(text: string, ending: '\n' | '\r' = lineChar(text)): string[] {
  const lines: string[] = [];
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf(ending, at);
    if (next === -1) {
      lines.push(text.slice(at));
      break;
    }
    lines.push(text.slice(at, next + 1));
    at = next + 1;
  }
  return lines;
}

/** The endings inside `text`, in order. */
export function endingsIn(text: string, ending: '\n' | '\r'): LineEnding[] {
  const found: LineEnding[] = [];
  for (let at = text.indexOf(ending); at !== -1; at = text.indexOf(ending, at + 1)) {
    found.push(ending === '\r' ? '\r' : at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n');
  }
  return found;
}

/** LF text with its n-th ending taken from `endings`, the last of them (or `fallback`) once they run out. */
export function withEndings(lfText: string, endings: readonly LineEnding[], fallback: LineEnding): string {
  let at = 0;
  return lfText.replaceAll('\n', () => endings[at++] ?? endings.at(-1) ?? fallback);
}
