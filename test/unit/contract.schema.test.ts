import assert from 'node:assert/strict';
import { assertObjectJsonSchema, assertSupportedJsonSchema, compileJsonSchema, JsonSchemaError } from '../../src/contract/json-schema.ts';
import { parameterSchemaSpecToJsonSchema, valueSchemaSpecToJsonSchema } from '../../src/contract/schema.ts';
import { HarnessError } from '../../src/contract/error.ts';

const value = (spec: unknown): unknown => valueSchemaSpecToJsonSchema(spec as never);
const parameters = (spec: unknown): unknown => parameterSchemaSpecToJsonSchema(spec as never);
const json = (schema: unknown): string => JSON.stringify(schema);
const refuses = (work: () => unknown, ...violations: string[]): void => {
  assert.throws(work, (error: unknown) => {
    assert.ok(error instanceof JsonSchemaError && error instanceof HarnessError);
    assert.deepEqual(error.violations, violations);
    assert.equal(error.message, `unsupported JSON schema: ${violations.join('; ')}`);
    assert.equal(error.code, 'UNSUPPORTED_SCHEMA');
    assert.equal(error.name, 'JsonSchemaError');
    return true;
  });
};

describe('contract schema language', () => {
  it('S1.1 every kind of node is a root', () => {
    for (const type of ['string', 'number', 'integer', 'boolean', 'null', 'array']) assert.deepEqual(value({ type }), { type });
    assert.deepEqual(value({ type: 'object', additionalProperties: true }), { type: 'object', additionalProperties: true });
    assert.deepEqual(value({ type: 'json' }), {});
    assert.deepEqual(value({ oneOf: [{ type: 'string' }, { type: 'null' }] }), { oneOf: [{ type: 'string' }, { type: 'null' }] });
  });

  it('S1.2 S1.14 annotations follow the type in a fixed order, then the rest', () => {
    const said = { examples: [1], default: { a: 1 }, title: 't', description: 'd' };
    const text = '"description":"d","title":"t","default":{"a":1},"examples":[1]';
    assert.equal(json(value({ const: 'x', enum: ['x'], ...said, type: 'string' })), `{"type":"string",${text},"enum":["x"],"const":"x"}`);
    assert.equal(json(value({ ...said, items: { type: 'null' }, type: 'array' })), `{"type":"array",${text},"items":{"type":"null"}}`);
    assert.equal(
      json(value({ properties: { a: { type: 'string', required: true } }, ...said, additionalProperties: false, type: 'object' })),
      `{"type":"object",${text},"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"]}`,
    );
    assert.equal(json(value({ ...said, oneOf: [{ type: 'json' }, { type: 'null' }] })), `{"oneOf":[{},{"type":"null"}],${text}}`);
  });

  it('S1.3 scalars carry enum and const of their type', () => {
    for (const [type, one, two] of [['string', 'a', ''], ['number', 1.5, 0], ['integer', 1, -2], ['boolean', true, false], ['null', null, null]] as const) {
      assert.deepEqual(value({ type, enum: [one, two], const: two }), { type, enum: [one, two], const: two });
    }
  });

  it('S1.4 S1.5 S1.6 S1.7 arrays, objects, json and unions nest', () => {
    assert.deepEqual(value({ type: 'array', items: { type: 'array', items: { type: 'json', description: 'any' } } }), { type: 'array', items: { type: 'array', items: { description: 'any' } } });
    assert.deepEqual(value({ type: 'object', additionalProperties: false }), { type: 'object', additionalProperties: false });
    assert.deepEqual(value({ oneOf: [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'array' }] }), { oneOf: [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'array' }] });
  });

  it('S1.8 required belongs to a property, and only as true', () => {
    assert.deepEqual(parameters({ a: { type: 'string', required: true }, b: { type: 'null' } }), { type: 'object', properties: { a: { type: 'string' }, b: { type: 'null' } }, required: ['a'] });
    for (const [work, path] of [
      [() => value({ type: 'string', required: true }), 'schema'], [() => value({ type: 'array', items: { type: 'string', required: true } }), 'schema.items'],
      [() => value({ oneOf: [{ type: 'null' }, { type: 'string', required: true }] }), 'schema.oneOf[1]'],
    ] as const) refuses(work, `${path}.required is not supported by the value schema DSL`);
  });

  it('S1.9 S1.18 nothing outside the vocabulary exists', () => {
    for (const key of ['minLength', 'pattern', 'format', 'minimum', 'anyOf', '$ref', 'prefixItems', 'items', 'properties']) {
      refuses(() => value({ type: 'string', [key]: 1 }), `schema.${key} is not supported by the value schema DSL`);
    }
    refuses(() => value({ type: 'json', enum: [1] }), 'schema.enum is not supported by the value schema DSL');
    refuses(() => value({ oneOf: [{ type: 'string' }, { type: 'null' }], enum: [1] }), 'schema.enum is not supported by the value schema DSL');
    refuses(() => parameters({ a: { type: 'object', additionalProperties: true, properties: { b: { type: 'null', x: 1 } } } }), 'parameters.a.properties.b.x is not supported by the value schema DSL');
  });

  it('S1.15 the parameter root lists properties always, required only when there is one, openness never', () => {
    assert.equal(json(parameters({ name: { type: 'string', description: 'The name to greet', required: true } })),
      '{"type":"object","properties":{"name":{"type":"string","description":"The name to greet"}},"required":["name"]}');
    assert.equal(json(parameters({})), '{"type":"object","properties":{}}');
    assert.equal(json(parameters({ b: { type: 'null', required: true }, a: { type: 'null', required: true } })), '{"type":"object","properties":{"b":{"type":"null"},"a":{"type":"null"}},"required":["b","a"]}');
  });

  it('S1.16 json projects to its annotations', () => {
    assert.deepEqual([value({ type: 'json' }), value({ type: 'json', description: 'x' })], [{}, { description: 'x' }]);
  });

  it('S1.17 __proto__ is an ordinary name, and depth is bounded by memory', () => {
    assert.equal(json(parameters(JSON.parse('{"__proto__":{"type":"string","required":true}}'))), '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}');
    let spec: object = { type: 'string' };
    for (let i = 0; i < 50_000; i++) {
      spec = [{ type: 'array', items: spec }, { oneOf: [spec, { type: 'null' }] }, { type: 'object', additionalProperties: true, properties: { a: spec } }][i % 3]!;
    }
    assert.doesNotThrow(() => value(spec));
  });

  it('S1.19 a bad or missing type', () => {
    for (const spec of [{}, { type: 'strin' }, { type: ['string'] }, { type: undefined }, { type: 'toString' }]) {
      refuses(() => value(spec), 'schema.type must be string/number/integer/boolean/null/array/object/json, or use oneOf');
    }
  });

  it('S1.20 S1.21 required that is not true, openness that is not said', () => {
    refuses(() => parameters({ a: { type: 'string', required: false } }), 'parameters.a.required must be true when present');
    for (const open of [undefined, 'yes', {}]) refuses(() => value({ type: 'object', additionalProperties: open }), 'schema.additionalProperties must be explicitly true or false');
    refuses(() => value({ type: 'object' }), 'schema.additionalProperties must be explicitly true or false');
  });

  it('S1.22 unions', () => {
    refuses(() => value({ type: 'string', oneOf: [{ type: 'string' }, { type: 'null' }] }), 'schema cannot declare both type and oneOf');
    refuses(() => value({ oneOf: 'x' }), 'schema.oneOf must be an array of at least two value schemas');
    for (const oneOf of [[], [{ type: 'null' }]]) refuses(() => value({ oneOf }), 'schema.oneOf must be an array of at least two schemas');
  });

  it('S1.23 what is no record, and what is circular', () => {
    for (const spec of [null, 1, [], 'string']) refuses(() => value(spec), 'schema must be a value schema object');
    refuses(() => parameters({ a: 1 }), 'parameters.a must be a value schema object');
    for (const map of [null, [], 'x']) refuses(() => parameters(map), 'parameters must be an object of value schemas');
    const ring: Record<string, unknown> = { type: 'array' };
    ring['items'] = ring;
    refuses(() => value(ring), 'schema.items is circular');
    const shared = { type: 'string' };
    assert.deepEqual(parameters({ a: shared, b: { type: 'array', items: shared } }), { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'string' } } } });
  });

  it('S1.24 literals', () => {
    for (const members of ['x', undefined, [, 'a'], Object.assign([, 'a'], { extra: 1 })]) refuses(() => value({ type: 'string', enum: members }), 'schema.enum must be a non-empty array of scalar values');
    for (const members of [[], [1], ['a', null]]) refuses(() => value({ type: 'string', enum: members }), 'schema.enum must be a non-empty array of string values');
    for (const only of [NaN, -0, '1', undefined]) refuses(() => value({ type: 'number', const: only }), 'schema.const must be a number value');
    refuses(() => value({ type: 'integer', enum: [1.5] }), 'schema.enum must be a non-empty array of integer values');
    refuses(() => value({ type: 'string', enum: ['a'], const: 'b' }), 'schema.const must be one of schema.enum when both are declared');
  });

  it('S1.25 annotations', () => {
    refuses(() => value({ type: 'string', description: 1, title: null }), 'schema.description must be a string', 'schema.title must be a string');
    refuses(() => value({ type: 'string', default: undefined }), 'schema.default annotation must be lossless JSON data');
    refuses(() => value({ type: 'string', examples: [() => 1] }), 'schema.examples annotation must be lossless JSON data');
  });

  it('S1.26 schemas are plain records and plain arrays', () => {
    class Spec { type = 'string'; }
    for (const spec of [new Spec(), Object.create({ type: 'string' }), { type: 'string', [Symbol('s')]: 1 }, Object.defineProperty({ type: 'string' }, 'hidden', { value: 1 })]) {
      refuses(() => value(spec), 'schema must be a value schema object');
    }
    assert.deepEqual(value(Object.assign(Object.create(null), { type: 'string' })), { type: 'string' });
    refuses(() => value({ oneOf: Object.assign([{ type: 'string' }, { type: 'null' }], { extra: 1 }) }), 'schema.oneOf must be an array of at least two value schemas');
    refuses(() => value({ oneOf: [{ type: 'string' }, , { type: 'null' }] }), 'schema.oneOf must be an array of at least two value schemas');
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    refuses(() => value(proxy), 'schema must be a value schema object');
  });
});

