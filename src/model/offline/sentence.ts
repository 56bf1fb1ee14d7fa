import type { ToolSchema } from '../../contract/content.ts';
import { coerce, fieldsOf, isRecord, json, splitList, type Field } from './fields.ts';
import { done, type Filled } from './slash.ts';

/** Arguments from a sentence, by the tool's schema: JSON, `key=value`, addresses, paths, choices, numbers, quotes, and the rest. */
export function fillSentence(tool: ToolSchema, rest: string, whole: string): Filled {
  const fields = fieldsOf(tool);
  const text = new Remainder(rest);
  const object = text.takeObject();
  if (object) return done(fields, object, whole);
  const args: Record<string, unknown> = {};
  const open = (test: (field: Field) => boolean): Field[] => fields.filter((field) => !(field.name in args) && !field.label && test(field));
  for (const field of fields) {
    const value = text.takeNamed(field);
    if (value !== undefined) args[field.name] = value;
  }
  for (const field of open((entry) => entry.url)) assign(args, field, text.take(/\bhttps?:\/\/[^\s"'`<>)]+/i)?.replace(/[.,;!?]+$/, ''));
  // A command or a search text may hold words that look like anything: it is left alone when it is all that is asked for.
  const sole = open((field) => field.required && !field.path);
  const command = sole.length === 1 && sole[0]!.free && sole[0]!.type === 'string' ? sole[0] : undefined;
  if (command && text.hasColonOrQuote()) assign(args, command, text.afterColon() ?? text.takeQuoted());
  if (!command) {
    for (const field of open((entry) => entry.path)) assign(args, field, text.takePath(field.required));
    for (const field of open((entry) => entry.choices.length > 0)) {
      const word = field.choices.map(String).find((choice) => text.takeWord(choice));
      if (word !== undefined) args[field.name] = coerce(field, word);
    }
    for (const field of open((entry) => entry.required && (entry.type === 'number' || entry.type === 'integer'))) {
      const number = text.take(field.type === 'integer' ? /(?<![\w.])-?\d+(?![\w.]*\w)/ : /(?<![\w.])-?\d+(?:\.\d+)?(?!\w)/);
      if (number !== undefined) args[field.name] = coerce(field, number);
    }
    for (const field of open((entry) => entry.type === 'boolean' && !entry.required)) {
      if (text.takeWord(spaced(field.name))) args[field.name] = true;
    }
  }
  for (const field of open((entry) => entry.type === 'string' && entry.choices.length === 0 && (entry.required || !entry.path))) {
    assign(args, field, text.takeQuoted());
  }
  const left = open((field) => field.required && field.choices.length === 0 && (field.type === 'string' || field.type === 'array' || field.type === 'any'));
  if (left.length === 1) {
    const field = left[0]!;
    const phrase = field.free ? text.all() : text.object();
    if (phrase !== '') {
      const value = field.type === 'array' && field.itemType === 'string' ? splitList(phrase) : coerce(field, phrase);
      if (value !== undefined) args[field.name] = value;
    }
  }
  return done(fields, args, whole);
}

function assign(args: Record<string, unknown>, field: Field, value: string | undefined): void {
  if (value !== undefined && value !== '') args[field.name] = value;
}

/** `replace_all` and `timeoutMs` as people write them. */
function spaced(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ').toLowerCase();
}

const QUOTED = /"((?:[^"\\]|\\.)*)"|“([^”]*)”|`([^`]+)`|(?<![\p{L}\p{N}])'([^']*)'(?![\p{L}\p{N}])/u;
const PATH = /(?<![^\s(:])(?:~?\.{0,2}\/[^\s"'`,;]*|[^\s"'`,;:(]+\/[^\s"'`,;]*|[^\s"'`,;:(/]*[\p{L}\p{N}_-]\.[\p{L}\p{N}]{1,10}|\.[\p{L}][\p{L}\p{N}._-]*|[A-Za-z]:\\[^\s"'`,;]+)(?=[\s,;:.!?)]|$)/u;
const PLACE = /\b(?:in|under|inside|within|from|into|at)\s+(?:the\s+)?(?:(?:folder|directory|file)\s+)?/;
const PREPOSITION = /^(?:to|for|of|in|on|about|with|named|called|as|from|at|by|up)$/i;

/** The words of a sentence that no parameter took yet. */
class Remainder {
  private text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Takes the first match (its first group, if any) out of the text. */
  take(pattern: RegExp): string | undefined {
    const hit = pattern.exec(this.text);
    if (!hit) return undefined;
    this.text = `${this.text.slice(0, hit.index)} ${this.text.slice(hit.index + hit[0].length)}`;
    return hit.slice(1).find((group) => group !== undefined) ?? hit[0];
  }

  takeObject(): Record<string, unknown> | undefined {
    const start = this.text.indexOf('{');
    const end = this.text.lastIndexOf('}');
    const value = start >= 0 && end > start ? json(this.text.slice(start, end + 1)) : undefined;
    return isRecord(value) ? value : undefined;
  }

  takeNamed(field: Field): unknown {
    const name = field.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const key = `(?<![\\p{L}\\p{N}_-])["'\`]?${name}["'\`]?`;
    const hit = new RegExp(`${key}\\s*(?:=|:(?!//)\\s)\\s*(?:${QUOTED.source}|(\\[[^\\]]*\\]|[^\\s,;]+))`, 'iu').exec(this.text)
      ?? new RegExp(`${key}\\s+(?:is\\s+)?(?:${QUOTED.source})`, 'iu').exec(this.text)
      ?? (field.type === 'number' || field.type === 'integer' ? new RegExp(`${key}\\s+(?:of\\s+|is\\s+)?(-?\\d+(?:\\.\\d+)?)`, 'iu').exec(this.text) : null);
    if (!hit) return undefined;
    const raw = hit.slice(1).find((group) => group !== undefined) ?? '';
    const value = coerce(field, raw) ?? coerce(field, raw.replace(/[.!?]+$/, ''));
    if (value !== undefined) this.text = `${this.text.slice(0, hit.index)} ${this.text.slice(hit.index + hit[0].length)}`;
    return value;
  }

  takeWord(word: string): boolean {
    const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return this.take(new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'iu')) !== undefined;
  }

  /** A path-like word outside quotes, then one in quotes, then (for "in src") the word behind a preposition of place. */
  takePath(required: boolean): string | undefined {
    const masked = this.text.replace(new RegExp(QUOTED, 'gu'), (quoted) => ' '.repeat(quoted.length));
    const hit = PATH.exec(masked);
    if (hit) {
      const raw = hit[0].replace(/[.!?]+$/, '');
      const before = this.text.slice(0, hit.index).replace(new RegExp(`${PLACE.source}$`), ' ');
      this.text = `${before} ${this.text.slice(hit.index + raw.length)}`;
      return raw;
    }
    const quoted = new RegExp(QUOTED, 'u').exec(this.text);
    const inner = quoted?.slice(1).find((group) => group !== undefined);
    if (required && inner !== undefined && (/[./\\]/.test(inner) && !/\s/.test(inner))) return this.takeQuoted();
    const place = new RegExp(`${PLACE.source}([\\p{L}\\p{N}_-]+)(?:\\s+(?:folder|directory|file))?(?=[\\s,;.!?)]|$)`, 'u').exec(masked);
    if (!place || /^(the|this|a|an|it|my|all|every|here|order)$/i.test(place[1]!)) return undefined;
    this.text = `${this.text.slice(0, place.index)} ${this.text.slice(place.index + place[0].length)}`;
    return place[1];
  }

  takeQuoted(): string | undefined {
    const hit = QUOTED.exec(this.text);
    if (!hit) return undefined;
    this.text = `${this.text.slice(0, hit.index)} ${this.text.slice(hit.index + hit[0].length)}`;
    const value = hit.slice(1).find((group) => group !== undefined) ?? '';
    return hit[1] === undefined ? value : value.replace(/\\(["\\])/g, '$1').replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  }

  hasColonOrQuote(): boolean {
    return /:\s/.test(this.text) || QUOTED.test(this.text);
  }

  /** All behind a colon, when only a few words stand before it ("run this command: ls | wc"). */
  afterColon(): string | undefined {
    const hit = /^[^:"'`]{0,60}:\s+([\s\S]+)$/.exec(this.text);
    if (!hit) return undefined;
    this.text = '';
    return unquoted(hit[1]!.trim());
  }

  /** Everything left. */
  all(): string {
    return unquoted(this.text.replace(/^\s*(?:to\s+|:)/, '').trim());
  }

  /** What the sentence is about: words behind its verb and prepositions, without articles and the final stop. */
  object(): string {
    let words = this.text.trim().replace(/[.!?]+$/, '').split(/\s+/).filter((word) => word !== '');
    for (;;) {
      const at = words.findIndex((word) => PREPOSITION.test(word));
      if (at < 0 || at === words.length - 1 || words.slice(0, at).some((word) => /^\p{Lu}/u.test(word) && word !== words[0])) break;
      if (at > 0 && /^\p{Lu}/u.test(words[0]!) && !this.startsSentence(words[0]!)) break;
      words = words.slice(at + 1);
    }
    while (words.length > 1 && /^(the|a|an|please|all|any|me|every)$/i.test(words[0]!)) words = words.slice(1);
    return words.join(' ').replace(/^[,;:]+|[,;:]+$/g, '').trim();
  }

  private startsSentence(word: string): boolean {
    return this.text.trimStart().startsWith(word);
  }
}

function unquoted(text: string): string {
  const hit = new RegExp(`^(?:${QUOTED.source})[.!?]?$`, 'u').exec(text);
  return hit?.slice(1).find((group) => group !== undefined) ?? text;
}
