import type { JsonValue } from './json.ts';

/**
 * Lossless JSON snapshots (P4.1): one walk that validates and detaches. `undefined` stands for "not lossless", which is
 * no ambiguity, because `undefined` is not in JSON. A getter or proxy trap that throws is the caller's to handle: its
 * error propagates untouched.
 *
 * How it is fast: a record is detached by one rest pattern (which runs every getter exactly once and keeps `__proto__` an own
 * key), so that the walk only ever looks at data it owns. How it is safe: the walk recurses on the stack for the first
 * levels only and goes on with a stack of its own below them.
 */

type Box = JsonValue[] | { [key: string]: JsonValue };

/** Levels walked by recursion before the explicit stack takes over. */
const RECURSION_LIMIT = 64;

const objectProto = Object.prototype;
const arrayProto = Array.prototype;
const { getPrototypeOf, getOwnPropertyNames, getOwnPropertySymbols, getOwnPropertyDescriptor, keys: keysOf, freeze } = Object;
const { isArray } = Array;
const { ownKeys } = Reflect;
const sourceOf = Function.prototype.toString;

/** Whether `proto` is the built-in `Object.prototype` (or `Array.prototype`) of any realm. */
function isIntrinsic(proto: object, name: 'Object' | 'Array'): boolean {
  const maker: unknown = getOwnPropertyDescriptor(proto, 'constructor')?.value;
  if (typeof maker !== 'function') return false;
  if (getOwnPropertyDescriptor(maker, 'prototype')?.value !== proto) return false;
  try {
    return sourceOf.call(maker) === `function ${name}() { [native code] }`;
  } catch {
    return false; // a proxy of a function has no source text
  }
}

/** Whether a non-array object has the prototype of a JSON record: none, or `Object.prototype` of some realm. */
export function hasRecordPrototype(value: object): boolean {
  const proto: object | null = getPrototypeOf(value);
  return proto === objectProto || proto === null || (getPrototypeOf(proto) === null && isIntrinsic(proto, 'Object'));
}

/** Whether an array has `Array.prototype` of some realm as its prototype. */
export function hasArrayPrototype(value: readonly unknown[]): boolean {
  const proto: object | null = getPrototypeOf(value);
  return proto === arrayProto || (proto !== null && isArray(proto) && isIntrinsic(proto, 'Array'));
}

/** Whether the indices `0 … length-1` and `length` are the only own keys. Elements are not looked at. */
export function isDenseArray(value: readonly unknown[]): boolean {
  const { length } = value;
  const keys = ownKeys(value);
  return keys.length === length + 1 && keys[length] === 'length';
}

function isScalar(value: unknown): value is null | boolean | number | string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      // NaN and the infinities fail the subtraction; −0 is the one zero whose reciprocal is negative.
      return value - value === 0 && (value !== 0 || 1 / value > 0);
    default:
      return value === null;
  }
}

/**
 * A detached copy of one record or array whose members are still the source's own, unlooked-at ones; undefined when
 * the box itself is not JSON. Getters run once each; what they throw propagates.
 */
export function detachShallow(source: object): Box | undefined {
  if (isArray(source)) {
    if (!hasArrayPrototype(source) || !isDenseArray(source)) return undefined;
    const copy: JsonValue[] = [];
    for (let i = 0, { length } = source; i < length; i++) copy.push(source[i] as JsonValue);
    return copy;
  }
  if (!hasRecordPrototype(source)) return undefined;
  // Not `{ ...source }`, which copies as faithfully, but gives objects that take ten times as long to freeze.
  const { ...copy } = source as { [key: string]: JsonValue };
  // The pattern took the enumerable keys; anything it did not take, or any symbol, is a key JSON has no place for.
  if (getOwnPropertyNames(source).length !== keysOf(copy).length || getOwnPropertySymbols(source).length !== 0) return undefined;
  return copy;
}

class Returned {
  constructor(object: object) {
    return object;
  }
}

/**
 * Marks a root made by `frozenJson`: known to be lossless and immutable for as long as it lives. The mark is a private
 * field on the object itself, which no key lists and no copy takes along; a WeakSet would cost more than the snapshot.
 */
class Known extends Returned {
  readonly #mark = true;

  static has(object: object): boolean {
    return #mark in object;
  }
}

/** Objects on the way from the root to here, as a linked list: short, and only built where boxes nest. */
interface Trail { readonly source: object; readonly up: Trail | undefined; readonly depth: number }

function onTrail(trail: Trail | undefined, source: object): boolean {
  for (let at = trail; at !== undefined; at = at.up) if (at.source === source) return true;
  return false;
}

