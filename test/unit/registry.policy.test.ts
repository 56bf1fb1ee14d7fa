import assert from 'node:assert/strict';
import type { PreToolDecision, ToolExecution, ToolExecutionResult, ToolExecutionToken } from '../../src/contract/tool.ts';
import { failureText, openRegistry, text, tool } from '../fixtures/registry-host.ts';
import type { RegistryHost } from '../fixtures/registry-host.ts';

describe('registry before the body', () => {
  let host: RegistryHost;
  let ran: string[];
  beforeEach(async () => {
    host = await openRegistry();
    ran = [];
    for (const name of ['one', 'two']) host.ctx.tools.register(tool(name, () => { ran.push(name); return name; }));
  });
  afterEach(() => host.close());
  const decide = (decision: unknown): void => { host.ctx.on('tools/pre-execute', async () => decision as PreToolDecision); };
  const post = (): ToolExecutionResult[] => {
    const seen: ToolExecutionResult[] = [];
    host.ctx.on('tools/post-execute', async (_exec, result, next) => { seen.push(result); return next(); });
    return seen;
  };
  const results = (): ToolExecutionResult[] => {
    const seen: ToolExecutionResult[] = [];
    host.ctx.on('tools/result', (_exec, result) => { seen.push(result); });
    return seen;
  };

  describe('the call', () => {
    const odd: readonly (readonly [string, unknown])[] = [
      ['undefined', undefined], ['NaN', { x: NaN }], ['-0', [-0]], ['a bigint', 1n], ['a function', { toJSON: () => 1 }], ['a date', new Date(0)],
      ['an undefined member', { x: undefined }], ['a hole', Array(1)], ['a symbol key', { [Symbol('k')]: 1 }],
    ];
    for (const [what, args] of odd) {
      it(`P4.2 arguments with ${what} end before any policy`, async () => {
        const order: string[] = [];
        host.ctx.on('tools/pre-execute', async (_exec, next) => { order.push('pre'); return next(); });
        host.ctx.on('tools/post-execute', async (_exec, _result, next) => { order.push('post'); return next(); });
        host.ctx.on('tools/result', (exec) => { order.push(`result ${String(exec.arguments)}`); });
        host.ctx.tools.register(tool('last', () => 0, { finalizeContent: (exec) => { order.push(`finalize ${String(exec.arguments)}`); return undefined; } }));
        const result = await host.call('last', args);
        assert.equal(failureText(result), 'tool execution arguments must be losslessly JSON-serializable');
        assert.deepEqual(order, ['finalize undefined', 'result undefined']);
      });
    }

    it('P4.2 a getter that throws is told in its own words', async () => {
      assert.equal(failureText(await host.call('one', { get x(): never { throw new RangeError('not today'); } })), 'not today');
    });

    it('P4.3 listeners and bodies see one frozen snapshot, detached from the caller', async () => {
      const args = { list: [{ deep: true }] };
      const seen: unknown[] = [];
      host.ctx.on('tools/pre-execute', async (exec, next) => { seen.push(exec.arguments); args.list[0]!.deep = false; return next(); });
      host.ctx.tools.register(tool('see', (given) => { seen.push(given); return null; }));
      await host.call('see', args);
      assert.equal(seen[0], seen[1]);
      assert.deepEqual(seen[0], { list: [{ deep: true }] });
      const { list } = seen[0] as typeof args;
      assert.ok(Object.isFrozen(seen[0]) && Object.isFrozen(list) && Object.isFrozen(list[0]));
    });

    it('P4.3 tokens are fresh symbols; a nested call shows its parent and nothing more', async () => {
      const seen: ToolExecution[] = [];
      host.ctx.on('tools/pre-execute', async (exec, next) => { seen.push(exec); return next(); });
      host.ctx.tools.register(tool('outer', async (_args, exec) => (await host.call('one', {}, { parent: exec.token, rootCallId: exec.rootCallId })).value ?? null));
      await host.call('outer', {}, { callId: 'root' });
      const [outer, inner] = seen as [ToolExecution, ToolExecution];
      assert.equal(typeof outer.token, 'symbol');
      assert.notEqual(outer.token, inner.token);
      assert.deepEqual([outer.parent, inner.parent, inner.rootCallId], [undefined, outer.token, 'root']);
    });

    it('P4.3 the execution is frozen when tools/result runs, not before', async () => {
      const frozen: boolean[] = [];
      host.ctx.on('tools/post-execute', async (exec, _result, next) => { frozen.push(Object.isFrozen(exec)); return next(); });
      host.ctx.on('tools/result', (exec) => { frozen.push(Object.isFrozen(exec)); });
      await host.call('one');
      assert.deepEqual(frozen, [false, true]);
    });

    for (const field of ['callId', 'rootCallId', 'name', 'arguments', 'agent', 'token', 'parent'] as const) {
      it(`P4.4 nobody can change exec.${field}, at any stage`, async () => {
        const attempts: string[] = [];
        const attack = (exec: object): void => {
          const before = (exec as Record<string, unknown>)[field];
          for (const change of [
            () => { (exec as Record<string, unknown>)[field] = 'two'; },
            () => Object.defineProperty(exec, field, { value: 'two' }),
            () => Object.defineProperty(exec, field, { get: () => 'two' }),
            () => { delete (exec as Record<string, unknown>)[field]; },
          ]) assert.throws(change, TypeError);
          assert.equal((exec as Record<string, unknown>)[field], before);
          attempts.push(field);
        };
        host.ctx.on('tools/pre-execute', async (exec, next) => { attack(exec); return next(); });
        host.ctx.on('tools/execute', async (exec, next) => { attack(exec); return next(); });
        host.ctx.on('tools/post-execute', async (exec, _result, next) => { attack(exec); return next(); });
        host.ctx.tools.guard((exec) => { attack(exec); return undefined; });
        for (const given of [{ agent: host.agent('a').agent, parent: Symbol('p') as ToolExecutionToken }, {}]) assert.equal((await host.call('one', {}, given)).value, 'one');
        assert.equal(attempts.length, 8);
        assert.deepEqual(ran, ['one', 'one']);
      });
    }

    it('P4.4 exec.signal can be replaced in tools/execute only, and only by a signal', async () => {
      const { signal } = new AbortController();
      const refuse = (exec: object): void => { assert.throws(() => { (exec as { signal: AbortSignal }).signal = signal; }, TypeError); };
      host.ctx.on('tools/pre-execute', async (exec, next) => { refuse(exec); return next(); });
      host.ctx.on('tools/post-execute', async (exec, _result, next) => { refuse(exec); return next(); });
      host.ctx.on('tools/result', refuse);
      host.ctx.on('tools/execute', async (exec, next) => {
        const before = exec.signal;
        assert.throws(() => { exec.signal = 'soon' as never; }, TypeError);
        assert.throws(() => { exec.signal = undefined as never; }, TypeError);
        exec.signal = signal;
        assert.equal(exec.signal, signal);
        exec.signal = before;
        return next();
      });
      assert.equal((await host.call('one')).value, 'one');
    });

    it('P4.5 finalizeContent is the one of the moment the call came in', async () => {
      const definition = tool('late', () => { definition.finalizeContent = () => text('new'); return 0; }, { finalizeContent: () => text('old') });
      host.ctx.tools.register(definition);
      const args = { get x(): number { definition.finalizeContent = () => text('newer'); return 1; } };
      assert.deepEqual((await host.call('late', args)).content, text('old'));
    });

    it('P4.6 in mode code only run_code is callable directly; no policy sees the rest', async () => {
      const code = await openRegistry({ tools: { mode: 'code' } });
      let finalized = 0;
      let policies = 0;
      code.ctx.tools.register(tool('one', () => 'ran', { finalizeContent: () => { finalized++; return undefined; } }));
      code.ctx.on('tools/pre-execute', async (_exec, next) => { policies++; return next(); });
      const told: unknown[] = [];
      code.ctx.on('tools/result', (_exec, result) => { told.push(result); });
      const refused = await code.call('one');
      assert.equal(failureText(refused), 'UNKNOWN_TOOL: unknown tool "one": only `run_code` is callable directly — call `one` from inside a `run_code` program instead');
      assert.deepEqual([policies, finalized, told.length, told[0] === refused], [0, 0, 1, true]);
      assert.equal(failureText(await code.call('missing')), 'UNKNOWN_TOOL: unknown tool "missing"');
      assert.equal(policies, 1, 'a name nobody sees goes through policy');
      assert.equal((await code.call('one', {}, { parent: Symbol('run') as ToolExecutionToken })).value, 'ran');
      assert.match(failureText(await code.call('one', {}, { signal: AbortSignal.abort() })), /^ABORTED_BEFORE_DISPATCH/);
      assert.equal(finalized, 2, 'a collapsed call that was aborted is finalized');
      await code.close();
    });

    it('P4.7 P4.31 an aborted caller gets the before-dispatch result: no policy, no body, no post-execute', async () => {
      const order: string[] = [];
      host.ctx.on('tools/pre-execute', async (_exec, next) => { order.push('pre'); return next(); });
      const seen = post();
      const told = results();
      const result = await host.call('one', {}, { signal: AbortSignal.abort() });
      assert.deepEqual(result, {
        isError: true, content: text('Error: tool call aborted before dispatch'),
        error: { message: 'tool call aborted before dispatch', info: { name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' } },
      });
      assert.deepEqual([order, seen, told, ran], [[], [], [result], []]);
    });
  });

  describe('tools/pre-execute', () => {
    it('P4.8 first registered is outermost, prepend goes before it, and who does not call next decides alone', async () => {
      const order: string[] = [];
      const listen = (label: string, prepend?: boolean): void => {
        host.ctx.on('tools/pre-execute', async (_exec, next) => {
          order.push(`>${label}`);
          const decision = await next();
          order.push(`<${label}`);
          return decision;
        }, { prepend: prepend ?? false });
      };
      listen('a');
      listen('b');
      listen('front', true);
      assert.equal((await host.call('one')).value, 'one');
      assert.deepEqual(order.splice(0), ['>front', '>a', '>b', '<b', '<a', '<front']);
      host.ctx.on('tools/pre-execute', async () => ({ kind: 'deny', reason: 'mine' }), { prepend: true });
      assert.equal(failureText(await host.call('one')), 'mine');
      assert.deepEqual(order, []);
    });

    it('P4.8 a scoped listener sees the calls of its scope and of scopes inside it', async () => {
      const preset = host.agent('preset');
      const agent = host.agent('agent', preset);
      const seen: string[] = [];
      for (const [label, ctx] of [['global', host.ctx], ['preset', preset.ctx], ['agent', agent.ctx]] as const) {
        ctx.on('tools/pre-execute', async (_exec, next) => { seen.push(label); return next(); });
      }
      for (const [who, expected] of [[agent.agent, ['global', 'preset', 'agent']], [preset.agent, ['global', 'preset']], [host.agent('other').agent, ['global']]] as const) {
        seen.length = 0;
        await host.call('one', {}, { agent: who });
        assert.deepEqual(seen, expected);
      }
      seen.length = 0;
      await host.call('one');
      assert.deepEqual(seen, ['global']);
    });

    it('P4.9 allow runs the body; arguments cannot be rewritten', async () => {
      host.ctx.on('tools/pre-execute', async (exec) => {
        assert.throws(() => { (exec.arguments as { x: number }).x = 2; }, TypeError);
        return { kind: 'allow' };
      });
      host.ctx.tools.register(tool('echo', (args) => args));
      assert.deepEqual((await host.call('echo', { x: 1 })).value, { x: 1 });
    });

    for (const reason of ['not here', '']) {
      it(`P4.10 a denial with reason '${reason}' is the result, and post-execute sees it`, async () => {
        decide({ kind: 'deny', reason });
        const seen = post();
        const result = await host.call('one');
        assert.deepEqual(result, { isError: true, content: text(`Error: ${reason}`), error: { message: reason } });
        assert.deepEqual([seen, ran], [[result], []]);
      });
    }

    it('P4.11 a listener that throws ends the call past post-execute', async () => {
      host.ctx.on('tools/pre-execute', async () => { throw new Error('policy is down'); });
      const seen = post();
      assert.equal(failureText(await host.call('one')), 'policy is down');
      assert.deepEqual([seen, ran], [[], []]);
    });

    for (const decision of [undefined, null, 'allow', true, 0]) {
      it(`P4.11 the non-object ${String(decision)} is no decision: an error, past post-execute`, async () => {
        decide(decision);
        const seen = post();
        assert.equal(failureText(await host.call('one')), 'tools/pre-execute returned an unsupported decision');
        assert.deepEqual([seen, ran], [[], []]);
      });
    }

    const malformed: readonly (readonly [unknown, string])[] = [
      [{}, 'tools/pre-execute returned an unsupported decision'], [{ kind: 'Allow' }, 'tools/pre-execute returned an unsupported decision'],
      [{ kind: 'perhaps', reason: 'x' }, 'tools/pre-execute returned an unsupported decision'], [[], 'tools/pre-execute returned an unsupported decision'],
      [{ allow: true }, 'tools/pre-execute returned an unsupported decision'], [{ kind: 1 }, 'tools/pre-execute returned an unsupported decision'],
      [{ kind: 'deny' }, 'a policy denied tool "one" without giving a reason'], [{ kind: 'deny', reason: 5 }, 'a policy denied tool "one" without giving a reason'],
      [{ kind: 'deny', reason: undefined }, 'a policy denied tool "one" without giving a reason'],
    ];
    for (const [decision, message] of malformed) {
      it(`P4.12 the malformed decision ${JSON.stringify(decision)} denies`, async () => {
        decide(decision);
        const seen = post();
        assert.equal(failureText(await host.call('one')), message);
        assert.deepEqual([seen.length, ran], [1, []]);
      });
    }
  });

  describe('ask', () => {
    const approve = (answer: (request: Record<string, unknown>) => unknown): Record<string, unknown>[] => {
      const requests: Record<string, unknown>[] = [];
      host.root.provide('approval', { request: async (request: Record<string, unknown>) => { requests.push(request); return answer(request); } } as never);
      return requests;
    };

    it('P4.13 without an approval service asking denies, with the reason given', async () => {
      host.ctx.on('tools/pre-execute', async (exec) => (exec.name === 'one' ? { kind: 'ask', reason: 'careful' } : { kind: 'ask' }));
      assert.equal(failureText(await host.call('one')), 'careful');
      assert.equal(failureText(await host.call('two')), 'tool "two" requires approval (not yet supported)');
    });

    it('P4.14 a call without an agent cannot be asked about', async () => {
      const requests = approve(() => 'allowed-once');
      decide({ kind: 'ask', reason: 'r' });
      assert.equal(failureText(await host.call('one')), 'tool "one" requires approval, but the call has no agent to route it through');
      assert.deepEqual([requests, ran], [[], []]);
    });

    const outcomes: readonly (readonly [unknown, string | undefined])[] = [
      ['allowed-once', undefined], ['rejected', 'the user rejected tool "one"'], ['cancelled', 'approval for tool "one" was cancelled'],
      ['unavailable', 'tool "one" requires approval, but no approval channel is available'], ['allowed-forever', 'tool "one" requires approval, but no approval channel is available'],
      [undefined, 'tool "one" requires approval, but no approval channel is available'],
    ];
    for (const [outcome, message] of outcomes) {
      it(`P4.15 the answer ${String(outcome)} ${message === undefined ? 'runs the body' : 'denies'}`, async () => {
        const requests = approve(() => outcome);
        decide({ kind: 'ask', reason: 'why' });
        const seen = post();
        const { agent } = host.agent('a');
        const { signal } = new AbortController();
        const result = await host.call('one', {}, { agent, callId: 'c', signal });
        assert.deepEqual(requests, [{ agent, toolName: 'one', callId: 'c', reason: 'why', signal }]);
        assert.equal(result.isError ? result.error.message : undefined, message);
        assert.deepEqual([seen.length, ran.length], [1, message === undefined ? 1 : 0]);
      });
    }

    it('P4.15 an allowed call still meets the guards; a failing approval service is an error', async () => {
      approve(({ reason }) => { if (reason !== undefined) throw new Error('no screen'); return 'allowed-once'; });
      host.ctx.on('tools/pre-execute', async (exec) => (exec.name === 'one' ? { kind: 'ask' } : { kind: 'ask', reason: 'r' }));
      host.ctx.tools.guard(() => 'guarded');
      const { agent } = host.agent('a');
      assert.equal(failureText(await host.call('one', {}, { agent })), 'guarded');
      assert.equal(failureText(await host.call('two', {}, { agent })), 'no screen');
    });

    it('P4.16 cancelled by the aborting caller is the before-dispatch result, through post-execute', async () => {
      const controller = new AbortController();
      approve(() => { controller.abort(); return 'cancelled'; });
      decide({ kind: 'ask' });
      const seen = post();
      const result = await host.call('one', {}, { agent: host.agent('a').agent, signal: controller.signal });
      assert.equal(result.error?.info?.code, 'ABORTED_BEFORE_DISPATCH');
      assert.equal(seen.length, 1);
    });
  });

  describe('guards', () => {
    it('R3.14 P4.17 any string denies, the first in the order global, far, near wins, and disposing lifts it', async () => {
      const preset = host.agent('preset');
      const agent = host.agent('agent', preset);
      const order: string[] = [];
      const place = (ctx: typeof host.ctx, label: string, reason: string | undefined): (() => void) => ctx.tools.guard(() => { order.push(label); return reason; });
      const lifts = [place(agent.ctx, 'near', ''), place(preset.ctx, 'far', 'far says no'), place(host.ctx, 'first', undefined), place(host.ctx, 'second', 'global says no')];
      const seen = post();
      const ask = async (): Promise<string> => failureText(await host.call('one', {}, { agent: agent.agent }));
      assert.equal(await ask(), 'global says no');
      assert.deepEqual(order.splice(0), ['first', 'second']);
      lifts[3]!();
      assert.equal(await ask(), 'far says no');
      assert.deepEqual(order.splice(0), ['first', 'far']);
      lifts[1]!();
      assert.equal(await ask(), '', 'an empty reason denies, too');
      assert.deepEqual([seen.length, ran], [3, []]);
      lifts[0]!();
      assert.equal((await host.call('one', {}, { agent: agent.agent })).value, 'one');
    });

    it('P4.17 guards run after policy allowed, for nested calls too, and not after a denial', async () => {
      let guarded = 0;
      host.ctx.tools.guard(() => { guarded++; return undefined; });
      await host.call('one', {}, { parent: Symbol('p') as ToolExecutionToken });
      decide({ kind: 'deny', reason: 'no' });
      await host.call('one');
      assert.equal(guarded, 1);
    });

    it('P4.17 a guard that throws ends the call past post-execute', async () => {
      host.ctx.tools.guard(() => { throw new Error('guard broke'); });
      const seen = post();
      assert.equal(failureText(await host.call('one')), 'guard broke');
      assert.deepEqual([seen, ran], [[], []]);
    });

    for (const answer of [null, false, true, 0, Promise.resolve(undefined)]) {
      it(`P4.17 the answer ${answer instanceof Promise ? 'of an async guard' : String(answer)} is no permission`, async () => {
        host.ctx.tools.guard(() => answer as never);
        assert.equal(failureText(await host.call('one')), 'a guard denied tool "one" without giving a reason');
        assert.deepEqual(ran, []);
      });
    }
  });
});
