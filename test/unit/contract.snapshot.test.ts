import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { deepFreeze, frozenJson, isFrozenJson, isLosslessJson, snapshotJson } from '../../src/contract/snapshot.ts';
import { anyValue, jsonValue } from '../fixtures/contract-arbitraries.ts';

const DEEP = 50_000;
const deepArray = (depth: number, leaf: unknown): unknown => {
  let value = leaf;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { next: value };
  return value;
};
class Named { a = 1; }
const loop: Record<string, unknown> = { a: 1 };
loop['self'] = { list: [loop] };

describe('contract snapshot', () => {
  const accepted: [string, () => unknown][] = [
    ['null', () => null], ['a boolean', () => true], ['a string', () => 'x'], ['an empty string', () => ''], ['a lone surrogate', () => '\ud800'],
    ['a number', () => 1.5], ['zero', () => 0], ['the smallest number', () => 5e-324], ['an array', () => [1, [2]]], ['an empty array', () => []],
    ['a record', () => ({ a: { b: null } })], ['an empty record', () => ({})], ['a record without prototype', () => Object.assign(Object.create(null), { a: 1 })],
    ['a record of another realm', () => runInNewContext('({ a: [1, { b: 2 }] })')], ['an array of another realm', () => runInNewContext('[1, { a: [] }]')],
    ['a proxy of a record', () => new Proxy({ a: 1 }, {})], ['a proxy of an array', () => new Proxy([1], {})], ['a string named toJSON', () => ({ toJSON: 'x' })],
    ['a frozen record', () => Object.freeze({ a: Object.freeze([1]) })], ['a key that is an index', () => ({ 1: 'x', 0: 'y' })],
  ];
  for (const [what, make] of accepted) {
    it(`P4.1 ${what} is lossless, and comes back detached`, () => {
      const value = make();
      const copy = snapshotJson(value);
      assert.deepEqual(copy, JSON.parse(JSON.stringify(value)));
      if (typeof value === 'object' && value !== null) assert.notEqual(copy, value);
      assert.equal(isLosslessJson(value), true);
    });
  }

  const rejected: [string, () => unknown][] = [
    ['undefined', () => undefined], ['a property that is undefined', () => ({ a: undefined })], ['an element that is undefined', () => [undefined]],
    ['NaN', () => NaN], ['Infinity', () => [Infinity]], ['-Infinity', () => -Infinity], ['negative zero', () => ({ a: -0 })], ['a bigint', () => 1n],
    ['a function', () => () => 1], ['a symbol', () => Symbol('s')], ['a symbol key', () => ({ [Symbol('s')]: 1 })],
    ['a symbol key nobody lists', () => Object.defineProperty({}, Symbol('s'), { value: 1 })],
    ['a key nobody lists', () => Object.defineProperty({ a: 1 }, 'hidden', { value: 1 })], ['a sparse array', () => [1, , 2]], ['a huge sparse array', () => new Array(4_000_000_000)],
    ['a decorated array', () => Object.assign([1], { extra: 1 })], ['a sparse array with as many keys as elements', () => Object.assign([, 1], { extra: 1 })],
    ['an array with a hidden key', () => Object.defineProperty([1], 'hidden', { value: 1 })], ['an array with a symbol', () => Object.assign([1], { [Symbol('s')]: 1 })],
    ['an instance', () => new Named()], ['an instance of a subclass of Array', () => new (class extends Array {})()], ['a date', () => new Date(0)],
    ['a map', () => new Map()], ['a set', () => new Set()], ['a regular expression', () => /x/], ['a typed array', () => new Uint8Array(1)], ['a boxed string', () => new String('x')],
    ['a boxed number', () => new Number(1)], ['an error', () => new Error('x')], ['a cycle', () => loop], ['an own toJSON function', () => ({ toJSON: () => 1 })],
    ['an inherited property', () => Object.create({ a: 1 })], ['a namespace like Math', () => Math], ['a record that fakes its constructor', () => Object.setPrototypeOf({}, { constructor: Object })],
    ['an instance of another realm', () => runInNewContext('new (class { a = 1 })()')], ['arguments', () => runInNewContext('(function () { return arguments; })(1)')],
  ];
  for (const [what, make] of rejected) {
    it(`P4.1 ${what} is not lossless`, () => {
      for (const value of [make(), [make()], { deep: [{ er: make() }] }]) {
        assert.equal(snapshotJson(value), undefined);
        assert.equal(frozenJson(value), undefined);
        assert.equal(isLosslessJson(value), false);
      }
    });
  }

  it('P4.1 what is not lossless at depth 200 is found by the walk that needs no stack', () => {
    for (const [what, make] of rejected) assert.equal(snapshotJson(deepArray(200, make())), undefined, what);
    for (const [what, make] of accepted) assert.deepEqual(snapshotJson(deepArray(200, make())), JSON.parse(JSON.stringify(deepArray(200, make()))), what);
  });

  it('P4.1 toJSON is never called', () => {
    let calls = 0;
    const value = Object.create(Object.prototype, {}) as object;
    Object.defineProperty(Object.prototype, 'toJSON', { configurable: true, value() { calls++; return 'no'; } });
    try {
      assert.deepEqual(snapshotJson({ a: value }), { a: {} });
    } finally {
      delete (Object.prototype as { toJSON?: unknown }).toJSON;
    }
    assert.equal(calls, 0);
  });

  it('P4.1 a getter runs once, and its value is what counts', () => {
    let reads = 0;
    const value = { get n() { return ++reads; }, list: Object.defineProperty([0], 0, { enumerable: true, get: () => ++reads }) };
    assert.deepEqual(snapshotJson(value), { n: 1, list: [2] });
    assert.equal(reads, 2);
    assert.equal(snapshotJson({ get a() { return undefined; } }), undefined);
  });

  it('P4.1 a throwing getter or trap is the caller\'s to see', () => {
    const boom = new Error('boom');
    const fail = (): never => { throw boom; };
    for (const value of [{ get a() { return fail(); } }, new Proxy({}, { ownKeys: fail }), new Proxy([1], { get: fail }), new Proxy({}, { getPrototypeOf: fail })]) {
      assert.throws(() => snapshotJson(value), boom);
      assert.throws(() => frozenJson([{ value }]), boom);
    }
  });

  it('P4.1 shared parts become separate copies', () => {
    const shared = { a: [1] };
    const copy = snapshotJson({ left: shared, right: [shared] }) as { left: object; right: object[] };
    assert.deepEqual(copy, { left: { a: [1] }, right: [{ a: [1] }] });
    assert.notEqual(copy.left, copy.right[0]);
  });

  it('P4.1 __proto__ stays an ordinary key, and no prototype is touched', () => {
    const copy = snapshotJson(JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":[1]}}')) as object;
    assert.deepEqual(Object.keys(copy), ['__proto__', 'a']);
    assert.equal(Object.getPrototypeOf(copy), Object.prototype);
    assert.equal(JSON.stringify(copy), '{"__proto__":{"polluted":true},"a":{"__proto__":[1]}}');
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  it('P4.1 a polluted Object.prototype adds nothing', () => {
    Object.defineProperty(Object.prototype, 'polluted', { configurable: true, enumerable: true, value: { deep: 1 } });
    try {
      assert.deepEqual(Object.keys(snapshotJson({ a: 1 }) as object), ['a']);
      assert.equal(JSON.stringify(frozenJson([{ a: { b: 1 } }])), '[{"a":{"b":1}}]');
    } finally {
      delete (Object.prototype as { polluted?: unknown }).polluted;
    }
  });

  it('P4.1 depth is bounded by memory, not by the stack', () => {
    let at: unknown = snapshotJson(deepArray(DEEP, 1));
    let depth = 0;
    for (; typeof at === 'object' && at !== null; depth++) at = Object.values(at)[0];
    assert.equal(depth, DEEP);
    assert.equal(snapshotJson(deepArray(DEEP, NaN)), undefined);
  });

  it('P4.1 a cycle far down, or wide, ends quickly', () => {
    const ring: Record<string, unknown> = {};
    ring['next'] = deepArray(1_000, ring);
    assert.equal(snapshotJson(ring), undefined);
    const wide: Record<string, unknown> = { load: Array.from({ length: 100_000 }, (_, i) => i) };
    wide['self'] = wide;
    assert.equal(snapshotJson(wide), undefined);
  });

  it('P4.1 what is lossless is what JSON text gives back', () => {
    fc.assert(fc.property(jsonValue, (value) => {
      assert.equal(JSON.stringify(snapshotJson(value)), JSON.stringify(value));
      assert.deepEqual(snapshotJson(value), JSON.parse(JSON.stringify(value)));
    }), { numRuns: 1_000 });
  });

  it('P4.1 the frozen and the mutable snapshot agree, and snapshots of snapshots are the same', () => {
    fc.assert(fc.property(anyValue, (made) => {
      const attempt = (work: (value: unknown) => unknown): unknown => {
        try {
          return work(made.make());
        } catch {
          return 'threw';
        }
      };
      const copy = attempt(snapshotJson);
      assert.deepEqual(attempt(frozenJson), copy);
      if (copy !== 'threw' && copy !== undefined) assert.deepEqual(snapshotJson(copy), copy);
    }), { numRuns: 2_000 });
  });

  it('P4.3 frozenJson freezes all the way down and leaves the source alone', () => {
    const source = { list: [{ a: 1 }], deep: deepArray(300, 1) };
    const copy = frozenJson(source);
    assert.equal(Object.isFrozen(source) || Object.isFrozen(source.list) || Object.isFrozen(source.list[0]), false);
    for (let at: unknown = copy; typeof at === 'object' && at !== null; at = Object.values(at).at(-1)) assert.equal(Object.isFrozen(at), true);
    assert.equal(Object.isFrozen((copy as typeof source).list[0]), true);
  });

  it('P4.3 a frozen snapshot is recognised, its copies and look-alikes are not', () => {
    const copy = frozenJson({ a: [1] }) as { a: number[] };
    assert.equal(frozenJson(copy), copy);
    assert.equal(isFrozenJson(copy), true);
    assert.equal(isFrozenJson('x'), true);
    for (const other of [{ ...copy }, structuredClone(copy), copy.a, new Proxy(copy, {}), Object.create(copy), snapshotJson(copy), NaN, undefined]) assert.equal(isFrozenJson(other), false);
    assert.deepEqual(Reflect.ownKeys(copy), ['a']);
  });

  it('P4.3 deepFreeze works in place on cycles and great depth, without running getters or breaking signals', () => {
    const { signal } = new AbortController();
    const value = { ring: {} as object, signal, bytes: new Uint8Array(1), get no(): never { throw new Error('read'); }, deep: deepArray(DEEP, 1) };
    value.ring = value;
    assert.equal(deepFreeze(value), value);
    assert.equal(Object.isFrozen(value) && Object.isFrozen(value.deep), true);
    assert.equal(Object.isFrozen(signal), false);
    assert.equal(deepFreeze(1), 1);
  });
});
