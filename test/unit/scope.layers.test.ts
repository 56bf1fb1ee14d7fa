import assert from 'node:assert/strict';
import { Context } from '@deepseek-ai/cordis';
import {
  AnonymousEntries, NamedEntries, ScopedLayers, bindScopeParent, carrierKeyOf, createScope, isScopeCarrier, scopeChainOf, scopeOf, scopeParentOf, scopeTarget,
} from '../../src/scope/dsh-scope.ts';

describe('scope', () => {
  let ctx: Context;
  beforeEach(() => { ctx = new Context(); });
  afterEach(() => ctx.fiber.dispose());

  it('R3.9 a scope tags its context and everything loaded below it', async () => {
    const key = {};
    const scope = createScope(ctx, key);
    assert.equal(scopeOf(ctx), undefined);
    assert.equal(scopeOf(scope.ctx), key);
    let inner: object | undefined;
    await scope.ctx.plugin({ name: 'inner', apply(own: Context) { inner = scopeOf(own); } });
    assert.equal(inner, key);
    const nested = {};
    assert.equal(scopeOf(createScope(scope.ctx, nested).ctx), nested);
  });

  it('R3.9 parents form a chain, bound once, moved by the binder only, and never in a circle', () => {
    const [a, b, c] = [{}, {}, {}];
    const binding = bindScopeParent(a, b);
    bindScopeParent(b, c);
    assert.deepEqual(scopeChainOf(a).map((key) => [a, b, c].indexOf(key)), [0, 1, 2]);
    assert.equal(scopeParentOf(c), undefined);
    assert.deepEqual(scopeChainOf(undefined), []);
    assert.throws(() => bindScopeParent(a, c), /already has a parent/);
    assert.throws(() => bindScopeParent(c, a), /its own ancestor/);
    assert.throws(() => bindScopeParent(c, c), /its own ancestor/);
    const d = {};
    binding.rebind(d);
    assert.equal(scopeParentOf(a), d);
    assert.throws(() => binding.rebind(a), /its own ancestor/);
    assert.equal(scopeParentOf(a), d);
  });

  it('R3.9 disposing a scope disposes what was registered through it, once for every caller', async () => {
    const gone: string[] = [];
    const scope = createScope(ctx, {});
    scope.ctx.effect(() => async () => { await new Promise((resolve) => { setTimeout(resolve, 2); }); gone.push('slow'); });
    const [first, second] = [scope.dispose(), scope.dispose()];
    assert.equal(first, second);
    await first;
    assert.deepEqual(gone, ['slow']);
    const other = createScope(ctx, {});
    other.ctx.effect(() => () => { gone.push('with the parent'); });
    await ctx.fiber.dispose();
    assert.deepEqual(gone, ['slow', 'with the parent']);
  });

  it('P4.8 a carrier reaches untagged listeners and those of its key and the scopes around it, as far as its base lets it', () => {
    const [preset, agent] = [{}, {}];
    const contexts = { plain: ctx, preset: createScope(ctx, preset).ctx, agent: createScope(ctx, agent, { parent: preset }).ctx };
    const filter = (carrier: object): string[] => Object.entries(contexts)
      .filter(([, at]) => (carrier as { [Context.filter](ctx: Context): boolean })[Context.filter](at)).map(([name]) => name);
    assert.deepEqual(filter(scopeTarget({}, agent)), ['plain', 'preset', 'agent']);
    assert.deepEqual(filter(scopeTarget({}, preset)), ['plain', 'preset']);
    assert.deepEqual(filter(scopeTarget({}, undefined)), ['plain']);
    assert.deepEqual(filter(scopeTarget({ [Context.filter]: (at: Context) => at !== ctx }, agent)), ['preset', 'agent']);
    const carrier = scopeTarget({ secret: 1 }, agent);
    assert.deepEqual([isScopeCarrier(carrier), carrierKeyOf(carrier), 'secret' in carrier], [true, agent, false]);
    assert.deepEqual([isScopeCarrier({}), isScopeCarrier(null), carrierKeyOf(5), isScopeCarrier(scopeTarget({}, undefined))], [false, false, undefined, true]);
  });

  it('R3.9 named entries keep order, refuse a taken name, and undo exactly their own insertion', () => {
    const entries = new NamedEntries<number>((name) => new Error(`${name} is taken`));
    const undo = entries.insert('b', 1);
    entries.insert('a', 2);
    assert.throws(() => entries.insert('b', 3), { message: 'b is taken' });
    assert.deepEqual([...entries.entries()], [['b', 1], ['a', 2]]);
    undo();
    entries.insert('b', 4);
    undo();
    assert.deepEqual([[...entries.keys()], [...entries.values()], entries.get('b'), entries.has('c'), entries.isEmpty()], [['a', 'b'], [2, 4], 4, false, false]);
  });

  it('R3.9 anonymous entries count equal values apart', () => {
    const entries = new AnonymousEntries<string>();
    const undo = entries.append('x');
    entries.append('x');
    undo();
    undo();
    assert.deepEqual([...entries.values()], ['x']);
  });

  it('R3.9 layers exist only while they hold something, and merge from far to near', async () => {
    const changes: string[] = [];
    const made: unknown[] = [];
    interface Layer { readonly names: NamedEntries<string>; isEmpty(): boolean }
    const layers = new ScopedLayers<Layer>((scope) => { made.push(scope); return { names: new NamedEntries<string>((name) => new Error(`${name} taken`)), isEmpty() { return this.names.isEmpty(); } }; }, () => { changes.push('change'); });
    const [preset, agent] = [{}, {}];
    const far = createScope(ctx, preset).ctx;
    const near = createScope(ctx, agent, { parent: preset });
    const put = (at: Context, name: string, value: string, notify = true): (() => void) => layers.effect(at, (layer) => layer.names.insert(name, value), { label: 'put', notify });
    assert.equal(layers.peek(agent), undefined);
    put(ctx, 'x', 'global');
    put(ctx, 'y', 'global');
    const undo = put(near.ctx, 'x', 'near');
    put(far, 'x', 'far');
    put(far, 'z', 'far', false);
    assert.deepEqual([...layers.merge(agent, (layer) => layer.names)], [['x', 'near'], ['y', 'global'], ['z', 'far']]);
    assert.deepEqual([...layers.merge(undefined, (layer) => layer.names)], [['x', 'global'], ['y', 'global']]);
    assert.equal(changes.length, 4);
    assert.throws(() => put(near.ctx, 'x', 'again'), { message: 'x taken' });
    undo();
    assert.equal(layers.peek(agent), undefined, 'an empty layer is dropped');
    assert.throws(() => layers.effect(near.ctx, () => { throw new Error('no'); }, { label: 'put' }), { message: 'no' });
    assert.equal(layers.peek(agent), undefined, 'a failed action leaves none behind');
    assert.equal(changes.length, 5);
    put(near.ctx, 'w', 'near');
    await near.dispose();
    assert.deepEqual([layers.peek(agent), changes.length], [undefined, 7]);
  });

  it('R3.9 a change listener that throws takes the registration back', () => {
    type Layer = { names: NamedEntries<number>; isEmpty(): boolean };
    const layers: ScopedLayers<Layer> = new ScopedLayers<Layer>(() => ({ names: new NamedEntries<number>(() => new Error()), isEmpty: () => true }), () => { if (layers.global.names.has('bad')) throw new Error('listener'); });
    assert.throws(() => layers.effect(ctx, (layer) => layer.names.insert('bad', 1), { label: 'put' }), { message: 'listener' });
    assert.equal(layers.global.names.has('bad'), false);
  });
});
