import type { JsonValue } from './json.ts';
import type { JsonSchemaNode, ObjectJsonSchema } from './json-schema.ts';

/**
 * The schema language tool authors write (S1.1), and what TypeScript infers from it. It is not JSON Schema: object
 * openness is explicit, `required` sits on the property, and nothing outside this vocabulary exists (S1.9).
 */

/** Said about a value, never enforced; `default` is not applied to missing arguments (S1.2). */
export interface ValueSchemaAnnotations {
  description?: string;
  title?: string;
  default?: JsonValue;
  examples?: JsonValue;
}
export interface StringValueSchemaSpec extends ValueSchemaAnnotations { type: 'string'; enum?: readonly string[]; const?: string }
/** Any finite number except −0. */
export interface NumberValueSchemaSpec extends ValueSchemaAnnotations { type: 'number'; enum?: readonly number[]; const?: number }
export interface IntegerValueSchemaSpec extends ValueSchemaAnnotations { type: 'integer'; enum?: readonly number[]; const?: number }
export interface BooleanValueSchemaSpec extends ValueSchemaAnnotations { type: 'boolean'; enum?: readonly boolean[]; const?: boolean }
export interface NullValueSchemaSpec extends ValueSchemaAnnotations { type: 'null'; enum?: readonly null[]; const?: null }
/** Without `items`, any JSON element is accepted (S1.4). */
export interface ArrayValueSchemaSpec extends ValueSchemaAnnotations { type: 'array'; items?: ValueSchemaSpec }
/** Whether keys beyond `properties` are accepted must be said (S1.5). */
export interface ObjectValueSchemaSpec extends ValueSchemaAnnotations {
  type: 'object';
  properties?: ParameterSchemaSpec;
  additionalProperties: boolean;
}
/** Any lossless JSON (S1.6). */
export interface JsonValueSchemaSpec extends ValueSchemaAnnotations { type: 'json' }
/** Valid when exactly one branch accepts (S1.7). */
export interface OneOfValueSchemaSpec extends ValueSchemaAnnotations {
  oneOf: readonly [ValueSchemaSpec, ValueSchemaSpec, ...ValueSchemaSpec[]];
}
/** One JSON value of any kind (S1.1). */
export type ValueSchemaSpec =
  | StringValueSchemaSpec | NumberValueSchemaSpec | IntegerValueSchemaSpec | BooleanValueSchemaSpec | NullValueSchemaSpec
  | ArrayValueSchemaSpec | ObjectValueSchemaSpec | JsonValueSchemaSpec | OneOfValueSchemaSpec;
/** A property, optional unless it says `required: true` (S1.8). */
export type ParameterPropertySpec = ValueSchemaSpec & { required?: true };
/** A property map; as the root of parameters it is an open object (S1.8). */
export type ParameterSchemaSpec = { [key: string]: ParameterPropertySpec; [key: symbol]: never };
/** What a parameter map compiles to (S1.15). */
export interface ParameterJsonSchema extends ObjectJsonSchema { properties: Record<string, JsonSchemaNode> }

type Flat<T> = { [K in keyof T]: T[K] } & {};
type Name<M> = Extract<keyof M, string>;
type RequiredName<M> = { [K in Name<M>]: M[K] extends { required: true } ? K : never }[Name<M>];
/** Container levels as a tuple, one element each. */
type Deeper<Level extends unknown[]> = [unknown, ...Level];

type Members<M, Level extends unknown[]> = Flat<
  & { [K in RequiredName<M>]: Value<M[K], Level> }
  & { [K in Exclude<Name<M>, RequiredName<M>>]?: Value<M[K], Level> }
>;
type Scalar<S, Wide> = S extends { const: infer Only } ? Only : S extends { enum: readonly (infer Member)[] } ? Member : Wide;
type ObjectValue<S extends { additionalProperties: boolean }, Level extends unknown[]> =
  S extends { properties: infer M }
    ? S['additionalProperties'] extends true ? Members<M, Level> & Record<string, JsonValue> : Members<M, Level>
    : S['additionalProperties'] extends true ? Record<string, JsonValue> : Record<string, never>;
type Value<S, Level extends unknown[]> =
  Level['length'] extends 16 ? JsonValue
    : S extends { type: 'string' } ? Scalar<S, string>
      : S extends { type: 'number' | 'integer' } ? Scalar<S, number>
        : S extends { type: 'boolean' } ? Scalar<S, boolean>
          : S extends { type: 'null' } ? null
            : S extends { type: 'json' } ? JsonValue
              : S extends { type: 'array' } ? (S extends { items: infer Item } ? Value<Item, Deeper<Level>>[] : JsonValue[])
                : S extends { type: 'object'; additionalProperties: boolean } ? ObjectValue<S, Deeper<Level>>
                  : S extends { oneOf: readonly unknown[] } ? Value<S['oneOf'][number], Deeper<Level>>
                    : never;

/** The value a schema accepts (S1.10-S1.11): exact for 16 container levels, `JsonValue` below (S1.12). */
export type InferValue<S> = Value<S, []>;
/** The arguments a parameter map accepts, without an index signature (S1.12). */
export type InferArgs<S> = Members<S, []>;
