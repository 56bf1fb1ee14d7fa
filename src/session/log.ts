import type { Session } from '../contract/agent.ts';
import { HarnessError } from '../contract/error.ts';
import type { SessionEvent, SessionEventMap, SessionEventType, SessionHeader, SurfaceIntent } from '../contract/event.ts';
import type { Message } from '../contract/message.ts';
import { frozenJson } from '../contract/snapshot.ts';
import { KNOWN_EVENT_TYPES } from './events.ts';
import { isSurfaceType, Surface } from './surface.ts';

/** Where appended events go. A session kept in memory has none. */
export interface LogSink {
  write(event: SessionEvent): void;
  flush(): Promise<void>;
}

export interface SessionLogOptions {
  readonly header: SessionHeader;
  readonly events?: readonly SessionEvent[];
  readonly sink?: LogSink;
  readonly readOnly?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Told about a listener that threw. */
  readonly onListenerError?: (error: unknown) => void;
}

/** `offSurface`: a message the user sees in the log and the model does not (L11.4). */
export type AppendIntent = SurfaceIntent & { readonly offSurface?: true };

/** One conversation's append-only log (L11.1), in memory; a sink makes it durable. */
export class SessionLog implements Session {
  readonly header: SessionHeader;
  readonly readOnly: boolean;
  readonly #events: SessionEvent[] = [];
  readonly #surface = new Surface();
  readonly #listeners = new Set<(event: SessionEvent) => void>();
  readonly #options: SessionLogOptions;
  #sink: LogSink | undefined;
  #appending = false;
  #closed = false;

  constructor(options: SessionLogOptions) {
    this.#options = options;
    this.header = options.header;
    this.readOnly = options.readOnly ?? false;
    this.#sink = options.sink;
    for (const event of options.events ?? []) {
      if (event.seq !== this.#events.length) throw new Error(`session events must be numbered from 0: expected ${this.#events.length}, got ${event.seq}`);
      this.#events.push(event);
      this.#surface.apply(event);
    }
  }

  get id(): string { return this.header.id; }
  get cwd(): string { return this.header.cwd ?? process.cwd(); }
  get events(): readonly SessionEvent[] { return this.#events; }
  /** Surface events as they stand: what compaction works on. */
  get surface(): Pick<Surface, 'nodes'> { return this.#surface; }

  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], intent: AppendIntent = {}): SessionEvent<T> {
    if (this.readOnly) {
      throw new HarnessError(`session "${this.id}" is open read-only: another window writes to it. Fork it to go on from here.`, 'SESSION_READ_ONLY');
    }
    if (this.#closed) throw new HarnessError(`session "${this.id}" is closed: nothing can be added to it until it is opened again`, 'SESSION_CLOSED');
    if (this.#appending) throw new Error(`session event "${type}" was appended from inside a listener of the same log: append it after the listener returned`);
    const frozen = frozenJson(data) as SessionEventMap[T] | undefined;
    if (frozen === undefined) throw new Error(`session event "${type}" carries non-JSON-serializable data`);
    const surfaceOp = intent.surfaceOp ?? (isSurfaceType(type) && !intent.offSurface ? 'append' as const : undefined);
    this.#surface.check(type, surfaceOp ? { surfaceOp } : {});
    // A plugin's own event type must not make the log unreadable for a build without that plugin (L11.7).
    const ignorable = intent.ignorable ?? (KNOWN_EVENT_TYPES.has(type) ? undefined : true);
    const event = Object.freeze({
      type, seq: this.#events.length, time: (this.#options.now ?? Date.now)(), data: frozen,
      ...(ignorable && { ignorable }),
      ...(surfaceOp && { surfaceOp: frozenJson(surfaceOp) }),
      ...(intent.sourceEventSeqs && { sourceEventSeqs: Object.freeze([...intent.sourceEventSeqs]) }),
    }) as unknown as SessionEvent;
    this.#events.push(event);
    this.#surface.apply(event);
    this.#sink?.write(event);
    this.#appending = true;
    try {
      for (const listener of [...this.#listeners]) {
        try {
          listener(event);
        } catch (error) {
          this.#options.onListenerError?.(error);
        }
      }
    } finally {
      this.#appending = false;
    }
    return event as SessionEvent<T>;
  }

  messages(): Message[] {
    return this.#surface.messages();
  }

  onAppend(listener: (event: SessionEvent) => void): () => void {
    const entry = (event: SessionEvent) => listener(event);
    this.#listeners.add(entry);
    return () => { this.#listeners.delete(entry); };
  }

  async flush(): Promise<void> {
    await this.#sink?.flush();
  }

  /** From now on an append throws; what was appended goes on its way to the sink. */
  close(): void {
    this.#closed = true;
  }

  /** Lets go of sink and listeners, when a closed session leaves the store. */
  detach(): void {
    this.#sink = undefined;
    this.#listeners.clear();
  }
}
