import { HarnessError } from './error.ts';
import type { JsonScalar, JsonValue } from './json.ts';
import { hasArrayPrototype, hasRecordPrototype, isDenseArray, isLosslessJson } from './snapshot.ts';
import { violationsOf } from './validate.ts';

export type JsonSchemaScalar = JsonScalar;
export type JsonSchemaType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';
/** The raw JSON Schema subset (S1.27). */
export interface JsonSchemaNode {
  type?: JsonSchemaType;
  oneOf?: JsonSchemaNode[];
  properties?: Record<string, JsonSchemaNode>;
  required?: string[];
  additionalProperties?: boolean;
  items?: JsonSchemaNode;
  enum?: JsonScalar[];
  const?: JsonScalar;
  description?: string;
  title?: string;
  default?: JsonValue;
  examples?: JsonValue;
}
/** A schema whose values are objects. */
export type ObjectJsonSchema = JsonSchemaNode & { type: 'object' };

/** A schema outside the supported subset. `violations` holds one line per fault, each starting with its path (S1.14-S1.28). */
export class JsonSchemaError extends HarnessError {
  readonly violations: string[];

  constructor(violations: string[]) {
    super(`unsupported JSON schema: ${violations.join('; ')}`, 'UNSUPPORTED_SCHEMA');
    this.violations = violations;
  }
}

export const ANNOTATIONS = ['description', 'title', 'default', 'examples'] as const;
const annotationKeys: ReadonlySet<string> = new Set(ANNOTATIONS);
/** In the order in which misplaced ones are reported. */
const CONSTRAINTS = ['properties', 'required', 'additionalProperties', 'items', 'enum', 'const'] as const;
const constraintKeys: ReadonlySet<string> = new Set(CONSTRAINTS);
const allowedOn: Record<JsonSchemaType, ReadonlySet<string>> = {
  object: new Set(['properties', 'required', 'additionalProperties']),
  array: new Set(['items']),
  string: new Set(['enum', 'const']),
  number: new Set(['enum', 'const']),
  integer: new Set(['enum', 'const']),
  boolean: new Set(['enum', 'const']),
  null: new Set(['enum', 'const']),
};

/** S1.26: an object that JSON text could have made: the prototype of some realm's `Object`, or none, and enumerable string keys only. */
export function isSchemaRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    if (Array.isArray(value) || !hasRecordPrototype(value)) return false;
    return Reflect.ownKeys(value).every((key) => typeof key === 'string' && Object.getOwnPropertyDescriptor(value, key)?.enumerable);
  } catch {
    return false; // a proxy that refuses to be looked at
  }
}

/** S1.26: a dense array of some realm's `Array` without extra keys. */
export function isSchemaArray(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value) && hasArrayPrototype(value) && isDenseArray(value);
  } catch {
    return false;
  }
}

/** Whether a scalar may stand in `enum` or `const` of a node of this type. */
function isValueOfType(value: unknown, type: string): value is JsonScalar {
  switch (type) {
    case 'string': return typeof value === 'string';
    case 'boolean': return typeof value === 'boolean';
    case 'null': return value === null;
    case 'number': return Number.isFinite(value) && !Object.is(value, -0);
    case 'integer': return Number.isInteger(value) && !Object.is(value, -0);
    default: return false;
  }
}

function isLosslessAnnotation(value: unknown): boolean {
  try {
    return isLosslessJson(value);
  } catch {
    return false;
  }
}

type Step =
  | { readonly kind: 'visit'; readonly node: unknown; readonly path: string }
  | { readonly kind: 'finish'; readonly node: Record<string, unknown>; readonly path: string };

/** Collects every violation of a schema in walk order, on a stack of its own (S1.17). */
class SubsetWalk {
  readonly violations: string[] = [];
  private readonly open = new Set<object>();
  private readonly steps: Step[] = [];

  run(root: unknown, path: string): string[] {
    this.steps.push({ kind: 'visit', node: root, path });
    for (let step = this.steps.pop(); step !== undefined; step = this.steps.pop()) {
      if (step.kind === 'visit') this.visit(step.node, step.path);
      else this.finish(step.node, step.path);
    }
    return this.violations;
  }

  private visit(node: unknown, path: string): void {
    const { violations } = this;
    if (!isSchemaRecord(node)) {
      violations.push(`${path} must be a schema object`);
      return;
    }
    if (this.open.has(node)) {
      violations.push(`${path} is circular`);
      return;
    }
    for (const key of Object.keys(node)) {
      if (annotationKeys.has(key)) {
        if (!isLosslessAnnotation(node[key])) violations.push(`${path}.${key} annotation must be lossless JSON data`);
      } else if (key !== 'type' && key !== 'oneOf' && !constraintKeys.has(key)) {
        violations.push(`${path}.${key} is not a supported keyword `
          + '(subset: type/oneOf/properties/required/additionalProperties/items/enum/const + annotations)');
      }
    }
    for (const key of ['description', 'title']) {
      if (Object.hasOwn(node, key) && typeof node[key] !== 'string') violations.push(`${path}.${key} must be a string`);
    }
    const typed = Object.hasOwn(node, 'type');
    if (Object.hasOwn(node, 'oneOf')) {
      if (typed) violations.push(`${path} cannot declare both type and oneOf`);
      else this.union(node, path);
    } else if (typed) this.typed(node, path);
    else this.misplaced(node, path, undefined, 'requires type or oneOf');
  }

