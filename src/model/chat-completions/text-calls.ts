import type { ToolSchema } from '../../contract/content.ts';

/** A tool call that a model wrote into its text instead of using the protocol (H3). */
export interface TextCall { readonly name: string; readonly arguments: string }

/** Said after such a text when it could not be understood. */
export const NOT_RUN = '[This reply contains a tool call written as text that could not be understood. Nothing was run.]';

/** Control-token forms, found anywhere; and plain look-alikes, found at the start of a line only. */
const TOKEN_OPENERS = [
  '<｜DSML｜tool_calls>', '<｜DSML｜function_calls>', '<｜DSML｜invoke ', '<|DSML|tool_calls>', '<|DSML|function_calls>',
  '<|DSML|invoke ', '<｜tool▁calls▁begin｜>', '<｜tool▁call▁begin｜>', '<|tool_calls_begin|>', '<|tool_call_begin|>',
];
const LINE_OPENERS = ['<tool_call>', '<tool_calls>', '<function_calls>', '<function_call>', '[TOOL_CALLS]'];
const OPENERS = [...TOKEN_OPENERS, ...LINE_OPENERS];
const LONGEST = Math.max(...OPENERS.map((opener) => opener.length));

/**
 * Watches streamed text for a tool call written as text. What can't be part of one is let through at once; from an
 * opener on everything is kept for `captured`. Openers inside code fences and inline code are plain text.
 */
export class TextCallFilter {
  /** The text from the opener on, once there was one. */
  captured: string | undefined;
  private held = '';
  private line = '';
  private fenced = false;

  /** The part of the text so far that may be shown now. */
  feed(text: string): string {
    if (this.captured !== undefined) {
      this.captured += text;
      return '';
    }
    const pending = this.held + text;
    let from = 0;
    for (;;) {
      const hit = firstOpener(pending, from);
      if (hit === undefined) break;
      this.advance(pending.slice(from, hit.at));
      from = hit.at;
      if (this.opens(hit.opener)) {
        this.captured = pending.slice(from);
        this.held = '';
        return pending.slice(0, from);
      }
      this.advance(pending.slice(from, from + 1));
      from += 1;
    }
    const keep = partialOpener(pending, from);
    this.held = pending.slice(keep);
    this.advance(pending.slice(from, keep));
    return pending.slice(0, keep);
  }

  /** What was still held back when the text ended, when no call began. */
  rest(): string {
    const rest = this.held;
    this.held = '';
    return rest;
  }

  private opens(opener: string): boolean {
    if (this.fenced || (this.line.split('`').length - 1) % 2 === 1) return false;
    return TOKEN_OPENERS.includes(opener) || this.line.trim() === '';
  }

