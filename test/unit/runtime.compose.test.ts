import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Context } from '@deepseek-ai/cordis';
import { startHeadless } from '../../src/headless/compose.ts';
import { ChatCompletionsAdapter } from '../../src/model/chat-completions/adapter.ts';
import { deepseekEndpoint } from '../../src/model/chat-completions/endpoint.ts';
import { OFFLINE_MODEL, OFFLINE_PROVIDER, OfflineAdapter } from '../../src/model/offline/adapter.ts';
import { startRuntime } from '../../src/runtime.ts';
import { defineTool } from '../../src/contract/define-tool.ts';
import { ModelServer } from '../harness/model-server.ts';

describe('runtime', function () {
  this.timeout(30_000);
  let folder: string;
  beforeEach(async () => { folder = await mkdtemp(path.join(os.tmpdir(), 'dsh-runtime-')); });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('has every service and tool of the core', async () => {
    const { ctx, dispose } = await startHeadless({ workspace: folder, sessionsDir: path.join(folder, 's') });
    for (const name of ['systemPrompt', 'tools', 'sessions', 'llm', 'fs', 'shell', 'ripgrep', 'jobs', 'approval', 'permissions', 'review', 'agents', 'userQuestions', 'spillStore', 'attachments']) {
      assert.ok(ctx.get(name), name);
    }
    const names = ctx.tools.schemas().map((schema) => schema.name);
    for (const name of ['read', 'write', 'edit', 'bash', 'grep', 'glob', 'job_output', 'todo_write', 'ask_user_question', 'read_image']) assert.ok(names.includes(name), name);
    await dispose();
  });

  it('dispose leaves nothing: no service, no listener, no child, no handle; twice is once', async () => {
    // mocha starts its own timer only now
    await new Promise((resolve) => setImmediate(resolve));
    const handles = (): string[] => process.getActiveResourcesInfo().filter((name) => !/^(?:TTYWrap|PipeWrap|Immediate|FSReqPromise|FSReqCallback|CloseReq)$/.test(name)).sort();
    const before = handles();
    // a place of its own: other processes of this machine use the usual one
    const [usual, own] = [process.env.TMPDIR, path.join(folder, 'temporary')];
    await mkdir(own);
    process.env.TMPDIR = own;
    const runtime = await startHeadless({ workspace: folder, sessionsDir: path.join(folder, 's') });
    const { ctx } = runtime;
    ctx.llm.registerAdapter([OFFLINE_PROVIDER], new OfflineAdapter());
    const { agent } = await ctx.agents.create({ meta: { cwd: folder }, agentOptions: { provider: OFFLINE_PROVIDER, model: OFFLINE_MODEL } });
    agent.followup({ content: [{ type: 'text', text: '/glob *' }], source: { kind: 'user' } });
    await agent.whenIdle();
    await Promise.all([runtime.dispose(), runtime.dispose()]);
    for (const name of ['tools', 'agents', 'fs', 'shell', 'review', 'llm', 'sessions']) assert.equal(ctx.get(name), undefined, name);
    const listeners = Object.entries(ctx.events._hooks).filter(([name, hooks]) => !name.startsWith('internal/') && hooks.length > 0).map(([name]) => name);
    assert.deepEqual(listeners, []);
    assert.deepEqual(handles(), before);
    assert.deepEqual((await readdir(own)).filter((name) => name.startsWith('dsh-shell-')), []);
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
    assert.deepEqual((await readdir(path.join(folder, 's'))).filter((name) => name.endsWith('.lock')), [], 'no session stays locked');
  });

  it('a part that can\'t start fails the start with its name, and nothing stays', async () => {
    let seen: Context | undefined;
    await assert.rejects(startRuntime({
      providers: async (mount, ctx) => {
        seen = ctx;
        await mount(ctx.plugin({ name: 'broken-provider', apply: () => { throw new Error('no disk'); } }));
      },
    }), /no disk/);
    assert.equal(seen?.get('tools'), undefined);
    await assert.rejects(startRuntime({
      providers: async (mount, ctx) => mount(ctx.plugin({ name: 'lonely', inject: ['nobody'], apply: () => undefined }, undefined)),
    }), /"lonely" did not start: a service it needs is not there/);
  });

  it('log messages reach the given sink, formatted', async () => {
    const lines: string[] = [];
    const { ctx, dispose } = await startHeadless({ workspace: folder, log: ({ level, name, text }) => lines.push(`${level} ${name} ${text}`) });
    ctx.logger('test').warn('%s is %d', 'x', 4);
    ctx.logger('test').debug('quiet');
    await dispose();
    assert.deepEqual(lines.filter((line) => line.includes('test')), ['warn test x is 4']);
  });

  it('a tool registered at any time answers the offline model: Use the greet tool to greet Ada.', async () => {
    const { ctx, dispose } = await startHeadless({ workspace: folder, model: () => ({ provider: OFFLINE_PROVIDER, model: OFFLINE_MODEL }) });
    ctx.llm.registerAdapter([OFFLINE_PROVIDER], new OfflineAdapter());
    ctx.tools.register(defineTool({
      name: 'greet', description: 'Greet someone by name.',
      parameters: { name: { type: 'string', required: true, description: 'Who to greet' } },
      output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
      execute: async ({ name }) => `Hello, ${name}!`,
    }));
    const { agent } = await ctx.agents.create({ meta: { cwd: folder } });
    agent.followup({ content: [{ type: 'text', text: 'Use the greet tool to greet Ada.' }], source: { kind: 'user' } });
    await agent.whenIdle();
    const last = agent.session.messages().at(-1);
    assert.equal(last?.role, 'assistant');
    assert.match(last!.content.map((block) => (block.type === 'text' ? block.text : '')).join(''), /Hello, Ada!/);
    await dispose();
  });

  it('H1 the loop sends reasoning back, with a server that insists on it; also after a reload', async () => {
    const insist = (request: { body: { messages: { role: string; tool_calls?: unknown; reasoning_content?: string }[] } }): boolean => request.body.messages
      .every((message) => message.role !== 'assistant' || message.reasoning_content !== undefined);
    const server = await ModelServer.start();
    const reply = (entry: object) => (request: Parameters<typeof insist>[0]) => (insist(request) ? entry : { error: { status: 400, message: 'reasoning_content is missing' } });
    server.push(
      reply({ reasoning: 'I must look.', toolCalls: [{ name: 'glob', arguments: { pattern: '*' } }] }), reply({ reasoning: 'Nothing.', text: 'Empty.' }),
      reply({ reasoning: 'Again.', text: 'Still empty.' }),
    );
    const sessionsDir = path.join(folder, 's');
    const start = () => startHeadless({
      workspace: folder, sessionsDir, model: () => ({ provider: 'deepseek-official', model: 'deepseek-v4-flash' }),
      extras: async (_mount, ctx) => void ctx.llm.registerAdapter(['deepseek-official'], new ChatCompletionsAdapter({
        endpoints: [deepseekEndpoint(server.baseURL)], getApiKey: async () => 'k-1234',
      })),
    });
    const first = await start();
    const { agent } = await first.ctx.agents.create({ sessionId: 'h1', meta: { cwd: folder } });
    agent.followup({ content: [{ type: 'text', text: 'look' }], source: { kind: 'user' } });
    await agent.whenIdle();
    const end = agent.session.events.at(-1)!;
    assert.ok(end.type === 'turn/end' && end.data.reason.kind === 'completed', JSON.stringify(end.data));
    await first.dispose();
    const second = await start();
    const resumed = await second.ctx.agents.resume({ resumeSessionId: 'h1' });
    resumed.agent.followup({ content: [{ type: 'text', text: 'again' }], source: { kind: 'user' } });
    await resumed.agent.whenIdle();
    const again = resumed.agent.session.events.at(-1)!;
    assert.ok(again.type === 'turn/end' && again.data.reason.kind === 'completed', JSON.stringify(again.data));
    assert.equal(server.requests.length, 3);
    await second.dispose();
    await server.close();
  });
});