  private misplaced(node: Record<string, unknown>, path: string, allowed: ReadonlySet<string> | undefined, why: string): void {
    for (const key of CONSTRAINTS) {
      if (Object.hasOwn(node, key) && !allowed?.has(key)) this.violations.push(`${path}.${key} ${why}`);
    }
  }

  private union(node: Record<string, unknown>, path: string): void {
    const branches = node['oneOf'];
    if (!isSchemaArray(branches) || branches.length < 2) {
      this.violations.push(`${path}.oneOf must be an array of at least two schemas`);
      this.descend(node, path, []);
    } else this.descend(node, path, branches.map((branch, i) => [branch, `${path}.oneOf[${i}]`]));
  }

  private typed(node: Record<string, unknown>, path: string): void {
    const type = node['type'];
    if (Array.isArray(type)) {
      this.violations.push(`${path}.type must be a single type string (type arrays are not supported)`);
      return;
    }
    if (typeof type !== 'string' || !Object.hasOwn(allowedOn, type)) {
      this.violations.push(`${path}.type must be one of object/array/string/number/integer/boolean/null`);
      return;
    }
    this.misplaced(node, path, allowedOn[type as JsonSchemaType], `is not supported on type "${type}"`);
    if (type === 'object') this.object(node, path);
    else if (type === 'array') {
      if (Object.hasOwn(node, 'items')) this.descend(node, path, [[node['items'], `${path}.items`]]);
    } else this.scalar(node, path, type);
  }

  private object(node: Record<string, unknown>, path: string): void {
    let children: [unknown, string][] = [];
    if (Object.hasOwn(node, 'properties')) {
      const { properties } = node;
      if (isSchemaRecord(properties)) children = Object.keys(properties).map((key) => [properties[key], `${path}.properties.${key}`]);
      else this.violations.push(`${path}.properties must be an object of schemas`);
    }
    this.descend(node, path, children);
  }

  private scalar(node: Record<string, unknown>, path: string, type: string): void {
    const { violations } = this;
    const members = node['enum'];
    const hasEnum = Object.hasOwn(node, 'enum');
    const enumOk = isSchemaArray(members) && members.length > 0 && members.every((member) => isValueOfType(member, type));
    if (hasEnum && !enumOk) violations.push(`${path}.enum must be a non-empty array of ${type} values`);
    if (!Object.hasOwn(node, 'const')) return;
    if (!isValueOfType(node['const'], type)) violations.push(`${path}.const must be a ${type} value`);
    else if (hasEnum && enumOk && !members.includes(node['const'])) {
      violations.push(`${path}.const must be one of ${path}.enum when both are declared`);
    }
  }

  private descend(node: Record<string, unknown>, path: string, children: readonly (readonly [unknown, string])[]): void {
    this.open.add(node);
    this.steps.push({ kind: 'finish', node, path });
    for (let i = children.length - 1; i >= 0; i--) {
      const [child, childPath] = children[i]!;
      this.steps.push({ kind: 'visit', node: child, path: childPath });
    }
  }

  /** What is reported after the children: an object's `required` and openness, and what may not stand beside `oneOf`. */
  private finish(node: Record<string, unknown>, path: string): void {
    this.open.delete(node);
    if (Object.hasOwn(node, 'oneOf')) this.misplaced(node, path, undefined, 'is not supported beside oneOf');
    if (node['type'] !== 'object') return;
    const { violations } = this;
    if (Object.hasOwn(node, 'required')) {
      const { required, properties } = node;
      if (!isSchemaArray(required) || !required.every((name) => typeof name === 'string')) {
        violations.push(`${path}.required must be an array of strings`);
      } else {
        for (const name of required) {
          if (!isSchemaRecord(properties) || !Object.hasOwn(properties, name)) {
            violations.push(`${path}.required names "${name}" which is not in properties`);
          }
        }
      }
    }
    if (Object.hasOwn(node, 'additionalProperties') && typeof node['additionalProperties'] !== 'boolean') {
      violations.push(`${path}.additionalProperties must be a boolean`);
    }
  }
}

/** Whether a schema is of the supported subset (S1.27). Never throws. */
export function isSupportedJsonSchema(schema: unknown): schema is JsonSchemaNode {
  try {
    return new SubsetWalk().run(schema, 'schema').length === 0;
  } catch {
    return false; // a getter of the schema threw
  }
}

/** Throws a `JsonSchemaError` naming every place where a schema leaves the supported subset (S1.27). */
export function assertSupportedJsonSchema(schema: unknown): asserts schema is JsonSchemaNode {
  const violations = new SubsetWalk().run(schema, 'schema');
  if (violations.length > 0) throw new JsonSchemaError(violations);
}

/** `assertSupportedJsonSchema`, and the root must be `type: 'object'` (S1.28). */
export function assertObjectJsonSchema(schema: unknown): asserts schema is ObjectJsonSchema {
  assertSupportedJsonSchema(schema);
  if (schema.type !== 'object') throw new JsonSchemaError(['schema.type must be "object" (structured output is object-rooted)']);
}

/** Violations of a value, rooted at `path`, in walk order; empty when it is valid. Total (S1.29). */
export type ValueValidator = (value: unknown, path: string) => string[];

/** Asserts a schema (S1.27) and gives its validator, worked out once. The schema must not change afterwards. */
export function compileJsonSchema(schema: unknown): ValueValidator {
  assertSupportedJsonSchema(schema);
  return (value, path) => violationsOf(schema, value, path);
}
