import assert from 'node:assert/strict';
import { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../src/contract/agent.ts';
import type { LlmFailure } from '../../src/contract/event.ts';
import { scopeTarget } from '../../src/scope/carrier.ts';
import * as retry from '../../src/model/retry.ts';
import '../../src/agent/events.ts';

describe('retry', () => {
  let ctx: Context;
  let log: { type: string; data: { delayMs?: number; attempt?: number } }[];
  let agent: Agent;
  const signal = new AbortController().signal;
  beforeEach(() => {
    ctx = new Context();
    log = [];
    agent = { session: { append: (type: string, data: object) => void log.push({ type, data }) } } as unknown as Agent;
  });
  afterEach(() => ctx.fiber.dispose());

  async function fail(failure: Partial<LlmFailure>, step = 1, stop = signal): Promise<unknown> {
    const payload = { agent, turn: 1, step, provider: 'p', failure: { message: 'x', code: 'SERVER', ...failure }, signal: stop };
    return ctx.waterfall(scopeTarget(agent, agent), 'agent/request-error', payload, async () => undefined);
  }

  it('O15.6 five retries with doubling waits up to 10 s, then it gives up; a new step starts anew', async () => {
    await ctx.plugin(retry, { random: () => 0.5, sleep: async () => undefined });
    for (let i = 0; i < 5; i += 1) assert.deepEqual(await fail({}), { kind: 'retry' });
    assert.equal(await fail({}), undefined);
    assert.deepEqual(log.filter((event) => event.type === 'llm/retry').map((event) => event.data.delayMs), [500, 1000, 2000, 4000, 8000]);
    assert.equal(log.filter((event) => event.type === 'llm/retry-started').length, 5);
    assert.deepEqual(await fail({}, 2), { kind: 'retry' });
    assert.equal(log.at(-1)?.data.attempt, 1);
  });

  for (const code of ['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT']) {
    it(`O15.6 ${code} is retried`, async () => {
      await ctx.plugin(retry, { sleep: async () => undefined });
      assert.deepEqual(await fail({ code }), { kind: 'retry' });
    });
  }
  for (const code of ['AUTH', 'QUOTA', 'INVALID_REQUEST', 'MALFORMED_RESPONSE', 'CONTEXT_WINDOW_EXCEEDED', 'MISSING_CREDENTIAL', 'ABORTED']) {
    it(`O15.6 ${code} is not`, async () => {
      await ctx.plugin(retry, { sleep: async () => undefined });
      assert.equal(await fail({ code }), undefined);
      assert.equal(log.length, 0);
    });
  }

  it('O15.6 jitter stays within 10 %, and the server is given the time it asks for', () => {
    const config = { baseDelayMs: 500, maxDelayMs: 10_000 };
    const failure = { message: 'x', code: 'RATE_LIMIT' };
    assert.equal(retry.retryDelay(failure, 1, { ...config, random: () => 0 }), 450);
    assert.equal(retry.retryDelay(failure, 1, { ...config, random: () => 1 }), 550);
    assert.equal(retry.retryDelay({ ...failure, providerRetryAfterMs: 3000 }, 1, { ...config, random: () => 0 }), 3000);
    assert.equal(retry.retryDelay({ ...failure, providerRetryAfterMs: 60_000 }, 1, { ...config, random: () => 0 }), 60_000);
    assert.equal(retry.retryDelay({ ...failure, providerRetryAfterMs: 100 }, 3, { ...config, random: () => 0 }), 1800, 'not less than our own');
    assert.equal(retry.retryDelay(failure, 30, { ...config, random: () => 1 }), 10_000);
  });

  it('O15.6 Retry-After: up to five minutes are waited, for more the turn ends at once', async () => {
    await ctx.plugin(retry, { sleep: async () => undefined });
    assert.deepEqual(await fail({ code: 'RATE_LIMIT', providerRetryAfterMs: 300_000 }), { kind: 'retry' });
    assert.equal(log[0]?.data.delayMs, 300_000);
    assert.equal(await fail({ code: 'RATE_LIMIT', providerRetryAfterMs: 300_001 }), undefined);
    assert.equal(log.length, 2, 'nothing is told of a wait that does not happen');
  });

  it('a stop ends the wait without a retry', async () => {
    const stop = new AbortController();
    await ctx.plugin(retry, { baseDelayMs: 60_000, maxDelayMs: 60_000 });
    const outcome = fail({}, 1, stop.signal);
    stop.abort();
    assert.equal(await outcome, undefined);
  });

  it('leaves with its fiber', async () => {
    const fiber = await ctx.plugin(retry, { sleep: async () => undefined });
    await fiber.dispose();
    assert.equal(await fail({}), undefined);
  });
});
