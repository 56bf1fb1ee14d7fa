import type { JsonScalar } from './json.ts';
import type { JsonSchemaNode } from './json-schema.ts';

/**
 * A schema, compiled once: what validation needs and nothing else, in shapes that stay the same from node to node. A
 * place where the schema is not of the supported subset becomes `unusable`, which accepts nothing.
 */
export interface ScalarPlan {
  readonly kind: 'string' | 'number' | 'integer' | 'boolean' | 'null';
  readonly members: readonly JsonScalar[] | undefined;
  readonly only: JsonScalar | undefined;
  /** Neither `enum` nor `const`. */
  readonly free: boolean;
}
export interface ArrayPlan { readonly kind: 'array'; items: Plan | undefined }
export interface ObjectPlan {
  readonly kind: 'object';
  /** Declared properties in declaration order, and at the same index their plan and whether they are required. */
  readonly names: readonly string[];
  readonly plans: Plan[];
  readonly must: readonly boolean[];
  readonly index: ReadonlyMap<string, number>;
  /** How many declared properties are required. */
  readonly mustCount: number;
  /** In the schema's order. */
  readonly required: readonly string[];
  readonly undeclaredMust: readonly string[];
  readonly closed: boolean;
}
export interface UnionPlan { readonly kind: 'oneOf'; readonly branches: Plan[] }
export type Plan = { readonly kind: 'any' } | { readonly kind: 'unusable' } | ScalarPlan | ArrayPlan | ObjectPlan | UnionPlan;

const ANY: Plan = { kind: 'any' };
const UNUSABLE: Plan = { kind: 'unusable' };

type Step =
  | { readonly node: unknown; readonly place: (plan: Plan) => void }
  | { readonly leave: object };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function compile(root: unknown): Plan {
  let result: Plan = UNUSABLE;
  const open = new Set<object>();
  const done = new Map<object, Plan>();
  const steps: Step[] = [{ node: root, place: (plan) => { result = plan; } }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if ('leave' in step) {
      open.delete(step.leave);
      continue;
    }
    const { node, place } = step;
    if (!isObject(node) || open.has(node)) {
      place(UNUSABLE);
      continue;
    }
    const known = done.get(node);
    if (known !== undefined) {
      place(known);
      continue;
    }
    open.add(node);
    steps.push({ leave: node });
    const plan = planNode(node, steps);
    done.set(node, plan);
    place(plan);
  }
  return result;
}

function planNode(node: Record<string, unknown>, steps: Step[]): Plan {
  if (Object.hasOwn(node, 'oneOf')) {
    const branches: Plan[] = [];
    const nodes: unknown[] = Array.isArray(node['oneOf']) ? node['oneOf'] : [];
    for (let i = 0; i < nodes.length; i++) {
      branches.push(UNUSABLE);
      steps.push({ node: nodes[i], place: (plan) => { branches[i] = plan; } });
    }
    return { kind: 'oneOf', branches };
  }
  const { type } = node;
  switch (type) {
    case undefined:
      return ANY;
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null': {
      const members = Array.isArray(node['enum']) ? [...node['enum'] as JsonScalar[]] : undefined;
      const only = node['const'] as JsonScalar | undefined;
      return { kind: type, members, only, free: members === undefined && only === undefined };
    }
    case 'array': {
      const plan: ArrayPlan = { kind: 'array', items: undefined };
      if (Object.hasOwn(node, 'items')) steps.push({ node: node['items'], place: (items) => { plan.items = items; } });
      return plan;
    }
    case 'object': {
      const properties = isObject(node['properties']) ? node['properties'] : {};
      const names = Object.keys(properties);
      const required = Array.isArray(node['required']) ? node['required'].filter((name) => typeof name === 'string') : [];
      const plans: Plan[] = [];
      for (let i = 0; i < names.length; i++) {
        plans.push(UNUSABLE);
        steps.push({ node: properties[names[i]!], place: (plan) => { plans[i] = plan; } });
      }
      const needed = new Set(required);
      const must = names.map((name) => needed.has(name));
      return {
        kind: 'object', names, plans, must, mustCount: must.filter(Boolean).length, index: new Map(names.map((name, i) => [name, i])),
        required, undeclaredMust: required.filter((name) => !Object.hasOwn(properties, name)), closed: node['additionalProperties'] === false,
      };
    }
    default:
      return UNUSABLE;
  }
}

const plans = new WeakMap<object, Plan>();

/** The plan of a schema, compiled at first use and kept for as long as the schema object lives. Never throws. */
export function planOf(schema: JsonSchemaNode): Plan {
  if (!isObject(schema)) return UNUSABLE;
  let plan = plans.get(schema);
  if (plan === undefined) {
    try {
      plan = compile(schema);
    } catch {
      plan = UNUSABLE; // a schema that refuses to be read
    }
    plans.set(schema, plan);
  }
  return plan;
}
