import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../contract/agent.ts';
import type { LlmFailure } from '../contract/event.ts';

/** O15.6: failures that another try may heal. */
const RETRYABLE = new Set(['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT']);

export interface RetryConfig {
  /** Tries after the first, within one step. Default 5. */
  readonly retries?: number;
  /** Milliseconds before the first retry; doubles each time. Default 500. */
  readonly baseDelayMs?: number;
  /** Most milliseconds of a wait of our own. Default 10 000. */
  readonly maxDelayMs?: number;
  /** Most milliseconds of a wait that the server asks for; who asks for more is not asked again. Default 300 000. */
  readonly maxServerDelayMs?: number;
  /** 0..1, for tests. */
  readonly random?: () => number;
  /** Waits; rejects when the signal aborts. For tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const name = 'llm-retry';

/** Sends a failed request again, in the same step, after a wait that the log shows. */
export function apply(ctx: Context, config: RetryConfig = {}): void {
  const { retries = 5, baseDelayMs = 500, maxDelayMs = 10_000, maxServerDelayMs = 300_000, random = Math.random, sleep = wait } = config;
  const attempts = new WeakMap<Agent, { turn: number; step: number; count: number }>();

  ctx.on('agent/request-error', async (payload, next) => {
    const { agent, turn, step, failure, signal } = payload;
    if (!RETRYABLE.has(failure.code) || signal.aborted) return next();
    // sooner than it says would fail again, and count against the user
    if ((failure.providerRetryAfterMs ?? 0) > maxServerDelayMs) return next();
    const last = attempts.get(agent);
    const count = last && last.turn === turn && last.step === step ? last.count : 0;
    if (count >= retries) return next();
    const attempt = count + 1;
    attempts.set(agent, { turn, step, count: attempt });
    const delayMs = retryDelay(failure, attempt, { baseDelayMs, maxDelayMs, random });
    agent.session.append('llm/retry', { turn, step, attempt, delayMs, failure });
    try {
      await sleep(delayMs, signal);
    } catch {
      return next();
    }
    agent.session.append('llm/retry-started', { turn, step, attempt, failure });
    return { kind: 'retry' };
  });
}

/** Milliseconds before retry number `attempt` (from 1): backoff ±10 % up to its cap, and never less than the server asks for. */
export function retryDelay(
  failure: LlmFailure, attempt: number, config: { baseDelayMs: number; maxDelayMs: number; random: () => number },
): number {
  const { baseDelayMs, maxDelayMs, random } = config;
  const backoff = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1)) * (0.9 + 0.2 * random());
  return Math.round(Math.max(Math.min(maxDelayMs, backoff), failure.providerRetryAfterMs ?? 0));
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Error('stopped'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
