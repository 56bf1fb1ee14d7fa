import type { JsonScalar, JsonValue } from './json.ts';
import type { JsonSchemaNode } from './json-schema.ts';
import { planOf } from './plan.ts';
import type { ObjectPlan, Plan } from './plan.ts';
import { detachShallow, hasRecordPrototype, isDenseArray, isFrozenJson, isLosslessJson, snapshotJson } from './snapshot.ts';

/**
 * Validation (S1.29-S1.33). Valid data takes a short way: one snapshot walk (none when the data is known to be one),
 * then a yes/no over plain data. Only what that refuses is walked again, slowly and with every suspicion, for messages.
 */

/** Schema levels `accepts` recurses through before it hands over to the walk that needs no stack. */
const RECURSION_LIMIT = 128;

const { hasOwn } = Object;

function fitsLiterals(plan: { readonly members: readonly JsonScalar[] | undefined; readonly only: JsonScalar | undefined }, value: JsonScalar): boolean {
  return (plan.members === undefined || plan.members.includes(value)) && (plan.only === undefined || plan.only === value);
}

function acceptsObject(plan: ObjectPlan, value: { [key: string]: JsonValue }, depth: number): boolean {
  const { names, plans, must, index } = plan;
  let due = plan.mustCount;
  let next = 0;
  // Own keys come first; whatever a polluted Object.prototype adds comes after them, and is not reached.
  let left = Object.keys(value).length;
  for (const key in value) {
    if (left-- === 0) break;
    // Data mostly comes in the schema's order, which spares the look-up.
    const at = key === names[next] ? next : index.get(key);
    if (at === undefined) {
      if (plan.closed) return false;
      continue;
    }
    if (!accepts(plans[at]!, value[key]!, depth + 1)) return false;
    if (must[at]) due--;
    next = at + 1;
  }
  if (due > 0) return false;
  for (const name of plan.undeclaredMust) if (!hasOwn(value, name)) return false;
  return true;
}

/** Whether data known to be lossless fits; says yes exactly when the walk below finds nothing. */
function accepts(plan: Plan, value: JsonValue, depth: number): boolean {
  switch (plan.kind) {
    case 'any': return true;
    case 'string': return typeof value === 'string' && (plan.free || fitsLiterals(plan, value));
    case 'number': return typeof value === 'number' && (plan.free || fitsLiterals(plan, value));
    case 'integer': return Number.isInteger(value) && (plan.free || fitsLiterals(plan, value as number));
    case 'boolean': return typeof value === 'boolean' && (plan.free || fitsLiterals(plan, value));
    case 'null': return value === null && (plan.free || fitsLiterals(plan, value));
    case 'array': {
      if (!Array.isArray(value)) return false;
      const { items } = plan;
      if (items === undefined || items.kind === 'any') return true;
      if (depth > RECURSION_LIMIT) return new Walk().run(plan, value, 'value').length === 0;
      for (let i = 0; i < value.length; i++) if (!accepts(items, value[i]!, depth + 1)) return false;
      return true;
    }
    case 'object':
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      if (depth > RECURSION_LIMIT) return new Walk().run(plan, value, 'value').length === 0;
      return acceptsObject(plan, value, depth);
    case 'oneOf': {
      if (depth > RECURSION_LIMIT) return new Walk().run(plan, value, 'value').length === 0;
      let matched = 0;
      for (const branch of plan.branches) if (accepts(branch, value, depth + 1) && ++matched > 1) return false;
      return matched === 1;
    }
    case 'unusable': return false;
  }
}

/** Where violations go. A union branch is only probed: its sink counts, and stops at the first. */
interface Sink { readonly out: string[] | undefined; count: number }
type Frame =
  | { readonly kind: 'object'; readonly plan: ObjectPlan; readonly value: object; readonly path: string; readonly sink: Sink; readonly start: number;
      members: unknown[] | undefined; next: number }
  | { readonly kind: 'array'; readonly items: Plan; readonly value: readonly unknown[]; readonly path: string; readonly sink: Sink; readonly start: number;
      /** Own indices of an array with holes; undefined: all of them. */ readonly indices: readonly number[] | undefined; next: number }
  | { readonly kind: 'oneOf'; readonly branches: readonly Plan[]; readonly value: unknown; readonly path: string; readonly sink: Sink; readonly start: number;
      probe: Sink | undefined; matched: number; next: number };

