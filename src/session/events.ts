import type { JsonValue } from '../contract/json.ts';
import type { LlmFailure, SessionEventType } from '../contract/event.ts';

declare module '../contract/event.ts' {
  interface SessionEventMap {
    /** Stands where a line of the file could not be read; keeps the numbering (G3). Log-only. */
    'session/lost': { reason: string };
    /** Everything before it was copied from another session (a fork). Log-only. */
    'session/end-seed': Record<string, never>;
    'llm/retry-started': { turn: number; step: number; attempt: number; failure: LlmFailure };
    /** A big tool result was shortened for the model; the replacement is the next event (O15.7). */
    'compaction/prune': { seq: number; removedChars: number };
    /** `tokens` is the size of the last request, `window` the model's limit. */
    'compaction/start': { reason: 'threshold' | 'overflow' | 'manual'; tokens?: number; window?: number };
    'compaction/end': { outcome: 'done' | 'failed' | 'nothing'; error?: string };
  }
}

/** Event types this build does not write but knows from the same family of hosts: read, kept, and not acted upon. */
const FOREIGN = [
  'agent-preset/selected', 'command/done', 'command/run', 'compaction/summary', 'feedback/record', 'goal/change', 'hook/invoked',
  'hook/result', 'plan/mode', 'sandbox/mode', 'schedule/change', 'session/title', 'session/title-llm-request', 'subagent/descriptor',
  'team/member', 'team/message/delivered', 'team/message/queued', 'team/task', 'tool-workflow/agent-end', 'tool-workflow/agent-start',
  'tool-workflow/run-end', 'tool-workflow/run-start', 'web/deepseek-search-llm-request',
];

const OWN: Record<SessionEventType, true> = {
  'turn/start': true, 'turn/end': true, 'step/start': true, 'step/end': true, 'user/message': true, 'assistant/chunk': true,
  'assistant/message': true, 'tool/call': true, 'tool/result': true, 'tool/code-dispatch-start': true, 'tool/code-dispatch': true,
  'todo/write': true, 'approval/asked': true, 'approval/decided': true, 'approval/remembered': true, 'approval/policy': true, 'permission/preset': true,
  'agent/inbox/spliced': true, 'request/header': true, 'request/context': true, 'llm/retry': true, 'llm/retry-started': true,
  'session/lost': true, 'session/end-seed': true, 'compaction/prune': true, 'compaction/start': true, 'compaction/end': true,
};

/** Types a log may contain without `ignorable: true` (L11.7). */
export const KNOWN_EVENT_TYPES: ReadonlySet<string> = new Set([...Object.keys(OWN), ...FOREIGN]);

/** An event as it stands in a file, before its type is known. */
export interface RawEvent {
  readonly type: string; readonly seq: number; readonly time: number; readonly data: JsonValue; readonly ignorable?: true;
}

/** Whether a parsed line has the envelope of an event (L11.1). */
export function isRawEvent(value: unknown): value is RawEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { type, seq, time, data } = value as Record<string, unknown>;
  return typeof type === 'string' && Number.isSafeInteger(seq) && (seq as number) >= 0 && typeof time === 'number' && data !== undefined;
}