describe('contract raw schemas', () => {
  const assertRaw: (schema: unknown) => void = assertSupportedJsonSchema;
  const assertObject: (schema: unknown) => void = assertObjectJsonSchema;

  it('S1.27 accepts the subset', () => {
    for (const schema of [{}, { description: 'x', title: 't', default: null, examples: [] }, { type: 'object' }, { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false },
      { type: 'array', items: { oneOf: [{ type: 'null' }, {}] } }, { type: 'integer', enum: [1, 2], const: 1 }]) assert.doesNotThrow(() => assertRaw(schema), json(schema));
  });

  it('S1.27 S1.14 names every violation in walk order', () => {
    refuses(() => assertRaw({ type: 'string', properties: {} }), 'schema.properties is not supported on type "string"');
    refuses(() => assertRaw({ oneOf: [{}, {}], enum: [1] }), 'schema.enum is not supported beside oneOf');
    refuses(() => assertRaw({ properties: {} }), 'schema.properties requires type or oneOf');
    refuses(() => assertRaw({ type: 'string', minLength: 1 }),
      'schema.minLength is not a supported keyword (subset: type/oneOf/properties/required/additionalProperties/items/enum/const + annotations)');
    refuses(() => assertRaw({ type: ['string'] }), 'schema.type must be a single type string (type arrays are not supported)');
    refuses(() => assertRaw({ type: 'object', properties: { a: {} }, required: ['a', 'b'] }), 'schema.required names "b" which is not in properties');
    refuses(() => assertRaw({ type: 'object', properties: { a: 1, b: { type: 'q' } }, required: [1], additionalProperties: 'x' }), 'schema.properties.a must be a schema object',
      'schema.properties.b.type must be one of object/array/string/number/integer/boolean/null', 'schema.required must be an array of strings', 'schema.additionalProperties must be a boolean');
    refuses(() => assertRaw([]), 'schema must be a schema object');
    const ring: Record<string, unknown> = { type: 'object', properties: {} };
    (ring['properties'] as Record<string, unknown>)['self'] = ring;
    refuses(() => assertRaw(ring), 'schema.properties.self is circular');
    let deep: object = { type: 'q' };
    for (let i = 0; i < 50_000; i++) deep = { type: 'array', items: deep };
    assert.throws(() => assertRaw(deep), JsonSchemaError);
  });

  it('S1.28 raw objects are open; structured output is rooted in an object', () => {
    assert.deepEqual(compileJsonSchema({ type: 'object', properties: {} })({ any: 1 }, 'value'), []);
    assert.doesNotThrow(() => assertObject({ type: 'object' }));
    for (const schema of [{}, { type: 'string' }, { oneOf: [{}, {}] }]) refuses(() => assertObject(schema), 'schema.type must be "object" (structured output is object-rooted)');
    refuses(() => assertObject(1), 'schema must be a schema object');
  });
});
