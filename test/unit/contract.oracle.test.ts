import assert from 'node:assert/strict';
import fc from 'fast-check';
import { assertObjectJsonSchema, assertSupportedJsonSchema } from '../../src/contract/json-schema.ts';
import { parameterSchemaSpecToJsonSchema, validateArgs, valueSchemaSpecToJsonSchema } from '../../src/contract/schema.ts';
import { isLosslessJson, snapshotJson } from '../../src/contract/snapshot.ts';
import { validateJsonSchemaValue } from '../../src/contract/validate.ts';
import type { Made } from '../fixtures/contract-arbitraries.ts';
import { anyValue, jsonSchema, parameterSpec, valueSpec } from '../fixtures/contract-arbitraries.ts';
import { publishedSession, publishedTools as theirs } from '../oracle/published.ts';

/** What a call came to, as text, so that key order counts too. */
function outcome(run: () => unknown): string {
  try {
    return `returned ${JSON.stringify(run())}`;
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    return `threw ${name} ${code ?? ''} ${message}`;
  }
}

/** The same input through ours and through the published package. */
function same(input: Made, ours: (input: never) => unknown, oracle: (input: never) => unknown): void {
  assert.equal(outcome(() => ours(input.make() as never)), outcome(() => oracle(input.make() as never)));
}

describe('contract against the published package', () => {
  const runs = { numRuns: Number(process.env['ORACLE_RUNS'] ?? 400) };

  it('S1.14 S1.16 S1.18-S1.25 projects value schemas alike, faults included', () => {
    fc.assert(fc.property(valueSpec, (spec) => {
      same(spec, (s) => valueSchemaSpecToJsonSchema(s), (s) => theirs.valueSchemaSpecToJsonSchema(s));
    }), runs);
  });

  it('S1.15 S1.18-S1.25 projects parameter maps alike, faults included', () => {
    fc.assert(fc.property(parameterSpec, (spec) => {
      same(spec, (s) => parameterSchemaSpecToJsonSchema(s), (s) => theirs.parameterSchemaSpecToJsonSchema(s));
    }), runs);
  });

  it('S1.27 S1.28 accepts and refuses raw schemas alike', () => {
    fc.assert(fc.property(jsonSchema(true), (schema) => {
      same(schema, (s) => assertSupportedJsonSchema(s), (s) => theirs.assertSupportedJsonSchema(s));
      same(schema, (s) => assertObjectJsonSchema(s), (s) => theirs.assertObjectJsonSchema(s));
    }), runs);
  });

  it('S1.29-S1.33 finds the same violations in values', () => {
    fc.assert(fc.property(jsonSchema(false), anyValue, (schema, value) => {
      const node = schema.make() as never;
      same(value, (v) => validateJsonSchemaValue(node, v), (v) => theirs.validateJsonSchemaValue(node, v));
    }), runs);
  });

  it('S1.29-S1.33 finds the same violations in arguments', () => {
    fc.assert(fc.property(parameterSpec, anyValue, (spec, value) => {
      same(spec, (s) => validateArgs(s, value.make()), (s) => theirs.validateArgs(s, value.make()));
    }), runs);
  });

  it('P4.1 snapshots the same values, and refuses the same', () => {
    fc.assert(fc.property(anyValue, (value) => {
      same(value, (v) => snapshotJson(v), (v) => publishedSession.snapshotJsonValue(v));
      same(value, (v) => isLosslessJson(v), (v) => publishedSession.isJsonValue(v));
    }), runs);
  });
});
