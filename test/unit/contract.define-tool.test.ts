import assert from 'node:assert/strict';
import { defineTool } from '../../src/contract/define-tool.ts';
import { defineContentToolFixture } from '../../src/contract/fixture.ts';
import { JsonSchemaError } from '../../src/contract/json-schema.ts';
import { ToolArgsError } from '../../src/contract/schema.ts';
import type { ToolRunContext } from '../../src/contract/tool.ts';

const exec = {} as ToolRunContext;
const text = (value: string) => [{ type: 'text' as const, text: value }];
const minimal = {
  name: 'count', description: 'Counts.', parameters: { upTo: { type: 'integer', required: true } },
  output: { schema: { type: 'array', items: { type: 'integer' } }, render: (_args: unknown, value: unknown) => text(JSON.stringify(value)) },
  execute: async ({ upTo }: { upTo: number }) => Array.from({ length: upTo }, (_, i) => i),
} as const;
const greet = defineTool({
  name: 'greet',
  description: 'Greet someone by name',
  parameters: { name: { type: 'string', description: 'The name to greet', required: true } },
  output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
  async execute({ name }) {
    return `Hello, ${name}!`;
  },
});

describe('contract defineTool', () => {
  it('T2.8 the greet tool', async () => {
    assert.equal(await greet.execute({ name: 'Ada' }, exec), 'Hello, Ada!');
    assert.deepEqual(greet.output.render({ name: 'Ada' }, 'Hello, Ada!'), text('Hello, Ada!'));
    assert.equal(JSON.stringify(greet.parameters), '{"type":"object","properties":{"name":{"type":"string","description":"The name to greet"}},"required":["name"]}');
  });

  it('T2.1 T2.2 a definition holds what was given and nothing else', () => {
    assert.deepEqual(Object.keys(defineTool(minimal)).sort(), ['description', 'execute', 'name', 'output', 'parameters']);
    assert.deepEqual(Object.keys(defineTool(minimal).output).sort(), ['render', 'schema']);
    const full = defineTool({
      ...minimal, output: { ...minimal.output, presentationMeta: () => 1 }, timeoutMs: 5, isConcurrencySafe: () => true, finalizeContent: () => undefined,
      presentCall: () => undefined, presentResult: () => undefined,
    });
    assert.deepEqual(Object.keys(full).sort(), ['description', 'execute', 'finalizeContent', 'isConcurrencySafe', 'name', 'output', 'parameters', 'presentCall', 'presentResult', 'timeoutMs']);
    assert.deepEqual(Object.keys(full.output).sort(), ['presentationMeta', 'render', 'schema']);
    assert.deepEqual([full.name, full.description, full.timeoutMs], ['count', 'Counts.', 5]);
    assert.deepEqual(full.output.schema, { type: 'array', items: { type: 'integer' } });
  });

  it('T2.2 callbacks are captured at definition time and called without this', async () => {
    const receivers: unknown[] = [];
    const options = {
      ...minimal, output: { ...minimal.output, render(this: unknown) { receivers.push(this); return text('first'); } },
      async execute(this: unknown) { receivers.push(this); return [1]; },
    };
    const tool = defineTool(options);
    options.execute = async () => [2];
    options.output.render = () => text('second');
    assert.deepEqual(await tool.execute({ upTo: 1 }, exec), [1]);
    assert.deepEqual(tool.output.render({}, []), text('first'));
    assert.deepEqual(receivers, [undefined, undefined]);
  });

  it('T2.3 timeoutMs is positive and finite, and nothing else', () => {
    for (const timeoutMs of [0, -1, NaN, Infinity, '5' as never]) {
      assert.throws(() => defineTool({ ...minimal, timeoutMs }), { name: 'Error', message: 'defineTool(count): timeoutMs must be a positive finite number' });
    }
    assert.equal(defineTool({ ...minimal, timeoutMs: 0.5 }).timeoutMs, 0.5);
  });

  it('T2.1 a schema outside the language is refused when the tool is defined', () => {
    assert.throws(() => defineTool({ ...minimal, parameters: { a: { type: 'date' } } } as never), JsonSchemaError);
    assert.throws(() => defineTool({ ...minimal, output: { ...minimal.output, schema: { type: 'object' } } } as never), JsonSchemaError);
  });

  it('T2.4 S1.34 the body never sees arguments that do not fit', async () => {
    let ran = 0;
    const tool = defineTool({ ...minimal, execute: async () => { ran++; return []; } });
    await assert.rejects(tool.execute({ upTo: 'x' }, exec), (error: unknown) => error instanceof ToolArgsError && error.message === 'invalid arguments: "upTo" must be an integer');
    await assert.rejects(tool.execute(undefined, exec), { message: 'invalid arguments: "arguments" must be an object' });
    assert.equal(ran, 0);
    const args = { upTo: 1, more: true };
    let seen: unknown;
    await defineTool({ ...minimal, execute: async (given) => { seen = given; return []; } }).execute(args, exec);
    assert.equal(seen, args);
  });

  it('T2.5 presenters and the classifier are soft about arguments', () => {
    const tool = defineTool({
      ...minimal, isConcurrencySafe: () => true, presentCall: ({ upTo }) => ({ card: 'generic', title: `Count to ${upTo}` }),
      presentResult: (_args, result) => ({ card: 'generic', title: result.isError ? 'failed' : 'counted' }),
    });
    assert.deepEqual([tool.presentCall?.({ upTo: 2 }), tool.presentCall?.({}), tool.presentCall?.(null)], [{ card: 'generic', title: 'Count to 2' }, undefined, undefined]);
    assert.equal(tool.presentResult?.({ upTo: 'x' }, { content: [], isError: false }), undefined);
    assert.deepEqual(tool.presentResult?.({ upTo: 1 }, { content: 'not blocks' as never, isError: true }), { card: 'generic', title: 'failed' });
    assert.deepEqual([tool.isConcurrencySafe?.({ upTo: 2 }), tool.isConcurrencySafe?.({ upTo: '2' })], [true, false]);
  });

  it('T2.7 a content fixture returns its blocks as its value', async () => {
    const tool = defineContentToolFixture({ name: 'fixture', description: '', parameters: { a: { type: 'string', required: true } }, execute: async ({ a }) => text(a) });
    assert.deepEqual(tool.output.schema, { type: 'array', items: {} });
    const value = await tool.execute({ a: 'x' }, exec);
    assert.deepEqual(value, text('x'));
    assert.equal(tool.output.render({}, value as never), value);
    await assert.rejects(tool.execute({}, exec), ToolArgsError);
  });
});
