import type { Context } from '@deepseek-ai/cordis';
import { HarnessError } from '../../contract/error.ts';
import { failureOf } from '../../registry/failure.ts';
import '../../registry/events.ts';

/** O15.8. */
export class ToolTimeoutError extends HarnessError {
  constructor(timeoutMs: number) {
    super(`tool call timed out after ${timeoutMs}ms`, 'TOOL_TIMEOUT');
  }
}

export interface Config {
  /** Ms for tools that name none of their own; absent: none. */
  readonly defaultTimeoutMs?: number;
}

export const name = 'tool-timeout';
export const inject = ['tools'];

const MAX_TIMER_MS = 0x7fff_ffff;

/** Ends calls that take longer than their tool's `timeoutMs`: asks the body through its signal, and waits for it (O15.8, P4.23). */
export function apply(ctx: Context, config: Config = {}): void {
  ctx.on('tools/execute', async (exec, next) => {
    const timeoutMs = ctx.tools.get(exec.name, exec.agent)?.timeoutMs ?? config.defaultTimeoutMs;
    if (timeoutMs === undefined) return next();
    const outer = exec.signal;
    const deadline = new AbortController();
    const timedOut = new ToolTimeoutError(timeoutMs);
    const timer = setTimeout(() => deadline.abort(timedOut), Math.min(timeoutMs, MAX_TIMER_MS));
    exec.signal = AbortSignal.any([outer, deadline.signal]);
    try {
      const result = await next();
      // a body that failed for a reason of its own, or was stopped by the user, keeps its own error
      if (!deadline.signal.aborted || outer.aborted || !result.isError) return result;
      const { additionalContexts } = result;
      return { ...failureOf(timedOut), ...(additionalContexts !== undefined ? { additionalContexts } : {}) };
    } finally {
      clearTimeout(timer);
      exec.signal = outer;
    }
  });
}
