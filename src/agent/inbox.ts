import type { Inbox, InboxTarget, Session } from '../contract/agent.ts';
import type { SessionEvent } from '../contract/event.ts';
import type { UserMessage } from '../contract/message.ts';

/** Told about every message that enters or leaves. */
export interface InboxObserver {
  inserted(message: UserMessage): void;
  claimed(message: UserMessage, turn: number): void;
  discarded(message: UserMessage): void;
}

/** Pending input of an agent. Every change is an `agent/inbox/spliced` event first, so that it survives a crash (A6.2). */
export class AgentInbox implements Inbox {
  readonly #lists: Record<InboxTarget, UserMessage[]> = { 'next-turn': [], 'next-step': [] };
  readonly #session: Session;
  readonly #observer: InboxObserver;

  constructor(session: Session, observer: InboxObserver) {
    this.#session = session;
    this.#observer = observer;
    for (const event of session.events) this.#replay(event);
  }

  get nextTurn(): readonly UserMessage[] { return this.#lists['next-turn']; }
  get nextStep(): readonly UserMessage[] { return this.#lists['next-step']; }

  /** Throws when a message with this id is pending already (A6.3). */
  insert(target: InboxTarget, message: UserMessage): void {
    if ([...this.nextTurn, ...this.nextStep].some(({ id }) => id === message.id)) throw new Error(`message "${message.id}" is already pending`);
    const list = this.#lists[target];
    const { data } = this.#session.append('agent/inbox/spliced', { target, start: list.length, inserted: [message] });
    list.push(...data.inserted);
    this.#observer.inserted(data.inserted[0]!);
  }

  /** Takes the first `count` messages (default: all) for a step of `turn`. */
  claim(target: InboxTarget, turn: number, count = this.#lists[target].length): UserMessage[] {
    const taken = this.#take(target, Math.min(count, this.#lists[target].length));
    for (const message of taken) this.#observer.claimed(message, turn);
    return taken;
  }

  /** Drops everything pending. */
  discard(): void {
    for (const target of ['next-step', 'next-turn'] as const) {
      for (const message of this.#take(target, this.#lists[target].length, 'canceled')) this.#observer.discarded(message);
    }
  }

  #take(target: InboxTarget, count: number, outcome?: 'canceled'): UserMessage[] {
    if (count === 0) return [];
    this.#session.append('agent/inbox/spliced', { target, start: 0, removedCount: count, inserted: [], ...(outcome && { outcome }) });
    return this.#lists[target].splice(0, count);
  }

  #replay(event: SessionEvent): void {
    if (event.type !== 'agent/inbox/spliced') return;
    const { target, start, removedCount = 0, inserted } = event.data;
    this.#lists[target].splice(start, removedCount, ...inserted);
  }
}
