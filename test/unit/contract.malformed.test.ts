import assert from 'node:assert/strict';
import fc from 'fast-check';
import { callView, resultView } from '../../src/contract/card.ts';
import { defineTool } from '../../src/contract/define-tool.ts';
import { frozenJson, isLosslessJson } from '../../src/contract/snapshot.ts';
import type { ToolRunContext } from '../../src/contract/tool.ts';
import { anyValue } from '../fixtures/contract-arbitraries.ts';

const tool = defineTool({
  name: 'probe', description: 'Takes anything apart.',
  parameters: {
    a: { type: 'string', required: true },
    b: { type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'object', additionalProperties: false, properties: { c: { type: 'json' } } }] } },
    c: { type: 'object', additionalProperties: true, properties: { a: { type: 'integer' } } },
  },
  output: { schema: { type: 'json' }, render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }] },
  execute: async (args) => ({ a: args.a }),
  presentCall: ({ a }) => ({ card: 'terminal', title: a }),
  presentResult: (args) => args as never,
});
const exec = {} as ToolRunContext;

/** Runs a value through everything of the contract that a model's arguments meet. */
async function meet(value: unknown): Promise<void> {
  let known: unknown = value;
  try {
    known = frozenJson(value);
  } catch { /* a getter of the value's own */ }
  for (const args of [value, known]) {
    const outcome = await tool.execute(args, exec).then((result) => isLosslessJson(result), (error: unknown) => error instanceof Error);
    assert.equal(outcome, true);
    assert.ok(callView(tool, 'probe', args).card);
    assert.ok(resultView(tool, args, { content: [], isError: false }).card);
  }
}

describe('contract under malformed input', () => {
  it('S1.29 P4.1 T2.5 any value ends in a result, and no prototype is touched', async () => {
    const before = [Object.prototype, Array.prototype, Function.prototype].map((proto) => Reflect.ownKeys(proto).length);
    await fc.assert(fc.asyncProperty(anyValue, async (made) => meet(made.make())), { numRuns: Number(process.env['MALFORMED_RUNS'] ?? 1_500) });
    assert.deepEqual([Object.prototype, Array.prototype, Function.prototype].map((proto) => Reflect.ownKeys(proto).length), before);
  }).timeout(120_000);

  it('S1.29 P4.1 very deep and very long values end in a result', async () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 50_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep, __proto__: null };
    const long = Array.from({ length: 300_000 }, (_, i) => (i % 2 === 0 ? 'x' : { c: i }));
    for (const value of [deep, { a: deep }, { a: 'x', b: [{ c: deep }] }, { a: 'x', c: { more: deep } }, { a: 'x', b: long }, { a: 'x', b: new Array(1_000_000) }]) await meet(value);
  }).timeout(60_000);
});