function copyBox(source: object, up: Trail | undefined, frozen: boolean): Box | undefined {
  const depth = up === undefined ? 0 : up.depth + 1;
  if (depth > RECURSION_LIMIT) return copyDeep(source, up, frozen);
  const copy = detachShallow(source);
  if (copy === undefined) return undefined;
  let trail: Trail | undefined;
  if (isArray(copy)) {
    for (let i = 0, { length } = copy; i < length; i++) {
      const member: unknown = copy[i];
      if (typeof member === 'object' && member !== null) {
        trail ??= { source, up, depth };
        if (onTrail(trail, member)) return undefined;
        const box = copyBox(member, trail, frozen);
        if (box === undefined) return undefined;
        copy[i] = box;
      } else if (!isScalar(member)) return undefined;
    }
  } else {
    // Own keys come first; whatever a polluted Object.prototype adds comes after them, and is not reached.
    let left = keysOf(copy).length;
    for (const key in copy) {
      if (left-- === 0) break;
      const member: unknown = copy[key];
      if (typeof member === 'object' && member !== null) {
        trail ??= { source, up, depth };
        if (onTrail(trail, member)) return undefined;
        const box = copyBox(member, trail, frozen);
        if (box === undefined) return undefined;
        copy[key] = box;
      } else if (!isScalar(member)) return undefined;
    }
  }
  if (frozen) {
    if (up === undefined) new Known(copy);
    freeze(copy);
  }
  return copy;
}

interface Frame { readonly source: object; readonly copy: Box; readonly keys: readonly string[] | undefined; next: number }

function openFrame(source: object): Frame | undefined {
  const copy = detachShallow(source);
  return copy && { source, copy, keys: isArray(copy) ? undefined : keysOf(copy), next: 0 };
}

/** `copyBox` for any depth, on a stack of its own. */
function copyDeep(root: object, trail: Trail | undefined, frozen: boolean): Box | undefined {
  const ancestors = new Set<object>();
  for (let at = trail; at !== undefined; at = at.up) ancestors.add(at.source);
  let frame = openFrame(root);
  if (frame === undefined) return undefined;
  ancestors.add(root);
  const stack: Frame[] = [];
  for (;;) {
    const { copy, keys } = frame;
    const total: number = keys === undefined ? (copy as JsonValue[]).length : keys.length;
    let child: Frame | undefined;
    while (frame.next < total) {
      const key: string | number = keys === undefined ? frame.next : keys[frame.next]!;
      frame.next++;
      const member = (copy as Record<string | number, unknown>)[key];
      if (typeof member === 'object' && member !== null) {
        if (ancestors.has(member)) return undefined;
        child = openFrame(member);
        if (child === undefined) return undefined;
        (copy as Record<string | number, unknown>)[key] = child.copy;
        break;
      }
      if (!isScalar(member)) return undefined;
    }
    if (child !== undefined) {
      ancestors.add(child.source);
      stack.push(frame);
      frame = child;
      continue;
    }
    if (frozen) freeze(copy);
    ancestors.delete(frame.source);
    const parent = stack.pop();
    if (parent === undefined) return copy;
    frame = parent;
  }
}

/**
 * A detached, mutable copy of a lossless JSON value, or undefined when it is not one (P4.1). Shared references become
 * separate copies; a cycle is not lossless. Errors thrown by getters and proxy traps propagate.
 */
export function snapshotJson(value: unknown): JsonValue | undefined {
  if (typeof value === 'object' && value !== null) return copyBox(value, undefined, false);
  return isScalar(value) ? value : undefined;
}

/** `snapshotJson`, deep-frozen in the same walk (P4.3). A value that this function made before is returned as it is. */
export function frozenJson(value: unknown): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return isScalar(value) ? value : undefined;
  if (Known.has(value)) return value as JsonValue;
  return copyBox(value, undefined, true);
}

/** Whether a value is known, without looking into it, to be lossless and deep-frozen: a scalar, or a root `frozenJson` made. */
export function isFrozenJson(value: unknown): value is JsonValue {
  return typeof value === 'object' && value !== null ? Known.has(value) : isScalar(value);
}

/** Whether a value is lossless JSON (P4.1). Runs getters; their errors propagate. */
export function isLosslessJson(value: unknown): value is JsonValue {
  return isFrozenJson(value) || snapshotJson(value) !== undefined;
}

/**
 * Freezes a value and everything reachable through its own data properties, in place, and returns it. Getters are not
 * run; cycles are fine; depth is bounded by memory only. Live objects that freezing would break (abort signals, buffers)
 * are left alone.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const seen = new Set<object>([value]);
  for (const box of seen) {
    if (ArrayBuffer.isView(box) || box instanceof AbortSignal) continue;
    freeze(box);
    for (const key of ownKeys(box)) {
      const member: unknown = getOwnPropertyDescriptor(box, key)?.value;
      if (typeof member === 'object' && member !== null) seen.add(member);
    }
  }
  return value;
}
