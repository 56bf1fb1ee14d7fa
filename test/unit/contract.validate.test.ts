import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { HarnessError } from '../../src/contract/error.ts';
import type { JsonSchemaNode } from '../../src/contract/json-schema.ts';
import { ToolArgsError, validateArgs } from '../../src/contract/schema.ts';
import type { ParameterSchemaSpec } from '../../src/contract/schema-types.ts';
import { frozenJson, snapshotJson } from '../../src/contract/snapshot.ts';
import { validateJsonSchemaValue } from '../../src/contract/validate.ts';
import { anyValue, jsonSchema, jsonValue } from '../fixtures/contract-arbitraries.ts';

const check = (schema: JsonSchemaNode, value: unknown, path?: string): string[] => validateJsonSchemaValue(schema, value, path);
const lossless = (path: string, what = 'value'): string => `"${path}" must be a lossless JSON ${what}`;
const fail = (): never => { throw new Error('boom'); };

describe('contract validation', () => {
  it('S1.29 valid values have no violations, and nothing throws', () => {
    assert.deepEqual(check({ type: 'array', items: { type: 'integer' } }, [1, 2]), []);
    for (const schema of [null, 5, { type: 'zz' }, { type: 'array', items: { type: 'zz' } }]) assert.equal(check(schema as never, [1]).length, 1);
    const ring: JsonSchemaNode = { type: 'array' };
    ring.items = ring;
    const list: unknown[] = [];
    list.push(list);
    assert.equal(check(ring, list).length, 1);
  });

  it('S1.30 paths name properties and elements; the argument root is called arguments', () => {
    const spec = { a: { type: 'array', items: { type: 'object', additionalProperties: false, properties: { b: { type: 'string' } } } } } as const satisfies ParameterSchemaSpec;
    assert.deepEqual(validateArgs(spec, { a: [{ b: 'x' }, { b: 1 }] }), ['"a[1].b" must be a string']);
    assert.deepEqual(validateArgs(spec, 1), ['"arguments" must be an object']);
    assert.deepEqual(check({ type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } }, [{ b: 1 }]), ['"value[0].b" must be a string']);
    assert.deepEqual(check({ type: 'string' }, 1, ''), ['"arguments" must be a string']);
  });

  const any: JsonSchemaNode = {};
  const closed: JsonSchemaNode = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
  const union: JsonSchemaNode = { oneOf: [{ type: 'string' }, { type: 'string', const: 'x' }, { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }] };
  const messages: [JsonSchemaNode, unknown, string][] = [
    [{ type: 'string' }, 1, '"value" must be a string'], [{ type: 'number' }, '1', '"value" must be a number'], [{ type: 'number' }, 1n, '"value" must be a number'],
    [{ type: 'number' }, NaN, '"value" must be a finite JSON number'], [{ type: 'number' }, -Infinity, '"value" must be a finite JSON number'], [{ type: 'number' }, -0, '"value" must be a finite JSON number'],
    [{ type: 'integer' }, 1.5, '"value" must be an integer'], [{ type: 'integer' }, '1', '"value" must be an integer'], [{ type: 'integer' }, -0, '"value" must be an integer'],
    [{ type: 'boolean' }, 1, '"value" must be a boolean'], [{ type: 'null' }, undefined, '"value" must be null'], [{ type: 'array' }, {}, '"value" must be an array'],
    [{ type: 'object' }, [], '"value" must be an object'], [{ type: 'object' }, new Date(0), '"value" must be an object'], [closed, {}, 'missing required property "value.a"'],
    [{ type: 'string', enum: ['x', 'y'] }, 'z', '"value" must be one of ["x","y"]'], [{ type: 'number', const: 1 }, 2, '"value" must be 1'], [{ type: 'string', const: 'q' }, 'p', '"value" must be "q"'],
    [union, 'x', '"value" must match exactly one oneOf branch (matched 2)'], [union, true, '"value" must match exactly one oneOf branch (matched 0)'],
    [closed, { a: 'x', b: 1 }, '"value.b" is not a declared property (additionalProperties: false)'], [any, undefined, lossless('value')], [any, [NaN], lossless('value')],
    [{ type: 'object' }, { a: NaN }, lossless('value', 'object')], [{ type: 'array' }, [undefined], '"value" must be a dense lossless JSON array'],
    [{ type: 'array', items: { type: 'string' } }, [, 'x'], '"value" must be a dense lossless JSON array'], [{ type: 'array', items: any }, [new Date(0)], lossless('value[0]')],
    [{ type: 'array', items: { type: 'string' } }, new Array(4_000_000_000), '"value" must be a dense lossless JSON array'],
  ];
  it('S1.31 every violation has its own words', () => {
    for (const [schema, value, message] of messages) assert.deepEqual(check(schema, value), [message]);
  });

  it('S1.32 missing first in the order of required, then declared, then undeclared', () => {
    const schema: JsonSchemaNode = {
      type: 'object', properties: { x: { type: 'string' }, y: { type: 'string' }, z: { type: 'number' } }, required: ['z', 'x'], additionalProperties: false,
    };
    assert.deepEqual(check(schema, { q: 1, y: 1, p: 2 }), [
      'missing required property "value.z"', 'missing required property "value.x"', '"value.y" must be a string',
      '"value.q" is not a declared property (additionalProperties: false)', '"value.p" is not a declared property (additionalProperties: false)',
    ]);
  });

  it('S1.32 undefined counts as missing; a container is only checked for losslessness when all else is right', () => {
    assert.deepEqual(check(closed, { a: undefined }), ['missing required property "value.a"']);
    const open: JsonSchemaNode = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] };
    assert.deepEqual(check(open, { a: 1, z: NaN }), ['"value.a" must be a string']);
    assert.deepEqual(check(open, { a: 'x', z: NaN }), [lossless('value', 'object')]);
    assert.deepEqual(check(open, { a: 'x', b: undefined }), [lossless('value', 'object')]);
    assert.deepEqual(check(open, { a: 'x', [Symbol('s')]: 1 }), [lossless('value', 'object')]);
  });

  it('S1.32 enum is tested before const, and a failing union says nothing of its branches', () => {
    assert.deepEqual(check({ type: 'string', enum: ['a', 'b'], const: 'a' }, 'c'), ['"value" must be one of ["a","b"]']);
    assert.deepEqual(check({ type: 'string', enum: ['a', 'b'], const: 'a' }, 'b'), ['"value" must be "a"']);
    assert.deepEqual(check({ type: 'array', items: union }, ['y', { a: 'x' }]), ['"value[1]" must match exactly one oneOf branch (matched 0)']);
  });

  it('S1.33 what throws on being read is a violation of the nearest node', () => {
    const open: JsonSchemaNode = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'object', properties: { c: {} } } }, required: ['a'] };
    assert.deepEqual(check(open, { get a() { return fail(); } }), [lossless('value')]);
    assert.deepEqual(check(open, { a: 1, b: { get c() { return fail(); } } }), ['"value.a" must be a string', lossless('value.b')]);
    assert.deepEqual(check(open, { a: 'x', get z() { return fail(); } }), [lossless('value', 'object')]);
    assert.deepEqual(check(open, new Proxy({}, { ownKeys: fail, getOwnPropertyDescriptor: fail })), [lossless('value')]);
    assert.deepEqual(check({ ...closed, required: ['a', 'm'] }, new Proxy({}, { ownKeys: fail })), [lossless('value')]);
    assert.deepEqual(check({ type: 'array', items: {} }, Object.defineProperty([1], 0, { get: fail })), [lossless('value')]);
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    assert.deepEqual(check({ type: 'array' }, proxy), [lossless('value')]);
    assert.deepEqual(check(union, proxy), ['"value" must match exactly one oneOf branch (matched 0)']);
  });

  it('S1.34 ToolArgsError joins the violations', () => {
    const error = new ToolArgsError(['one', 'two']);
    assert.ok(error instanceof HarnessError);
    assert.deepEqual([error.name, error.code, error.message, error.violations], ['ToolArgsError', 'INVALID_ARGS', 'invalid arguments: one; two', ['one', 'two']]);
  });

  it('S1.17 names that every object inherits are missing until they are there', () => {
    const schema: JsonSchemaNode = { type: 'object', properties: JSON.parse('{"toString":{},"__proto__":{"type":"string"},"constructor":{}}'), required: ['toString', '__proto__', 'constructor'], additionalProperties: false };
    assert.equal(check(schema, {}).length, 3);
    assert.equal(check(schema, frozenJson({})).length, 3);
    assert.deepEqual(check(schema, JSON.parse('{"toString":1,"__proto__":"x","constructor":null}')), []);
    assert.deepEqual(check(schema, frozenJson(JSON.parse('{"toString":1,"__proto__":2,"constructor":null}'))), ['"value.__proto__" must be a string']);
  });

  it('S1.31 what Object.prototype was polluted with is not a property of anything', () => {
    Object.defineProperty(Object.prototype, 'a', { configurable: true, enumerable: true, value: 'x' });
    try {
      for (const value of [{}, frozenJson({})]) assert.deepEqual(check(closed, value), ['missing required property "value.a"']);
      for (const value of [{ a: 'x' }, frozenJson({ a: 'x' })]) assert.deepEqual(check(closed, value), []);
    } finally {
      delete (Object.prototype as { a?: unknown }).a;
    }
  });

  it('S1.32 a schema nobody asserted may require what it does not declare', () => {
    const schema: JsonSchemaNode = { type: 'object', required: ['z'] };
    for (const value of [{}, frozenJson({})]) assert.deepEqual(check(schema, value), ['missing required property "value.z"']);
    assert.deepEqual(check(schema, { z: 1 }), []);
  });

  it('S1.29 one kind of container all the way down needs no stack either', () => {
    const wraps: ((schema: JsonSchemaNode) => JsonSchemaNode)[] = [
      (items) => ({ type: 'array', items }), (a) => ({ type: 'object', properties: { a } }), (branch) => ({ oneOf: [branch, { type: 'null' }] }),
    ];
    const boxes = [(value: unknown) => [value], (value: unknown) => ({ a: value }), (value: unknown) => value];
    wraps.forEach((wrap, kind) => {
      let schema: JsonSchemaNode = { type: 'string' };
      let value: unknown = 'x';
      for (let i = 0; i < 20_000; i++) [schema, value] = [wrap(schema), boxes[kind]!(value)];
      assert.deepEqual(check(schema, frozenJson(value)), []);
    });
  });

  it('S1.29 deep schemas and deep values need no stack', () => {
    let schema: JsonSchemaNode = { type: 'string' };
    let good: unknown = 'x';
    let bad: unknown = 1;
    for (let i = 0; i < 30_000; i++) {
      const wrap = [(v: unknown) => [v], (v: unknown) => ({ a: v }), (v: unknown) => v][i % 3]!;
      schema = ([{ type: 'array', items: schema }, { type: 'object', properties: { a: schema }, required: ['a'], additionalProperties: false }, { oneOf: [schema, { type: 'null' }] }] as const)[i % 3] as JsonSchemaNode;
      [good, bad] = [wrap(good), wrap(bad)];
    }
    assert.deepEqual(check(schema, good), []);
    assert.deepEqual(check(schema, frozenJson(good)), []);
    assert.equal(check(schema, bad).length, 1);
    assert.deepEqual(check({}, bad), []);
    assert.deepEqual(check({ type: 'string' }, bad), ['"value" must be a string']);
  });

  it('S1.29 S1.7 agrees with ajv on JSON', () => {
    const ajv = new Ajv({ strict: false, logger: false, ownProperties: true });
    fc.assert(fc.property(jsonSchema(false), fc.array(jsonValue, { minLength: 1, maxLength: 5 }), (made, values) => {
      const schema = made.make() as JsonSchemaNode;
      // ajv takes `__proto__` for the prototype; its word on such schemas is no help.
      fc.pre(!JSON.stringify(schema).includes('__proto__') && !JSON.stringify(values).includes('__proto__'));
      const valid = ajv.compile({ ...schema });
      for (const value of values) assert.equal(check(schema, value).length === 0, valid(value), JSON.stringify({ schema, value }));
    }), { numRuns: 1_500 });
  }).timeout(60_000);

  it('S1.29 says the same of a value and of its frozen snapshot', () => {
    fc.assert(fc.property(jsonSchema(false), anyValue, (made, value) => {
      const schema = made.make() as JsonSchemaNode;
      let copy: unknown;
      try {
        copy = snapshotJson(value.make());
      } catch { /* not a value that can be had */ }
      fc.pre(copy !== undefined);
      assert.deepEqual(check(schema, frozenJson(copy)), check(schema, value.make()));
    }), { numRuns: 1_500 });
  }).timeout(60_000);
});
