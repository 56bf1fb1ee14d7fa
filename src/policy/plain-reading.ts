import type { CommandDoubt } from '../contract/ask-reason.ts';

/** A command line as a second pair of eyes sees it, which knows the plainest part of the shell's language and nothing else. */
export interface PlainReading {
  readonly commands: readonly PlainCommand[];
  /** Operator and target, in the order they stand there. */
  readonly redirections: readonly string[];
}

export interface PlainCommand {
  readonly words: readonly string[];
  /** Gets what the command before it prints. */
  readonly piped: boolean;
}

/** What makes a character not plain, and where a reading ended. */
class NotPlain extends Error {
  readonly doubt: CommandDoubt;
  constructor(doubt: CommandDoubt) {
    super(doubt.code);
    this.doubt = doubt;
  }
}

const BLANK = /[ \t]+/y;
const COMMENT = /#[^\n]*/y;
/** No part of a longer operator: those are not plain. */
const OPERATOR = /&&|\|\||&>(?!>)|>>|>&|<&|;(?![;&])|\|(?!&)|>(?!\|)|<(?![<>])|\n/y;
const BARE = /[A-Za-z0-9_.,:/@%+=^~*?!#[\]-]+/y;
const OTHER_SCRIPT = /[^\0-\x7f]+/y;
const QUOTED = /'[^']*'|"[^"$`\\]*"/y;
const REDIRECTIONS = new Set(['&>', '>>', '>&', '<&', '>', '<']);
/** Words that are syntax where a program is expected. */
const RESERVED = new Set([
  'if', 'then', 'else', 'elif', 'fi', 'case', 'esac', 'for', 'select', 'while', 'until', 'do', 'done', 'in', 'function', 'time', 'coproc', '[[', ']]',
]);

/**
 * Splits a command line into words, or says what keeps it from being split in one way only. The grammar and bash do not agree on
 * every character (a form feed, a backslash before a newline): here each one outside quotes is of a set that every shell in every
 * locale reads alike. A command that both this and the grammar read the same way is one that bash reads that way (J3).
 */
export function readPlainly(source: string): PlainReading | CommandDoubt {
  try {
    return new Reader(source).read();
  } catch (error) {
    if (!(error instanceof NotPlain)) throw error;
    return error.doubt;
  }
}

class Reader {
  private readonly source: string;
  private at = 0;
  private readonly commands: PlainCommand[] = [];
  private readonly redirections: string[] = [];
  private words: string[] = [];
  private piped = false;
  /** The operator that waits for its target. */
  private pending: string | undefined;

  constructor(source: string) {
    this.source = source;
  }

  read(): PlainReading {
    // quotes or not: the shell marks characters with some of these itself
    const control = /[\0-\x08\x0b-\x1f\x7f]|\p{Cs}/u.exec(this.source);
    if (control) throw new NotPlain({ code: 'character', text: named(control[0]) });
    while (this.at < this.source.length) {
      if (this.take(BLANK) !== undefined || this.take(COMMENT) !== undefined) continue;
      const operator = this.take(OPERATOR);
      if (operator === undefined) this.word();
      else this.operator(operator);
    }
    this.operator('\n');
    return { commands: this.commands, redirections: this.redirections };
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  private operator(operator: string): void {
    if (this.pending !== undefined) throw new NotPlain({ code: 'unparsable' });
    if (REDIRECTIONS.has(operator)) {
      this.pending = operator;
      return;
    }
    if (this.words.length > 0) {
      this.commands.push({ words: this.words, piped: this.piped });
      this.words = [];
      this.piped = false;
    }
    // a pipe may go on in the next line
    if (operator !== '\n') this.piped = operator === '|';
  }

  private word(): void {
    const start = this.at;
    let text = '';
    let bare = true;
    for (;;) {
      const quoted = this.take(QUOTED);
      if (quoted !== undefined) bare = false;
      const piece = quoted?.slice(1, -1) ?? this.take(BARE) ?? this.otherScript();
      if (piece === undefined) break;
      text += piece;
    }
    if (this.at === start) throw new NotPlain(doubtAt(this.source.slice(start)));
    if (this.pending !== undefined) {
      this.redirections.push(`${this.pending} ${text}`);
      this.pending = undefined;
    } else if (bare && /^\d+$/.test(text) && /[<>]/.test(this.source[this.at] ?? '')) {
      return; // the stream that is redirected
    } else if (!(bare && text === '!' && this.words.length === 0)) {
      if (bare && this.words.length === 0 && RESERVED.has(text)) throw new NotPlain({ code: 'program', text });
      this.words.push(text);
    }
  }

  private otherScript(): string | undefined {
    const found = this.take(OTHER_SCRIPT);
    if (found === undefined) return undefined;
    for (const character of found) {
      // some systems take these two bytes for blanks
      const blank = Buffer.from(character).some((byte) => byte === 0x85 || byte === 0xa0);
      if (blank || !/[\p{L}\p{M}\p{N}]/u.test(character)) throw new NotPlain({ code: 'character', text: named(character) });
    }
    // in some encodings the byte of a pipe can be the second half of a letter
    if (this.source[this.at] === '|') throw new NotPlain({ code: 'character', text: named(found.at(-1)!) });
    return found;
  }
}

function doubtAt(rest: string): CommandDoubt {
  const [character = ''] = rest;
  switch (character) {
    case '\\': return { code: 'escape' };
    case '$': case '`': return { code: 'expansion' };
    case '"': case '\'': return { code: rest.lastIndexOf(character) > 0 ? 'expansion' : 'unparsable' };
    case '&': case '|': case ';': case '<': case '>': return { code: 'operator', text: /^[&|;<>]+/.exec(rest)![0] };
    default: return { code: 'character', text: named(character) };
  }
}

/** A character that can be seen as itself, any other by its number. */
function named(character: string): string {
  const number = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `${character} (${number})` : number;
}
