import type { CallId, ContentBlock } from '../contract/content.ts';
import type { JsonValue } from '../contract/json.ts';
import { createUserMessage } from '../contract/message.ts';
import { frozenJson } from '../contract/snapshot.ts';
import type { ToolExecutionInput, ToolExecutionMode, ToolExecutionResult, ToolRunContext } from '../contract/tool.ts';
import type { CodeBindingNamespace } from './code-runtime.ts';
import type { CodeDispatchLog } from './events.ts';
import type { Outcome } from './pipeline.ts';
import type { ToolRuntimeScheduler } from './scheduler.ts';

/** What the bridge needs of its registry. */
export interface BridgeHost {
  readonly stages: ToolRuntimeScheduler;
  readonly maxParallel: number;
  mode(input: ToolExecutionInput): ToolExecutionMode;
  /** The content to log for a settled sub-call; never rejects (C8.14). */
  logged(dispatch: CodeDispatchLog): Promise<ContentBlock[]>;
  warn(message: string): void;
}

/** A sub-call from its submission until the program has its answer. */
interface SubCall {
  readonly input: ToolExecutionInput & { readonly arguments: JsonValue };
  readonly answer: (value: JsonValue) => void;
  readonly refuse: (error: Error) => void;
}
interface ActiveCall extends SubCall { readonly exec: ToolRunContext; readonly exclusive: boolean; outcome: Outcome | undefined }

function hasImage(content: readonly ContentBlock[]): boolean {
  return content.some((block) => block.type === 'image' || (block.type === 'tool-result' && hasImage(block.content)));
}

/**
 * Runs the tool calls of one `run_code` program (C8.9–C8.15). One loop takes every policy step, so that none of them
 * overlap; bodies run beside it. Calls start, and their results arrive, in the order the program made them.
 */
export class CodeBridge {
  readonly #host: BridgeHost;
  readonly #outer: ToolRunContext;
  readonly #controller = new AbortController();
  readonly #follow: () => void;
  readonly #queue: SubCall[] = [];
  readonly #active: ActiveCall[] = [];
  #submitted = 0;
  #driving: Promise<void> = Promise.resolve();
  #busy = false;
  #wake = (): void => {};
  #logging: Promise<void> = Promise.resolve();
  #over: string | undefined;

