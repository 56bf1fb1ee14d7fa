import type { AgentCancelCause } from '../contract/agent.ts';
import type { LlmFailure, TokenUsage, TurnEndReason } from '../contract/event.ts';
import { completeUserMessage, createAssistantMessage, createUserMessage } from '../contract/message.ts';
import type { UserMessage } from '../contract/message.ts';
import type { ContentBlock } from '../contract/content.ts';
import { completePairs } from '../session/history.ts';
import { Answer } from './answer.ts';
import type { Compactor } from './compactor.ts';
import { DeltaLog } from './delta-log.ts';
import { notify } from './events.ts';
import type { PreStepDecision } from './events.ts';
import { AgentCancelledError, toFailure } from './failure.ts';
import type { LoopHost } from './host.ts';
import { assembleHead } from './request.ts';
import type { HeaderLog, RequestHead } from './request.ts';
import { ToolBatch } from './tool-batch.ts';

/** After a step: the model is owed tool results, owes nothing, or the turn is over. */
type StepOutcome = { readonly kind: 'continue' } | { readonly kind: 'settled' } | { readonly kind: 'end'; readonly reason: TurnEndReason };

/** One turn (O15.1): claim, then steps of request and tool calls until nothing is owed. */
export class Turn {
  readonly #host: LoopHost;
  readonly #headers: HeaderLog;
  readonly #compactor: Compactor;
  readonly #turn: number;
  readonly #signal: AbortSignal;
  #step = 0;
  /** Claimed, and not in the log as messages yet. */
  #claimed: UserMessage[] = [];

  constructor(host: LoopHost, headers: HeaderLog, compactor: Compactor, turn: number, signal: AbortSignal) {
    this.#host = host;
    this.#headers = headers;
    this.#compactor = compactor;
    this.#turn = turn;
    this.#signal = signal;
  }

