import { HarnessError } from './error.ts';
import { ANNOTATIONS, JsonSchemaError, assertSupportedJsonSchema, isSchemaArray, isSchemaRecord } from './json-schema.ts';
import type { JsonSchemaNode } from './json-schema.ts';
import type { ParameterJsonSchema, ParameterSchemaSpec, ValueSchemaSpec } from './schema-types.ts';
import { violationsOf } from './validate.ts';

const ANY_NODE = ['description', 'title', 'default', 'examples'];
/** Keys each kind of node may carry, beside `required` on a property. */
const vocabulary: Record<string, ReadonlySet<string>> = {
  string: new Set([...ANY_NODE, 'type', 'enum', 'const']),
  number: new Set([...ANY_NODE, 'type', 'enum', 'const']),
  integer: new Set([...ANY_NODE, 'type', 'enum', 'const']),
  boolean: new Set([...ANY_NODE, 'type', 'enum', 'const']),
  null: new Set([...ANY_NODE, 'type', 'enum', 'const']),
  array: new Set([...ANY_NODE, 'type', 'items']),
  object: new Set([...ANY_NODE, 'type', 'properties', 'additionalProperties']),
  json: new Set([...ANY_NODE, 'type']),
};
const unionKeys: ReadonlySet<string> = new Set([...ANY_NODE, 'oneOf']);

type Spec = Record<string, unknown>;
type Step =
  | { readonly kind: 'node'; readonly spec: unknown; readonly path: string; readonly property: boolean; readonly place: (node: JsonSchemaNode) => void }
  | { readonly kind: 'leave'; readonly spec: object };

function fail(violation: string): never {
  throw new JsonSchemaError([violation]);
}

/** Sets an own data property, also one named `__proto__` (S1.17). */
function put<T>(target: Record<string, T>, key: string, value: T): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function copyAnnotations(spec: Spec, node: JsonSchemaNode): void {
  for (const key of ANNOTATIONS) if (Object.hasOwn(spec, key)) put(node as Record<string, unknown>, key, spec[key]);
}

/** Compiles on a stack of its own, so that depth is bounded by memory (S1.17), and stops at the first author error. */
class Compiler {
  private readonly open = new Set<object>();
  private readonly steps: Step[] = [];

  value(spec: unknown): JsonSchemaNode {
    let root: JsonSchemaNode = {};
    this.steps.push({ kind: 'node', spec, path: 'schema', property: false, place: (node) => { root = node; } });
    this.run();
    return root;
  }

  parameters(spec: unknown): ParameterJsonSchema {
    const root: ParameterJsonSchema = { type: 'object', properties: {} };
    this.properties(spec, 'parameters', root);
    this.run();
    return root;
  }

  private run(): void {
    for (let step = this.steps.pop(); step !== undefined; step = this.steps.pop()) {
      if (step.kind === 'leave') this.open.delete(step.spec);
      else step.place(this.node(step.spec, step.path, step.property));
    }
  }

  private enter(spec: object, path: string): void {
    if (this.open.has(spec)) fail(`${path} is circular`);
    this.open.add(spec);
    this.steps.push({ kind: 'leave', spec });
  }

  private node(spec: unknown, path: string, property: boolean): JsonSchemaNode {
    if (!isSchemaRecord(spec)) fail(`${path} must be a value schema object`);
    if (property && Object.hasOwn(spec, 'required') && spec['required'] !== true) fail(`${path}.required must be true when present`);
    this.enter(spec, path);
    const type = Object.hasOwn(spec, 'type') ? spec['type'] : undefined;
    const union = Object.hasOwn(spec, 'oneOf');
    const typed = typeof type === 'string' && Object.hasOwn(vocabulary, type);
    const known = union ? unionKeys : typed ? vocabulary[type] : undefined;
    if (known === undefined) fail(`${path}.type must be string/number/integer/boolean/null/array/object/json, or use oneOf`);
    for (const key of Object.keys(spec)) {
      if (known.has(key) || (union && key === 'type') || (property && key === 'required')) continue;
      fail(`${path}.${key} is not supported by the value schema DSL`);
    }
    if (union && Object.hasOwn(spec, 'type')) fail(`${path} cannot declare both type and oneOf`);
    return union ? this.union(spec, path) : this.typed(spec, path, type as string);
  }

