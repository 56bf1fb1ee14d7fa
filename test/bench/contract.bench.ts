import { Ajv } from 'ajv';
import { publishedSession, publishedTools } from '../oracle/published.ts';
import { valueSchemaSpecToJsonSchema } from '../../src/contract/schema.ts';
import { frozenJson, snapshotJson } from '../../src/contract/snapshot.ts';
import { validateJsonSchemaValue } from '../../src/contract/validate.ts';
import { measure, report } from './measure.ts';

/**
 * What the contract costs on its own: snapshots against the published ones and two JSON clones, validation against the
 * published one and ajv. The registry's bench measures whole calls.
 */

const small = { name: 'Ada' };
const records = Array.from({ length: 1_000 }, (_, i) => ({ id: i, name: `name ${i}`, active: i % 2 === 0 }));
const tree = (depth: number): unknown => (depth === 0 ? 'leaf' : { left: tree(depth - 1), right: [tree(depth - 1)] });
const nested = tree(8);
const clone = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const recordsSchema = valueSchemaSpecToJsonSchema({
  type: 'array',
  items: {
    type: 'object', additionalProperties: false,
    properties: { id: { type: 'integer', required: true }, name: { type: 'string', required: true }, active: { type: 'boolean', required: true } },
  },
});
const unionSchema = valueSchemaSpecToJsonSchema({
  type: 'array',
  items: {
    oneOf: [
      { type: 'object', additionalProperties: true, properties: { kind: { type: 'string', const: 'a', required: true }, a: { type: 'number', required: true } } },
      { type: 'object', additionalProperties: true, properties: { kind: { type: 'string', const: 'b', required: true }, b: { type: 'string', enum: ['x', 'y'], required: true } } },
    ],
  },
});
const union = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? { kind: 'a', a: i } : { kind: 'b', b: 'x' }));
const wrong = records.map((record) => ({ ...record, id: 'no' }));

for (const [name, value] of [['small', small], ['records', records], ['nested', nested]] as const) {
  report(await measure(`snapshot/${name}`, {
    ours: () => snapshotJson(value), theirs: () => publishedSession.snapshotJsonValue(value), floor: () => clone(clone(value)),
  }));
  report(await measure(`snapshot-frozen/${name}`, { ours: () => frozenJson(value), floor: () => clone(clone(value)) }));
}

const ajv = new Ajv({ allErrors: true, strict: false });
for (const [name, schema, value] of [['records', recordsSchema, records], ['union', unionSchema, union], ['invalid', recordsSchema, wrong]] as const) {
  const known = frozenJson(value);
  const compiled = ajv.compile(schema);
  // On data the registry has taken a snapshot of, and on data nobody has looked at, which ajv trusts and we do not.
  report(await measure(`validate-ajv/${name}`, { ours: () => validateJsonSchemaValue(schema, known), theirs: () => compiled(value) }));
  report(await measure(`validate-untrusted-ajv/${name}`, { ours: () => validateJsonSchemaValue(schema, value), theirs: () => compiled(value) }));
  report(await measure(`validate-published/${name}`, {
    ours: () => validateJsonSchemaValue(schema, value), theirs: () => publishedTools.validateJsonSchemaValue(schema, value),
  }));
}
