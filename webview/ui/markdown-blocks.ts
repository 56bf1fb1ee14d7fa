/** One top-level piece of a Markdown text. A settled block never changes again, so it is parsed once (F3). */
export type MarkdownBlock =
  | { readonly kind: 'text'; readonly text: string }
  /** A fenced code block; `closed` is false while its end has not come. */
  | { readonly kind: 'fence'; readonly lang: string; readonly text: string; readonly closed: boolean };

/** What is not settled yet: `parsed` is worth parsing now, `rest` is shown as it stands until enough has come. */
export type MarkdownTail = { readonly kind: 'text'; readonly parsed: string; readonly rest: string } | { readonly kind: 'fence'; readonly lang: string; readonly text: string };

const FENCE = /^( {0,3})(`{3,}|~{3,})([^\n]*)$/;
const ITEM = /^( {0,3})([-+*]|\d{1,9}[.)])([ \t]+|$)/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
/** Tails below this length are parsed at each change; longer ones only when they grew by an eighth. */
const EAGER = 2048;

/**
 * Splits a growing Markdown text into settled blocks and a tail. Each character is looked at once; the text handed out
 * as `tail.parsed` sums up to a constant times the length of the whole, whatever the text is.
 */
export class MarkdownStream {
  readonly settled: MarkdownBlock[] = [];
  private text = '';
  /** Where the first line not yet looked at starts. */
  private at = 0;
  /** Where the block at work starts. */
  private start = 0;
  private fence: { marker: string; size: number; indent: number; lang: string; bodyStart: number } | undefined;
  /** Column where the content of the list item at work starts; 0 outside of lists. */
  private itemIndent = 0;
  /** A fence inside a list item: its blank lines and markers are content. */
  private innerFence: { marker: string; size: number } | undefined;
  private blank = false;
  private parsedTo = 0;

  /** Takes the whole text so far. Returns false when it does not continue what was there: start over with a new stream. */
  feed(text: string): boolean {
    if (!this.continues(text)) return false;
    let from = Math.max(this.at, this.text.length);
    this.text = text;
    for (;;) {
      const end = text.indexOf('\n', from);
      if (end === -1) break;
      this.line(text.slice(this.at, end).replace(/\r$/, ''), this.at, end + 1);
      this.at = end + 1;
      from = this.at;
    }
    this.peek();
    return true;
  }

  /** Whatever a line becomes that starts at the margin after a blank one: what came before is settled. */
  private peek(): void {
    if (!this.blank || this.fence !== undefined || this.innerFence !== undefined || this.at >= this.text.length || /\s/.test(this.text.charAt(this.at))) return;
    this.cut(this.at);
    this.itemIndent = 0;
  }

  /** Looks at the seam only: comparing all of it at each piece would cost the square of the length. */
  private continues(text: string): boolean {
    const length = this.text.length;
    if (text.length < length) return false;
    const seam = Math.max(0, length - 64);
    return text.slice(0, 64).startsWith(this.text.slice(0, 64)) && text.slice(seam, length) === this.text.slice(seam);
  }

  /** What follows the settled blocks. */
  tail(): MarkdownTail | undefined {
    if (this.fence !== undefined) return { kind: 'fence', lang: this.fence.lang, text: dedent(this.text.slice(this.fence.bodyStart), this.fence.indent) };
    const text = this.text.slice(this.start);
    if (text.trim() === '') return undefined;
    const parsed = this.parsedTo - this.start;
    if (parsed <= 0 || text.length < EAGER || text.length - parsed > parsed / 8) this.parsedTo = this.text.length;
    const cut = this.parsedTo - this.start;
    return { kind: 'text', parsed: text.slice(0, cut), rest: text.slice(cut) };
  }

  /** All blocks of a text that has ended. */
  finish(): readonly MarkdownBlock[] {
    const { fence } = this;
    const rest = this.text.slice(this.start);
    if (fence !== undefined) {
      const last = this.text.slice(this.at);
      const closed = closes(last, fence);
      const end = closed ? this.at : this.text.length;
      return [...this.settled, { kind: 'fence', lang: fence.lang, text: trimEnd(dedent(this.text.slice(fence.bodyStart, end), fence.indent)), closed }];
    }
    return rest.trim() === '' ? this.settled : [...this.settled, { kind: 'text', text: rest }];
  }

  private line(line: string, start: number, end: number): void {
    if (this.fence !== undefined) {
      if (!closes(line, this.fence)) return;
      const body = dedent(this.text.slice(this.fence.bodyStart, start), this.fence.indent);
      this.settled.push({ kind: 'fence', lang: this.fence.lang, text: trimEnd(body), closed: true });
      this.fence = undefined;
      this.begin(end);
      return;
    }
    if (line.trim() === '') {
      this.blank = true;
      return;
    }
    const indent = /^[ \t]*/.exec(line)?.[0].replace(/\t/g, '    ').length ?? 0;
    if (this.innerFence !== undefined) {
      const ends = indent < this.itemIndent;
      if (ends || closes(line.trimStart(), this.innerFence)) this.innerFence = undefined;
      if (!ends) return;
    }
    const inItem = this.itemIndent > 0 && indent >= Math.min(this.itemIndent, 4);
    const fence = FENCE.exec(line);
    const opens = fence !== null && !(fence[2]?.startsWith('`') && fence[3]?.includes('`'));
    const item = ITEM.exec(line);
    if (inItem) {
      if (/^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+(`{3,}|~{3,})|^[ \t]*(`{3,}|~{3,})[^`]*$/.test(line)) this.openInner(line);
    } else if (opens && fence !== null) {
      this.cut(start);
      this.fence = { marker: fence[2]?.[0] ?? '`', size: fence[2]?.length ?? 3, indent: fence[1]?.length ?? 0, lang: language(fence[3] ?? ''), bodyStart: end };
      this.itemIndent = 0;
      this.blank = false;
      return;
    } else if (item !== null && !isRule(line) && (this.itemIndent > 0 || this.blank || start === this.start)) {
      // each item of a long list is a block of its own: drawn without a seam, and numbers are kept by `start`
      this.cut(start);
      this.itemIndent = (item[1]?.length ?? 0) + (item[2]?.length ?? 1) + Math.max(1, Math.min(item[3]?.length ?? 1, 4));
      if (/(`{3,}|~{3,})[^`]*$/.test(line.slice(item[0].length)) && /^[`~]/.test(line.slice(item[0].length))) this.openInner(line);
    } else if (HEADING.test(line)) {
      this.cut(start);
      this.cut(end);
      this.itemIndent = 0;
    } else if (this.blank && indent < 4) {
      this.cut(start);
      this.itemIndent = 0;
    }
    this.blank = false;
  }

  private openInner(line: string): void {
    const marker = /(`{3,}|~{3,})/.exec(line)?.[0] ?? '```';
    this.innerFence = { marker: marker[0] ?? '`', size: marker.length };
  }

  /** Settles what is at work before `at`. */
  private cut(at: number): void {
    const text = this.text.slice(this.start, at);
    if (text.trim() !== '') this.settled.push({ kind: 'text', text });
    this.begin(at);
  }

  private begin(at: number): void {
    this.start = at;
    this.parsedTo = at;
    this.blank = false;
  }
}

function isRule(line: string): boolean {
  return /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(line);
}

function closes(line: string, fence: { marker: string; size: number }): boolean {
  const match = /^ {0,3}(`{3,}|~{3,})[ \t]*\r?$/.exec(line);
  return match?.[1] !== undefined && match[1][0] === fence.marker && match[1].length >= fence.size;
}

function language(info: string): string {
  return /^\s*\{?\.?([^\s,{}:]+)/.exec(info)?.[1] ?? '';
}

function dedent(text: string, indent: number): string {
  return indent === 0 ? text : text.replace(new RegExp(`^ {0,${indent}}`, 'gm'), '');
}

function trimEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** The blocks of a text that will not grow. */
export function splitMarkdown(text: string): readonly MarkdownBlock[] {
  const stream = new MarkdownStream();
  stream.feed(text);
  return stream.finish();
}
