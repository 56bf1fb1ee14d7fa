import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { defineTool } from '../../src/contract/define-tool.ts';
import type { ToolExecutionResult } from '../../src/contract/tool.ts';
import { deep, malformed, random } from '../fixtures/malformed.ts';
import { openRegistry, text, tool } from '../fixtures/registry-host.ts';
import type { RegistryHost } from '../fixtures/registry-host.ts';

function collectGarbage(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/**
 * The full numbers take minutes: `LONG_RUNS=1` plays 100,000 values, 100,000 calls and 10,000 cycles; by default it is a
 * twentieth of each, which finds the same kinds of faults. What is kept per call must stay below the same number of bytes.
 */
const SHARE = process.env['LONG_RUNS'] ? 1 : 20;
/** Bytes that the heap may have grown by, whatever was done: what the engine itself keeps. */
const SLACK = 2_000_000;
const count = (full: number): number => Math.ceil(full / SHARE);

/** Own keys of everything a hostile value might try to reach. */
function prototypes(): string {
  return [Object, Array, Function, String, Promise, Error].map(({ prototype }) => Reflect.ownKeys(prototype).map(String).join()).join('|');
}

describe('registry under attack and in the long run', function () {
  this.timeout(240_000);
  let host: RegistryHost;
  beforeEach(async () => {
    host = await openRegistry();
    host.ctx.tools.register(tool('raw', (args) => args));
    host.ctx.tools.register(defineTool({
      name: 'typed', description: 'Checks what it gets.',
      parameters: {
        q: { type: 'string', required: true }, n: { oneOf: [{ type: 'integer' }, { type: 'array', items: { type: 'json' } }] },
        o: { type: 'object', additionalProperties: false, properties: { q: { type: 'object', additionalProperties: true } } },
      },
      output: { schema: { type: 'string' }, render: (_args, value) => text(value) },
      execute: async ({ q }) => q,
    }));
  });
  afterEach(() => host.close());
  const say = (line: string): void => { if (SHARE === 1) console.log(`      ${line}`); };
  /** Less than what keeping anything per call would take. */
  const leak = (times: number): number => Math.min(SLACK, 300_000 + times * 40);
  const settled = (result: ToolExecutionResult): void => {
    assert.equal(typeof result.isError, 'boolean');
    assert.ok(Array.isArray(result.content));
    if (result.isError) assert.equal(typeof result.error.message, 'string');
  };

  it('R3.16 P4.1 P4.2 S1.29 random malformed values all end in a result, and nothing else is touched', async () => {
    const before = prototypes();
    const next = random(20);
    const kinds = { ok: 0, failed: 0 };
    for (let i = 0; i < count(100_000); i++) {
      const result = await host.call(i % 2 === 0 ? 'raw' : 'typed', malformed(next));
      settled(result);
      kinds[result.isError ? 'failed' : 'ok']++;
    }
    say(`${count(100_000)} malformed values: ${kinds.ok} accepted, ${kinds.failed} refused`);
    assert.ok(kinds.ok > count(1_000) && kinds.failed > count(10_000), JSON.stringify(kinds));
    assert.equal(prototypes(), before);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  it('R3.16 P4.1 values 50,000 levels deep and arrays of a million need no stack', async () => {
    for (const arrays of [true, false]) {
      for (const bottom of ['x', undefined, new Map()]) {
        for (const name of ['raw', 'typed']) {
          const value = deep(50_000, bottom, arrays);
          settled(await host.call(name, value));
          settled(await host.call(name, { q: 'x', o: value, n: [value] }));
        }
      }
    }
    for (const value of [Array(1e6).fill(0), Array(1e6), 'x'.repeat(1e7), Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [`k${i}`, i]))]) {
      settled(await host.call('raw', value));
      settled(await host.call('typed', value));
    }
    const deepResult = await host.call('raw', deep(50_000, 'x', true));
    assert.equal(deepResult.isError, true, 'the test tool renders with JSON.stringify, which cannot');
    host.ctx.tools.register(tool('quiet', (args) => args, { output: { schema: {}, render: () => text('deep') } }));
    assert.equal((await host.call('quiet', deep(50_000, 'x', false))).isError, false);
  });

  it('P4.34 calls leave the heap flat', async () => {
    const gc = collectGarbage();
    host.ctx.on('tools/pre-execute', async (_exec, next) => next());
    host.ctx.on('tools/result', () => undefined);
    const { agent } = host.agent('a');
    const calls = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await host.call(i % 3 === 0 ? 'typed' : 'raw', { q: `value ${i}` }, i % 2 === 0 ? { agent } : {});
    };
    const heap = (): number => { gc(); gc(); return process.memoryUsage().heapUsed; };
    await calls(Math.max(2_000, count(20_000)));
    const before = heap();
    await calls(count(100_000));
    const growth = heap() - before;
    say(`${growth} bytes more after ${count(100_000)} calls`);
    assert.ok(growth < leak(count(100_000)), `${growth} bytes kept after ${count(100_000)} calls`);
  });

  it('R3.4 R3.9 registrations, scopes and listeners leave the heap and the fibers as they were', async () => {
    const gc = collectGarbage();
    const heap = (): number => { gc(); gc(); return process.memoryUsage().heapUsed; };
    const cycle = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        host.ctx.tools.register(tool(`tool-${i}`))();
        if (i % 20 !== 0) continue;
        const scope = host.agent(`agent-${i}`);
        scope.ctx.tools.register(tool('scoped'));
        scope.ctx.tools.guard(() => undefined);
        scope.ctx.tools.restrict({ deny: ['raw'] });
        scope.ctx.on('tools/pre-execute', async (_exec, next) => next());
        assert.equal((await host.call('scoped', {}, { agent: scope.agent })).isError, false);
        await scope.dispose();
      }
    };
    await cycle(1_000);
    const effects = [...host.ctx.fiber._disposables].length;
    const before = heap();
    await cycle(count(10_000));
    const growth = heap() - before;
    say(`${growth} bytes more after ${count(10_000)} registrations`);
    assert.ok(growth < leak(count(10_000)), `${growth} bytes kept after ${count(10_000)} registrations`);
    assert.equal([...host.ctx.fiber._disposables].length, effects);
    assert.deepEqual(host.ctx.tools.schemas().map(({ name }) => name), ['raw', 'typed']);
  });
});
