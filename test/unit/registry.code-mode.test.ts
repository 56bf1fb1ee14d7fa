import assert from 'node:assert/strict';
import type { Agent } from '../../src/contract/agent.ts';
import { createUserMessage } from '../../src/contract/message.ts';
import type { ToolExecutionResult } from '../../src/contract/tool.ts';
import type { CodeRunRequest, CodeRunResult } from '../../src/registry/code-runtime.ts';
import { prettyJson } from '../../src/registry/run-code.ts';
import { failureText, openRegistry, text, tool } from '../fixtures/registry-host.ts';
import type { RegistryHost } from '../fixtures/registry-host.ts';

type Tools = Record<string, (args: unknown) => Promise<unknown>>;
/** Stands in for the sandbox: the program is a function of this test, called with the bound tools. */
type Program = (tools: Tools, request: CodeRunRequest) => Promise<Partial<CodeRunResult> | void>;

describe('registry code mode', () => {
  let host: RegistryHost;
  let program: Program;
  const events: { type: string; data: Record<string, unknown> }[] = [];
  const agent = { id: 'a', session: { append: (type: string, data: never) => { events.push({ type, data }); } } } as unknown as Agent;
  beforeEach(async () => {
    events.length = 0;
    host = await openRegistry({ tools: { mode: 'code', maxParallelSubCalls: 2 } });
    host.root.provide('codeRuntime', {
      language: 'typescript',
      run: async (request: CodeRunRequest): Promise<CodeRunResult> => ({ logs: [], ...((await program(request.bindings[0]!.functions as Tools, request)) ?? {}) }),
    });
  });
  afterEach(() => host.close());
  const run = (code: Program, input: object = {}): Promise<ToolExecutionResult> => {
    program = code;
    return host.call('run_code', { code: 'the program', description: 'does it' }, { callId: 'r', agent, ...input });
  };
  const value = async (code: Program): Promise<unknown> => {
    const result = await run(code);
    if (result.isError) throw new Error(result.error.message);
    return (result.value as { result?: unknown }).result;
  };

  it('C8.2 code and a description that says something are required', async () => {
    program = async () => {};
    assert.match(failureText(await host.call('run_code', {})), /missing required property "code"; missing required property "description"/);
    assert.equal(failureText(await host.call('run_code', { code: '', description: ' \n' })), 'invalid description: expected a non-empty string');
  });

  const shown: readonly (readonly [Partial<CodeRunResult>, string])[] = [
    [{}, '(run_code completed with no output)'], [{ logs: ['a', 'b'] }, 'a\nb'], [{ value: 'raw' }, 'raw'], [{ value: null }, 'null'], [{ logs: ['a'], value: { x: [1] } }, 'a\n{\n  "x": [\n    1\n  ]\n}'],
    [{ value: '' }, '(run_code completed with no output)'], [{ value: [] }, '[]'],
  ];
  for (const [outcome, expected] of shown) {
    it(`C8.3 ${JSON.stringify(outcome)} is shown as ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual((await run(async () => outcome)).content, text(expected));
    });
  }

  it('C8.3 indentation ends at 10 characters, and the text is the same JSON', () => {
    const deep = { a: { b: { c: { d: { e: { f: [1, { g: 2 }] } } } } } };
    const words = prettyJson(deep);
    assert.deepEqual(JSON.parse(words), deep);
    assert.match(words, /\n {10}"e": \{"f":\[1,\{"g":2\}\]\}\n/);
    assert.equal(prettyJson({ a: 1, b: [2] }), JSON.stringify({ a: 1, b: [2] }, null, 2));
  });

  it('C8.4 a failed run tells its kind, its message and what was printed', async () => {
    const result = await run(async () => ({ logs: ['one', 'two'], error: { kind: 'exception', message: 'boom' } }));
    assert.equal(failureText(result), 'CODE_RUN_FAILED: code run failed (exception): boom\nCaptured output:\none\ntwo');
    assert.equal(failureText(await run(async () => ({ error: { kind: 'timeout', message: 'late' } }))), 'CODE_RUN_FAILED: code run failed (timeout): late');
  });

  it('C8.5 the card is generic: the description, and the code as its input', () => {
    const { presentCall, presentResult } = host.ctx.tools.get('run_code', agent)!;
    assert.deepEqual(presentCall!({ code: 'c', description: 'd' }), { card: 'generic', title: 'd', kind: 'execute', rawInput: 'c' });
    assert.equal(presentResult, undefined);
  });

  it('C8.9 every visible tool is bound, on no prototype; sub-calls carry their place in the tree', async () => {
    const seen: unknown[] = [];
    host.ctx.tools.register(tool('one', (args, exec) => { seen.push([args, exec.callId, exec.rootCallId, typeof exec.parent, exec.agent === agent, exec.signal.aborted]); return args; }));
    host.ctx.tools.register(tool('a-b'));
    const names = await value(async (tools, { bindings }) => {
      await tools['one']!({ x: 1 });
      await tools['one']!({ x: 2 });
      return { value: [Object.keys(tools), Object.getPrototypeOf(tools) === null, bindings[0]!.global, bindings[0]!.errorClass] as never };
    });
    assert.deepEqual(names, [['one', 'a-b'], true, 'tools', { name: 'ToolCallError', memberNameProperty: 'toolName' }]);
    assert.deepEqual(seen, [[{ x: 1 }, 'r:code:1', 'r', 'symbol', true, false], [{ x: 2 }, 'r:code:2', 'r', 'symbol', true, false]]);
    assert.equal(await value(async (tools) => ({ value: await tools['one']!(undefined).catch((error: Error) => error.message) as string })),
      'tool arguments must be lossless JSON (call the tool with an arguments object, e.g. `{}`)');
  });

  it('C8.9 the signal of sub-calls follows the outer one', async () => {
    const controller = new AbortController();
    let reason: unknown;
    host.ctx.tools.register(tool('wait', async (_args, exec) => { controller.abort(new Error('stop')); reason = (exec.signal.reason as Error).message; return 1; }));
    const result = await run(async (tools) => { await tools['wait']!({}).catch(() => 0); }, { signal: controller.signal });
    assert.equal(reason, 'stop');
    assert.equal(result.error?.info?.code, 'ABORTED');
  });

  it('C8.10 C8.12 sub-calls take the whole pipeline without card data; failures arrive as their message', async () => {
    const order: string[] = [];
    let projected = 0;
    host.ctx.on('tools/pre-execute', async (exec, next) => { order.push(`pre ${exec.name}`); return exec.name === 'no' ? { kind: 'deny', reason: 'not you' } : next(); });
    host.ctx.on('tools/post-execute', async (exec, _result, next) => { order.push(`post ${exec.name}`); return exec.name === 'one' ? { kind: 'accept', value: 'replaced' } : next(); });
    host.ctx.on('tools/result', (exec) => { order.push(`result ${exec.name}`); });
    host.ctx.tools.register(tool('one', () => 'own', { output: { schema: {}, render: () => text(''), presentationMeta: () => { projected++; return 1; } } }));
    host.ctx.tools.register(tool('no'));
    assert.deepEqual(await value(async (tools) => ({ value: [await tools['one']!({}) as string, await tools['no']!({}).catch((error: Error) => error.message) as string] })), ['replaced', 'not you']);
    assert.deepEqual(order, ['pre run_code', 'pre one', 'post one', 'result one', 'pre no', 'post no', 'result no', 'post run_code', 'result run_code']);
    assert.equal(projected, 0);
  });

  it('C8.11 order of starts and results is that of submission; safe calls overlap up to the limit, others run alone', async () => {
    let running = 0;
    const lines: string[] = [];
    let secondDone = (): void => {};
    const second = new Promise<void>((resolve) => { secondDone = resolve; });
    const body = (name: string) => async (args: unknown): Promise<string> => {
      const { n } = args as { n: number };
      lines.push(`${name}${n} with ${running++}`);
      if (n === 0) await second; // the first ends after the second, which therefore must have overlapped with it
      if (n === 1) secondDone();
      running--;
      return `${name}${n}`;
    };
    host.ctx.tools.register(tool('safe', body('s'), { isConcurrencySafe: () => true }));
    host.ctx.tools.register(tool('alone', body('a')));
    let policies = 0;
    for (const stage of ['tools/pre-execute', 'tools/post-execute'] as const) {
      host.ctx.on(stage, async (...args: unknown[]) => {
        if ((args[0] as { parent?: symbol }).parent === undefined) return (args.at(-1) as () => Promise<never>)();
        assert.equal(++policies, 1, 'no two policy steps at a time');
        await new Promise((resolve) => { setTimeout(resolve, 1); });
        policies--;
        return (args.at(-1) as () => Promise<never>)();
      });
    }
    const settled: string[] = [];
    await value(async (tools) => {
      const plan = ['safe', 'safe', 'safe', 'alone', 'safe', 'alone'];
      await Promise.all(plan.map(async (name, n) => { settled.push(await tools[name]!({ n }) as string); }));
    });
    assert.deepEqual(lines.map((line) => line.slice(0, 2)), ['s0', 's1', 's2', 'a3', 's4', 'a5']);
    assert.deepEqual(settled, ['s0', 's1', 's2', 'a3', 's4', 'a5']);
    for (const line of lines) assert.ok(line.startsWith('a') ? line.endsWith('with 0') : /with [01]$/.test(line), lines.join());
    assert.equal(lines[1], 's1 with 1');
  });

  it('C8.13 what the program left behind is abandoned, aborted and drained; later calls are refused', async () => {
    const messages: Promise<string>[] = [];
    let late: Tools = {};
    let drained = false;
    host.ctx.tools.register(tool('slow', async (_args, exec) => {
      await new Promise<void>((resolve) => { exec.signal.addEventListener('abort', () => resolve(), { once: true }); });
      assert.equal((exec.signal.reason as Error).message, 'run_code settled');
      await new Promise((resolve) => { setTimeout(resolve, 5); });
      drained = true;
      return 1;
    }));
    const result = await run(async (tools) => {
      late = tools;
      for (let i = 0; i < 2; i++) messages.push(tools['slow']!({}).then(() => 'ran', (error: Error) => error.message));
      await new Promise((resolve) => { setTimeout(resolve, 5); });
    });
    assert.equal(result.isError, false);
    assert.equal(drained, true);
    messages.push(late['slow']!({}).then(() => 'ran', (error: Error) => error.message));
    assert.deepEqual(await Promise.all(messages), [
      'run_code run is over (completed); slow result discarded', 'run_code run is over (completed); slow tool call abandoned', 'run_code run is over (completed); slow not dispatched',
    ]);
    assert.deepEqual(events.map(({ type, data }) => `${type} ${String(data['subCallId'])}`), ['tool/code-dispatch-start r:code:1', 'tool/code-dispatch r:code:1']);
  });

  it('C8.14 starts and outcomes are logged; the logged content can be shaped, and a throw keeps the original', async () => {
    host.ctx.tools.register(tool('one', (args) => args));
    host.ctx.on('tools/code-dispatch-log', async (dispatch, next) => {
      if (dispatch.subCallId.endsWith('2')) throw new Error('shaper broke');
      return [...(await next()), ...text(`${dispatch.name} ${dispatch.exec.callId}`)];
    });
    await value(async (tools) => { await tools['one']!({ n: 1 }); await tools['one']!({ n: 2 }); });
    const identity = (n: number): object => ({ rootCallId: 'r', parentCallId: 'r', subCallId: `r:code:${n}`, name: 'one', arguments: { n } });
    assert.deepEqual(events, [
      { type: 'tool/code-dispatch-start', data: identity(1) }, { type: 'tool/code-dispatch', data: { ...identity(1), isError: false, content: [...text('{"n":1}'), ...text('one r')] } },
      { type: 'tool/code-dispatch-start', data: identity(2) }, { type: 'tool/code-dispatch', data: { ...identity(2), isError: false, content: text('{"n":2}') } },
    ]);
  });

  it('C8.15 contexts, pictures and the end of the turn reach the outer result, in order', async () => {
    const picture = [{ type: 'image' as const, attachment: { attachmentId: 'p', mediaType: 'image/png', bytes: 1, width: 1, height: 1 } }];
    host.ctx.tools.register(tool('tell', (_args, exec) => { exec.deferContext(createUserMessage({ content: text('told'), source: { kind: 'plugin', plugin: 't' } })); return 1; }));
    host.ctx.tools.register(tool('show', () => 1, { output: { schema: {}, render: () => picture } }));
    host.ctx.tools.register(tool('end', (_args, exec) => { exec.concludeTurn(); return 1; }));
    const result = await run(async (tools) => { await tools['tell']!({}); await tools['show']!({}); await tools['end']!({}); });
    assert.deepEqual(result.additionalContexts!.map(({ content, source }) => [content, source]), [
      [text('told'), { kind: 'plugin', plugin: 't' }], [picture, { kind: 'plugin', plugin: 'tools-code-mode' }],
    ]);
    assert.equal(result.concludesTurn, true);
  });
});
