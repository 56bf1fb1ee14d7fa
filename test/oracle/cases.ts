import type { AroundSpec, BodySpec, CallSpec, ListenerSpec, PostSpec, PreSpec, Recipe, Scenario, ToolSpec } from './scenario.ts';

const hello: Recipe = { json: { q: 'hello' } };
const good: BodySpec = { outcome: { returns: { json: 'fine' } } };
const one: ToolSpec = { name: 'one', output: 'string', body: good, meta: 'value' };
const two: ToolSpec = { ...one, name: 'two' };
const call: CallSpec = { name: 'one', args: hello, agent: 'a' };
const watching: ListenerSpec[] = [{ on: 'pre', does: 'next' }, { on: 'around', does: 'next' }, { on: 'post', does: 'next' }, { on: 'result', does: 'watch' }];

function scene(part: Partial<Scenario>): Scenario {
  return { tools: [one, two], listeners: watching, calls: [call], ...part };
}

function* all(): Iterable<Scenario> {
  const bodies: BodySpec[] = [
    ...(['error', 'harness-error', 'string', 'message-object', 'null', 'unprintable'] as const).map((throws) => ({ outcome: { throws } })),
    ...(['undefined', 'nan', 'negative-zero', 'bigint', 'function', 'symbol', 'date', 'cycle', 'sparse', 'getter-throws', 'map', 'proto-key'] as const)
      .map((odd) => ({ outcome: { returns: { odd } } })),
    { ...good, defers: 2 }, { ...good, concludes: true }, { ...good, aborts: true }, { ...good, unregisters: true }, { outcome: { throws: 'error' }, defers: 1, concludes: true, aborts: true },
  ];
  for (const body of bodies) for (const output of ['json', 'string'] as const) yield scene({ tools: [{ ...one, output, body }] });
  for (const render of ['throws', 'odd', 'two-blocks'] as const) yield scene({ tools: [{ ...one, render }] });
  for (const meta of ['throws', 'odd', 'value'] as const) for (const nested of [false, true]) yield scene({ tools: [{ ...one, meta }], calls: [{ ...call, nested }] });
  for (const finalize of ['keep', 'replace', 'throws', 'odd'] as const) {
    yield scene({ tools: [{ ...one, finalize }], calls: [call, { ...call, aborted: true }, { ...call, args: { odd: 'map' } }, { ...call, args: { json: {} } }] });
    yield scene({ tools: [{ ...one, finalize }], mode: 'code', calls: [call, { ...call, aborted: true }, { ...call, nested: true }, { ...call, args: { odd: 'map' } }] });
  }
  for (const does of ['next', 'allow', 'deny', 'deny-empty', 'deny-without-reason', 'ask', 'ask-reason', 'throw', 'nothing', 'text', 'unknown-kind', 'abort', 'rename', 'late-deny'] satisfies PreSpec[]) {
    yield scene({ listeners: [{ on: 'pre', does }, ...watching] });
    yield scene({ listeners: [...watching, { on: 'pre', does, prepend: true }, { on: 'guard', does: 'deny' }] });
    yield scene({ listeners: [...watching, { on: 'pre', does, scope: 'b' }], calls: [call, { ...call, agent: 'b' }, { ...call, agent: undefined }] });
  }
  for (const approval of ['allowed-once', 'rejected', 'cancelled', 'unavailable', 'throws', 'abort-cancelled'] as const) {
    for (const does of ['ask', 'ask-reason'] as const) yield scene({ approval, listeners: [...watching, { on: 'pre', does }, { on: 'guard', does: 'pass' }], calls: [call, { ...call, agent: undefined }] });
  }
  for (const does of ['next', 'retry', 'own-success', 'own-invalid', 'own-failure', 'relabel', 'throw', 'nothing', 'swap-signal', 'swap-aborted', 'abort-after', 'earlier', 'with-contexts'] satisfies AroundSpec[]) {
    yield scene({ listeners: [{ on: 'around', does }, ...watching], calls: [call, call] });
    yield scene({ tools: [{ ...one, body: { ...good, failsFirst: 1, defers: 1 } }], listeners: [...watching, { on: 'around', does }, { on: 'around', does: 'next' }] });
    yield scene({ listeners: [{ on: 'around', does }], calls: [{ ...call, name: 'missing' }, { ...call, abortSoon: true }] });
  }
  for (const does of ['next', 'content', 'value', 'value-invalid', 'both', 'block', 'block-image', 'block-empty', 'contexts', 'throw', 'nothing', 'abort', 'undefined-content', 'unknown-kind', 'no-kind'] satisfies PostSpec[]) {
    yield scene({ tools: [{ ...one, body: { ...good, defers: 1, concludes: true } }], listeners: [...watching, { on: 'post', does }] });
    yield scene({ tools: [{ ...one, body: { outcome: { throws: 'error' }, defers: 1 } }], listeners: [{ on: 'post', does }, ...watching] });
    yield scene({ tools: [{ ...one, output: 'integer', finalize: 'keep' }], listeners: [{ on: 'post', does }, { on: 'post', does: 'contexts', prepend: true }, ...watching] });
  }
  for (const does of ['throw', 'reject', 'watch'] as const) yield scene({ listeners: [{ on: 'result', does }, ...watching, { on: 'result', does, scope: 'a' }] });
  for (const does of ['pass', 'deny', 'empty', 'throw'] as const) {
    yield scene({ chained: true, listeners: [...watching, { on: 'guard', does: 'pass' }, { on: 'guard', does, scope: 'b' }, { on: 'guard', does: 'pass', scope: 'a' }], calls: [call, { ...call, agent: 'b' }] });
  }
  const scoped = [one, { ...one, scope: 'a' as const, output: 'json' as const }, { ...two, scope: 'b' as const }, two];
  for (const chained of [false, true]) {
    for (const restrict of [{ scope: 'a', allow: ['one'] }, { scope: 'b', deny: ['one'] }, { scope: 'b', allow: ['two'], deny: ['two'] }, { scope: 'a', allow: ['nope'] }, { scope: 'b' }, { scope: 'a', deny: ['run_code'] }] as const) {
      yield scene({ tools: scoped, chained, restrict, calls: (['a', 'b', undefined] as const).flatMap((agent) => [{ ...call, agent }, { ...call, agent, name: 'two' }]) });
    }
    for (const mode of ['native', 'code', 'both'] as const) {
      for (const own of ['native', 'code', 'both'] as const) {
        yield scene({ tools: scoped, chained, mode, presentAs: { scope: 'a', mode: own }, calls: (['a', 'b', undefined] as const).flatMap((agent) => [{ ...call, agent }, { ...call, agent, nested: true }, { ...call, agent, name: 'missing' }]) });
      }
    }
  }
  for (const concurrency of ['yes', 'truthy', 'throws'] as const) for (const raw of [false, true]) yield scene({ tools: [{ ...one, concurrency, raw }] });
  yield scene({ tools: [one, one, { ...one, name: 'run_code' }, { ...one, scope: 'a' }, { ...one, scope: 'a' }] });
}

/** Scenarios picked by hand: each value of each part once, and the combinations that matter. */
export const pickedScenarios: readonly Scenario[] = [...all()];
