import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';
import type { ApprovalOutcome } from '../contract/event.ts';
import type {
  PostToolDecision, PreToolDecision, ToolExecutionInput, ToolExecutionResult,
} from '../contract/tool.ts';
import { Call } from './call.ts';
import { ToolNotFoundError, aborted, failure, failureOf, feedbackMessage } from './failure.ts';
import { settledOrFailure, settledResult, successOf } from './output.ts';
import type { PolicyEvents } from './policy-events.ts';
import { RUN_CODE_NAME } from './run-code.ts';
import { fuseSignals } from './signal.ts';
import type { Visibility } from './visibility.ts';

/** Where a call goes after a stage: on to its body, to post-execute with a result, or past post-execute. */
export type Verdict = { readonly kind: 'dispatch' } | Outcome;
/** A result that post-execute still sees (`post-result`), or that goes past it (`final-result`). */
export interface Outcome { readonly kind: 'post-result' | 'final-result'; readonly result: ToolExecutionResult }

/** The approval seam, as far as the pipeline needs it: `ctx.get('approval')` (G12.2). */
interface ApprovalGate {
  request(request: { agent: Agent; toolName: string; callId: CallId; reason?: string; signal: AbortSignal }): Promise<ApprovalOutcome>;
}

const allow: PreToolDecision = { kind: 'allow' };
const toBody: Verdict = { kind: 'dispatch' };
const withPost = (result: ToolExecutionResult): Outcome => ({ kind: 'post-result', result });
const final = (result: ToolExecutionResult): Outcome => ({ kind: 'final-result', result });

/** The stages of one call, in the order of P4. None of them rejects. */
export class Pipeline {
  readonly #ctx: Context;
  readonly #visibility: Visibility;
  readonly #events: PolicyEvents;

  constructor(ctx: Context, visibility: Visibility, events: PolicyEvents) {
    this.#ctx = ctx;
    this.#visibility = visibility;
    this.#events = events;
  }

  /** Takes the caller's input apart, once (P4.1–P4.5). */
  open(input: ToolExecutionInput): Call {
    const { name, agent, parent } = input;
    const entry = this.#visibility.find(name, agent);
    return new Call(input, entry, entry !== undefined && this.#visibility.collapses(name, agent, parent !== undefined));
  }

  /** Everything before the body: input errors, collapse, early cancellation, policy, approval, guards (P4.2–P4.17). */
  gate(call: Call): Verdict | Promise<Verdict> {
    if (call.inputError) return final(failureOf(call.inputError.thrown));
    if (call.cancelled) return final(aborted(false));
    const nested = call.parent !== undefined;
    if (this.#visibility.collapses(call.name, call.agent, nested) && this.#visibility.find(call.name, call.agent)) {
      return final(failureOf(new ToolNotFoundError(
        call.name,
        `only \`${RUN_CODE_NAME}\` is callable directly — call \`${call.name}\` from inside a \`${RUN_CODE_NAME}\` program instead`,
      )));
    }
    return this.#decide(call);
  }

  async #decide(call: Call): Promise<Verdict> {
    try {
      // Nobody to ask still means a turn of the microtask queue: no body runs inside the caller's own `execute()`.
      const decision: unknown = await (this.#events.heard('tools/pre-execute') ? this.#events.before(call) : allow);
      if (typeof decision !== 'object' || decision === null) throw new TypeError('tools/pre-execute returned an unsupported decision');
      const { kind, reason } = decision as Partial<Exclude<PreToolDecision, { kind: 'allow' }>> | { kind: 'allow'; reason?: never };
      const given = typeof reason === 'string' ? reason : undefined;
      switch (kind) {
        case 'allow': return this.#guard(call);
        case 'deny': return withPost(failure(given ?? `a policy denied tool "${call.name}" without giving a reason`));
        case 'ask': return await this.#ask(call, given);
        default: return withPost(failure('tools/pre-execute returned an unsupported decision'));
      }
    } catch (error) {
      return final(failureOf(error));
    }
  }

  /** Resolves `ask` through the approval seam (P4.13–P4.16). Only `allowed-once` goes on. */
  async #ask(call: Call, reason: string | undefined): Promise<Verdict> {
    const tool = `tool "${call.name}"`;
    const approval = this.#ctx.get('approval') as ApprovalGate | undefined;
    if (!approval) return withPost(failure(reason ?? `${tool} requires approval (not yet supported)`));
    if (!call.agent) return withPost(failure(`${tool} requires approval, but the call has no agent to route it through`));
    const outcome: ApprovalOutcome = await approval.request({
      agent: call.agent, toolName: call.name, callId: call.callId, ...(reason !== undefined && { reason }), signal: call.callerSignal,
    });
    switch (outcome) {
      case 'allowed-once': return this.#guard(call);
      case 'rejected': return withPost(failure(`the user rejected ${tool}`));
      case 'cancelled': return withPost(call.cancelled ? aborted(false) : failure(`approval for ${tool} was cancelled`));
      case 'unavailable':
      default: return withPost(failure(`${tool} requires approval, but no approval channel is available`));
    }
  }