  private union(spec: Spec, path: string): JsonSchemaNode {
    const branches = spec['oneOf'];
    if (!isSchemaArray(branches)) fail(`${path}.oneOf must be an array of at least two value schemas`);
    const oneOf: JsonSchemaNode[] = [];
    const node: JsonSchemaNode = { oneOf };
    copyAnnotations(spec, node);
    for (let i = branches.length - 1; i >= 0; i--) {
      this.steps.push({
        kind: 'node', spec: branches[i], path: `${path}.oneOf[${i}]`, property: false, place: (branch) => { oneOf[i] = branch; },
      });
    }
    for (let i = 0; i < branches.length; i++) oneOf.push({});
    return node;
  }

  private typed(spec: Spec, path: string, type: string): JsonSchemaNode {
    const node: JsonSchemaNode = {};
    if (type !== 'json') node.type = type as NonNullable<JsonSchemaNode['type']>;
    copyAnnotations(spec, node);
    if (type === 'object') {
      const additionalProperties = Object.hasOwn(spec, 'additionalProperties') ? spec['additionalProperties'] : undefined;
      if (typeof additionalProperties !== 'boolean') fail(`${path}.additionalProperties must be explicitly true or false`);
      node.additionalProperties = additionalProperties;
      if (Object.hasOwn(spec, 'properties')) {
        node.properties = {};
        this.properties(spec['properties'], `${path}.properties`, node as JsonSchemaNode & { properties: object });
      }
    } else if (type === 'array') {
      if (Object.hasOwn(spec, 'items')) {
        this.steps.push({ kind: 'node', spec: spec['items'], path: `${path}.items`, property: false, place: (items) => { node.items = items; } });
      }
    } else {
      if (Object.hasOwn(spec, 'enum')) {
        if (!isSchemaArray(spec['enum'])) fail(`${path}.enum must be a non-empty array of scalar values`);
        node.enum = [...spec['enum']] as NonNullable<JsonSchemaNode['enum']>;
      }
      if (Object.hasOwn(spec, 'const')) node.const = spec['const'] as NonNullable<JsonSchemaNode['const']>;
    }
    return node;
  }

  private properties(map: unknown, path: string, target: JsonSchemaNode & { properties: Record<string, JsonSchemaNode> }): void {
    if (!isSchemaRecord(map)) fail(`${path} must be an object of value schemas`);
    this.enter(map, path);
    const { properties } = target;
    const required: string[] = [];
    const steps: Step[] = [];
    for (const key of Object.keys(map)) {
      const spec = map[key];
      put(properties, key, {}); // keeps declaration order while children are compiled
      if (isSchemaRecord(spec) && Object.hasOwn(spec, 'required') && spec['required'] === true) required.push(key);
      steps.push({ kind: 'node', spec, path: `${path}.${key}`, property: true, place: (node) => put(properties, key, node) });
    }
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) this.steps.push(step);
    if (required.length > 0) target.required = required;
  }
}

/**
 * The JSON Schema of one value schema (S1.14). Throws `JsonSchemaError` when the schema is not of the language: for its
 * structure at the first fault, for literals and annotations with all faults.
 */
export function valueSchemaSpecToJsonSchema(spec: ValueSchemaSpec): JsonSchemaNode {
  const node = new Compiler().value(spec);
  assertSupportedJsonSchema(node);
  return node;
}

/** The JSON Schema of a parameter map: an open object (S1.15). Throws `JsonSchemaError`. */
export function parameterSchemaSpecToJsonSchema(spec: ParameterSchemaSpec): ParameterJsonSchema {
  const node = new Compiler().parameters(spec);
  assertSupportedJsonSchema(node);
  return node;
}

/** Arguments that do not fit a tool's parameters (S1.34). */
export class ToolArgsError extends HarnessError {
  readonly violations: string[];

  constructor(violations: string[]) {
    super(`invalid arguments: ${violations.join('; ')}`, 'INVALID_ARGS');
    this.violations = violations;
  }
}

const compiled = new WeakMap<ParameterSchemaSpec, ParameterJsonSchema>();

/** Violations of `args` against a parameter map, in walk order; empty when they fit (S1.29). Throws only for a broken map. */
export function validateArgs(spec: ParameterSchemaSpec, args: unknown): string[] {
  let schema = compiled.get(spec);
  if (schema === undefined) {
    schema = parameterSchemaSpecToJsonSchema(spec);
    compiled.set(spec, schema);
  }
  return violationsOf(schema, args, '');
}