const quoted = (path: string): string => `"${path === '' ? 'arguments' : path}"`;
const memberPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** A total, suspicious walk of any value against a plan, on a stack of its own. */
class Walk {
  private readonly frames: Frame[] = [];

  run(plan: Plan, value: unknown, path: string): string[] {
    const out: string[] = [];
    this.enter(plan, value, path, { out, count: 0 });
    for (let frame = this.frames.at(-1); frame !== undefined; frame = this.frames.at(-1)) {
      if (frame.sink.out === undefined && frame.sink.count > 0) {
        this.frames.pop();
        continue;
      }
      try {
        if (frame.kind === 'object') this.object(frame);
        else if (frame.kind === 'array') this.array(frame);
        else this.union(frame);
      } catch {
        // A node that cannot be read has one violation, whatever was found in it so far.
        frame.sink.out?.splice(frame.start);
        frame.sink.count = frame.start;
        this.report(frame.sink, `${quoted(frame.path)} must be a lossless JSON value`);
        while (this.frames.pop() !== frame);
      }
    }
    return out;
  }

  private report(sink: Sink, violation: string): void {
    sink.count++;
    sink.out?.push(violation);
  }

  private enter(plan: Plan, value: unknown, path: string, sink: Sink): void {
    const complaint = this.scalar(plan, value);
    if (complaint !== undefined) {
      if (complaint !== '') this.report(sink, `${quoted(path)} ${complaint}`);
      return;
    }
    try {
      this.container(plan, value, path, sink);
    } catch {
      this.report(sink, `${quoted(path)} must be a lossless JSON value`);
    }
  }

  /** The complaint about a scalar, '' for none; undefined when the plan is not a scalar's. */
  private scalar(plan: Plan, value: unknown): string | undefined {
    switch (plan.kind) {
      case 'string':
      case 'boolean':
        if (typeof value !== plan.kind) return `must be a ${plan.kind}`;
        break;
      case 'number':
        if (typeof value !== 'number') return 'must be a number';
        if (!Number.isFinite(value) || Object.is(value, -0)) return 'must be a finite JSON number';
        break;
      case 'integer':
        if (!Number.isInteger(value) || Object.is(value, -0)) return 'must be an integer';
        break;
      case 'null':
        if (value !== null) return 'must be null';
        break;
      case 'unusable':
        return 'cannot be checked: its schema is not a supported JSON schema';
      default:
        return undefined;
    }
    if (plan.members !== undefined && !plan.members.includes(value as JsonScalar)) return `must be one of ${JSON.stringify(plan.members)}`;
    if (plan.only !== undefined && plan.only !== value) return `must be ${JSON.stringify(plan.only)}`;
    return '';
  }

  private container(plan: Plan, value: unknown, path: string, sink: Sink): void {
    const start = sink.count;
    if (plan.kind === 'any') {
      if (!isLosslessJson(value)) this.report(sink, `${quoted(path)} must be a lossless JSON value`);
    } else if (plan.kind === 'oneOf') {
      this.frames.push({ kind: 'oneOf', branches: plan.branches, value, path, sink, start, probe: undefined, matched: 0, next: 0 });
    } else if (plan.kind === 'object') {
      if (!isRecordLike(value)) this.report(sink, `${quoted(path)} must be an object`);
      else this.frames.push({ kind: 'object', plan, value, path, sink, start, members: undefined, next: 0 });
    } else if (plan.kind === 'array') {
      if (!Array.isArray(value)) this.report(sink, `${quoted(path)} must be an array`);
      else if (plan.items === undefined) {
        if (!isLosslessSafely(value)) this.report(sink, `${quoted(path)} must be a dense lossless JSON array`);
      } else {
        this.frames.push({
          kind: 'array', items: plan.items, value, path, sink, start, indices: isDenseArray(value) ? undefined : ownIndices(value), next: 0,
        });
      }
    }
  }