  private advance(text: string): void {
    const parts = text.split('\n');
    parts.forEach((part, i) => {
      this.line += part;
      if (i === parts.length - 1) return;
      if (/^\s*(```|~~~)/.test(this.line)) this.fenced = !this.fenced;
      this.line = '';
    });
  }
}

function firstOpener(text: string, from: number): { at: number; opener: string } | undefined {
  let best: { at: number; opener: string } | undefined;
  for (const opener of OPENERS) {
    const at = text.indexOf(opener, from);
    if (at >= 0 && (best === undefined || at < best.at)) best = { at, opener };
  }
  return best;
}

/** Index at which a suffix starts that may yet become an opener; the text's length when there is none. */
function partialOpener(text: string, from: number): number {
  for (let at = Math.max(from, text.length - LONGEST + 1); at < text.length; at += 1) {
    const tail = text.slice(at);
    if (OPENERS.some((opener) => opener.startsWith(tail))) return at;
  }
  return text.length;
}

/** The calls that `text` consists of, all of them to offered tools, or undefined: then nothing may run. */
export function parseTextCalls(text: string, tools: readonly ToolSchema[]): TextCall[] | undefined {
  const body = text.replace(/<[｜|]end[▁_]of[▁_]sentence[｜|]>\s*$/, '').trim();
  const calls = /^<\/?[｜|]DSML[｜|]/.test(body) || /^<function_calls>/.test(body)
    ? invokeForm(body, tools)
    : /^<[｜|]tool[▁_]/.test(body) ? tokenForm(body) : jsonForm(body);
  if (calls === undefined || calls.length === 0) return undefined;
  return calls.every((call) => tools.some((tool) => tool.name === call.name)) ? calls : undefined;
}

/** `<invoke name="t"><parameter name="p" string="true">v</parameter></invoke>`, with or without DSML marks. */
function invokeForm(body: string, tools: readonly ToolSchema[]): TextCall[] | undefined {
  const plain = body.replace(/<(\/?)[｜|]DSML[｜|]/g, '<$1').replace(/^<(?:tool|function)_calls>/, '').replace(/<\/(?:tool|function)_calls>$/, '');
  const calls: TextCall[] = [];
  const rest = plain.replace(/<invoke\s+name="([^"]+)"\s*>([\s\S]*?)<\/invoke>/g, (_, name: string, inner: string) => {
    const args: Record<string, unknown> = {};
    const left = inner.replace(
      /<parameter\s+name="([^"]+)"(?:\s+string="(true|false)")?\s*>([\s\S]*?)<\/parameter>/g,
      (_all, key: string, isString: string | undefined, value: string) => {
        args[key] = parameterValue(value, isString, propertyType(tools, name, key));
        return '';
      },
    );
    calls.push({ name, arguments: left.trim() === '' ? JSON.stringify(args) : '{' });
    return '';
  });
  return rest.trim() === '' && calls.every((call) => call.arguments !== '{') ? calls : undefined;
}

function parameterValue(text: string, isString: string | undefined, type: unknown): unknown {
  if (isString === 'true' || (isString === undefined && type === 'string')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function propertyType(tools: readonly ToolSchema[], name: string, key: string): unknown {
  const properties = tools.find((tool) => tool.name === name)?.parameters.properties as Record<string, { type?: unknown }> | undefined;
  return properties && Object.hasOwn(properties, key) ? properties[key]?.type : undefined;
}

/** `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`, also the older one with a type and a json fence. */
function tokenForm(body: string): TextCall[] | undefined {
  const calls: TextCall[] = [];
  const plain = body.replaceAll('▁', '_').replaceAll('｜', '|').replace(/^<\|tool_calls_begin\|>/, '').replace(/<\|tool_calls_end\|>$/, '');
  const rest = plain.replace(/<\|tool_call_begin\|>([\s\S]*?)<\|tool_sep\|>([\s\S]*?)<\|tool_call_end\|>/g, (_, head: string, tail: string) => {
    const fenced = /^([^\n]+)\n```json\n([\s\S]*?)\n```\s*$/.exec(tail);
    calls.push(fenced ? { name: fenced[1]!.trim(), arguments: fenced[2]! } : { name: head.trim(), arguments: tail.trim() });
    return '';
  });
  return rest.trim() === '' && calls.every((call) => isObject(call.arguments)) ? calls : undefined;
}

/** One or more JSON objects `{name, arguments}` in `<tool_call>` or `[TOOL_CALLS]` marks. */
function jsonForm(body: string): TextCall[] | undefined {
  const inner = body.startsWith('[TOOL_CALLS]')
    ? [body.slice('[TOOL_CALLS]'.length)]
    : body.split(/<\/?(?:tool_calls?|function_call)>/).filter((part) => part.trim() !== '');
  const calls: TextCall[] = [];
  for (const part of inner) {
    let value: unknown;
    try {
      value = JSON.parse(part);
    } catch {
      return undefined;
    }
    for (const entry of Array.isArray(value) ? value as unknown[] : [value]) {
      if (typeof entry !== 'object' || entry === null) return undefined;
      const { name, arguments: args, parameters } = entry as Record<string, unknown>;
      const given = args ?? parameters ?? {};
      if (typeof name !== 'string') return undefined;
      calls.push({ name, arguments: typeof given === 'string' ? given : JSON.stringify(given) });
    }
  }
  return calls.every((call) => isObject(call.arguments)) ? calls : undefined;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
