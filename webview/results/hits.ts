/** A stretch of a line: `hit` parts are what the search found. */
export interface Part { readonly text: string; readonly hit: boolean }

/** Characters of a line that are searched for hits; a longer line keeps its rest plain. */
const LINE_LIMIT = 400;
/** Time that finding hits may take in all before it is given up, ms. */
const BUDGET = 250;

/**
 * Finds the hits of a search pattern in single lines, to colour them. The pattern is ripgrep's, so it is only used when
 * it means the same here and can't run away: no nested or many repetitions, no look-around, no back-references. What
 * is not used leaves lines plain; the results stay what they are.
 */
export class HitFinder {
  private readonly regex: RegExp | undefined;
  private spent = 0;
  private readonly now: () => number;

  constructor(pattern: string | undefined, now: () => number = () => performance.now()) {
    this.regex = pattern === undefined || pattern === '' ? undefined : compile(pattern);
    this.now = now;
  }

  /** The line in parts; one plain part when nothing is known. */
  parts(line: string): Part[] {
    const { regex } = this;
    if (regex === undefined || this.spent > BUDGET) return [{ text: line, hit: false }];
    const started = this.now();
    const parts: Part[] = [];
    let at = 0;
    regex.lastIndex = 0;
    const text = line.slice(0, LINE_LIMIT);
    for (let match = regex.exec(text); match !== null; match = regex.exec(text)) {
      if (match[0] === '') {
        regex.lastIndex += 1;
        continue;
      }
      if (match.index > at) parts.push({ text: line.slice(at, match.index), hit: false });
      parts.push({ text: match[0], hit: true });
      at = match.index + match[0].length;
    }
    if (at < line.length || parts.length === 0) parts.push({ text: line.slice(at), hit: false });
    this.spent += this.now() - started;
    return parts;
  }

  /** Where the first hit of the line is: `column` is 1-based, `length` in characters. */
  first(line: string): { column: number; length: number } | undefined {
    let column = 1;
    for (const part of this.parts(line)) {
      if (part.hit) return { column, length: part.text.length };
      column += part.text.length;
    }
    return undefined;
  }
}

function compile(pattern: string): RegExp | undefined {
  const flagged = /^\(\?(i|s|is|si)\)/.exec(pattern);
  const source = flagged === null ? pattern : pattern.slice(flagged[0].length);
  if (!isTame(source)) return undefined;
  try {
    return new RegExp(source, `g${flagged?.[1]?.includes('i') ? 'i' : ''}`);
  } catch {
    return undefined;
  }
}

/** Whether a pattern is plain enough to be run on the page's own thread. */
export function isTame(source: string): boolean {
  if (source.length > 500 || /\\[1-9kpPbB]|\(\?(?!:)|\[\[:/.test(source.replace(/\\[bB]/g, ''))) return false;
  const plain = source.replace(/\\./g, 'x').replace(/\[\^?\]?[^\]]*\]/g, 'x');
  const unbounded = plain.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  if (unbounded > 3 || /\{\d{3,}|,\d{3,}\}/.test(plain)) return false;
  // a repeated group that itself repeats or chooses can take exponential time
  return !/\([^()]*(?:[*+|]|\{\d*,)[^()]*\)\s*(?:[*+]|\{)/.test(plain) && !/\)[^()]*\)\s*(?:[*+]|\{)/.test(plain);
}