  /** Runs to the end and logs it. Rejects only when the log itself cannot be written. */
  async run(): Promise<TurnEndReason> {
    const { session, agent, ctx, carrier } = this.#host;
    const turn = this.#turn;
    session.append('turn/start', { turn });
    let reason: TurnEndReason;
    try {
      reason = await this.#steps();
    } catch (error) {
      reason = this.#aborted() ?? { kind: 'error', error: toFailure(error) };
      if (reason.kind === 'error') notify(ctx, carrier, 'agent/error', { agent, turn, step: this.#step, error });
    }
    // What was said is in the conversation even when the turn ended before a step could take it.
    for (const message of this.#take()) session.append('user/message', message);
    session.append('turn/end', { turn, reason });
    return reason;
  }

  async #steps(): Promise<TurnEndReason> {
    const { inbox, session, settings } = this.#host;
    const turn = this.#turn;
    this.#claimed = [...inbox.claim('next-step', turn), ...inbox.claim('next-turn', turn, 1)];
    for (;;) {
      this.#step++;
      if (settings.maxSteps !== undefined && this.#step > settings.maxSteps) {
        return { kind: 'error', error: { message: `stopped after ${settings.maxSteps} requests in one turn (the limit that is set); send a message to go on`, code: 'STEP_LIMIT' } };
      }
      const decision = await this.#preStep([...this.#claimed]);
      const aborted = this.#aborted();
      if (aborted) return aborted;
      this.#keepApart(decision.kind === 'enter' ? decision.messages : []);
      if (decision.kind === 'reject') return { kind: 'blocked' };
      if (this.#step === 1 && decision.messages.length === 0) return { kind: 'completed' };
      session.append('step/start', { turn, step: this.#step });
      let outcome: StepOutcome;
      try {
        outcome = await this.#runStep(decision.messages);
      } finally {
        session.append('step/end', { turn, step: this.#step });
      }
      if (outcome.kind === 'end') return outcome.reason;
      this.#claimed = inbox.claim('next-step', turn);
      if (outcome.kind === 'settled' && this.#claimed.length === 0) {
        const end = await this.#stopping();
        if (end) return end;
        this.#claimed = inbox.claim('next-step', turn);
        if (this.#claimed.length === 0) return { kind: 'completed' };
      }
    }
  }

  #take(): UserMessage[] {
    const messages = this.#claimed;
    this.#claimed = [];
    return messages;
  }

  /** Of the claimed messages only `entering` reach the model; what the user said stays in the conversation all the same. */
  #keepApart(entering: readonly UserMessage[]): void {
    for (const message of this.#take()) {
      if (message.source.kind !== 'user' || entering.some(({ id }) => id === message.id)) continue;
      this.#host.session.append('user/message', message, { offSurface: true });
    }
  }

  async #preStep(messages: UserMessage[]): Promise<PreStepDecision> {
    const { agent, ctx, carrier } = this.#host;
    const payload = { agent, messages, turn: this.#turn, step: this.#step, signal: this.#signal };
    const enter = (): Promise<PreStepDecision> => Promise.resolve({ kind: 'enter', messages });
    const decision: unknown = await ctx.waterfall(carrier, 'agent/pre-step', payload, enter);
    const { kind, messages: entering } = (decision ?? {}) as { kind?: unknown; messages?: unknown };
    if (kind === 'enter' && Array.isArray(entering)) return { kind, messages: (entering as UserMessage[]).map(completeUserMessage) };
    if (kind === 'reject') return { kind };
    throw new Error('a plugin on agent/pre-step answered neither { kind: "enter", messages } nor { kind: "reject" }');
  }

  /** Listeners may still steer; the reason to end at once is a cancel. */
  async #stopping(): Promise<TurnEndReason | undefined> {
    const { agent, ctx, carrier } = this.#host;
    await ctx.serial(carrier, 'agent/turn-stopping', { agent, turn: this.#turn, signal: this.#signal });
    return this.#aborted();
  }

  async #runStep(messages: readonly UserMessage[]): Promise<StepOutcome> {
    const { session } = this.#host;
    let head: RequestHead | undefined;
    let failure: { readonly error: unknown } | undefined;
    try {
      head = await assembleHead(this.#host, this.#place());
    } catch (error) {
      failure = { error };
    }
    if (head?.snapshot) session.append('user/message', head.snapshot);
    // What the user said is in the log even when no request can be made of it.
    for (const message of messages) session.append('user/message', message);
    if (!head) throw failure!.error;
    if (await this.#compactor.beforeRequest(head, this.#signal)) head = await this.#afterCompaction();
    const aborted = this.#aborted();
    if (aborted) return { kind: 'end', reason: aborted };
    this.#headers.log(head);
    return this.#request(head);
  }

  /** The runtime context may have gone with the history: the model gets it again. */
  async #afterCompaction(): Promise<RequestHead> {
    const head = await assembleHead(this.#host, this.#place());
    if (head.snapshot) this.#host.session.append('user/message', head.snapshot);
    return head;
  }

  async #request(first: RequestHead): Promise<StepOutcome> {
    let head = first;
    let compacted = false;
    for (;;) {
      const answer = await this.#stream(head);
      const finish = answer.finish ?? { kind: 'error' as const, failure: { message: 'the model\'s answer ended before it was complete', code: 'STREAM_CLOSED' } };
      switch (finish.kind) {
        case 'stop':
        case 'tool-calls': return this.#act(answer, head);
        case 'max-tokens':
          // The last call may be cut in the middle: none of them runs, none stays (O15.6).
          this.#record(answer.prose(), answer, head);
          this.#tellCut(answer);
          return { kind: 'end', reason: { kind: 'max-tokens' } };
        case 'aborted':
        case 'error': {
          const aborted = this.#aborted();
          if (!aborted) {
            this.#host.session.append('assistant/chunk', { turn: this.#turn, step: this.#step, chunk: { type: 'finish', reason: finish } });
            if (finish.failure.code === 'CONTEXT_WINDOW_EXCEEDED' && !compacted) {
              compacted = true;
              if (await this.#compactor.afterOverflow(head, this.#signal)) {
                head = await this.#afterCompaction();
                this.#headers.log(head);
                continue;
              }
            }
            if (await this.#recovers(finish.failure, head)) continue;
          }
          const prose = answer.prose();
          if (prose.length > 0) this.#record(prose, answer, head, true);
          return { kind: 'end', reason: this.#aborted() ?? { kind: 'error', error: finish.failure } };
        }
      }
    }
  }

  /** With its next request the model learns that its call is not in the history because it never ran. */
  #tellCut(answer: Answer): void {
    const name = answer.calls().at(-1)?.name;
    if (name === undefined) return;
    const tool = name === '' ? 'a tool' : `\`${name}\``;
    this.#host.inbox.insert('next-step', createUserMessage({
      content: [{ type: 'text', text: `The last answer reached its length limit inside a call of ${tool}. Nothing of that call was run or kept: make it again if it is still wanted, in smaller parts.` }],
      source: { kind: 'plugin', plugin: 'agent', form: 'notice', summary: `A call of ${tool} was cut off by the length limit and did not run`.slice(0, 120) },
    }));
  }

  async #stream(head: RequestHead): Promise<Answer> {
    const { ctx, session, settings, callIds } = this.#host;
    const log = new DeltaLog(session, { turn: this.#turn, step: this.#step }, settings.chunkIntervalMs);
    const answer = new Answer(log, (id) => {
      let fresh = id;
      for (let n = 2; fresh === '' || callIds.has(fresh); n++) fresh = `${id || 'call'}-${n}`;
      callIds.add(fresh);
      return fresh;
    });
    const { config, system, tools } = head;
    const stream = ctx.llm.stream({
      ...config, messages: completePairs(session.messages()), ...(system !== '' && { system }), ...(tools.length > 0 && { tools }),
      signal: this.#signal, sessionId: session.id,
    });
    try {
      for await (const chunk of stream) answer.accept(chunk);
    } finally {
      log.flush();
    }
    return answer;
  }

  /** Records the answer and runs its calls. */
  async #act(answer: Answer, head: RequestHead): Promise<StepOutcome> {
    this.#record(answer.content(), answer, head);
    const calls = answer.calls();
    if (calls.length === 0) return this.#after('settled');
    const concluded = await new ToolBatch(this.#host, this.#place(), calls).run();
    return this.#after(concluded ? 'settled' : 'continue');
  }

  #after(kind: 'settled' | 'continue'): StepOutcome {
    const aborted = this.#aborted();
    return aborted ? { kind: 'end', reason: aborted } : { kind };
  }

  #record(content: ContentBlock[], answer: Answer, { config }: RequestHead, interrupted = false): void {
    const { usage, replayState } = answer;
    const message = createAssistantMessage(content, {
      provider: config.provider, model: config.model, ...(replayState !== undefined && { replayState }),
    });
    this.#host.session.append('assistant/message', {
      turn: this.#turn, step: this.#step, message, ...(usage && { usage: plain(usage) }), ...(interrupted && { interrupted }),
    });
  }

  async #recovers(failure: LlmFailure, head: RequestHead): Promise<boolean> {
    const { agent, ctx, carrier } = this.#host;
    const payload = { agent, ...this.#place(), provider: head.config.provider, failure };
    const action = await ctx.waterfall(carrier, 'agent/request-error', payload, () => Promise.resolve(undefined));
    return action?.kind === 'retry' && !this.#signal.aborted;
  }

  #place(): { readonly turn: number; readonly step: number; readonly signal: AbortSignal } {
    return { turn: this.#turn, step: this.#step, signal: this.#signal };
  }

  #aborted(): TurnEndReason | undefined {
    if (!this.#signal.aborted) return undefined;
    const why: unknown = this.#signal.reason;
    const cause: AgentCancelCause = why instanceof AgentCancelledError ? why.agentCause : { kind: 'user' };
    return { kind: 'aborted', reason: cause };
  }
}

/** Adapters may leave counts undefined; the log holds no undefined. */
function plain(usage: TokenUsage): TokenUsage {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== undefined)) as unknown as TokenUsage;
}
