import type { Agent } from '../contract/agent.ts';
import type { CallId, ContentBlock } from '../contract/content.ts';
import type { JsonValue } from '../contract/json.ts';
import type { UserMessage } from '../contract/message.ts';
import { frozenJson } from '../contract/snapshot.ts';
import type {
  ToolExecution, ToolExecutionInput, ToolExecutionResult, ToolExecutionToken, ToolRunContext,
} from '../contract/tool.ts';
import type { ToolEntry } from './layer.ts';

type Finalizer = (exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>) => ContentBlock[] | undefined;

/** Identity fields cannot be reassigned or redefined by anybody who gets the execution (P4.4). */
const locked: PropertyDescriptor = { writable: false, configurable: false, enumerable: true };
/** A call without an agent or parent cannot be given one either. */
const absent: PropertyDescriptor = { writable: false, configurable: false, enumerable: false };

function isSignal(value: unknown): value is AbortSignal {
  return typeof value === 'object' && value !== null && typeof (value as AbortSignal).aborted === 'boolean'
    && typeof (value as AbortSignal).addEventListener === 'function';
}

/**
 * One call on its way through the pipeline: what the registry itself relies on. Listeners and bodies only get `exec`,
 * which shows the same identity but cannot change it.
 */
export class Call {
  readonly callId: CallId;
  readonly rootCallId: CallId;
  readonly name: string;
  readonly agent: Agent | undefined;
  readonly parent: ToolExecutionToken | undefined;
  readonly token = Symbol('tool execution') as ToolExecutionToken;
  /** Deep-frozen snapshot; `undefined` when the input was not lossless JSON. */
  readonly args: JsonValue | undefined;
  /** What was thrown over the input, if anything (P4.2). */
  readonly inputError: { readonly thrown: unknown } | undefined;
  /** The signal the caller passed. */
  readonly callerSignal: AbortSignal;
  readonly exec: ToolRunContext;
  /** Captured before the arguments were read (P4.5). */
  readonly finalizer: Finalizer | undefined;
  /** Contexts deferred by the body (P4.26). */
  readonly deferred: UserMessage[] = [];
  /** Results the registry itself made for this call; a wrapper's own result is not among them (P4.24). */
  readonly made: ToolExecutionResult[] = [];
  bodyStarted = false;
  concludes = false;
  /** What `exec.signal` reads as. */
  signal: AbortSignal;
  /** Whether a wrapper may assign `exec.signal` now (P4.4). */
  signalOpen = false;

  constructor(input: ToolExecutionInput, entry: ToolEntry | undefined, collapsed: boolean) {
    this.callId = input.callId;
    this.rootCallId = input.rootCallId ?? input.callId;
    this.name = input.name;
    this.agent = input.agent;
    this.parent = input.parent;
    this.callerSignal = this.signal = input.signal;
    const tool = entry?.definition;
    const finalize = tool?.finalizeContent;
    const finalizer: Finalizer | undefined = finalize && ((exec, result) => finalize.call(tool, exec, result));

    try {
      if (!isSignal(this.signal)) throw new TypeError('tool execution needs a signal: pass an AbortSignal to tools.execute()');
      this.args = frozenJson(input.arguments);
      if (this.args === undefined) throw new TypeError('tool execution arguments must be losslessly JSON-serializable');
    } catch (thrown) {
      this.inputError = { thrown };
    }
    this.finalizer = collapsed && !this.cancelled ? undefined : finalizer;
    this.exec = this.#expose();
  }

  /** Whether the caller has cancelled. */
  get cancelled(): boolean {
    return this.callerSignal?.aborted === true;
  }

  #expose(): ToolRunContext {
    const call = this;
    const exec = {
      callId: this.callId,
      rootCallId: this.rootCallId,
      name: this.name,
      arguments: this.args,
      agent: this.agent,
      token: this.token,
      parent: this.parent,
      get signal(): AbortSignal { return call.signal; },
      set signal(signal: AbortSignal) {
        if (!call.signalOpen) throw new TypeError('exec.signal can be replaced only inside a tools/execute listener');
        if (!isSignal(signal)) throw new TypeError('exec.signal must be an AbortSignal');
        call.signal = signal;
      },
      deferContext(context: UserMessage): void { call.deferred.push(context); },
      concludeTurn(): void { call.concludes = true; },
    };
    Object.defineProperty(exec, 'callId', locked);
    Object.defineProperty(exec, 'rootCallId', locked);
    Object.defineProperty(exec, 'name', locked);
    Object.defineProperty(exec, 'arguments', locked);
    Object.defineProperty(exec, 'agent', this.agent === undefined ? absent : locked);
    Object.defineProperty(exec, 'token', locked);
    Object.defineProperty(exec, 'parent', this.parent === undefined ? absent : locked);
    Object.defineProperty(exec, 'signal', { configurable: false });
    return exec as ToolRunContext;
  }
}
