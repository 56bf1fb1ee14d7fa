import { defineTool } from '../../src/contract/define-tool.ts';
import type { JsonValue } from '../../src/contract/json.ts';
import type { InferArgs, InferValue, ParameterSchemaSpec, ValueSchemaSpec } from '../../src/contract/schema-types.ts';

/** Checked by the compiler alone; nothing here runs. Each line fails to compile when an inference changes. */

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type Yes<T extends true> = T;

// S1.10 scalars, arrays, json, unions
export type Scalars = [
  Yes<Same<InferValue<{ type: 'string' }>, string>>, Yes<Same<InferValue<{ type: 'number' }>, number>>, Yes<Same<InferValue<{ type: 'integer' }>, number>>,
  Yes<Same<InferValue<{ type: 'boolean' }>, boolean>>, Yes<Same<InferValue<{ type: 'null' }>, null>>, Yes<Same<InferValue<{ type: 'json' }>, JsonValue>>,
  Yes<Same<InferValue<{ type: 'array' }>, JsonValue[]>>, Yes<Same<InferValue<{ type: 'array'; items: { type: 'string' } }>, string[]>>,
  Yes<Same<InferValue<{ type: 'array'; items: { type: 'array'; items: { type: 'null' } } }>, null[][]>>,
  Yes<Same<InferValue<{ oneOf: [{ type: 'string' }, { type: 'array'; items: { type: 'number' } }] }>, string | number[]>>,
  Yes<Same<InferValue<{ oneOf: [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'boolean' }] }>, string | null | boolean>>,
  Yes<Same<InferValue<{ type: 'string'; description: 'said'; title: 't'; default: 'x'; examples: ['y'] }>, string>>,
];

// S1.10 const narrows to the literal, else enum to its members
export type Literals = [
  Yes<Same<InferValue<{ type: 'string'; enum: readonly ['a', 'b'] }>, 'a' | 'b'>>, Yes<Same<InferValue<{ type: 'string'; const: 'q' }>, 'q'>>,
  Yes<Same<InferValue<{ type: 'string'; enum: readonly ['a', 'b']; const: 'a' }>, 'a'>>, Yes<Same<InferValue<{ type: 'integer'; enum: readonly [1, 2] }>, 1 | 2>>,
  Yes<Same<InferValue<{ type: 'boolean'; const: true }>, true>>, Yes<Same<InferValue<{ type: 'array'; items: { type: 'string'; enum: readonly ['a'] } }>, 'a'[]>>,
  Yes<Same<InferValue<{ oneOf: readonly [{ type: 'string'; const: 'a' }, { type: 'integer'; const: 1 }] }>, 'a' | 1>>,
];

// S1.11 objects
export type Objects = [
  Yes<Same<InferValue<{ type: 'object'; additionalProperties: true }>, Record<string, JsonValue>>>,
  Yes<Same<InferValue<{ type: 'object'; additionalProperties: false }>, Record<string, never>>>,
  Yes<Same<InferValue<{ type: 'object'; additionalProperties: false; properties: { a: { type: 'string'; required: true }; b: { type: 'number' } } }>, { a: string; b?: number }>>,
  Yes<Same<InferValue<{ type: 'object'; additionalProperties: true; properties: { a: { type: 'null'; required: true } } }>, { a: null } & Record<string, JsonValue>>>,
];

// S1.12 arguments have no index signature
export type Arguments = [
  Yes<Same<InferArgs<{ a: { type: 'string'; required: true }; b: { type: 'integer' } }>, { a: string; b?: number }>>,
  Yes<Same<keyof InferArgs<{ a: { type: 'string' } }>, 'a'>>,
];

// S1.12 exact for 16 container levels, JsonValue below
type Wrap<S, N extends number, Done extends unknown[] = []> = Done['length'] extends N ? S : Wrap<{ type: 'array'; items: S }, N, [...Done, 0]>;
type Unwrap<T, N extends number, Done extends unknown[] = []> = Done['length'] extends N ? T : T extends readonly (infer I)[] ? Unwrap<I, N, [...Done, 0]> : 'not an array';
export type Depth = [
  Yes<Same<Unwrap<InferValue<Wrap<{ type: 'string' }, 15>>, 15>, string>>,
  Yes<Same<Unwrap<InferValue<Wrap<{ type: 'string' }, 16>>, 16>, JsonValue>>,
];

// S1.13 T2.1 literals are captured without `as const`, and everything is checked against them
defineTool({
  name: 'search', description: '',
  parameters: { mode: { type: 'string', enum: ['fast', 'slow'], required: true }, limit: { type: 'integer' } },
  output: {
    schema: { type: 'object', additionalProperties: false, properties: { kind: { type: 'string', const: 'hits', required: true }, hits: { type: 'array', items: { type: 'string' } } } },
    render(args, value) {
      const mode: 'fast' | 'slow' = args.mode;
      const kind: 'hits' = value.kind;
      // @ts-expect-error no such argument
      void args.other;
      return [{ type: 'text', text: `${mode} ${kind} ${value.hits?.length ?? 0} ${(args.limit ?? 0).toFixed()}` }];
    },
    presentationMeta: (_args, value) => value.hits ?? null,
  },
  execute: async (args, exec) => {
    void exec.signal;
    const kind = 'hits' as const; // a bare literal would widen to string before it meets the output's type
    return args.mode === 'fast' ? { kind } : { kind, hits: ['x'] };
  },
  presentCall: (args) => ({ card: 'generic', title: args.mode, kind: 'search' }),
  isConcurrencySafe: (args) => args.mode === 'fast',
});

const output = { schema: { type: 'string' }, render: () => [] } as const;
// @ts-expect-error the body must return what the output declares
defineTool({ name: 'x', description: '', parameters: {}, output, execute: async () => 5 });
// @ts-expect-error a required property cannot be optional by saying false
defineTool({ name: 'x', description: '', parameters: { a: { type: 'string', required: false } }, output, execute: async () => '' });
// @ts-expect-error an object must say whether it is open
defineTool({ name: 'x', description: '', parameters: { a: { type: 'object', properties: {} } }, output, execute: async () => '' });
// @ts-expect-error an enum of another type
defineTool({ name: 'x', description: '', parameters: { a: { type: 'integer', enum: ['a'] } }, output, execute: async () => '' });
// @ts-expect-error a tool without an output
defineTool({ name: 'x', description: '', parameters: {}, execute: async () => '' });

// The wide types infer something usable as well
declare const spec: ParameterSchemaSpec;
defineTool({ name: 'x', description: '', parameters: spec, output, execute: async (args) => String(args['any']) });
export const wide: ValueSchemaSpec = { oneOf: [{ type: 'string' }, { type: 'object', additionalProperties: true, properties: { a: { type: 'json', required: true } } }] };