  private object(frame: Frame & { kind: 'object' }): void {
    const { plan, value, path, sink } = frame;
    const record = value as Record<string, unknown>;
    if (frame.members === undefined) {
      // A missing property reads as undefined here, as does one that was set to it (S1.32).
      frame.members = plan.names.map((name) => (hasOwn(record, name) ? record[name] : undefined));
      for (const name of plan.required) {
        const at = plan.index.get(name);
        const member = at === undefined ? (hasOwn(record, name) ? record[name] : undefined) : frame.members[at];
        if (member === undefined) this.report(sink, `missing required property "${memberPath(path, name)}"`);
      }
    }
    while (frame.next < plan.names.length) {
      const at = frame.next++;
      const member = frame.members[at];
      if (member === undefined) continue;
      const before = this.frames.length;
      this.enter(plan.plans[at]!, member, memberPath(path, plan.names[at]!), sink);
      if (this.frames.length > before) return;
    }
    if (plan.closed) {
      for (const key of Object.keys(record)) {
        if (!plan.index.has(key)) this.report(sink, `"${memberPath(path, key)}" is not a declared property (additionalProperties: false)`);
      }
    }
    if (sink.count === frame.start && !isLosslessBeside(record, plan)) this.report(sink, `${quoted(path)} must be a lossless JSON object`);
    this.frames.pop();
  }

  private array(frame: Frame & { kind: 'array' }): void {
    const { items, value, path, sink, indices } = frame;
    const total = indices === undefined ? value.length : indices.length;
    while (frame.next < total) {
      const at = indices === undefined ? frame.next : indices[frame.next]!;
      frame.next++;
      const before = this.frames.length;
      this.enter(items, value[at], `${path}[${at}]`, sink);
      if (this.frames.length > before) return;
    }
    // Elements were found to be lossless one by one; what is left is the array itself.
    if (sink.count === frame.start && !(indices === undefined && isBoxLossless(value))) {
      this.report(sink, `${quoted(path)} must be a dense lossless JSON array`);
    }
    this.frames.pop();
  }

  private union(frame: Frame & { kind: 'oneOf' }): void {
    if (frame.probe !== undefined && frame.probe.count === 0) frame.matched++;
    if (frame.next < frame.branches.length) {
      frame.probe = { out: undefined, count: 0 };
      this.enter(frame.branches[frame.next++]!, frame.value, frame.path, frame.probe);
      return;
    }
    if (frame.matched !== 1) this.report(frame.sink, `${quoted(frame.path)} must match exactly one oneOf branch (matched ${frame.matched})`);
    this.frames.pop();
  }
}

function isRecordLike(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  try {
    return hasRecordPrototype(value);
  } catch {
    return false;
  }
}

function isLosslessSafely(value: unknown): boolean {
  try {
    return isLosslessJson(value);
  } catch {
    return false;
  }
}

function isBoxLossless(value: object): boolean {
  try {
    return detachShallow(value) !== undefined;
  } catch {
    return false;
  }
}

/** Whether a record whose declared members are fine is lossless as a whole: its own shape, and the members nobody declared. */
function isLosslessBeside(record: object, plan: ObjectPlan): boolean {
  try {
    const copy = detachShallow(record) as Record<string, unknown> | undefined;
    if (copy === undefined) return false;
    return Object.keys(copy).every((key) => (plan.index.has(key) ? copy[key] !== undefined : isLosslessJson(copy[key])));
  } catch {
    return false;
  }
}

/** The own indices of an array with holes; its length may be billions. */
function ownIndices(value: readonly unknown[]): number[] {
  const indices: number[] = [];
  for (const key of Reflect.ownKeys(value)) {
    const index = typeof key === 'string' ? Number(key) : NaN;
    if (Number.isInteger(index) && index >= 0 && index < value.length && String(index) === key) indices.push(index);
  }
  return indices;
}

/** Violations of a value against a schema, rooted at `path`; the empty path is the argument root (S1.30). Total. */
export function violationsOf(schema: JsonSchemaNode, value: unknown, path: string): string[] {
  const plan = planOf(schema);
  let data: JsonValue | undefined;
  if (isFrozenJson(value)) data = value;
  else {
    try {
      data = snapshotJson(value);
    } catch {
      data = undefined; // a throwing getter: the walk says where
    }
  }
  if (data !== undefined && accepts(plan, data, 0)) return [];
  return new Walk().run(plan, value, path);
}

/**
 * Violations of a value against a schema of the raw subset, in walk order; empty when it is valid (S1.29). Never throws,
 * whatever the value, and needs no stack for deep ones. The schema is compiled at its first use and must not change after.
 */
export function validateJsonSchemaValue(schema: JsonSchemaNode, value: unknown, path = 'value'): string[] {
  return violationsOf(schema, value, path);
}
