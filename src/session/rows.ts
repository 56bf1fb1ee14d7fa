import type { SessionEvent } from '../contract/event.ts';
import type { JsonObject } from '../contract/json.ts';
import { isRawEvent } from './events.ts';
import type { RawEvent } from './events.ts';

/**
 * Streamed text on disk. The model streams in crumbs; each crumb is an event of its own with a number and a time, but
 * an event's envelope is many times its text. So a run of crumbs of one block becomes one line, from which the very
 * same events come back. Only the file knows these rows; a session's `events` never holds one.
 */
interface RunData {
  readonly turn: number; readonly step: number; readonly index: number;
  /** Milliseconds between one member and the next. */
  readonly dt: readonly number[];
  readonly texts?: readonly string[];
  readonly id?: string; readonly name?: string; readonly args?: readonly string[];
}
export interface ChunkRow { readonly type: RowType; readonly seq0: number; readonly time0: number; readonly data: RunData }
type RowType = 'text-chunks' | 'reasoning-chunks' | 'tool-call-chunks';
const ROW_TYPES: Record<string, 'text-delta' | 'reasoning-delta' | 'tool-call-delta'> = {
  'text-chunks': 'text-delta', 'reasoning-chunks': 'reasoning-delta', 'tool-call-chunks': 'tool-call-delta',
};

type ChunkEvent = SessionEvent<'assistant/chunk'>;

function rowTypeOf(event: SessionEvent): RowType | undefined {
  if (event.type !== 'assistant/chunk' || event.ignorable || event.sourceEventSeqs) return undefined;
  switch (event.data.chunk.type) {
    case 'text-delta': return 'text-chunks';
    case 'reasoning-delta': return 'reasoning-chunks';
    case 'tool-call-delta': return 'tool-call-chunks';
    default: return undefined;
  }
}

/** What all members of one row share. */
function runKey(event: ChunkEvent): string {
  const { turn, step, chunk } = event.data;
  const call = chunk.type === 'tool-call-delta' ? [chunk.id, chunk.name ?? null] : [];
  return JSON.stringify([chunk.type, turn, step, 'index' in chunk ? chunk.index : -1, ...call]);
}

function packRun(type: RowType, run: readonly ChunkEvent[]): ChunkRow {
  const first = run[0]!;
  const { turn, step } = first.data;
  const chunks = run.map((event) => event.data.chunk);
  const head = chunks[0]!;
  const dt = run.slice(1).map((event, i) => event.time - run[i]!.time);
  const data: RunData = head.type === 'tool-call-delta'
    ? {
        turn, step, index: head.index, dt, id: head.id, ...(head.name !== undefined && { name: head.name }),
        args: chunks.map((chunk) => (chunk.type === 'tool-call-delta' ? chunk.argumentsDelta : '')),
      }
    : { turn, step, index: 'index' in head ? head.index : 0, dt, texts: chunks.map((chunk) => ('text' in chunk ? chunk.text : '')) };
  return { type, seq0: first.seq, time0: first.time, data };
}

/** What to write for these events, in order. Pure; expanding the result gives the events back. */
export function packRows(events: readonly SessionEvent[]): (SessionEvent | ChunkRow)[] {
  const rows: (SessionEvent | ChunkRow)[] = [];
  for (let i = 0; i < events.length;) {
    const event = events[i]!;
    const type = rowTypeOf(event);
    let end = i + 1;
    if (type !== undefined) {
      const key = runKey(event as ChunkEvent);
      while (end < events.length && rowTypeOf(events[end]!) === type && runKey(events[end] as ChunkEvent) === key) end++;
    }
    if (type !== undefined && end - i > 1) rows.push(packRun(type, events.slice(i, end) as ChunkEvent[]));
    else rows.push(event);
    i = end;
  }
  return rows;
}

function isRow(value: unknown): value is ChunkRow {
  if (typeof value !== 'object' || value === null) return false;
  const { type, seq0, time0, data } = value as Record<string, unknown>;
  return typeof type === 'string' && type in ROW_TYPES && Number.isSafeInteger(seq0) && (seq0 as number) >= 0
    && typeof time0 === 'number' && typeof data === 'object' && data !== null;
}

function expand(row: ChunkRow): RawEvent[] | undefined {
  const { turn, step, index, dt, texts, id, name, args } = row.data;
  const chunkType = ROW_TYPES[row.type]!;
  const parts: readonly unknown[] | undefined = chunkType === 'tool-call-delta' ? args : texts;
  if (!Array.isArray(parts) || !Array.isArray(dt) || dt.length !== parts.length - 1) return undefined;
  if (!parts.every((part) => typeof part === 'string') || !dt.every((gap) => Number.isFinite(gap))) return undefined;
  if (typeof index !== 'number' || (chunkType === 'tool-call-delta' && typeof id !== 'string')) return undefined;
  let time = row.time0;
  return parts.map((part: string, i) => {
    if (i > 0) time += dt[i - 1]!;
    const chunk = chunkType === 'tool-call-delta'
      ? { type: chunkType, index, id: id!, ...(name !== undefined && { name }), argumentsDelta: part }
      : { type: chunkType, index, text: part };
    return { type: 'assistant/chunk', seq: row.seq0 + i, time, data: { turn, step, chunk } as JsonObject };
  });
}

/** The events one parsed line stands for, or undefined when it is none of ours. */
export function unpackRow(value: unknown): RawEvent[] | undefined {
  if (isRow(value)) return expand(value);
  return isRawEvent(value) ? [value] : undefined;
}
