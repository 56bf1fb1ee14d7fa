/**
 * What plugins get as `@deepseek-ai/dsh-session`: the host's own store and logs, and what reads them. Left out is what
 * only a store's own implementation needs (preparation, adoption, fork errors, header folding).
 */
import type { SessionEvent } from '../contract/event.ts';
import type { JsonValue } from '../contract/json.ts';
import type { Message } from '../contract/message.ts';
import { isLosslessJson, snapshotJson } from '../contract/snapshot.ts';
import { tailClosers } from './repair.ts';
import { packRows, unpackRow } from './rows.ts';
import type { ChunkRow } from './rows.ts';
import { messageOf, onSurface } from './surface.ts';
import type { SurfaceEvent } from './surface.ts';

export { Sessions as SessionStore, Sessions as default } from './sessions.ts';
export { SessionLog as Session } from './log.ts';
export { SessionInUseError } from './lock.ts';
export { SessionUnreadableError } from './parse.ts';
export { KNOWN_EVENT_TYPES as KNOWN_SESSION_EVENT_TYPES } from './events.ts';
export { TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN } from './repair.ts';
export { isSurfaceType as isSurfaceEligibleType, onSurface as isSurfaceEvent } from './surface.ts';
export type { SurfaceEvent, SurfaceType as SurfaceEventType } from './surface.ts';
export type { ChunkRow } from './rows.ts';
export type { CreateSession } from './sessions.ts';
export type { JsonValue } from '../contract/json.ts';
export type { AssistantMessage, ToolResultMessage, UserMessage } from '../contract/message.ts';
export type {
  SessionEvent, SessionEventMap, SessionEventType, SessionHeader, SurfaceIntent, SurfaceOp, TodoItem, TurnEndReason,
} from '../contract/event.ts';

/** The only version of the log that is written, and that is read (L11.7). */
export const SESSION_FORMAT_VERSION = 0;

export type SessionId = string;
/** Marks a string as a session id; the string itself is the id. */
export function SessionId(id: string): SessionId {
  return id;
}

/** Whether a value can be stored in a log as it is (P4.1). */
export function isJsonValue(value: unknown): value is JsonValue {
  return isLosslessJson(value);
}

/** A detached copy of lossless JSON; undefined for anything else. */
export function snapshotJsonValue<T>(value: T): T | undefined {
  return snapshotJson(value) as T | undefined;
}

export function isAppendSurfaceEvent(event: SessionEvent): event is SurfaceEvent & { surfaceOp: 'append' } {
  return onSurface(event) && event.surfaceOp === 'append';
}

export function isReplacementSurfaceEvent(event: SessionEvent): event is SurfaceEvent & { surfaceOp: { op: 'replace'; start: number; end: number } } {
  return onSurface(event) && event.surfaceOp !== 'append';
}

/** The message an event stands for in the model's history, null when it stands for none (L11.4). */
export function deriveEventMessage(event: SessionEvent): Message | null {
  return onSurface(event) ? messageOf(event) ?? null : null;
}

/** Numbers of the events that the model sees, in its order, and which were replaced by which (L11.4). Throws for a range that is not there. */
export function foldSurface(events: readonly SessionEvent[]): {
  nodes: number[];
  replacements: { seq: number; start: number; end: number; shadowedSeqs: number[] }[];
} {
  const nodes: number[] = [];
  const replacements: { seq: number; start: number; end: number; shadowedSeqs: number[] }[] = [];
  for (const event of events) {
    if (!onSurface(event)) continue;
    if (!isReplacementSurfaceEvent(event)) {
      nodes.push(event.seq);
      continue;
    }
    const { start, end } = event.surfaceOp;
    const from = nodes.indexOf(start);
    const to = nodes.indexOf(end);
    if (from < 0 || to < from) throw new Error(`session event ${event.seq} replaces ${start}..${end}, which is not a range of the model surface`);
    replacements.push({ seq: event.seq, start, end, shadowedSeqs: nodes.splice(from, to - from + 1, event.seq) });
  }
  return { nodes, replacements };
}

/** The events that would close a log whose process died in mid-turn (L11.6), numbered on from it. Empty for a balanced log. */
export function interruptedTurnClosers(events: readonly SessionEvent[]): SessionEvent[] {
  const first = (events.at(-1)?.seq ?? -1) + 1;
  const time = events.at(-1)?.time ?? 0;
  return tailClosers(events).map((closer, index) => ({
    ...closer, seq: first + index, time, ...(closer.type === 'assistant/message' || closer.type === 'tool/result' ? { surfaceOp: 'append' as const } : {}),
  }) as SessionEvent);
}

export type StorageRecord = SessionEvent | ChunkRow;

/** What a log's file has for these events: runs of streamed text packed into one row each. */
export function packChunkRuns(events: readonly SessionEvent[]): StorageRecord[] {
  return packRows(events);
}

/** The events of one parsed line of a log's file. Throws for what is none. */
export function decodeStorageRecord(value: unknown): SessionEvent[] {
  const events = unpackRow(value);
  if (events === undefined) throw new TypeError('this is no record of a session log: expected an event or a row of streamed text');
  return events as unknown as SessionEvent[];
}
