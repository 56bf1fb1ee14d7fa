import type { ToolSchema } from '../../contract/content.ts';
import { coerce, fieldsOf, isRecord, json, type Field } from './fields.ts';

/** Arguments found so far, what is still needed, and what was said that fits nowhere. */
export interface Filled {
  readonly args: Record<string, unknown>;
  readonly missing: readonly Field[];
  /** One sentence on what could not be understood. */
  readonly problem?: string;
}

interface Token { readonly text: string; readonly start: number; readonly end: number; readonly quoted: boolean }

/** `/tool rest`, split; undefined when the text is no command. */
export function readSlash(text: string): { name: string; rest: string } | undefined {
  const hit = /^\s*\/([\p{L}\p{N}_][\p{L}\p{N}_.:-]*)(?:\s+([\s\S]*))?$/u.exec(text);
  return hit ? { name: hit[1]!, rest: (hit[2] ?? '').trim() } : undefined;
}

/**
 * The arguments of `/tool …`: one JSON object, or `key=value` and `--key value` for named parameters and plain words for
 * the others in their order (required first). The only text of a tool, or a command, takes all that is left.
 */
export function fillSlash(tool: ToolSchema, rest: string): Filled {
  const fields = fieldsOf(tool);
  if (rest.startsWith('{')) {
    const value = json(rest);
    if (isRecord(value)) return done(fields, value);
    return { args: {}, missing: [], problem: 'What follows the tool\'s name starts like JSON but is not a JSON object.' };
  }
  const args: Record<string, unknown> = {};
  let tokens = tokenize(rest);
  const named = takeNamed(tokens, fields, args);
  if (named.problem !== undefined) return { args, missing: [], problem: named.problem };
  const open = fields.filter((field) => !(field.name in args) && !field.label);
  const needed = open.filter((field) => field.required);
  const only = needed.length === 1 ? needed[0] : undefined;
  if (only?.type === 'string' && only.choices.length === 0 && (only.free || open.length === 1)) {
    // A command keeps its own quotes and `a=b` words: only what came before it was ours.
    const words = only.free ? tokens.slice(named.leading) : named.left;
    if (words.length > 0) args[only.name] = only.free ? rest.slice(words[0]!.start).trim() : words.map((word) => word.text).join(' ');
    return done(fields, args, rest);
  }
  tokens = named.left;
  let lastText: Field | undefined;
  for (const field of open) {
    if (tokens.length === 0) break;
    const list = field.type === 'array';
    const words = tokens.slice(0, list ? tokens.length : 1).map((token) => token.text);
    const text = words.join(list && !words[0]!.startsWith('[') ? ', ' : ' ');
    const value = coerce(field, text);
    if (value === undefined) {
      if (field.required) return { args, missing: [], problem: misfit(field, text) };
      continue;
    }
    args[field.name] = value;
    tokens = tokens.slice(words.length);
    if (field.type === 'string' && field.choices.length === 0) lastText = field;
  }
  // "/glob *.ts my folder": what is left over belongs to the last text
  if (lastText && tokens.length > 0) args[lastText.name] = [args[lastText.name], ...tokens.splice(0).map((token) => token.text)].join(' ');
  if (tokens.length > 0) {
    return { args, missing: [], problem: `"${tokens.map((token) => token.text).join(' ')}" fits none of the tool's parameters.` };
  }
  return done(fields, args, rest);
}

/** Adds what the user need not say, and lists what is still missing. */
export function done(fields: readonly Field[], args: Record<string, unknown>, words = ''): Filled {
  const missing = fields.filter((field) => field.required && !field.label && !(field.name in args));
  const said = words.replace(/\s+/g, ' ').trim();
  for (const field of fields) {
    if (field.label && field.required && !(field.name in args)) args[field.name] = said === '' ? 'Asked for in the chat' : said.slice(0, 100);
  }
  return { args, missing };
}

/** Why a text can't be a field's value. */
export function misfit(field: Field, text: string): string {
  return `"${text}" can't be \`${field.name}\`, which is ${/^one of/.test(describe(field)) ? '' : 'a '}${describe(field)}.`;
}

/** A field's kind in words. */
export function describe(field: Field): string {
  if (field.choices.length > 0) return `one of ${field.choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  if (field.type === 'array') return 'list';
  if (field.type === 'integer') return 'whole number';
  return field.type === 'any' ? 'value' : field.type;
}

function takeNamed(
  tokens: readonly Token[], fields: readonly Field[], args: Record<string, unknown>,
): { left: Token[]; leading: number; problem?: string } {
  const left: Token[] = [];
  let leading = 0;
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i]!;
    const pair = /^(?:--)?([A-Za-z_][\w-]*)=([\s\S]*)$/.exec(token.text);
    const flag = !token.quoted ? /^--([A-Za-z_][\w-]*)$/.exec(token.text) : null;
    const field = find(fields, pair?.[1] ?? flag?.[1]);
    if (!field) {
      left.push(token);
      continue;
    }
    let text = pair?.[2];
    if (text === undefined) {
      const next = tokens[i + 1];
      if (field.type === 'boolean' && (next === undefined || coerce(field, next.text) === undefined)) text = 'true';
      else if (next === undefined) return { left, leading, problem: `\`--${field.name}\` has no value.` };
      else {
        text = next.text;
        i += 1;
      }
    }
    const value = coerce(field, text);
    if (value === undefined) return { left, leading, problem: misfit(field, text) };
    args[field.name] = value;
    if (left.length === 0) leading = i + 1;
  }
  return { left, leading };
}

function find(fields: readonly Field[], name: string | undefined): Field | undefined {
  if (name === undefined) return undefined;
  const plain = (text: string): string => text.replace(/[-_]/g, '').toLowerCase();
  return fields.find((field) => plain(field.name) === plain(name));
}

/** Words and quoted texts; a quote may also start inside a word (`key="two words"`). */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at]!)) {
      at += 1;
      continue;
    }
    const start = at;
    let word = '';
    let quoted = false;
    while (at < text.length && !/\s/.test(text[at]!)) {
      const quote = text[at]!;
      const opens = (quote === '"' || quote === '\'' || quote === '`') && (word === '' || word.endsWith('='));
      const close = opens ? closing(text, at) : -1;
      if (close > 0) {
        word += text.slice(at + 1, close).replace(quote === '"' ? /\\(["\\])/g : /(?!)/g, '$1');
        quoted = true;
        at = close + 1;
      } else {
        word += quote;
        at += 1;
      }
    }
    tokens.push({ text: word, start, end: at, quoted });
  }
  return tokens;
}

function closing(text: string, open: number): number {
  const quote = text[open]!;
  for (let at = open + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}
