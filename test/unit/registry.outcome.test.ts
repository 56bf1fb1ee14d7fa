import assert from 'node:assert/strict';
import { HarnessError } from '../../src/contract/error.ts';
import { createUserMessage } from '../../src/contract/message.ts';
import type { UserMessage } from '../../src/contract/message.ts';
import type { PostToolDecision, ToolExecutionResult, ToolExecutionToken, ToolOutputDefinition, ToolRunContext } from '../../src/contract/tool.ts';
import { TOOL_RUNTIME_SCHEDULER } from '../../src/registry/scheduler.ts';
import { failureText, openRegistry, text, tool } from '../fixtures/registry-host.ts';
import type { RegistryHost } from '../fixtures/registry-host.ts';

const context = (words: string): UserMessage => createUserMessage({ content: text(words), source: { kind: 'plugin', plugin: 'test' } });
const nested = { parent: Symbol('outer') as ToolExecutionToken };
const words = (result: ToolExecutionResult): string[] => (result.additionalContexts ?? []).map(({ content }) => (content[0] as { text: string }).text);

describe('registry from the body on', () => {
  let host: RegistryHost;
  beforeEach(async () => { host = await openRegistry(); });
  afterEach(() => host.close());
  const output = (part: Partial<ToolOutputDefinition>): { output: ToolOutputDefinition } => ({
    output: { schema: {}, render: (_args, value) => text(JSON.stringify(value)), ...part },
  });
  const after = (decision: unknown): void => { host.ctx.on('tools/post-execute', async () => decision as PostToolDecision); };

  describe('tools/execute', () => {
    it('P4.18 next gives the normalized result; a second next runs the body again, inside the retrying wrapper only', async () => {
      const order: string[] = [];
      let runs = 0;
      host.ctx.tools.register(tool('flaky', () => { order.push('body'); if (++runs < 3) throw new Error(`try ${runs}`); return 'ok'; }));
      host.ctx.on('tools/execute', async (_exec, next) => { order.push('outer'); return next(); });
      host.ctx.on('tools/execute', async (_exec, next) => {
        order.push('retry');
        const first = await next();
        assert.equal(failureText(first), 'try 1');
        assert.equal(failureText(await next()), 'try 2');
        return next();
      });
      host.ctx.on('tools/execute', async (_exec, next) => { order.push('inner'); return next(); });
      assert.equal((await host.call('flaky')).value, 'ok');
      assert.deepEqual(order, ['outer', 'retry', 'inner', 'body', 'body', 'body']);
    });

    it('P4.18 a wrapper that forgets to restore the signal does not leave it behind', async () => {
      const { signal } = new AbortController();
      host.ctx.tools.register(tool('one'));
      host.ctx.on('tools/execute', async (exec, next) => { exec.signal = new AbortController().signal; return next(); });
      const seen: AbortSignal[] = [];
      host.ctx.on('tools/post-execute', async (exec, _result, next) => { seen.push(exec.signal); return next(); });
      await host.call('one', {}, { signal });
      assert.deepEqual(seen, [signal]);
    });

    it('P4.18 next after the listeners have answered runs no body', async () => {
      let runs = 0;
      let late: Promise<unknown> | undefined;
      host.ctx.tools.register(tool('one', () => { runs++; return 'one'; }));
      host.ctx.on('tools/execute', async (_exec, next) => {
        late = new Promise((resolve) => { setTimeout(() => resolve(next()), 1); });
        return { isError: true, error: { message: 'given up' }, content: [] };
      });
      await host.call('one');
      await assert.rejects(late!, /after its listeners had answered/);
      assert.equal(runs, 0);
    });

    it('P4.19 the body sees the caller\'s own signal when nobody swapped it', async () => {
      const { signal } = new AbortController();
      let seen: AbortSignal | undefined;
      host.ctx.tools.register(tool('one', (_args, exec) => { seen = exec.signal; return 1; }));
      await host.call('one', {}, { signal });
      assert.equal(seen, signal);
      host.ctx.on('tools/execute', async (_exec, next) => next());
      await host.call('one', {}, { signal });
      assert.equal(seen, signal);
    });

    for (const source of ['caller', 'wrapper'] as const) {
      it(`P4.19 a swapped signal is fused with the caller's: the ${source}'s abort reaches the body with its reason`, async () => {
        const controllers = { caller: new AbortController(), wrapper: new AbortController() };
        const reason = new Error(`from the ${source}`);
        let seen: unknown;
        let again: AbortSignal | undefined;
        host.ctx.on('tools/execute', async (exec, next) => {
          const before = exec.signal;
          exec.signal = controllers.wrapper.signal;
          try {
            return await next();
          } finally {
            exec.signal = before;
          }
        });
        host.ctx.tools.register(tool('wait', async (_args, exec) => {
          again = exec.signal;
          const told = new Promise<void>((resolve) => { exec.signal.addEventListener('abort', () => resolve(), { once: true }); });
          controllers[source].abort(reason);
          await told;
          seen = exec.signal.reason;
          return 1;
        }));
        const result = await host.call('wait', {}, { signal: controllers.caller.signal });
        assert.equal(failureText(result), 'ABORTED: tool call aborted');
        assert.equal(seen, reason);
        assert.notEqual(again, controllers.caller.signal);
      });
    }

    it('P4.19 the fusion listens no longer than the body runs', async () => {
      const listeners = new Map<AbortSignal, number>();
      const counted = (): AbortSignal => {
        const { signal } = new AbortController();
        const add = signal.addEventListener.bind(signal);
        const remove = signal.removeEventListener.bind(signal);
        listeners.set(signal, 0);
        signal.addEventListener = ((...args: Parameters<typeof add>) => { listeners.set(signal, listeners.get(signal)! + 1); add(...args); }) as typeof add;
        signal.removeEventListener = ((...args: Parameters<typeof remove>) => { listeners.set(signal, listeners.get(signal)! - 1); remove(...args); }) as typeof remove;
        return signal;
      };
      const wrapper = counted();
      const during: number[] = [];
      host.ctx.on('tools/execute', async (exec, next) => { const before = exec.signal; exec.signal = wrapper; const result = await next(); exec.signal = before; return result; });
      host.ctx.tools.register(tool('one', () => { during.push(...listeners.values()); return 1; }));
      await host.call('one', {}, { signal: counted() });
      assert.deepEqual(during, [1, 1]);
      assert.deepEqual([...listeners.values()], [0, 0]);
    });

    it('P4.20 a signal that is aborted already keeps the body from starting, through post-execute', async () => {
      let runs = 0;
      const seen: string[] = [];
      host.ctx.tools.register(tool('one', () => { runs++; return 1; }));
      host.ctx.on('tools/execute', async (exec, next) => { const before = exec.signal; exec.signal = AbortSignal.abort(); const result = await next(); exec.signal = before; return result; });
      host.ctx.on('tools/post-execute', async (_exec, result, next) => { seen.push(failureText(result)); return next(); });
      assert.equal(failureText(await host.call('one')), 'ABORTED_BEFORE_DISPATCH: tool call aborted before dispatch');
      assert.deepEqual([runs, seen.length], [0, 1]);
    });

    it('P4.20 the tool is looked up again at dispatch; an unknown one still goes through post-execute', async () => {
      const seen: string[] = [];
      const dispose = host.ctx.tools.register(tool('one'));
      host.ctx.on('tools/pre-execute', async (_exec, next) => { dispose(); return next(); });
      host.ctx.on('tools/post-execute', async (_exec, result, next) => { seen.push(failureText(result)); return next(); });
      const result = await host.call('one');
      assert.deepEqual(result.error, { message: 'unknown tool "one"', info: { name: 'ToolNotFoundError', code: 'UNKNOWN_TOOL' } });
      assert.deepEqual(seen, ['UNKNOWN_TOOL: unknown tool "one"']);
    });
  });

  describe('the body\'s value', () => {
    it('P4.21 snapshot, schema, freeze, render, card data, in this order', async () => {
      const value = { id: 1, list: [{}] };
      const order: unknown[] = [];
      host.ctx.tools.register(tool('one', () => value, output({
        schema: { type: 'object', properties: { id: { type: 'integer' } } },
        render(args, given) {
          const { list } = given as unknown as typeof value;
          order.push('render', args, Object.isFrozen(given) && Object.isFrozen(list) && Object.isFrozen(list[0]), (given as unknown) !== value);
          return text('shown');
        },
        presentationMeta(args, given) { order.push('meta', args, given); return { seen: true }; },
      })));
      const result = await host.call('one', { q: 1 });
      assert.deepEqual(order, ['render', { q: 1 }, true, true, 'meta', { q: 1 }, value]);
      assert.deepEqual(result, { isError: false, value, content: text('shown'), meta: { seen: true } });
      assert.equal(Object.isFrozen(value), false, 'the body keeps its own');
    });

    it('P4.21 a nested call has no card data', async () => {
      let projected = 0;
      host.ctx.tools.register(tool('one', () => 1, output({ presentationMeta: () => { projected++; return 1; } })));
      const result = await host.call('one', {}, nested);
      assert.deepEqual([Object.hasOwn(result, 'meta'), projected], [false, 0]);
    });

    const throws = (): never => { throw new Error('broke'); };
    const broken: readonly (readonly [string, unknown, Partial<ToolOutputDefinition>, string])[] = [
      ['violates its schema', { id: 'x' }, { schema: { type: 'object', properties: { id: { type: 'integer' }, more: {} }, required: ['more'] } }, 'missing required property "value.more"; "value.id" must be an integer'],
      ['is not JSON', undefined, {}, 'value is not lossless JSON'],
      ['is not JSON deep inside', { a: [new Map()] }, {}, 'value is not lossless JSON'],
      ['has a getter that throws', { get x() { return throws(); } }, {}, 'value snapshot failed: broke'],
      ['cannot be rendered', 1, { render: throws }, 'output.render failed: broke'],
      ['renders to something that is not JSON', 1, { render: () => [{ type: 'text', text: undefined as never }] }, 'output.render returned non-lossless JSON'],
      ['renders to no list', 1, { render: () => 'text' as never }, 'output.render failed: it must return an array of content blocks'],
      ['has no card data', 1, { presentationMeta: throws }, 'output.presentationMeta failed: broke'],
      ['has card data that is not JSON', 1, { presentationMeta: () => NaN }, 'output.presentationMeta returned non-lossless JSON'],
    ];
    for (const [what, value, part, complaint] of broken) {
      it(`P4.22 a value that ${what} is INVALID_TOOL_OUTPUT`, async () => {
        host.ctx.tools.register(tool('t', () => value, output(part)));
        const result = await host.call('t');
        assert.deepEqual(result.error, {
          message: `tool "t" returned invalid output: ${complaint}`, info: { name: 'ToolOutputError', code: 'INVALID_TOOL_OUTPUT' },
        });
      });
    }

    it('P4.23 P4.32 the body is awaited to its end; its success after an abort becomes ABORTED', async () => {
      const controller = new AbortController();
      let ended = false;
      host.ctx.tools.register(tool('slow', async () => {
        controller.abort();
        await new Promise((resolve) => { setTimeout(resolve, 5); });
        ended = true;
        return 1;
      }));
      const result = await host.call('slow', {}, { signal: controller.signal });
      assert.equal(ended, true);
      assert.deepEqual(result, {
        isError: true, content: text('Error: tool call aborted'), error: { message: 'tool call aborted', info: { name: 'AbortError', code: 'ABORTED' } },
      });
    });

    it('P4.23 a body that threw after an abort keeps its own error', async () => {
      const controller = new AbortController();
      host.ctx.tools.register(tool('one', () => { controller.abort(); throw new HarnessError('half done', 'HALF'); }));
      assert.equal(failureText(await host.call('one', {}, { signal: controller.signal })), 'HALF: half done');
    });

    it('P4.24 a wrapper\'s own success is checked and rendered by this tool; its content is ignored', async () => {
      host.ctx.tools.register(tool('one', () => 'ran', output({ schema: { type: 'string' }, presentationMeta: () => ({ by: 'one' }) })));
      let answer: unknown;
      host.ctx.on('tools/execute', async () => answer as ToolExecutionResult);
      answer = { isError: false, value: 'cached', content: text('stale'), meta: { stale: true }, additionalContexts: [context('kept')], concludesTurn: true };
      const result = await host.call('one');
      assert.deepEqual({ ...result, additionalContexts: words(result) }, { isError: false, value: 'cached', content: text('"cached"'), meta: { by: 'one' }, additionalContexts: ['kept'] });
      answer = { isError: false, value: 5, content: [] };
      assert.equal(failureText(await host.call('one')), 'INVALID_TOOL_OUTPUT: tool "one" returned invalid output: "value" must be a string');
    });

    it('P4.24 the result of another call is no result of this one; a failure passes as it is', async () => {
      let kept: ToolExecutionResult | undefined;
      host.ctx.tools.register(tool('loose', () => 7));
      host.ctx.tools.register(tool('strict', () => 'x', output({ schema: { type: 'string' } })));
      host.ctx.on('tools/execute', async (exec, next) => (exec.name === 'strict' && kept ? kept : (kept = await next())));
      await host.call('loose');
      assert.match(failureText(await host.call('strict')), /INVALID_TOOL_OUTPUT/);
      kept = { isError: true, error: { message: 'm', info: { name: 'N', code: 'C' } }, content: text('c'), meta: 1, additionalContexts: [context('x')] };
      const result = await host.call('strict');
      assert.deepEqual({ ...result, additionalContexts: words(result) }, { ...kept, additionalContexts: ['x'] });
    });

    for (const [what, act] of [['throws', () => { throw new Error('wrapper broke'); }], ['returns nothing', () => undefined]] as const) {
      it(`P4.25 a wrapper that ${what} ends the call past post-execute`, async () => {
        let posts = 0;
        host.ctx.tools.register(tool('one'));
        host.ctx.on('tools/execute', async (_exec, next) => { await next(); return act() as never; });
        host.ctx.on('tools/post-execute', async (_exec, _result, next) => { posts++; return next(); });
        assert.match(failureText(await host.call('one')), /wrapper broke|must return a tool result/);
        assert.equal(posts, 0);
      });
    }

    it('P4.26 deferred contexts come first, also when the body failed', async () => {
      const defer = (exec: ToolRunContext): void => { exec.deferContext(context('first')); exec.deferContext(context('second')); };
      host.ctx.tools.register(tool('good', (_args, exec) => { defer(exec); return 1; }));
      host.ctx.tools.register(tool('bad', (_args, exec) => { defer(exec); throw new Error('no'); }));
      host.ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [context('wrapped')] }));
      for (const name of ['good', 'bad']) assert.deepEqual(words(await host.call(name)), ['first', 'second', 'wrapped']);
    });
  });

  describe('tools/post-execute', () => {
    beforeEach(() => {
      host.ctx.tools.register(tool('one', (_args, exec) => { exec.deferContext(context('deferred')); return 'value'; }, output({ schema: { type: 'string' }, presentationMeta: (_args, value) => ({ value }) })));
      host.ctx.tools.register(tool('bad', (_args, exec) => { exec.deferContext(context('deferred')); throw new Error('bad'); }));
    });

    it('P4.27 accepting without change keeps the result; listeners nest like before', async () => {
      const order: string[] = [];
      for (const label of ['a', 'b']) host.ctx.on('tools/post-execute', async (_exec, _result, next) => { order.push(`>${label}`); const d = await next(); order.push(`<${label}`); return d; });
      const result = await host.call('one');
      assert.deepEqual([result.value, result.content, result.meta], ['value', text('"value"'), { value: 'value' }]);
      assert.deepEqual(order, ['>a', '>b', '<b', '<a']);
    });

    it('P4.27 content and value together are refused', async () => {
      after({ kind: 'accept', content: undefined, value: 'x' });
      assert.equal(failureText(await host.call('one')), 'tools/post-execute accept decision cannot replace both value and content');
    });

    it('P4.27 P4.28 a decision of an unknown kind hides the result; one without a kind accepts', async () => {
      const decide: { next: unknown } = { next: undefined };
      host.ctx.on('tools/post-execute', async () => decide.next as never);
      for (const kind of ['deny', 'Block', '', null, 0, {}]) {
        decide.next = { kind, reason: 'secret', feedback: text('hidden') };
        const result = await host.call('one');
        assert.equal(failureText(result), 'tools/post-execute returned an unsupported decision');
        assert.deepEqual([result.value, result.meta], [undefined, undefined]);
      }
      decide.next = { content: text('new') };
      const result = await host.call('one');
      assert.deepEqual([result.isError, result.value, result.content], [false, 'value', text('new')]);
    });

    it('P4.28 new content keeps value and meta; deferred contexts come before the decision\'s', async () => {
      after({ kind: 'accept', content: text('new'), additionalContexts: [context('added')] });
      const result = await host.call('one');
      assert.deepEqual([result.value, result.content, result.meta, words(result)], ['value', text('new'), { value: 'value' }, ['deferred', 'added']]);
      const failed = await host.call('bad');
      assert.deepEqual([failed.isError, failed.content, failed.error], [true, text('new'), { message: 'bad' }]);
    });

    it('P4.28 a new value is checked, rendered and projected again', async () => {
      after({ kind: 'accept', value: 'new' });
      const result = await host.call('one');
      assert.deepEqual([result.value, result.content, result.meta, words(result)], ['new', text('"new"'), { value: 'new' }, ['deferred']]);
    });

    it('P4.28 a new value must keep the contract, and a failure has none to replace', async () => {
      after({ kind: 'accept', value: 5 });
      assert.equal(failureText(await host.call('one')), 'INVALID_TOOL_OUTPUT: tool "one" returned invalid output: "value" must be a string');
      assert.equal(failureText(await host.call('bad')), 'tools/post-execute cannot replace the value of a failed result');
    });

    const feedbacks: readonly (readonly [unknown[], string])[] = [
      [[...text('not'), ...text('allowed')], 'not\nallowed'], [[], 'tool result blocked by post-execute policy'], [[{ type: 'image', attachment: {} }, ...text('x')], '[image content]\nx'],
    ];
    for (const [feedback, message] of feedbacks) {
      it(`P4.28 a block becomes the error ${JSON.stringify(message)}, without value, meta and deferred contexts`, async () => {
        after({ kind: 'block', feedback, additionalContexts: [context('why')] });
        const result = await host.call('one');
        assert.deepEqual({ ...result, additionalContexts: words(result) }, { isError: true, content: feedback, error: { message }, additionalContexts: ['why'] });
      });
    }

    for (const [what, decision] of [['throws', () => { throw new Error('post broke'); }], ['returns nothing', () => undefined], ['blocks without feedback', () => ({ kind: 'block' })]] as const) {
      it(`P4.29 a listener that ${what} makes an error that replaces everything`, async () => {
        host.ctx.on('tools/post-execute', async () => decision() as never);
        const result = await host.call('one');
        assert.match(failureText(result), /post broke|unsupported decision|needs `feedback`/);
        assert.deepEqual([result.additionalContexts, result.meta], [undefined, undefined]);
      });
    }

    it('P4.29 an abort during post-execute turns a success into ABORTED and leaves a failure alone', async () => {
      for (const [name, expected] of [['one', 'ABORTED: tool call aborted'], ['bad', 'bad']] as const) {
        const controller = new AbortController();
        const stop = host.ctx.on('tools/post-execute', async (_exec, _result, next) => { controller.abort(); return next(); });
        const result = await host.call(name, {}, { signal: controller.signal });
        assert.equal(failureText(result), expected);
        assert.deepEqual(words(result), ['deferred']);
        stop();
      }
    });
  });

  describe('the end', () => {
    const ends: readonly (readonly [string, () => void, unknown, boolean])[] = [
      ['success', () => {}, {}, false], ['bad arguments', () => {}, NaN, false], ['an abort before it began', () => {}, {}, true],
      ['a denial', () => { host.ctx.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'no' })); }, {}, false],
      ['a policy that throws', () => { host.ctx.on('tools/pre-execute', async () => { throw new Error('x'); }); }, {}, false],
      ['a wrapper that throws', () => { host.ctx.on('tools/execute', async () => { throw new Error('x'); }); }, {}, false],
      ['a post policy that throws', () => { host.ctx.on('tools/post-execute', async () => { throw new Error('x'); }); }, {}, false],
    ];
    for (const [what, arrange, args, early] of ends) {
      it(`P4.30 finalizeContent runs once for ${what} and replaces only the content`, async () => {
        const seen: ToolExecutionResult[] = [];
        host.ctx.tools.register(tool('one', () => 1, { finalizeContent: (_exec, result) => { seen.push(result); return text('final'); } }));
        arrange();
        const result = await host.call('one', args, early ? { signal: AbortSignal.abort() } : {});
        assert.equal(seen.length, 1);
        assert.deepEqual(result, { ...seen[0], content: text('final') });
      });
    }

    it('P4.30 undefined keeps the content; a throw is an error', async () => {
      host.ctx.tools.register(tool('keep', () => 1, { finalizeContent: () => undefined }));
      host.ctx.tools.register(tool('throw', () => 1, { finalizeContent: () => { throw new Error('final broke'); } }));
      assert.deepEqual((await host.call('keep')).content, text('1'));
      assert.equal(failureText(await host.call('throw')), 'final broke');
    });

    it('P4.33 content and meta that are not JSON become an error', async () => {
      host.ctx.tools.register(tool('one'));
      const message = 'tool result must be losslessly JSON-serializable';
      let decision: unknown = { kind: 'accept', content: [{ type: 'text', text: NaN }] };
      host.ctx.on('tools/post-execute', async () => decision as never);
      assert.equal(failureText(await host.call('one')), message);
      decision = { kind: 'accept', additionalContexts: [new Map()] };
      assert.equal(failureText(await host.call('one')), message);
      host.ctx.on('tools/execute', async () => ({ isError: true, error: { message: 'm' }, content: [], meta: new Date() as never }));
      decision = { kind: 'accept' };
      assert.equal(failureText(await host.call('one')), message);
    });

    it('P4.33 P4.34 observers and the caller get the same deep-frozen object', async () => {
      host.ctx.tools.register(tool('one', (_args, exec) => { exec.deferContext(context('c')); return { a: [{}] }; }, output({ presentationMeta: () => ({ m: [{}] }) })));
      const told: unknown[] = [];
      host.ctx.on('tools/result', (_exec, result) => { told.push(result); });
      const frozen = (value: unknown): boolean => typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
      for (const decision of [{ kind: 'accept' }, { kind: 'accept', content: text('x') }, { kind: 'block', feedback: text('no') }]) {
        const stop = host.ctx.on('tools/post-execute', async () => decision as PostToolDecision);
        const result = await host.call('one');
        assert.ok(frozen(result));
        assert.equal(told.pop(), result);
        stop();
      }
    });

    it('P4.34 what one observer throws is logged and reaches neither the others nor the outcome', async () => {
      const warnings: string[] = [];
      host.root.logger.exporter({ levels: { default: 3 }, export: (message: { type: string; args: unknown[] }) => { warnings.push(`${message.type} ${message.args.join(' ')}`); } } as never);
      host.ctx.tools.register(tool('one'));
      const told: string[] = [];
      host.ctx.on('tools/result', () => { throw new Error('observer broke'); });
      host.ctx.on('tools/result', async () => { throw new Error('observer rejected'); });
      host.ctx.on('tools/result', (exec) => { told.push(exec.name); });
      const result = await host.call('one', {}, { callId: 'c7' });
      await new Promise((resolve) => { setImmediate(resolve); });
      assert.equal(result.value, 'one');
      assert.deepEqual(told, ['one']);
      for (const what of ['broke', 'rejected']) assert.ok(warnings.some((line) => line.includes(`tool "one" (c7): tools/result observer failed: observer ${what}`)), warnings.join('\n'));
    });

    it('P4.35 concludeTurn marks a success, nothing else', async () => {
      host.ctx.tools.register(tool('good', (_args, exec) => { const { concludeTurn } = exec; concludeTurn(); return 1; }));
      host.ctx.tools.register(tool('bad', (_args, exec) => { exec.concludeTurn(); throw new Error('no'); }));
      host.ctx.tools.register(tool('plain', () => 1));
      assert.equal((await host.call('good')).concludesTurn, true);
      for (const name of ['bad', 'plain']) assert.equal(Object.hasOwn(await host.call(name), 'concludesTurn'), false);
    });

    const throwns: readonly (readonly [string, unknown, string])[] = [
      ['an Error', new TypeError('plain'), 'plain'], ['a text', 'words', 'words'], ['an object with a message', { message: 'said' }, 'said'], ['null', null, 'null'],
      ['an object without one', { message: 5 }, '[object Object]'], ['a value that cannot be shown', { toString() { throw new Error('no'); } }, '<unprintable thrown value>'],
      ['an object without prototype', Object.create(null), '<unprintable thrown value>'], ['a look-alike of HarnessError', Object.assign(new Error('copy'), { code: 'COPY' }), 'copy'],
    ];
    for (const [what, thrown, message] of throwns) {
      it(`P4.36 ${what} is told as ${JSON.stringify(message)}`, async () => {
        host.ctx.tools.register(tool('one', () => { throw thrown; }));
        assert.deepEqual(await host.call('one'), { isError: true, content: text(`Error: ${message}`), error: { message } });
      });
    }

    it('P4.36 D5.4 a HarnessError, and only one, tells its class name and code', async () => {
      class DiskFull extends HarnessError {}
      host.ctx.tools.register(tool('one', () => { throw new DiskFull('no room', 'ENOSPC', { cause: 1 }); }));
      assert.deepEqual((await host.call('one')).error, { message: 'no room', info: { name: 'DiskFull', code: 'ENOSPC' } });
    });
  });

  describe('the record', () => {
    it('D5.1 a success has a value and no error, a failure an error and no value; identity is on neither', async () => {
      host.ctx.tools.register(tool('good', () => 1));
      host.ctx.tools.register(tool('bad', () => { throw new Error('no'); }));
      assert.deepEqual(Object.keys(await host.call('good')).sort(), ['content', 'isError', 'value']);
      assert.deepEqual(Object.keys(await host.call('bad')).sort(), ['content', 'error', 'isError']);
    });

    it('D5.3 every kind of content block passes unchanged', async () => {
      const blocks = [
        ...text('t'), { type: 'reasoning', text: 'r' }, { type: 'tool-call', id: 'i', name: 'n', arguments: '{' }, { type: 'tool-result', toolCallId: 'i', content: text('x'), isError: true },
        { type: 'image', attachment: { attachmentId: 'a', mediaType: 'image/png', bytes: 1, width: 2, height: 3, name: 'n', originalDimensions: { width: 4, height: 5 } } }, { type: 'of-a-plugin', any: [1] },
      ];
      host.ctx.tools.register(tool('one', () => 1, output({ render: () => blocks as never })));
      assert.deepEqual((await host.call('one')).content, blocks);
    });
  });

  it('O15.3 the stages can be taken one by one, so that only bodies overlap', async () => {
    const order: string[] = [];
    const gates = new Map<string, () => void>();
    host.ctx.tools.register(tool('wait', async (args) => { order.push(`body ${String(args)}`); await new Promise<void>((resolve) => { gates.set(String(args), resolve); }); return args; }));
    host.ctx.on('tools/pre-execute', async (exec, next) => { order.push(`pre ${String(exec.arguments)}`); return next(); });
    host.ctx.on('tools/post-execute', async (exec, _result, next) => { order.push(`post ${String(exec.arguments)}`); return next(); });
    const stages = host.ctx.tools[TOOL_RUNTIME_SCHEDULER];
    const { signal } = new AbortController();
    const running = [];
    for (const args of ['a', 'b']) {
      const prepared = await stages.prepare({ callId: args, name: 'wait', arguments: args, signal });
      assert.equal(prepared.kind, 'dispatch');
      running.push({ exec: prepared.exec, dispatched: stages.dispatch(prepared.exec) });
    }
    gates.get('b')!();
    gates.get('a')!();
    for (const { exec, dispatched } of running) {
      const { kind, result } = await dispatched;
      assert.equal(kind, 'post-result');
      assert.equal((await stages.finalize(exec, result)).isError, false);
    }
    assert.deepEqual(order, ['pre a', 'body a', 'pre b', 'body b', 'post a', 'post b']);
    const refused = await stages.prepare({ callId: 'x', name: 'wait', arguments: NaN, signal });
    assert.equal(refused.kind, 'final-result');
    if (refused.kind === 'final-result') assert.equal(stages.finish(refused.exec, refused.result).isError, true);
    await assert.rejects(stages.dispatch({} as ToolRunContext), /was not prepared by this registry/);
  });
});
