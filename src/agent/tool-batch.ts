import type { CallId, ToolCallBlock } from '../contract/content.ts';
import type { UserMessage } from '../contract/message.ts';
import { createToolResultMessage } from '../contract/message.ts';
import type { ToolExecutionInput, ToolExecutionResult, ToolRunContext } from '../contract/tool.ts';
import { TOOL_RUNTIME_SCHEDULER } from '../registry/scheduler.ts';
import type { ScheduledToolDispatch, ToolRuntimeScheduler } from '../registry/scheduler.ts';
import { parseArguments } from './arguments.ts';
import type { LoopHost } from './host.ts';

interface Place { readonly turn: number; readonly step: number; readonly signal: AbortSignal }

/** A call whose `tool/call` is logged. `body` settles when its stages up to and including the body are over. */
interface Started {
  readonly call: ToolCallBlock;
  readonly seq: number;
  readonly exclusive: boolean;
  readonly body: Promise<Settled>;
  done: boolean;
}
type Settled = { readonly exec: ToolRunContext; readonly outcome: ScheduledToolDispatch } | { readonly failure: ToolExecutionResult };

const ABORTED: ToolExecutionResult = {
  isError: true,
  content: [{ type: 'text', text: 'Error: tool call aborted before dispatch' }],
  error: { message: 'tool call aborted before dispatch', info: { name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' } },
};

/** The registry answers with values; if it throws all the same, the call still gets its result (H5). */
function failed(error: unknown): ToolExecutionResult {
  const message = error instanceof Error ? error.message : String(error);
  return { isError: true, content: [{ type: 'text', text: `Error: ${message}` }], error: { message } };
}

/**
 * Runs the calls of one answer (O15.3): an exclusive call runs alone, neighbours that are parallel-safe overlap up to the
 * pool's size. Only bodies overlap; calls, policy, results and contexts come in the model's order. After a cancel what
 * runs is waited for and recorded, what has not started gets an abort pair (O15.5).
 */
export class ToolBatch {
  readonly #host: LoopHost;
  readonly #place: Place;
  readonly #scheduler: ToolRuntimeScheduler;
  readonly #queue: ToolCallBlock[];
  /** Started, not yet committed; oldest first. */
  readonly #running: Started[] = [];
  readonly #contexts: UserMessage[] = [];
  #concluded = false;

  constructor(host: LoopHost, place: Place, calls: readonly ToolCallBlock[]) {
    this.#host = host;
    this.#place = place;
    this.#scheduler = host.ctx.tools[TOOL_RUNTIME_SCHEDULER];
    this.#queue = [...calls];
  }

  /** Resolves to whether a successful call ended the turn. Contexts are in the next-step inbox by then (O15.4). */
  async run(): Promise<boolean> {
    for (;;) {
      const next = this.#queue[0];
      if (next && !this.#place.signal.aborted) {
        const exclusive = this.#isExclusive(next);
        if (this.#hasRoom(exclusive)) {
          this.#queue.shift();
          await this.#start(next, exclusive);
          continue;
        }
      }
      const head = this.#running[0];
      if (!head) break;
      if (head.done) await this.#commit(head);
      else await Promise.race(this.#running.filter((started) => !started.done).map((started) => started.body));
    }
    for (const call of this.#queue) this.#record(call, this.#logCall(call), ABORTED);
    for (const context of this.#contexts) this.#host.inbox.insert('next-step', context);
    return this.#concluded;
  }

  #isExclusive(call: ToolCallBlock): boolean {
    try {
      return this.#host.ctx.tools.executionMode(this.#input(call)).kind === 'exclusive';
    } catch {
      return true;
    }
  }

  #hasRoom(exclusive: boolean): boolean {
    if (exclusive) return this.#running.length === 0;
    if (this.#running.some((started) => started.exclusive)) return false;
    return this.#running.filter((started) => !started.done).length < this.#host.settings.maxParallelToolCalls;
  }

  async #start(call: ToolCallBlock, exclusive: boolean): Promise<void> {
    const seq = this.#logCall(call);
    // a host killed in the middle must not leave a log that says the call was never started; a log that can't be written is told elsewhere
    await this.#host.session.flush().catch(() => undefined);
    let body: Promise<Settled>;
    try {
      const prepared = await this.#scheduler.prepare(this.#input(call));
      const { exec } = prepared;
      body = prepared.kind === 'dispatch'
        ? this.#scheduler.dispatch(exec).then((outcome) => ({ exec, outcome }), (error: unknown) => ({ failure: failed(error) }))
        : Promise.resolve({ exec, outcome: { kind: prepared.kind, result: prepared.result } });
    } catch (error) {
      body = Promise.resolve({ failure: failed(error) });
    }
    const started: Started = { call, seq, exclusive, body, done: false };
    void body.then(() => { started.done = true; });
    this.#running.push(started);
  }

  async #commit(started: Started): Promise<void> {
    const settled = await started.body;
    let result: ToolExecutionResult;
    try {
      if ('failure' in settled) result = settled.failure;
      else {
        const { exec, outcome } = settled;
        result = outcome.kind === 'post-result' ? await this.#scheduler.finalize(exec, outcome.result) : this.#scheduler.finish(exec, outcome.result);
      }
    } catch (error) {
      result = failed(error);
    }
    this.#running.shift();
    this.#record(started.call, started.seq, result);
  }

  #input(call: ToolCallBlock): ToolExecutionInput {
    return { callId: call.id, name: call.name, arguments: parseArguments(call.arguments), agent: this.#host.agent, signal: this.#place.signal };
  }

  #logCall(call: ToolCallBlock): number {
    const { turn, step } = this.#place;
    return this.#host.session.append('tool/call', { turn, step, callId: call.id, name: call.name, arguments: call.arguments }).seq;
  }

  #record(call: { readonly id: CallId }, seq: number, result: ToolExecutionResult): void {
    const { turn, step } = this.#place;
    this.#host.session.append('tool/result', {
      turn, step, message: createToolResultMessage(call.id, result.content, result.isError),
      ...(result.error?.info && { error: result.error.info }), ...(result.meta !== undefined && { meta: result.meta }),
    }, { surfaceOp: 'append', sourceEventSeqs: [seq] });
    this.#contexts.push(...result.additionalContexts ?? []);
    if (result.concludesTurn) this.#concluded = true;
  }
}
