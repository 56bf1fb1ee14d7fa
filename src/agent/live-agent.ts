import type { Context } from '@deepseek-ai/cordis';
import type { Agent, AgentCancelCause, AgentOptions, AgentStatus, InboxTarget } from '../contract/agent.ts';
import { HarnessError } from '../contract/error.ts';
import { completeUserMessage } from '../contract/message.ts';
import type { UserMessageInput } from '../contract/message.ts';
import { scopeTarget } from '../scope/carrier.ts';
import type { Scoped } from '../scope/carrier.ts';
import type { SessionLog } from '../session/log.ts';
import { Compactor } from './compactor.ts';
import { notify } from './events.ts';
import { AgentCancelledError } from './failure.ts';
import type { LoopHost, LoopSettings } from './host.ts';
import { AgentInbox } from './inbox.ts';
import { HeaderLog } from './request.ts';
import { Turn } from './turn.ts';

/** What occupies an agent: its turns, or one maintenance task between them. */
interface Activity { readonly kind: 'turns' | 'maintenance'; controller: AbortController; done: Promise<void> }

/** One running conversation. Made by `ctx.agents`; `attach` completes it before anybody sees it. */
export class LiveAgent implements Agent {
  readonly id: string;
  readonly options: AgentOptions;
  readonly carrier: Scoped<Agent>;
  readonly #home: Context;
  readonly #settings: LoopSettings;
  #ctx: Context | undefined;
  #host: LoopHost | undefined;
  #headers: HeaderLog | undefined;
  #compactor: Compactor | undefined;
  #status: AgentStatus = 'idle';
  #activity: Activity | undefined;
  /** Next-step input asked to be looked at, and no step has claimed it yet. */
  #steered = false;
  #disposed = false;

  constructor(home: Context, id: string, options: AgentOptions, settings: LoopSettings) {
    this.id = id;
    this.options = { ...options };
    this.#home = home;
    this.#settings = settings;
    this.carrier = scopeTarget<Agent>(this, this);
  }

  /** Gives the agent its scope. */
  enter(ctx: Context): void {
    this.#ctx = ctx;
  }

  /** Gives the agent its log. */
  attach(session: SessionLog): void {
    const inbox = new AgentInbox(session, {
      inserted: (message) => notify(this.#home, this.carrier, 'agent/inbox/inserted', { agent: this, message }),
      claimed: (message, turn) => notify(this.#home, this.carrier, 'agent/inbox/claimed', { agent: this, message, turn }),
      discarded: (message) => notify(this.#home, this.carrier, 'agent/inbox/discarded', { agent: this, message }),
    });
    const callIds = new Set<string>();
    for (const event of session.events) if (event.type === 'tool/call') callIds.add(event.data.callId);
    const host = { agent: this, ctx: this.#home, carrier: this.carrier, session, inbox, settings: this.#settings, callIds };
    this.#host = host;
    this.#headers = new HeaderLog(host);
    this.#compactor = new Compactor(host);
  }

  get session(): SessionLog { return this.#attached().session; }
  get inbox(): AgentInbox { return this.#attached().inbox; }
  get status(): AgentStatus { return this.#status; }
  get ctx(): Context {
    if (!this.#ctx) throw new Error(`agent "${this.id}" has no scope yet`);
    return this.#ctx;
  }

  cancel(cause: AgentCancelCause, options: { keepInbox?: boolean } = {}): void {
    if (cause.kind === 'disposed') this.#disposed = true;
    // The first cause is the one that stands.
    this.#activity?.controller.abort(new AgentCancelledError(cause));
    if (!options.keepInbox) {
      this.inbox.discard();
      this.#steered = false;
    }
  }

  async whenIdle(): Promise<void> {
    while (this.#activity) await this.#activity.done;
  }

  runMaintenance<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#disposed) throw this.#gone();
    if (this.#activity) throw new HarnessError(`agent "${this.id}" is busy: maintenance runs between turns only`, 'AGENT_BUSY');
    const controller = new AbortController();
    let settle!: () => void;
    this.#activity = { kind: 'maintenance', controller, done: new Promise<void>((resolve) => { settle = resolve; }) };
    const end = () => {
      this.#activity = undefined;
      if (this.#hasWork()) this.#wake();
      settle();
    };
    let running: Promise<T>;
    try {
      running = task(controller.signal);
    } catch (error) {
      end();
      throw error;
    }
    return running.finally(end);
  }

  /** Throws once the agent is disposed (A6.6), and for a message whose id is pending already. */
  send(message: UserMessageInput, target: InboxTarget, wakeup: boolean): void {
    if (this.#disposed) throw this.#gone();
    const cancelled = this.#activity?.kind === 'turns' && this.#activity.controller.signal.aborted;
    const place = wakeup && cancelled ? 'next-turn' : target;
    this.inbox.insert(place, completeUserMessage(message));
    if (!wakeup) return;
    if (place === 'next-step') this.#steered = true;
    this.#wake();
  }

  followup(message: UserMessageInput): void { this.send(message, 'next-turn', true); }
  steer(message: UserMessageInput): void { this.send(message, 'next-step', true); }
  inject(message: UserMessageInput): void { this.send(message, 'next-step', false); }

  #attached(): LoopHost {
    if (!this.#host) throw new Error(`agent "${this.id}" has no session yet`);
    return this.#host;
  }

  #gone(): HarnessError {
    return new HarnessError(`agent "${this.id}" is disposed: it takes no more input`, 'AGENT_DISPOSED');
  }

  #hasWork(): boolean {
    return !this.#disposed && (this.inbox.nextTurn.length > 0 || (this.#steered && this.inbox.nextStep.length > 0));
  }

  #wake(): void {
    if (this.#activity) return;
    const activity: Activity = { kind: 'turns', controller: new AbortController(), done: Promise.resolve() };
    this.#activity = activity;
    this.#setStatus('running');
    activity.done = this.#drive(activity);
  }

  /** Turn after turn, until no waking input is left. Never rejects. */
  async #drive(activity: Activity): Promise<void> {
    // The sender's own stack unwinds first: it may be inside an append.
    await Promise.resolve();
    try {
      while (this.#hasWork()) {
        this.#steered = false;
        if (activity.controller.signal.aborted) activity.controller = new AbortController();
        const turn = lastTurn(this.session) + 1;
        await new Turn(this.#attached(), this.#headers!, this.#compactor!, turn, activity.controller.signal).run();
      }
    } catch (error) {
      notify(this.#home, this.carrier, 'agent/error', { agent: this, turn: lastTurn(this.session), step: 0, error });
      this.#home.logger('agent').error(error);
    } finally {
      this.#activity = undefined;
      this.#setStatus('idle');
    }
  }

  #setStatus(status: AgentStatus): void {
    this.#status = status;
    notify(this.#home, this.carrier, 'agent/status', { agent: this, status });
  }
}

function lastTurn(session: SessionLog): number {
  for (let i = session.events.length - 1; i >= 0; i--) {
    const event = session.events[i]!;
    if (event.type === 'turn/start') return event.data.turn;
  }
  return 0;
}
