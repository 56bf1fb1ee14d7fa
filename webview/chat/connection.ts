import { signal } from '@preact/signals';
import type { HostToView, ViewToHost } from '../../src/protocol.ts';
import { parseHostToView } from '../../src/protocol.ts';
import { EMPTY, reduce } from './store.ts';
import type { ChatView } from './store.ts';

/** The clock and the frame, so that tests can drive them. */
export interface Schedule {
  /** Calls back once, at the next frame, or soon when the page draws none. */
  frame(callback: () => void): void;
  /** Calls back after `ms`. */
  later(callback: () => void, ms: number): void;
}

/** Time between two calls for a state that does not come, ms. */
const RETRY = 1000;
/** Calls without an answer after which the view says that something is wrong. */
const PATIENCE = 8;

/**
 * The chat's end of the protocol: says `ready` until a state comes, takes messages once per frame (F5), asks for the
 * state again when one is missing (F7).
 */
export class ChatConnection {
  readonly view = signal<ChatView>(EMPTY);
  /** No state came for a long while: the page offers a retry. */
  readonly late = signal(false);
  private queue: HostToView[] = [];
  private scheduled = false;
  /** The call that is being repeated; a call of another kind takes its place. */
  private asking: ViewToHost['type'] | undefined;
  private readonly post: (message: ViewToHost) => void;
  private readonly schedule: Schedule;

  constructor(post: (message: ViewToHost) => void, schedule: Schedule = pageSchedule) {
    this.post = post;
    this.schedule = schedule;
  }

  /** Opens the conversation; also what the retry button does. */
  start(): void {
    this.late.value = false;
    this.ask({ type: 'ready' }, () => this.view.value.meta === undefined);
  }

  /** Takes one message event's data; what is none of ours is ignored. */
  receive(data: unknown): void {
    const message = parseHostToView(data);
    if (message === undefined) return;
    this.queue.push(message);
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule.frame(() => this.flush());
  }

  private flush(): void {
    this.scheduled = false;
    const messages = this.queue;
    this.queue = [];
    const next = reduce(this.view.value, messages);
    this.view.value = next;
    if (next.meta !== undefined) this.late.value = false;
    if (next.stale) this.ask({ type: 'resync', have: next.seq }, () => this.view.value.stale);
  }

  private ask(message: ViewToHost, needed: () => boolean): void {
    if (this.asking === message.type) return;
    this.asking = message.type;
    let tries = 0;
    const again = (): void => {
      if (this.asking !== message.type) return;
      if (!needed() || tries === PATIENCE) {
        this.asking = undefined;
        if (needed()) this.late.value = true;
        return;
      }
      tries += 1;
      this.post(message);
      this.schedule.later(again, RETRY);
    };
    again();
  }
}

/** Frames of the page; a hidden page draws none, so a timer stands in. */
const pageSchedule: Schedule = {
  frame(callback) {
    let done = false;
    const once = (): void => {
      if (done) return;
      done = true;
      callback();
    };
    requestAnimationFrame(once);
    setTimeout(once, 100);
  },
  later: (callback, ms) => void setTimeout(callback, ms),
};
