import { randomUUID } from 'node:crypto';
import type { FileIntent, FileTarget, TextSplice } from '../seams/fs.ts';
import type { ChangeRecord } from './change.ts';

/** The record of a change that was just proposed. */
export function recordOf(intent: FileIntent, after: string, state: 'staged' | 'applied'): ChangeRecord {
  return {
    id: randomUUID(), turn: lastTurn(intent), sessionId: intent.agent?.session.id ?? 'none', callIds: intent.callId === undefined ? [] : [intent.callId],
    path: intent.displayPath, file: intent.target.path, realPath: intent.target.realPath, operation: intent.version === null ? 'create' : 'update',
    state, toolName: intent.toolName, encoding: intent.before?.encoding, version: intent.version,
    base: intent.before?.text ?? '', proposed: after, original: after, decided: [],
  };
}

export function targetOf(record: ChangeRecord): FileTarget {
  return { path: record.file, realPath: record.realPath };
}

/** The intent's own splices, unless a plugin changed the text. */
export function splicesOf(intent: FileIntent, after: string): readonly TextSplice[] | undefined {
  return after === intent.after && intent.before !== null ? intent.splices : undefined;
}

/** A field that is only there when it has a value. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function lastTurn(intent: FileIntent): number {
  const events = intent.agent?.session.events ?? [];
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (event?.type === 'turn/start') return event.data.turn;
  }
  return 0;
}
