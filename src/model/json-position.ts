/** Where JSON text goes wrong, 1-based; undefined when it is well-formed. Node's own messages often lack the place. */
export function jsonErrorPosition(text: string): { line: number; column: number } | undefined {
  const offset = new Scanner(text).firstError();
  if (offset === undefined) return undefined;
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

const SPACE = /[ \t\r\n]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const ATOM = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class Stop extends Error {}

/** A recogniser of JSON that remembers how far it came. */
class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  firstError(): number | undefined {
    try {
      this.value(0);
      this.skip(SPACE);
      return this.at === this.text.length ? undefined : this.at;
    } catch (error) {
      if (error instanceof Stop) return this.at;
      throw error;
    }
  }

  private value(depth: number): void {
    if (depth > 500) throw new Stop();
    this.skip(SPACE);
    const next = this.text[this.at];
    if (next === '{') this.list('}', () => { this.skip(SPACE); this.string(); this.skip(SPACE); this.char(':'); this.value(depth + 1); });
    else if (next === '[') this.list(']', () => this.value(depth + 1));
    else if (next === '"') this.string();
    else this.need(ATOM);
  }

  private list(end: string, item: () => void): void {
    this.at += 1;
    this.skip(SPACE);
    if (this.text[this.at] === end) {
      this.at += 1;
      return;
    }
    for (;;) {
      item();
      this.skip(SPACE);
      if (this.text[this.at] === end) {
        this.at += 1;
        return;
      }
      this.char(',');
    }
  }

  private char(wanted: string): void {
    if (this.text[this.at] !== wanted) throw new Stop();
    this.at += 1;
  }

  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const hit = pattern.exec(this.text);
    if (hit) this.at += hit[0].length;
    return hit !== null;
  }

  private need(pattern: RegExp): void {
    if (!this.skip(pattern)) throw new Stop();
  }

  /** By hand: a pattern would need a stack as long as the string. */
  private string(): void {
    this.char('"');
    for (;;) {
      const next = this.text.charCodeAt(this.at);
      // NaN at the end
      if (!(next >= 0x20)) throw new Stop();
      if (next === 0x5c) this.need(ESCAPE);
      else this.at += 1;
      if (next === 0x22) return;
    }
  }
}
