import type { ToolExecutionInput, ToolExecutionResult, ToolRunContext } from '../contract/tool.ts';
import type { Call } from './call.ts';
import type { Outcome, Pipeline } from './pipeline.ts';

/** Key of the staged view of the registry. Not for plugins: `tools.execute` is. */
export const TOOL_RUNTIME_SCHEDULER: unique symbol = Symbol('tool runtime scheduler');

/** After policy: run the body, or finish with a result that post-execute still sees (`post-result`) or not. */
export type ScheduledToolPreparation =
  | { readonly kind: 'dispatch'; readonly exec: ToolRunContext }
  | { readonly kind: 'post-result' | 'final-result'; readonly exec: ToolRunContext; readonly result: ToolExecutionResult };
export type ScheduledToolDispatch = Outcome;

/**
 * The stages of a call one by one, so that an agent loop can keep policy in order while bodies overlap (O15.3):
 * `prepare`, then `dispatch` when asked to, then `finalize` for a `post-result` or `finish` for a `final-result`. No stage
 * rejects for what a tool or listener does. Each call takes each stage once.
 */
export interface ToolRuntimeScheduler {
  prepare(input: ToolExecutionInput): Promise<ScheduledToolPreparation>;
  dispatch(exec: ToolRunContext): Promise<ScheduledToolDispatch>;
  finalize(exec: ToolRunContext, result: ToolExecutionResult): Promise<ToolExecutionResult>;
  finish(exec: ToolRunContext, result: ToolExecutionResult): ToolExecutionResult;
}

export function schedulerOf(pipeline: Pipeline): ToolRuntimeScheduler {
  const calls = new WeakMap<ToolRunContext, Call>();
  const callOf = (exec: ToolRunContext): Call => {
    const call = calls.get(exec);
    if (!call) throw new Error('this execution was not prepared by this registry: start with prepare()');
    return call;
  };
  return {
    async prepare(input) {
      const call = pipeline.open(input);
      calls.set(call.exec, call);
      return { ...(await pipeline.gate(call)), exec: call.exec };
    },
    dispatch: async (exec) => pipeline.dispatch(callOf(exec)),
    finalize: async (exec, result) => pipeline.finalize(callOf(exec), result),
    finish: (exec, result) => pipeline.finish(callOf(exec), result),
  };
}
