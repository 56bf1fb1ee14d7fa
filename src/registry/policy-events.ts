import type { Context } from '@deepseek-ai/cordis';
import type { ContentBlock } from '../contract/content.ts';
import type { PostToolDecision, PreToolDecision, ToolExecutionResult } from '../contract/tool.ts';
import { scopeTarget } from '../scope/carrier.ts';
import type { Scoped } from '../scope/carrier.ts';
import type { Call } from './call.ts';
import type { CodeDispatchLog } from './events.ts';
import { thrownMessage } from './failure.ts';
import type { ToolRuntime } from './runtime.ts';

type ToolEvent = 'tools/pre-execute' | 'tools/execute' | 'tools/post-execute' | 'tools/result' | 'tools/change';

/**
 * The pipeline's side of the `tools/*` events. Each stage can ask first whether anybody listens at all, so that a call
 * nobody watches pays for none of them.
 */
export class PolicyEvents {
  readonly #ctx: Context;
  readonly #runtime: ToolRuntime;
  readonly #hooks: Record<string, readonly unknown[] | undefined>;
  readonly #carriers = new WeakMap<object, Scoped<ToolRuntime>>();
  readonly #unscoped: Scoped<ToolRuntime>;

  constructor(ctx: Context, runtime: ToolRuntime) {
    this.#ctx = ctx;
    this.#runtime = runtime;
    this.#hooks = ctx.events._hooks as Record<string, readonly unknown[] | undefined>;
    this.#unscoped = scopeTarget(runtime, undefined);
  }

  /** Whether a dispatch of this event can reach any listener, diagnostics included. */
  heard(event: ToolEvent): boolean {
    const hooks = this.#hooks;
    return (hooks[event]?.length ?? 0) > 0 || (hooks['internal/dispatch']?.length ?? 0) > 0;
  }

  target(scope: object | undefined): Scoped<ToolRuntime> {
    if (scope === undefined) return this.#unscoped;
    let carrier = this.#carriers.get(scope);
    if (!carrier) this.#carriers.set(scope, carrier = scopeTarget(this.#runtime, scope));
    return carrier;
  }

  /** Tells that the set of tools changed (R3.8). */
  changed(): void {
    if (this.heard('tools/change')) this.#ctx.emit('tools/change');
  }

  before(call: Call): Promise<PreToolDecision> {
    return this.#ctx.waterfall(this.target(call.agent), 'tools/pre-execute', call.exec, () => Promise.resolve({ kind: 'allow' as const }));
  }

  around(call: Call, body: () => Promise<ToolExecutionResult>): Promise<ToolExecutionResult> {
    return this.#ctx.waterfall(this.target(call.agent), 'tools/execute', call.exec as never, body);
  }

  after(call: Call, result: ToolExecutionResult): Promise<PostToolDecision> {
    return this.#ctx.waterfall(
      this.target(call.agent), 'tools/post-execute', call.exec, result, () => Promise.resolve({ kind: 'accept' as const }),
    );
  }

  /** The content to log for a sub-call; a listener that throws leaves the original (C8.14). */
  async shapeLog(dispatch: CodeDispatchLog): Promise<ContentBlock[]> {
    try {
      return await this.#ctx.waterfall(
        this.target(dispatch.agent), 'tools/code-dispatch-log', dispatch, () => Promise.resolve(dispatch.content),
      );
    } catch (error) {
      this.#ctx.logger.warn(`tools/code-dispatch-log listener failed for ${dispatch.subCallId}: ${thrownMessage(error)}`);
      return dispatch.content;
    }
  }

  /** Tells every observer, each on its own: what one throws is logged and reaches neither the others nor the result (P4.34). */
  report(call: Call, result: ToolExecutionResult): void {
    const failed = (error: unknown): void => {
      this.#ctx.logger.warn(`tool "${call.name}" (${call.callId}): tools/result observer failed: ${thrownMessage(error)}`);
    };
    const args = [call.exec, result] as const;
    let observers: ((...args: unknown[]) => unknown)[];
    try {
      observers = this.#ctx.events.dispatch('emit', [this.target(call.agent), 'tools/result', ...args]);
    } catch (error) {
      failed(error);
      return;
    }
    for (const observer of observers) {
      try {
        const returned = observer(...args);
        if (returned instanceof Promise || typeof (returned as PromiseLike<unknown> | undefined)?.then === 'function') {
          Promise.resolve(returned).catch(failed);
        }
      } catch (error) {
        failed(error);
      }
    }
  }
}
