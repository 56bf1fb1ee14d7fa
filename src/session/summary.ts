import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isRawEvent } from './events.ts';
import { parseHeader } from './parse.ts';
import { unpackRow } from './rows.ts';

/** A session as the list shows it. */
export interface SessionInfo {
  readonly id: string;
  readonly title: string;
  /** Absolute folder it belongs to. */
  readonly cwd?: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** ms since the epoch of the last event. */
  readonly time: number;
  readonly parentSession?: string;
  readonly delegated: boolean;
}

/** Bytes read from either end; the head grows until the first user message is in it. */
const HEAD = 16 * 1024;
const HEAD_MAX = 1024 * 1024;
const TAIL = 16 * 1024;
const TITLE_LENGTH = 80;

/** First line of what the user said, short enough for a list; undefined when it is blank. */
export function titleOf(text: string): string | undefined {
  const line = text.split('\n').map((part) => part.trim()).find((part) => part !== '');
  if (line === undefined) return undefined;
  const chars = [...line];
  return chars.length > TITLE_LENGTH ? `${chars.slice(0, TITLE_LENGTH - 1).join('').trimEnd()}…` : line;
}

interface MessageLike { source?: { kind?: unknown }; content?: readonly { type?: unknown; text?: unknown }[] }

/** The user's own words in a message; undefined for anything a plugin or a tool said. */
export function userText(message: MessageLike): string | undefined {
  if (message.source?.kind !== 'user' || !Array.isArray(message.content)) return undefined;
  return message.content.flatMap((block) => (block?.type === 'text' && typeof block.text === 'string' ? [block.text] : [])).join('\n');
}

async function readAt(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, start);
  return bytes.subarray(0, bytesRead);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function firstTitle(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    if (!line.includes('"user/message"') && !line.includes('"agent/inbox/spliced"')) continue;
    const event = parse(line);
    if (!isRawEvent(event)) continue;
    const data = event.data as { inserted?: unknown };
    const messages = event.type === 'user/message' ? [data] : Array.isArray(data.inserted) ? data.inserted : [];
    for (const message of messages) {
      const title = titleOf(userText((message ?? {}) as MessageLike) ?? '');
      if (title !== undefined) return title;
    }
  }
  return undefined;
}

/** The start of a message that is longer than what is read of a file: its line is cut, so it is no JSON. */
function cutTitle(line: string): string | undefined {
  if (!line.includes('"user/message"') && !line.includes('"agent/inbox/spliced"')) return undefined;
  const start = /"text":"((?:[^"\\]|\\u[0-9a-f]{4}|\\[^u]){1,400})/i.exec(line)?.[1];
  const text = start === undefined ? undefined : parse(`"${start}"`);
  return typeof text === 'string' ? titleOf(text) : undefined;
}

function lastTime(lines: readonly string[]): number | undefined {
  for (let i = lines.length - 1; i >= 0; i--) {
    const last = unpackRow(parse(lines[i]!))?.at(-1);
    if (last) return last.time;
  }
  return undefined;
}

/** Reads the head (header, first user message) and the tail (last event) of a session file of `size` bytes. */
export async function summarize(path: string, id: string, size: number, givenTitle: string | undefined): Promise<SessionInfo> {
  const file = await open(path, 'r');
  try {
    let head: string[] = [];
    let title = givenTitle;
    for (let length = HEAD; ; length *= 4) {
      head = (await readAt(file, 0, Math.min(length, size))).toString('utf8').split('\n');
      title ??= firstTitle(head);
      if (title !== undefined || length >= size || length >= HEAD_MAX) break;
    }
    title ??= cutTitle(head.at(-1) ?? '');
    const header = parseHeader(parse(head[0] ?? ''), path);
    const tail = (await readAt(file, Math.max(0, size - TAIL), Math.min(TAIL, size))).toString('utf8').split('\n');
    const { mtimeMs } = await file.stat();
    return {
      id, title: title ?? '', ...(header?.cwd !== undefined && { cwd: header.cwd }), createdAt: header?.createdAt ?? Math.floor(mtimeMs),
      time: lastTime(tail) ?? Math.floor(mtimeMs), ...(header?.parentSession !== undefined && { parentSession: header.parentSession }),
      delegated: (header?.delegationDepth ?? 0) > 0,
    };
  } finally {
    await file.close();
  }
}
