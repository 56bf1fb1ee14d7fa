import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jsonSchemaToPy, renderToolsSdkPy } from '../../src/contract/py-types.ts';
import { jsonSchemaToTs, renderToolsSdk } from '../../src/contract/ts-types.ts';
import type { ToolSdkSchema } from '../../src/contract/ts-types.ts';
import { jsonSchema } from '../fixtures/contract-arbitraries.ts';
import { publishedTools as theirs } from '../oracle/published.ts';

const string = { type: 'string' } as const;
const tool = (name: string, parameters: object, output: object = string, description = `Does ${name}`): ToolSdkSchema =>
  ({ name, description, parameters: parameters as Record<string, unknown>, output });
const object = (properties: object, rest: object = {}): object => ({ type: 'object', properties, ...rest });
const closed = { additionalProperties: false };

const catalogue: ToolSdkSchema[] = [
  tool('grep', object({
    pattern: { type: 'string', description: 'the\n  pattern */ to find' },
    options: object({ deep: { type: 'boolean' }, more: object({ depth: { type: 'integer' } }, { additionalProperties: true }) }, closed),
  }, { required: ['pattern'] }), object({ matches: { type: 'array', items: object({ path: { type: 'string', description: 'p' } }, { required: ['path'], ...closed }) } }, closed)),
  tool('a-b c', object({}), {}, 'several\nlines """ of \\ text "'), tool('Zed', object({ class: string, 'a b': string }), { oneOf: [string, object({}, closed)] }),
  tool('raw', { anyOf: [] }, { type: 'q' }), tool('class', object({ x: { type: 'string', enum: ['a', 'b'] } }), { type: 'array', items: { type: 'null' } }, ''),
  tool('a_b', object({ a_b: object({ c: string }), aB: object({ c: string }) })), tool('aB', object({ x: { type: 'number', const: 2 } }, closed)), tool('_x', object({ x: string })),
  tool('1x', object({}, closed), object({ a: object({}, closed), b: object({}) }, closed)), tool('HTTPGet', object({ from: string }), { oneOf: [object({ a: string }), object({ b: string }, closed), { type: 'null' }] }),
  tool('arr', object({ m: { type: 'array', items: { type: 'array', items: object({ q: {} }) } }, u: { oneOf: [object({ z: string }), { type: 'array', items: object({ y: string }) }] } })),
  tool('mcp__srv__get', object({ __x: string })), tool('', object({ _y: string })), tool('match', object({ json: { description: 'any' } }, { required: ['json'] })),
];
const fenced = (text: string): string => text.slice(text.indexOf('```'));
/** The published package brackets some array elements that need none. */
const unbracketed = (text: string): string => text.replaceAll(/[()]/g, '');

describe('contract sdk text', () => {
  const runs = { numRuns: Number(process.env['ORACLE_RUNS'] ?? 400) };

  it('C8.8 types read like the published ones', () => {
    fc.assert(fc.property(jsonSchema(true), (made) => {
      const schema = made.make();
      let theirText: string | undefined;
      try {
        theirText = theirs.jsonSchemaToTs(schema);
      } catch { /* theirs throws for schemas that refuse to be read; ours must not */ }
      assert.equal(unbracketed(jsonSchemaToTs(made.make())), unbracketed(theirText ?? 'unknown'));
      if (theirText !== undefined) assert.equal(jsonSchemaToPy(schema), theirs.jsonSchemaToPy(schema));
    }), runs);
  });

  it('C8.6 C8.7 the declarations are the published ones, whatever order the tools come in', () => {
    const expected = unbracketed(fenced(theirs.renderToolsSdk(catalogue)));
    fc.assert(fc.property(fc.shuffledSubarray(catalogue, { minLength: catalogue.length }), (tools) => {
      assert.equal(unbracketed(fenced(renderToolsSdk(tools))), expected);
    }), { numRuns: 20 });
    assert.equal(fenced(renderToolsSdk([])), fenced(theirs.renderToolsSdk([])));
  });

  it('C8.6 the Python declarations are the published ones', () => {
    assert.equal(fenced(renderToolsSdkPy(catalogue)), fenced(theirs.renderToolsSdkPy(catalogue)));
    assert.equal(fenced(renderToolsSdkPy([])), fenced(theirs.renderToolsSdkPy([])));
    const exotic = [tool('a-b', object({}))];
    assert.equal(fenced(renderToolsSdkPy(exotic)), fenced(theirs.renderToolsSdkPy(exotic)));
  });

  it('C8.8 brackets an array element exactly where the type needs it', () => {
    assert.equal(jsonSchemaToTs({ type: 'array', items: { oneOf: [string, { type: 'null' }] } }), '(string | null)[]');
    assert.equal(jsonSchemaToTs({ type: 'array', items: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } }), '("a" | "b")[][]');
    assert.equal(jsonSchemaToTs({ type: 'array', items: object({}) }), 'Record<string, JsonValue>[]');
  });

  it('C8.8 deep schemas end in JsonValue instead of growing without bound', () => {
    let schema: object = string;
    for (let i = 0; i < 50_000; i++) schema = i % 2 === 0 ? object({ a: schema }) : { type: 'array', items: schema };
    assert.match(jsonSchemaToTs(schema), /JsonValue/);
    assert.equal(typeof renderToolsSdkPy([tool('deep', schema)]), 'string');
  });
});
