import type { SessionEvent, SessionEventMap, SessionEventType } from '../contract/event.ts';
import type { InboxTarget, Session } from '../contract/agent.ts';
import type { ContentBlock } from '../contract/content.ts';
import { createAssistantMessage, createToolResultMessage } from '../contract/message.ts';
import type { UserMessage } from '../contract/message.ts';

export const TOOL_OUTCOME_UNKNOWN = 'TOOL_OUTCOME_UNKNOWN';
export const TOOL_NOT_STARTED = 'TOOL_NOT_STARTED';

/** What to append, in order. */
export type Closer = { [T in SessionEventType]: { readonly type: T; readonly data: SessionEventMap[T] } }[SessionEventType];

interface OpenCall { readonly callId: string; readonly name: string; readonly seq: number | undefined }

/** The last turn of a log, as far as it got. */
class Tail {
  turn: number | undefined;
  step: number | undefined;
  answered = false;
  source = { provider: 'unknown', model: 'unknown' };
  readonly blocks = new Map<number, { type: 'text' | 'reasoning'; text: string }>();
  readonly calls = new Map<string, OpenCall>();

  read(event: SessionEvent): void {
    switch (event.type) {
      case 'turn/start': this.turn = event.data.turn; this.step = undefined; this.calls.clear(); break;
      case 'turn/end': this.turn = undefined; this.step = undefined; this.calls.clear(); break;
      case 'step/start': this.step = event.data.step; this.answered = false; this.blocks.clear(); this.calls.clear(); break;
      case 'step/end': this.step = undefined; this.calls.clear(); break;
      case 'request/header': this.source = { provider: event.data.header.config.provider, model: event.data.header.config.model }; break;
      case 'assistant/chunk': this.#chunk(event.data.chunk); break;
      case 'assistant/message':
        this.answered = true;
        for (const block of event.data.message.content) {
          if (block.type === 'tool-call') this.calls.set(block.id, { callId: block.id, name: block.name, seq: undefined });
        }
        break;
      case 'tool/call': this.calls.set(event.data.callId, { callId: event.data.callId, name: event.data.name, seq: event.seq }); break;
      case 'tool/result': if (event.surfaceOp === undefined || event.surfaceOp === 'append') this.calls.delete(event.data.message.source.callId); break;
      default: break;
    }
  }

  #chunk(chunk: SessionEventMap['assistant/chunk']['chunk']): void {
    // A failed attempt's text is not the answer's.
    if (chunk.type === 'finish') this.blocks.clear();
    if (chunk.type !== 'text-delta' && chunk.type !== 'reasoning-delta') return;
    const block = this.blocks.get(chunk.index) ?? { type: chunk.type === 'text-delta' ? 'text' as const : 'reasoning' as const, text: '' };
    block.text += chunk.text;
    this.blocks.set(chunk.index, block);
  }
}

/**
 * What closes a log whose process died in mid-turn (L11.6): the text streamed so far is kept as an interrupted answer,
 * calls without a result get one that says what is known, then the step and the turn end. Empty for a balanced log.
 */
export function tailClosers(events: readonly SessionEvent[]): Closer[] {
  const tail = new Tail();
  for (const event of events) tail.read(event);
  if (tail.turn === undefined) return [];
  const { turn } = tail;
  const closers: Closer[] = [];
  if (tail.step !== undefined) {
    const { step } = tail;
    const content: ContentBlock[] = [...tail.blocks].sort(([a], [b]) => a - b).map(([, block]) => ({ ...block }));
    if (!tail.answered && content.length > 0) {
      closers.push({ type: 'assistant/message', data: { turn, step, message: createAssistantMessage(content, tail.source), interrupted: true } });
    }
    for (const call of tail.calls.values()) {
      if (call.seq === undefined) closers.push({ type: 'tool/call', data: { turn, step, callId: call.callId, name: call.name, arguments: argumentsOf(events, call.callId) } });
      const started = call.seq !== undefined;
      const text = started
        ? `Error: the outcome of this "${call.name}" call is unknown: the host stopped while it ran. It may have taken effect; check before you repeat it.`
        : `Error: this "${call.name}" call was not started: the host stopped before it.`;
      closers.push({
        type: 'tool/result',
        data: {
          turn, step, message: createToolResultMessage(call.callId, [{ type: 'text', text }], true),
          error: started ? { name: 'ToolOutcomeUnknownError', code: TOOL_OUTCOME_UNKNOWN } : { name: 'ToolNotStartedError', code: TOOL_NOT_STARTED },
        },
      });
    }
    closers.push({ type: 'step/end', data: { turn, step } });
  }
  closers.push({ type: 'turn/end', data: { turn, reason: { kind: 'interrupted' } } });
  return closers;
}

/** What the user said and the open turn had claimed, but not logged as messages when its process died. */
function claimedWords(events: readonly SessionEvent[]): UserMessage[] {
  const lists: Record<InboxTarget, UserMessage[]> = { 'next-turn': [], 'next-step': [] };
  const claimed = new Map<string, UserMessage>();
  for (const event of events) {
    if (event.type === 'turn/start') claimed.clear();
    else if (event.type === 'user/message') claimed.delete(event.data.id);
    else if (event.type === 'agent/inbox/spliced') {
      const { target, start, removedCount = 0, inserted, outcome } = event.data;
      const removed = lists[target]?.splice(start, removedCount, ...inserted) ?? [];
      if (outcome === undefined) for (const message of removed) if (message.source.kind === 'user') claimed.set(message.id, message);
    }
  }
  return [...claimed.values()];
}

/** Appends the closers of a log, results citing their calls (L11.3). Returns how many there were. */
export function closeTail(session: Session): number {
  const closers = tailClosers(session.events);
  if (closers.length > 0) for (const message of claimedWords(session.events)) session.append('user/message', message);
  const calls = new Map<string, number>();
  for (const event of session.events) if (event.type === 'tool/call') calls.set(event.data.callId, event.seq);
  for (const { type, data } of closers) {
    const source = type === 'tool/result' ? calls.get(data.message.source.callId) : undefined;
    const event = session.append(type, data, source === undefined ? {} : { sourceEventSeqs: [source] });
    if (event.type === 'tool/call') calls.set(event.data.callId, event.seq);
  }
  return closers.length;
}

function argumentsOf(events: readonly SessionEvent[], callId: string): string {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i]!;
    if (event.type !== 'assistant/message') continue;
    for (const block of event.data.message.content) if (block.type === 'tool-call' && block.id === callId) return block.arguments;
  }
  return '{}';
}