  #guard(call: Call): Verdict {
    const reason = this.#visibility.denial(call.exec, call.agent);
    if (reason !== undefined) return withPost(failure(reason));
    return call.cancelled ? withPost(aborted(false)) : toBody;
  }

  /** The body and the wrappers around it (P4.18–P4.26). */
  async dispatch(call: Call): Promise<Outcome> {
    try {
      let result: ToolExecutionResult;
      if (this.#events.heard('tools/execute')) {
        call.signalOpen = true;
        try {
          result = this.#adopt(call, await this.#events.around(call, async () => {
            if (!call.signalOpen) throw new Error('next() of tools/execute was called after its listeners had answered');
            return this.#body(call);
          }));
        } finally {
          call.signalOpen = false;
          call.signal = call.callerSignal;
        }
      } else {
        result = await this.#body(call);
      }
      if (call.deferred.length > 0) {
        result = Object.freeze({ ...result, additionalContexts: [...call.deferred, ...(result.additionalContexts ?? [])] });
      }
      return { kind: 'post-result', result: this.#unlessCancelled(call, result) };
    } catch (error) {
      return { kind: 'final-result', result: failureOf(error) };
    }
  }

  /** A success that the caller no longer wants becomes a cancellation; a failure keeps its own error (P4.23, P4.29). */
  #unlessCancelled(call: Call, result: ToolExecutionResult): ToolExecutionResult {
    return call.cancelled && !result.isError ? aborted(call.bodyStarted, result.additionalContexts) : result;
  }

  async #body(call: Call): Promise<ToolExecutionResult> {
    const outer = call.signal;
    const { signal, dispose } = fuseSignals(call.callerSignal, outer);
    let result: ToolExecutionResult;
    if (signal.aborted) {
      dispose();
      result = aborted(false);
    } else {
      call.signal = signal;
      try {
        const entry = this.#visibility.callable(call.name, call.agent, call.parent !== undefined);
        if (!entry) throw new ToolNotFoundError(call.name);
        call.bodyStarted = true;
        const value: unknown = await entry.definition.execute(call.args, call.exec);
        result = successOf(call, entry, value);
        if (signal.aborted) result = aborted(true);
      } catch (error) {
        result = failureOf(error);
      } finally {
        dispose();
        call.signal = outer;
      }
    }
    call.made.push(result);
    return result;
  }

  /** A wrapper's answer as a result of this very call: what it made up itself passes through the tool's contract (P4.24). */
  #adopt(call: Call, answer: ToolExecutionResult): ToolExecutionResult {
    if (call.made.includes(answer)) return answer;
    if (typeof answer !== 'object' || answer === null) throw new TypeError('tools/execute listeners must return a tool result');
    const { additionalContexts } = answer;
    if (answer.isError) {
      const { error, content, meta } = answer;
      return { isError: true, error, content, ...(meta !== undefined && { meta }), ...(additionalContexts && { additionalContexts }) };
    }
    const entry = this.#visibility.callable(call.name, call.agent, call.parent !== undefined);
    if (!entry) throw new ToolNotFoundError(call.name);
    const result = successOf(call, entry, answer.value);
    return additionalContexts ? { ...result, additionalContexts } : result;
  }

  /** Post-execute, then `finish` (P4.27–P4.29). */
  finalize(call: Call, result: ToolExecutionResult): ToolExecutionResult | Promise<ToolExecutionResult> {
    if (this.#events.heard('tools/post-execute')) return this.#review(call, result);
    return this.finish(call, this.#unlessCancelled(call, result));
  }

  async #review(call: Call, result: ToolExecutionResult): Promise<ToolExecutionResult> {
    let reviewed: ToolExecutionResult;
    try {
      reviewed = this.#unlessCancelled(call, this.#apply(call, result, await this.#events.after(call, result)));
    } catch (error) {
      reviewed = failureOf(error);
    }
    return this.finish(call, reviewed);
  }

  #apply(call: Call, result: ToolExecutionResult, decision: PostToolDecision): ToolExecutionResult {
    if (typeof decision !== 'object' || decision === null) throw new TypeError('tools/post-execute returned an unsupported decision');
    const added = decision.additionalContexts ?? [];
    if (decision.kind === 'block') {
      const { feedback } = decision;
      if (!Array.isArray(feedback)) throw new TypeError('tools/post-execute block decision needs `feedback`: an array of content blocks');
      return { isError: true, error: { message: feedbackMessage(feedback) }, content: feedback, ...(added.length > 0 && { additionalContexts: added }) };
    }
    // an answer without any kind accepts, as it does elsewhere; one that says something else meant to do more than accept
    const kind = decision.kind as unknown;
    if (kind !== 'accept' && kind !== undefined) throw new TypeError('tools/post-execute returned an unsupported decision');
    const newValue = Object.hasOwn(decision, 'value');
    if (newValue && Object.hasOwn(decision, 'content')) {
      throw new TypeError('tools/post-execute accept decision cannot replace both value and content');
    }
    let accepted = result;
    if (newValue) {
      if (result.isError) throw new TypeError('tools/post-execute cannot replace the value of a failed result');
      const entry = this.#visibility.callable(call.name, call.agent, call.parent !== undefined);
      if (!entry) throw new ToolNotFoundError(call.name);
      accepted = successOf(call, entry, decision.value);
      if (result.additionalContexts) accepted = { ...accepted, additionalContexts: result.additionalContexts };
    } else if (decision.content !== undefined) {
      accepted = { ...result, content: decision.content };
    }
    return added.length > 0 ? { ...accepted, additionalContexts: [...(accepted.additionalContexts ?? []), ...added] } : accepted;
  }

  /** Last pass over the content, the frozen record, and the news of it (P4.30–P4.34). */
  finish(call: Call, result: ToolExecutionResult): ToolExecutionResult {
    let outcome = settledOrFailure(result);
    if (call.finalizer) {
      try {
        const content = call.finalizer(call.exec, outcome);
        if (content !== undefined) outcome = settledResult({ ...outcome, content });
      } catch (error) {
        outcome = settledResult(failureOf(error));
      }
    }
    Object.freeze(call.exec);
    if (this.#events.heard('tools/result')) this.#events.report(call, outcome);
    return outcome;
  }

  /** The whole way (R3.16). Resolves always; awaits only where somebody else has a say. */
  async run(input: ToolExecutionInput): Promise<ToolExecutionResult> {
    const call = this.open(input);
    const gated = this.gate(call);
    const verdict = gated instanceof Promise ? await gated : gated;
    const outcome = verdict.kind === 'dispatch' ? await this.dispatch(call) : verdict;
    return outcome.kind === 'post-result' ? this.finalize(call, outcome.result) : this.finish(call, outcome.result);
  }
}
