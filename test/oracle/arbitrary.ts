import fc from 'fast-check';
import type { AroundSpec, CallSpec, GuardSpec, ListenerSpec, PostSpec, PreSpec, Recipe, ResultSpec, Scenario, Thrown, ToolSpec } from './scenario.ts';

const json = fc.constantFrom<unknown>('text', 'again', 7, null, true, [1, 'two'], { id: 1 }, { id: 1, more: 2 }, { id: 'x' }, { nested: { deep: [{}] } }, '');
const odd = fc.constantFrom<Extract<Recipe, { odd: unknown }>['odd']>(
  'undefined', 'nan', 'negative-zero', 'bigint', 'function', 'symbol', 'date', 'cycle', 'sparse', 'getter-throws', 'map', 'proto-key',
);
const recipe: fc.Arbitrary<Recipe> = fc.oneof({ weight: 4, arbitrary: json.map((value) => ({ json: value })) }, { weight: 1, arbitrary: odd.map((kind) => ({ odd: kind })) });
const args: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Recipe>({ json: { q: 'hello' } }) },
  { weight: 1, arbitrary: fc.constantFrom<Recipe>({ json: { q: 'x', n: 1, more: [] } }, { json: {} }, { json: { q: 1, n: 1.5 } }, { json: 'not json' }, { json: { n: null } }) },
  { weight: 1, arbitrary: odd.map((kind) => ({ odd: kind })) },
);
const thrown = fc.constantFrom<Thrown>('error', 'harness-error', 'string', 'message-object', 'null', 'unprintable');
const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 3): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined, freq });
const scope = maybe(fc.constantFrom<'a' | 'b'>('a', 'b'), 2);
const names = fc.constantFrom('one', 'two', 'three');

const body = fc.record({
  outcome: fc.oneof({ weight: 4, arbitrary: recipe.map((returns) => ({ returns })) }, { weight: 1, arbitrary: thrown.map((throws) => ({ throws })) }),
  defers: fc.constantFrom(0, 0, 0, 1, 2), concludes: fc.constantFrom(false, false, true), aborts: fc.constantFrom(false, false, false, true),
  unregisters: fc.constantFrom(false, false, false, false, true), failsFirst: fc.constantFrom(0, 0, 0, 1),
});
const tool: fc.Arbitrary<ToolSpec> = fc.record({
  name: names, raw: fc.boolean(), output: fc.constantFrom<ToolSpec['output']>('string', 'integer', 'json', 'json', 'closed-object'), body,
  scope, render: maybe(fc.constantFrom('text', 'throws', 'odd', 'two-blocks'), 2), meta: maybe(fc.constantFrom('value', 'throws', 'odd'), 2),
  finalize: maybe(fc.constantFrom('keep', 'replace', 'throws', 'odd'), 2), concurrency: maybe(fc.constantFrom('yes', 'truthy', 'throws'), 2),
}) as fc.Arbitrary<ToolSpec>;

const pre = fc.constantFrom<PreSpec>('next', 'next', 'next', 'allow', 'deny', 'deny-empty', 'deny-without-reason', 'ask', 'ask-reason', 'throw', 'nothing', 'text', 'unknown-kind', 'abort', 'rename', 'late-deny');
const around = fc.constantFrom<AroundSpec>('next', 'next', 'retry', 'own-success', 'own-invalid', 'own-failure', 'relabel', 'throw', 'nothing', 'swap-signal', 'swap-aborted', 'abort-after', 'earlier', 'with-contexts');
const post = fc.constantFrom<PostSpec>('next', 'next', 'content', 'value', 'value-invalid', 'both', 'block', 'block-image', 'block-empty', 'contexts', 'throw', 'nothing', 'abort', 'undefined-content', 'unknown-kind', 'no-kind');
const placed = { scope, prepend: maybe(fc.boolean(), 2) };
const listener: fc.Arbitrary<ListenerSpec> = fc.oneof(
  fc.record({ on: fc.constant('pre' as const), does: pre, ...placed }),
  fc.record({ on: fc.constant('around' as const), does: around, ...placed }),
  fc.record({ on: fc.constant('post' as const), does: post, ...placed }),
  fc.record({ on: fc.constant('result' as const), does: fc.constantFrom<ResultSpec>('watch', 'throw', 'reject'), ...placed }),
  fc.record({ on: fc.constant('guard' as const), does: fc.constantFrom<GuardSpec>('pass', 'pass', 'deny', 'empty', 'throw'), ...placed }),
);
const call: fc.Arbitrary<CallSpec> = fc.record({
  name: fc.oneof({ weight: 8, arbitrary: names }, { weight: 1, arbitrary: fc.constantFrom('missing', 'run_code', '__proto__') }), args, agent: scope, nested: maybe(fc.boolean(), 3),
  aborted: fc.constantFrom(false, false, false, false, true), abortSoon: fc.constantFrom(false, false, false, false, true), rootCallId: maybe(fc.constant('root'), 4),
});

/** Scenarios of a few tools, listeners and calls. */
export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  tools: fc.array(tool, { minLength: 1, maxLength: 4 }), listeners: fc.array(listener, { maxLength: 5 }), calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  approval: maybe(fc.constantFrom('allowed-once', 'rejected', 'cancelled', 'unavailable', 'throws', 'abort-cancelled'), 2),
  chained: fc.boolean(),
  restrict: maybe(fc.record({ scope: fc.constantFrom<'a' | 'b'>('a', 'b'), allow: maybe(fc.array(names, { maxLength: 2 }), 2), deny: maybe(fc.array(names, { maxLength: 2 }), 2) }), 4),
  mode: fc.constantFrom('native', 'native', 'native', 'code', 'both'),
  presentAs: maybe(fc.record({ scope: fc.constantFrom<'a' | 'b'>('a', 'b'), mode: fc.constantFrom<'native' | 'code' | 'both'>('native', 'code', 'both') }), 4),
}) as fc.Arbitrary<Scenario>;
