import { jsonErrorPosition } from './json-position.ts';

/** A script for tests, demos and bug reports (design 6): what the user says, and one entry for each model request. */
export interface Script {
  readonly user: readonly string[];
  readonly model: readonly ScriptEntry[];
}
export interface ScriptToolCall {
  readonly name: string;
  /** An object, or a string that is passed on raw (malformed on purpose, say). */
  readonly arguments: unknown;
  readonly id?: string;
}
export interface ScriptEntry {
  readonly reasoning?: string;
  readonly text?: string;
  readonly toolCalls?: readonly ScriptToolCall[];
  /** Characters a delta; absent: one delta a block. */
  readonly chunks?: number;
  /** The stream breaks off after that many deltas. */
  readonly cutAt?: number;
  /** The request fails. `retryAfter` in seconds. */
  readonly error?: { readonly status: number; readonly retryAfter?: number; readonly message?: string };
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  /** Ends as if the token limit had been reached. */
  readonly maxTokens?: boolean;
}

/** One line that names the file, the place in it, and what belongs there. */
export class ScriptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScriptError';
  }
}

/** Reads a script. Throws ScriptError; `file` is what the message calls it. */
export function parseScript(text: string, file: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    const at = jsonErrorPosition(text.replace(/^\uFEFF/, ''));
    throw new ScriptError(`${file}:${at?.line ?? 1}:${at?.column ?? 1}: not JSON: expected an object with "user" and "model"`);
  }
  const root = record(value, file, '', ['user', 'model']);
  const user = list(root.user, file, 'user').map((entry, i) => string(entry, file, `user[${i}]`));
  const model = list(root.model, file, 'model').map((entry, i) => modelEntry(entry, file, `model[${i}]`));
  if (user.length === 0) throw wrong(file, 'user', 'at least one message', root.user);
  return { user, model };
}

const ENTRY_KEYS = ['reasoning', 'text', 'toolCalls', 'chunks', 'cutAt', 'error', 'usage', 'maxTokens'];

function modelEntry(value: unknown, file: string, at: string): ScriptEntry {
  const entry = record(value, file, at, ENTRY_KEYS);
  const { reasoning, text, toolCalls, chunks, cutAt, error, usage, maxTokens } = entry;
  if (reasoning === undefined && text === undefined && toolCalls === undefined && error === undefined) {
    throw wrong(file, at, 'one of "text", "reasoning", "toolCalls", "error"', value);
  }
  return {
    ...(reasoning === undefined ? {} : { reasoning: string(reasoning, file, `${at}.reasoning`) }),
    ...(text === undefined ? {} : { text: string(text, file, `${at}.text`) }),
    ...(toolCalls === undefined ? {} : {
      toolCalls: list(toolCalls, file, `${at}.toolCalls`).map((call, i) => toolCall(call, file, `${at}.toolCalls[${i}]`)),
    }),
    ...(chunks === undefined ? {} : { chunks: whole(chunks, 1, file, `${at}.chunks`) }),
    ...(cutAt === undefined ? {} : { cutAt: whole(cutAt, 0, file, `${at}.cutAt`) }),
    ...(error === undefined ? {} : { error: failure(error, file, `${at}.error`) }),
    ...(usage === undefined ? {} : { usage: tokens(usage, file, `${at}.usage`) }),
    ...(maxTokens === undefined ? {} : { maxTokens: bool(maxTokens, file, `${at}.maxTokens`) }),
  };
}

function toolCall(value: unknown, file: string, at: string): ScriptToolCall {
  const call = record(value, file, at, ['name', 'arguments', 'id']);
  const name = string(call.name, file, `${at}.name`);
  const args = call.arguments ?? {};
  if (typeof args !== 'string' && (typeof args !== 'object' || Array.isArray(args))) {
    throw wrong(file, `${at}.arguments`, 'an object, or a string that is passed on raw', args);
  }
  return { name, arguments: args, ...(call.id === undefined ? {} : { id: string(call.id, file, `${at}.id`) }) };
}

function failure(value: unknown, file: string, at: string): NonNullable<ScriptEntry['error']> {
  const error = record(value, file, at, ['status', 'retryAfter', 'message']);
  const { retryAfter, message } = error;
  const status = whole(error.status, 400, file, `${at}.status`);
  if (retryAfter !== undefined && (typeof retryAfter !== 'number' || !(retryAfter >= 0))) {
    throw wrong(file, `${at}.retryAfter`, 'a number of seconds', retryAfter);
  }
  return {
    status,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(message === undefined ? {} : { message: string(message, file, `${at}.message`) }),
  };
}

function tokens(value: unknown, file: string, at: string): NonNullable<ScriptEntry['usage']> {
  const usage = record(value, file, at, ['inputTokens', 'outputTokens']);
  return {
    inputTokens: whole(usage.inputTokens, 0, file, `${at}.inputTokens`),
    outputTokens: whole(usage.outputTokens, 0, file, `${at}.outputTokens`),
  };
}

function record(value: unknown, file: string, at: string, keys: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(file, at, 'an object', value);
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    throw new ScriptError(`${file}: ${at === '' ? '' : `${at}: `}unknown key "${unknown}", expected ${keys.map((key) => `"${key}"`).join(', ')}`);
  }
  return value as Record<string, unknown>;
}

function list(value: unknown, file: string, at: string): unknown[] {
  if (!Array.isArray(value)) throw wrong(file, at, 'a list', value);
  return value as unknown[];
}

function string(value: unknown, file: string, at: string): string {
  if (typeof value !== 'string') throw wrong(file, at, 'a string', value);
  return value;
}

function bool(value: unknown, file: string, at: string): boolean {
  if (typeof value !== 'boolean') throw wrong(file, at, 'true or false', value);
  return value;
}

function whole(value: unknown, least: number, file: string, at: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least) throw wrong(file, at, `a whole number from ${least}`, value);
  return value;
}

function wrong(file: string, at: string, expected: string, value: unknown): ScriptError {
  const got = value === undefined ? 'nothing' : JSON.stringify(value);
  return new ScriptError(`${file}: ${at === '' ? '' : `${at}: `}expected ${expected}, got ${got.length > 60 ? `${got.slice(0, 60)}…` : got}`);
}

/** Cuts text into pieces of `size` characters, never through a character. */
export function pieces(text: string, size: number | undefined): string[] {
  if (text === '') return [];
  if (size === undefined) return [text];
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, i) => characters.slice(i * size, (i + 1) * size).join(''));
}

/** The raw argument text of a scripted call. */
export function rawArguments(call: ScriptToolCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}
