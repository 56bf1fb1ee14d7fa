import { HarnessError } from '../contract/error.ts';
import type { SessionEvent, SessionHeader } from '../contract/event.ts';
import type { JsonValue } from '../contract/json.ts';
import { frozenJson } from '../contract/snapshot.ts';
import { KNOWN_EVENT_TYPES } from './events.ts';
import type { RawEvent } from './events.ts';
import { unpackRow } from './rows.ts';
import { isSurfaceType, Surface } from './surface.ts';

/** A log no one should touch: another version, or events this build does not understand (L11.7). */
export class SessionUnreadableError extends HarnessError {
  constructor(message: string) {
    super(message, 'SESSION_UNREADABLE');
  }
}

export interface ParsedLog {
  readonly header: SessionHeader;
  /** Numbered from 0 without gaps. */
  readonly events: SessionEvent[];
  /** Bytes of lines that are no events, in file order (G3). */
  readonly bad: Buffer[];
  /** Bytes from the start of the file that are good as they stand. */
  readonly soundBytes: number;
  /** The sound part lacks only its final newline. */
  readonly missingNewline: boolean;
  /** Something in the middle was bad: the file has to be written anew. */
  readonly rewrite: boolean;
}

/** More missing numbers than this in one place is a corrupt number, not a loss. */
const LARGEST_GAP = 10_000;
const NEWLINE = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseLine(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks the first line; undefined when it is no header at all. Throws SessionUnreadableError for another version. */
export function parseHeader(value: unknown, file: string): SessionHeader | undefined {
  if (!isRecord(value) || value.type !== 'session' || typeof value.id !== 'string') return undefined;
  if (value.version !== 0) {
    throw new SessionUnreadableError(`${file}: session format version ${JSON.stringify(value.version)} is not supported (this build reads version 0); the file was left as it is`);
  }
  const createdAt = typeof value.createdAt === 'number' ? value.createdAt : 0;
  const delegationDepth = typeof value.delegationDepth === 'number' ? value.delegationDepth : 0;
  return frozenJson({ ...value, createdAt, delegationDepth } as JsonValue) as unknown as SessionHeader;
}

function isTurn(value: unknown): boolean {
  return isRecord(value) && typeof value.turn === 'number';
}
function isMessage(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.content) && value.content.every(isRecord) && isRecord(value.source) && typeof value.role === 'string';
}
/** Shapes that later code relies on without looking again. */
const SHAPES: Record<string, (data: Record<string, unknown>) => boolean> = {
  'turn/start': isTurn,
  'turn/end': (data) => isTurn(data) && isRecord(data.reason),
  'step/start': isTurn,
  'step/end': isTurn,
  'user/message': isMessage,
  'assistant/chunk': (data) => isRecord(data.chunk),
  'assistant/message': (data) => isMessage(data.message),
  'tool/call': (data) => typeof data.callId === 'string' && typeof data.name === 'string' && typeof data.arguments === 'string',
  'tool/result': (data) => isMessage(data.message) && isResult((data.message as { content: unknown[] }).content),
  'todo/write': (data) => Array.isArray(data.todos) && data.todos.every(isRecord),
  'approval/asked': (data) => typeof data.id === 'string',
  'approval/decided': (data) => typeof data.id === 'string',
  'agent/inbox/spliced': (data) => Array.isArray(data.inserted) && data.inserted.every(isMessage) && typeof data.start === 'number',
  'request/header': (data) => isRecord(data.header) && isRecord(data.header.config),
};
function isResult(content: readonly unknown[]): boolean {
  const [block] = content;
  return content.length === 1 && isRecord(block) && block.type === 'tool-result' && typeof block.toolCallId === 'string' && Array.isArray(block.content);
}

function isSound(event: RawEvent): boolean {
  const shape = SHAPES[event.type];
  return shape === undefined || (isRecord(event.data) && shape(event.data));
}

/**
 * Reads the bytes of a session file. Keeps whatever is whole: a bad line goes to `bad` and its number is taken by a
 * `session/lost` event, so that references stay right (G3); a torn last line is left out (G1).
 * Throws SessionUnreadableError when the log must not be interpreted (L11.7).
 */
export function parseLog(bytes: Buffer, file: string, id: string): ParsedLog {
  let header: SessionHeader | undefined;
  const events: SessionEvent[] = [];
  const surface = new Surface();
  const bad: Buffer[] = [];
  let soundBytes = 0;
  let rewrite = false;
  let missingNewline = false;
  /** Bad lines since the last good one: how many numbers they took shows only at the next good line. */
  let open = 0;

  const lost = (time: number): void => {
    events.push(frozenJson({ type: 'session/lost', seq: events.length, time, ignorable: true, data: { reason: 'unreadable line' } }) as unknown as SessionEvent);
  };
  const admit = (raw: RawEvent): boolean => {
    const gap = raw.seq - events.length;
    if (gap < 0 || gap > LARGEST_GAP || !isSound(raw)) return false;
    if (!KNOWN_EVENT_TYPES.has(raw.type) && raw.ignorable !== true) {
      throw new SessionUnreadableError(`${file}: event ${raw.seq} has the unknown type "${raw.type}": a newer version wrote this session; the file was left as it is`);
    }
    if (gap > 0) rewrite = true;
    for (let i = 0; i < gap; i++) lost(raw.time);
    const surfaceOp = (raw as { surfaceOp?: unknown }).surfaceOp ?? (isSurfaceType(raw.type) ? 'append' : undefined);
    const event = frozenJson({ ...raw, ...(surfaceOp !== undefined && { surfaceOp }) }) as unknown as SessionEvent;
    try {
      surface.check(event.type, event);
    } catch {
      return false;
    }
    surface.apply(event);
    events.push(event);
    return true;
  };

  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    const value = line.length === 0 ? undefined : parseLine(line);
    let good = false;
    if (header === undefined && start === 0) {
      header = parseHeader(value, file);
      good = header !== undefined;
    }
    if (!good) good = unpackRow(value)?.every(admit) ?? false;
    if (good) {
      if (open > 0) rewrite = true;
      open = 0;
      soundBytes = newline < 0 ? end : newline + 1;
      missingNewline = newline < 0;
    } else if (line.length > 0) {
      open++;
      bad.push(line);
    }
    start = newline < 0 ? bytes.length : newline + 1;
  }
  if (header === undefined) {
    rewrite = true;
    header = frozenJson({ type: 'session', version: 0, id, createdAt: events[0]?.time ?? 0, delegationDepth: 0 }) as unknown as SessionHeader;
  }
  return { header, events, bad, soundBytes, missingNewline, rewrite };
}