  constructor(host: BridgeHost, outer: ToolRunContext) {
    this.#host = host;
    this.#outer = outer;
    const { signal } = outer;
    this.#follow = () => this.#controller.abort(signal.reason);
    if (signal.aborted) this.#follow();
    else signal.addEventListener('abort', this.#follow, { once: true });
  }

  /** Aborts with the outer call and when the run has ended. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The program's `tools` object: one function per name, on no prototype (C8.9). */
  bindings(names: Iterable<string>): CodeBindingNamespace {
    const functions: CodeBindingNamespace['functions'] = Object.create(null);
    for (const name of names) functions[name] = (args) => this.#submit(name, args);
    return { global: 'tools', functions, errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' } };
  }

  /** Ends the run: nothing new starts, what runs is aborted and awaited, and all of it is logged (C8.13). */
  async close(reason: string): Promise<void> {
    this.#over = reason;
    for (const { input, refuse } of this.#queue.splice(0)) refuse(new Error(`run_code run is over (${reason}); ${input.name} tool call abandoned`));
    this.#controller.abort(new Error('run_code settled'));
    this.#wake();
    await this.#driving;
    await this.#logging;
    this.#outer.signal.removeEventListener('abort', this.#follow);
  }

  async #submit(name: string, args: unknown): Promise<JsonValue> {
    if (this.#over !== undefined) throw new Error(`run_code run is over (${this.#over}); ${name} not dispatched`);
    const json = frozenJson(args);
    if (json === undefined) throw new Error('tool arguments must be lossless JSON (call the tool with an arguments object, e.g. `{}`)');
    const { callId, rootCallId, agent, token } = this.#outer;
    const input = {
      callId: `${callId}:code:${++this.#submitted}`, rootCallId, name, arguments: json, parent: token, signal: this.signal, ...(agent && { agent }),
    };
    return new Promise((answer, refuse) => {
      this.#queue.push({ input, answer, refuse });
      this.#wake();
      if (!this.#busy) this.#driving = this.#drive();
    });
  }

  async #drive(): Promise<void> {
    this.#busy = true;
    for (;;) {
      const woken = new Promise<void>((resolve) => { this.#wake = resolve; });
      const oldest = this.#active[0];
      if (oldest?.outcome) await this.#commit(oldest, oldest.outcome);
      else if (this.#mayStart()) await this.#start(this.#queue.shift()!);
      else if (oldest || this.#queue.length > 0) await woken;
      else break;
    }
    this.#busy = false;
  }

  /** An exclusive call waits for everybody and holds everybody up; the mode is read when a call's turn comes (C8.11). */
  #mayStart(): boolean {
    const [next] = this.#queue;
    if (!next || this.#active.some(({ exclusive }) => exclusive)) return false;
    return this.#host.mode(next.input).kind === 'parallel' ? this.#active.length < this.#host.maxParallel : this.#active.length === 0;
  }

  async #start(call: SubCall): Promise<void> {
    const exclusive = this.#host.mode(call.input).kind !== 'parallel';
    this.#logStart(call);
    const prepared = await this.#host.stages.prepare(call.input);
    const active: ActiveCall = { ...call, exec: prepared.exec, exclusive, outcome: undefined };
    this.#active.push(active);
    if (prepared.kind !== 'dispatch') {
      active.outcome = prepared;
      return;
    }
    void this.#host.stages.dispatch(prepared.exec).then((outcome) => {
      active.outcome = outcome;
      this.#wake();
    });
  }

  async #commit(call: ActiveCall, { kind, result }: Outcome): Promise<void> {
    const { stages } = this.#host;
    const settled = kind === 'post-result' ? await stages.finalize(call.exec, result) : stages.finish(call.exec, result);
    this.#active.shift();
    if (this.#over === undefined) this.#deliver(call, settled);
    else call.refuse(new Error(`run_code run is over (${this.#over}); ${call.input.name} result discarded`));
    this.#logEnd(call, settled);
  }

  #deliver({ answer, refuse }: SubCall, result: ToolExecutionResult): void {
    for (const context of result.additionalContexts ?? []) this.#outer.deferContext(context);
    if (result.isError) {
      refuse(new Error(result.error.message));
      return;
    }
    if (hasImage(result.content)) {
      this.#outer.deferContext(createUserMessage({ content: result.content, source: { kind: 'plugin', plugin: 'tools-code-mode' } }));
    }
    if (result.concludesTurn) this.#outer.concludeTurn();
    answer(result.value);
  }

  #identity({ input }: SubCall): { rootCallId: CallId; parentCallId: CallId; subCallId: CallId; name: string; arguments: JsonValue } {
    return { rootCallId: this.#outer.rootCallId, parentCallId: this.#outer.callId, subCallId: input.callId, name: input.name, arguments: input.arguments };
  }

  #logStart(call: SubCall): void {
    this.#log(async () => { this.#outer.agent?.session.append('tool/code-dispatch-start', this.#identity(call)); });
  }

  #logEnd(call: SubCall, { isError, content }: ToolExecutionResult): void {
    const { agent } = this.#outer;
    if (!agent) return;
    this.#log(async () => {
      const { name, callId } = call.input;
      const shaped = await this.#host.logged({ exec: this.#outer, agent, subCallId: callId, name, isError, content });
      agent.session.append('tool/code-dispatch', { ...this.#identity(call), isError, content: shaped });
    });
  }

  /** In order, and never in the program's way: it has its answer already (C8.14). */
  #log(write: () => Promise<void>): void {
    this.#logging = this.#logging.then(write).catch((error: unknown) => this.#host.warn(`run_code: a sub-call could not be logged: ${String(error)}`));
  }
}
