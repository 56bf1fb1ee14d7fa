import assert from 'node:assert/strict';
import { Context, Service } from '@deepseek-ai/cordis';
import { ToolNotFoundError } from '../../src/registry/failure.ts';
import * as dshTools from '../../src/registry/dsh-tools.ts';
import * as dshScope from '../../src/scope/dsh-scope.ts';
import * as dshPrompt from '../../src/prompt/dsh-system-prompt.ts';
import { openRegistry, tool } from '../fixtures/registry-host.ts';
import type { RegistryHost } from '../fixtures/registry-host.ts';
import { publishedPrompt, publishedScope, publishedTools } from '../oracle/published.ts';

describe('registry', () => {
  let host: RegistryHost;
  beforeEach(async () => { host = await openRegistry(); });
  afterEach(() => host.close());
  const names = (scope?: object): string[] => host.ctx.tools.schemas(scope).map((schema) => schema.name);
  const changes = (): { count: number } => {
    const seen = { count: 0 };
    host.ctx.on('tools/change', () => { seen.count++; });
    return seen;
  };

  describe('service', () => {
    it('R3.1 ToolRuntime is the service tools, waits for systemPrompt and contributes its schemas', async () => {
      assert.equal(dshTools.default, dshTools.ToolRuntime);
      assert.deepEqual(dshTools.ToolRuntime.inject, ['systemPrompt']);
      assert.ok(host.root.get('tools') instanceof Service);
      const lone = new Context();
      void lone.plugin(dshTools.ToolRuntime, {});
      await new Promise((resolve) => { setImmediate(resolve); });
      assert.equal(lone.get('tools'), undefined);
      await lone.plugin(dshPrompt.SystemPrompt, {});
      await new Promise((resolve) => { setImmediate(resolve); });
      assert.ok(lone.get('tools'));
      await lone.fiber.dispose();
      host.ctx.tools.register(tool('greet'));
      assert.deepEqual((await host.ctx.systemPrompt.assemble()).tools.map(({ name }) => name), ['greet']);
    });

    it('R3.1 the configuration is checked: mode, and at least one parallel sub-call', () => {
      const check = (config: unknown): unknown => dshTools.ToolRuntime.Config['~standard'].validate(config as never);
      assert.deepEqual((check({}) as { value: unknown }).value, { mode: 'native', maxParallelSubCalls: 10 });
      for (const bad of [{ mode: 'sideways' }, { maxParallelSubCalls: 0 }, { maxParallelSubCalls: 1.5 }, { maxParallelSubCalls: -1 }]) {
        assert.ok((check(bad) as { issues?: unknown[] }).issues, JSON.stringify(bad));
      }
    });

    it('R3.2 has its methods and no list()', () => {
      for (const method of ['register', 'restrict', 'guard', 'presentAs', 'get', 'schemas', 'executionMode', 'execute'] as const) {
        assert.equal(typeof host.ctx.tools[method], 'function', method);
      }
      assert.equal('list' in host.ctx.tools, false);
    });

    it('R3.3 the modules lent to plugins export exactly the published names', () => {
      const exported = (module: object): string[] => Object.keys(module).sort();
      assert.deepEqual(exported(dshTools), exported(publishedTools));
      assert.deepEqual(exported(dshScope), exported(publishedScope));
      assert.deepEqual(exported(dshPrompt), exported(publishedPrompt));
      for (const name of ['TOOL_ABORTED', 'TOOL_ABORTED_BEFORE_DISPATCH', 'RUN_CODE_NAME'] as const) assert.equal(dshTools[name], publishedTools[name]);
    });
  });

  describe('register', () => {
    it('R3.4 the returned function unregisters, and so does the fiber; both once and for all', async () => {
      const dispose = host.ctx.tools.register(tool('one'));
      assert.deepEqual(names(), ['one']);
      dispose();
      dispose();
      assert.deepEqual(names(), []);
      host.ctx.tools.register(tool('one'));
      dispose();
      assert.deepEqual(names(), ['one'], 'a spent disposer does not touch a later registration');
      const fiber = await host.root.plugin({ name: 'guest', inject: ['tools'], apply(ctx: Context) { ctx.tools.register(tool('two')); } });
      assert.deepEqual(names(), ['one', 'two']);
      await fiber.dispose();
      assert.deepEqual(names(), ['one']);
    });

    it('R3.5 the definition is borrowed, not copied', () => {
      const definition = tool('one');
      host.ctx.tools.register(definition);
      assert.equal(host.ctx.tools.get('one'), definition);
    });

    const shape = /^TypeError: tool "t" must declare output \{ schema, render, presentationMeta\? \}$/;
    const refused: readonly (readonly [string, object, RegExp])[] = [
      ['no output', { output: undefined }, shape],
      ['output that is null', { output: null }, shape],
      ['no render', { output: { schema: {} } }, shape],
      ['presentationMeta that is no function', { output: { schema: {}, render: () => [], presentationMeta: 1 } }, shape],
      ['no schema', { output: { render: () => [] } }, /unsupported JSON schema/],
      ['a schema outside the subset', { output: { schema: { anyOf: [] }, render: () => [] } }, /schema\.anyOf is not a supported keyword/],
      ['a schema fault before a timeout fault', { timeoutMs: -1, output: { schema: { anyOf: [] }, render: () => [] } }, /anyOf/],
      ...[0, -1, NaN, Infinity, '5'].map((timeoutMs) => [`timeoutMs ${String(timeoutMs)}`, { timeoutMs }, /^TypeError: tool "t" timeoutMs must be a positive finite number$/] as const),
    ];
    for (const [what, part, message] of refused) {
      it(`R3.6 refuses ${what}`, () => {
        assert.throws(() => host.ctx.tools.register(tool('t', undefined, part)), message);
        assert.deepEqual(names(), []);
      });
    }

    it('R3.6 run_code is reserved in every mode', async () => {
      for (const mode of ['native', 'code', 'both'] as const) {
        const other = await openRegistry({ tools: { mode } });
        assert.throws(() => other.ctx.tools.register(tool('run_code')), {
          message: 'tool name "run_code" is reserved for the Code Mode presentation transport and cannot be registered or shadowed',
        });
        await other.close();
      }
    });

    it('R3.6 a name is taken once per layer', () => {
      const { ctx } = host.agent('a');
      host.ctx.tools.register(tool('one'));
      ctx.tools.register(tool('one'));
      assert.throws(() => host.ctx.tools.register(tool('one')), {
        message: 'tool "one" is already registered (for a per-agent variant, register through that agent\'s `agent.ctx` instead)',
      });
      assert.throws(() => ctx.tools.register(tool('one')), { message: 'tool "one" is already registered in this scope' });
    });

    it('R3.7 a raw tool may use any JSON Schema for its parameters and checks its input itself', async () => {
      const parameters = { type: 'object', properties: { q: { type: 'string', pattern: '^a', minLength: 3 } }, $defs: { x: {} } };
      host.ctx.tools.register(tool('raw', (args) => args, { parameters }));
      assert.deepEqual(host.ctx.tools.schemas()[0]!.parameters, parameters);
      const result = await host.call('raw', 42);
      assert.equal(result.value, 42);
    });

    it('R3.7 parameters have to be lossless JSON when they are shown, not before', async () => {
      host.ctx.tools.register(tool('odd', () => 'ran', { parameters: { type: 'object', default: undefined } }));
      const message = 'tool "odd" parameters must be lossless JSON before schema projection';
      assert.throws(() => host.ctx.tools.schemas(), { message });
      await assert.rejects(host.ctx.systemPrompt.assemble(), { message });
      assert.equal((await host.call('odd')).value, 'ran');
    });

    it('R3.8 registrations, restrictions and presentations tell tools/change; guards do not', () => {
      const { ctx } = host.agent('a');
      const seen = changes();
      const step = (run: () => unknown): number => {
        const before = seen.count;
        run();
        return seen.count - before;
      };
      let dispose: () => void = () => {};
      assert.equal(step(() => { dispose = host.ctx.tools.register(tool('one')); }), 1);
      assert.equal(step(() => assert.throws(() => host.ctx.tools.register(tool('one')))), 0);
      let lift: () => void = () => {};
      assert.equal(step(() => { lift = ctx.tools.restrict({ deny: ['one'] }); }), 1);
      assert.equal(step(lift), 1);
      let back: () => void = () => {};
      assert.equal(step(() => { back = ctx.tools.presentAs('code'); }), 1);
      assert.equal(step(back), 1);
      assert.equal(step(() => host.ctx.tools.guard(() => undefined)()), 0);
      assert.equal(step(dispose), 1);
    });
  });

  describe('scopes', () => {
    it('R3.9 a scoped registration is seen in its scope and below, and shadows farther ones', async () => {
      const preset = host.agent('preset');
      const agent = host.agent('agent', preset);
      const other = host.agent('other');
      host.ctx.tools.register(tool('one', () => 'global'));
      preset.ctx.tools.register(tool('one', () => 'preset'));
      preset.ctx.tools.register(tool('two', () => 'preset'));
      agent.ctx.tools.register(tool('two', () => 'agent'));
      const value = async (name: string, { agent: who }: { agent: never } | typeof agent): Promise<unknown> => (await host.call(name, {}, { agent: who })).value;
      assert.deepEqual([await value('one', agent), await value('two', agent)], ['preset', 'agent']);
      assert.deepEqual([await value('one', preset), await value('two', preset)], ['preset', 'preset']);
      assert.equal(await value('one', other), 'global');
      assert.equal(host.ctx.tools.get('two', other.agent), undefined);
      await agent.dispose();
      assert.equal(host.ctx.tools.get('two', agent.agent), host.ctx.tools.get('two', preset.agent), 'a scope takes its registrations along');
    });

    it('R3.10 get resolves the nearest definition; a restricted name is not there', () => {
      const a = host.agent('a');
      host.ctx.tools.register(tool('one'));
      const own = tool('one');
      const dispose = a.ctx.tools.register(own);
      assert.equal(host.ctx.tools.get('one', a.agent), own);
      assert.notEqual(host.ctx.tools.get('one'), own);
      dispose();
      a.ctx.tools.restrict({ deny: ['one'] });
      assert.equal(host.ctx.tools.get('one', a.agent), undefined);
      assert.ok(host.ctx.tools.get('one'));
      assert.equal(host.ctx.tools.get('missing'), undefined);
      assert.equal(host.ctx.tools.get('__proto__'), undefined);
      assert.equal(host.ctx.tools.get('toString'), undefined);
    });

    it('R3.11 schemas are detached copies of name, description and parameters, in registration order', () => {
      const a = host.agent('a');
      const parameters = { type: 'object', properties: { deep: { type: 'array', items: {} } } };
      for (const name of ['c', 'a', 'b']) host.ctx.tools.register(tool(name, undefined, { parameters, timeoutMs: 5, isConcurrencySafe: () => true }));
      a.ctx.tools.register(tool('a', undefined, { description: 'shadow' }));
      a.ctx.tools.register(tool('d'));
      const schemas = host.ctx.tools.schemas(a.agent);
      assert.deepEqual(schemas.map(({ name }) => name), ['c', 'a', 'b', 'd']);
      assert.equal(schemas[1]!.description, 'shadow');
      assert.deepEqual(Object.keys(schemas[0]!), ['name', 'description', 'parameters']);
      (schemas[0]!.parameters['properties'] as Record<string, unknown>)['deep'] = 'spoilt';
      assert.deepEqual(host.ctx.tools.schemas(a.agent)[0]!.parameters, parameters);
    });

    it('R3.12 restrict needs a scope and known names, and says which are unknown', () => {
      const a = host.agent('a');
      host.ctx.tools.register(tool('one'));
      a.ctx.tools.register(tool('own'));
      assert.throws(() => host.ctx.tools.restrict({ deny: ['one'] }), /^Error: tools\.restrict\(\) requires a scoped context \(agent\.ctx\): /);
      assert.throws(() => a.ctx.tools.restrict({}), /empty filter/);
      assert.throws(() => a.ctx.tools.restrict({ allow: ['run_code'] }), /run_code/);
      assert.throws(() => a.ctx.tools.restrict({ deny: ['x'] }), { message: 'tools.restrict() names unknown global tool "x"; known global tools: one' });
      assert.throws(() => a.ctx.tools.restrict({ deny: ['x'], allow: ['own'] }), { message: 'tools.restrict() names unknown global tools "own", "x"; known global tools: one' });
      assert.deepEqual(names(a.agent), ['one', 'own']);
    });

    it('R3.12 restrictions filter what is inherited, intersect, and treat later tools by their kind', async () => {
      const a = host.agent('a');
      for (const name of ['one', 'two', 'three']) host.ctx.tools.register(tool(name));
      a.ctx.tools.register(tool('own'));
      const lift = a.ctx.tools.restrict({ deny: ['one'] });
      assert.deepEqual(names(a.agent), ['two', 'three', 'own']);
      host.ctx.tools.register(tool('late'));
      assert.deepEqual(names(a.agent), ['two', 'three', 'late', 'own'], 'a denial admits what it does not name');
      a.ctx.tools.restrict({ allow: ['one', 'two'] });
      assert.deepEqual(names(a.agent), ['two', 'own'], 'both restrictions count');
      host.ctx.tools.register(tool('later'));
      assert.deepEqual(names(a.agent), ['two', 'own'], 'an allowance excludes what it does not name');
      assert.deepEqual(names(), ['one', 'two', 'three', 'late', 'later'], 'nobody else is affected');
      assert.equal((await host.call('three', {}, { agent: a.agent })).error?.info?.code, 'UNKNOWN_TOOL');
      lift();
      assert.deepEqual(names(a.agent), ['one', 'two', 'own']);
      await a.dispose();
      assert.deepEqual(names(a.agent), names());
    });

    it('R3.13 presentAs is for scopes, once per scope, and gives way when disposed', async () => {
      const a = host.agent('a');
      assert.throws(() => host.ctx.tools.presentAs('code'), /requires a scoped context/);
      const back = a.ctx.tools.presentAs('both');
      assert.throws(() => a.ctx.tools.presentAs('code'), {
        message: 'tools.presentAs("code") conflicts with "both" already declared for this scope; one composition selects one presentation',
      });
      assert.deepEqual([names(a.agent), names()], [['run_code'], []]);
      back();
      assert.deepEqual(names(a.agent), []);
      a.ctx.tools.presentAs('code');
      await a.dispose();
      assert.deepEqual(names(a.agent), []);
    });

    it('C8.1 a mode needs a code runtime whose language is known', async () => {
      const a = host.agent('a');
      a.ctx.tools.presentAs('code');
      host.ctx.tools.register(tool('one'));
      const assemble = (): Promise<{ tools: { name: string }[]; sections: { name: string; text: string }[] }> => host.ctx.systemPrompt.assemble({ scope: a.agent });
      await assert.rejects(assemble(), /^Error: dsh-tools: mode "code" requires a code runtime — /);
      const provide = (language: string): (() => void) => host.root.provide('codeRuntime', { language, run: async () => ({ logs: [] }) });
      const gone = provide('cobol');
      await assert.rejects(assemble(), { message: 'dsh-tools: no SDK renderer registered for runtime language "cobol" (known: "typescript", "python")' });
      await gone();
      provide('typescript');
      const { tools, sections } = await assemble();
      assert.deepEqual(tools.map(({ name }) => name), ['run_code']);
      assert.match(sections.find(({ name }) => name === 'tools:sdk')!.text, /interface ToolArgsMap \{[\s\S]*one: /);
      assert.notEqual(sections.find(({ name }) => name === 'tools:code-only')!.text, '');
      assert.deepEqual((await host.ctx.systemPrompt.assemble()).tools.map(({ name }) => name), ['one'], 'others keep the native presentation');
    });
  });

  describe('executionMode', () => {
    const modes: readonly (readonly [string, (() => unknown) | undefined, 'parallel' | 'exclusive'])[] = [
      ['exactly true', () => true, 'parallel'], ['false', () => false, 'exclusive'], ['something truthy', () => 1, 'exclusive'],
      ['a promise of true', () => Promise.resolve(true), 'exclusive'], ['a throw', () => { throw new Error('no'); }, 'exclusive'], ['no classifier', undefined, 'exclusive'],
    ];
    for (const [what, isConcurrencySafe, kind] of modes) {
      it(`R3.15 ${what} is ${kind}`, () => {
        host.ctx.tools.register(tool('one', undefined, isConcurrencySafe ? { isConcurrencySafe: isConcurrencySafe as () => boolean } : {}));
        const input = { callId: 'c', name: 'one', arguments: {}, signal: new AbortController().signal };
        assert.deepEqual(host.ctx.tools.executionMode(input), { kind });
        assert.deepEqual(host.ctx.tools.executionMode({ ...input, name: 'missing' }), { kind: 'exclusive' });
      });
    }
  });

  it('R3.16 execute resolves for whatever goes wrong, and rootCallId defaults to callId', async () => {
    const seen: string[] = [];
    host.ctx.tools.register(tool('one', (_args, exec) => { seen.push(`${exec.callId} ${exec.rootCallId}`); throw new Error('no'); }));
    await host.call('one', {}, { callId: 'x' });
    await host.call('one', {}, { callId: 'y', rootCallId: 'r' });
    assert.deepEqual(seen, ['x x', 'y r']);
    const unsigned = await host.ctx.tools.execute({ callId: 'c', name: 'one', arguments: {} } as never);
    assert.equal(unsigned.error?.message, 'tool execution needs a signal: pass an AbortSignal to tools.execute()');
    assert.equal(new ToolNotFoundError('x').code, 'UNKNOWN_TOOL');
  });

  it('R3.4 disposing the registry and its users leaves nothing behind', async () => {
    const a = host.agent('a');
    a.ctx.tools.register(tool('one'));
    a.ctx.tools.guard(() => undefined);
    a.ctx.tools.presentAs('both');
    const effects = [...host.ctx.fiber._disposables].length;
    await a.dispose();
    assert.ok([...host.ctx.fiber._disposables].length < effects);
    assert.deepEqual(names(a.agent), []);
    await host.close();
    assert.equal(host.root.get('tools'), undefined);
    assert.deepEqual(Object.keys(host.root.events._hooks).filter((name) => /^tools\//.test(name) && host.root.events._hooks[name]!.length > 0), []);
  });
});
