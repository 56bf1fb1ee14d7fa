import type { SessionEvent, SurfaceIntent } from '../contract/event.ts';
import type { Message } from '../contract/message.ts';

export type SurfaceType = 'user/message' | 'assistant/message' | 'tool/result';
export type SurfaceEvent = SessionEvent<SurfaceType>;

/** Only these three types reach the model (L11.4). */
export function isSurfaceType(type: string): type is SurfaceType {
  return type === 'user/message' || type === 'assistant/message' || type === 'tool/result';
}

/** Whether an event has its place in what the model sees. */
export function onSurface(event: SessionEvent): event is SurfaceEvent {
  return isSurfaceType(event.type) && event.surfaceOp !== undefined;
}

/** The message an event stands for; undefined for an assistant message without content (it only carries usage). */
export function messageOf(event: SurfaceEvent): Message | undefined {
  switch (event.type) {
    case 'user/message': return event.data;
    case 'tool/result': return event.data.message;
    case 'assistant/message': return event.data.message.content.length > 0 ? event.data.message : undefined;
  }
}

/** The model's view of a log: surface events in order, replaced ranges swapped (L11.4). Linear in appended events. */
export class Surface {
  #nodes: SurfaceEvent[] = [];
  #messages: Message[] = [];

  /** Throws when an event of this type cannot carry this intent, or a replaced range does not exist. */
  check(type: string, intent: SurfaceIntent): void {
    if (intent.surfaceOp === undefined) return;
    if (!isSurfaceType(type)) throw new Error(`session event "${type}" cannot be on the model surface: only messages and tool results can`);
    if (intent.surfaceOp !== 'append') this.#range(intent.surfaceOp.start, intent.surfaceOp.end);
  }

  apply(event: SessionEvent): void {
    if (!onSurface(event)) return;
    const op = event.surfaceOp!;
    if (op === 'append') {
      this.#nodes.push(event);
      const message = messageOf(event);
      if (message) this.#messages.push(message);
      return;
    }
    const [from, to] = this.#range(op.start, op.end);
    this.#nodes.splice(from, to - from + 1, event);
    this.#messages = this.#nodes.flatMap((node) => messageOf(node) ?? []);
  }

  /** Current surface events, model order. */
  nodes(): readonly SurfaceEvent[] {
    return this.#nodes;
  }

  messages(): Message[] {
    return [...this.#messages];
  }

  #range(start: number, end: number): [number, number] {
    const from = this.#nodes.findIndex((node) => node.seq === start);
    const to = this.#nodes.findIndex((node) => node.seq === end);
    if (from < 0 || to < from) {
      throw new Error(`cannot replace session events ${start}..${end}: they are not a range of the model surface as it stands`);
    }
    return [from, to];
  }
}
