import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import { Agents } from '../../src/agent/agents.ts';
import type { Agent } from '../../src/contract/agent.ts';
import { callView, resultView } from '../../src/contract/card.ts';
import { JobRuntime } from '../../src/jobs/runtime.ts';
import { LlmRuntime } from '../../src/model/llm.ts';
import { lentModules } from '../../src/plugins/modules.ts';
import { PluginSet } from '../../src/plugins/plugin-set.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import { Sessions } from '../../src/session/sessions.ts';
import { WebRuntime } from '../../src/tools/web/service.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Published tool plugins, as npm installed them, on our services without our own tools. */
describe('published plugins', function () {
  this.timeout(60_000);
  let folder: string;
  let ctx: Context;
  let set: PluginSet;
  let agent: Agent;
  let traces: { listeners: string[]; sections: string[] };
  let ids = 0;

  const seen = async () => ({
    listeners: Object.entries(ctx.events._hooks).filter(([name, hooks]) => !name.startsWith('internal/') && hooks.length > 0).map(([name, hooks]) => `${name} ${hooks.length}`).sort(),
    sections: (await ctx.systemPrompt.assemble({})).sections.map((section) => section.name).sort(),
  });

  async function load(row: string): Promise<void> {
    writeFileSync(path.join(folder, 'cordis.yml'), row);
    await set.reload();
    assert.deepEqual(set.list().map((plugin) => plugin.status), row === '' ? [] : [{ state: 'active' }]);
  }

  beforeEach(async () => {
    // beside node_modules, so that the packages are found where npm put them
    mkdirSync(path.join(root, 'out'), { recursive: true });
    folder = mkdtempSync(path.join(root, 'out/published-'));
    ctx = new Context();
    await ctx.plugin(SystemPrompt, {});
    await ctx.plugin(ToolRuntime, {});
    await ctx.plugin(Sessions, {});
    await ctx.plugin(LlmRuntime);
    await ctx.plugin(JobRuntime, {});
    await ctx.plugin(WebRuntime, {});
    await ctx.plugin(Agents, {});
    await ctx.plugin(PluginSet, { file: path.join(folder, 'cordis.yml'), modules: lentModules(), watch: false });
    set = ctx.get('plugins') as PluginSet;
    ({ agent } = await ctx.agents.create({ meta: { cwd: folder } }));
    traces = await seen();
  });
  afterEach(async () => {
    await load('');
    assert.deepEqual(ctx.tools.schemas(agent), [], 'its tools are gone');
    assert.deepEqual(await seen(), traces, 'listeners and prompt sections are as before');
    await ctx.fiber.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  async function call(name: string, args: unknown) {
    const result = await ctx.tools.execute({ callId: `p${++ids}`, name, arguments: args, agent, signal: AbortSignal.timeout(30_000) });
    const definition = ctx.tools.get(name, agent);
    return {
      text: result.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      before: callView(definition, name, args),
      after: resultView(definition, args, { content: result.content, isError: result.isError, ...(result.meta === undefined ? {} : { meta: result.meta }) }),
      result,
    };
  }
  const names = () => ctx.tools.schemas(agent).map((schema) => schema.name).sort();

  it('X13.8 @deepseek-ai/dsh-tool-todo', async () => {
    await load('- name: "@deepseek-ai/dsh-tool-todo"\n  config: { allowParallelInProgress: false }\n');
    assert.deepEqual(names(), ['todo_write']);
    const { text, before } = await call('todo_write', { todos: [{ content: 'Write', status: 'in_progress' }, { content: 'Test', status: 'pending' }] });
    assert.equal(text, 'Updated todo list: 1 pending, 1 in progress, 0 completed.');
    assert.equal(before.title, 'Update todo list');
    assert.equal(agent.session.events.some((event) => event.type === 'todo/write'), true);
    const refused = await call('todo_write', { todos: [{ content: 'Write' }] });
    assert.equal(refused.text, 'Error: invalid arguments: missing required property "todos[0].status"');
    assert.equal(refused.result.isError && refused.result.error.info?.code, 'INVALID_ARGS');
  });

  it('X13.3 @deepseek-ai/dsh-tool-todo without its setting fails with the path', async () => {
    writeFileSync(path.join(folder, 'cordis.yml'), '- name: "@deepseek-ai/dsh-tool-todo"\n');
    await set.reload();
    const status = set.list()[0]?.status;
    assert.ok(status?.state === 'failed');
    assert.match(status.problem.message, /allowParallelInProgress/);
  });

  it('X13.8 @deepseek-ai/dsh-tool-web', async () => {
    const asked: unknown[] = [];
    const fiber = ctx.plugin({
      name: 'pages',
      inject: ['web'],
      apply(inner: Context) {
        inner.web.registerSearchProvider({ id: 'test', available: () => true, search: async (request) => (asked.push(request), { sources: [{ url: 'https://a.test/', title: 'A' }], truncated: false }) });
        inner.web.registerFetchProvider({ id: 'test', available: () => true, fetch: async ({ url }) => ({ url, statusCode: 200, body: { kind: 'html', content: '<h1>Hi</h1><p>there' }, truncated: false }) });
      },
    });
    await fiber;
    await load('- name: "@deepseek-ai/dsh-tool-web"\n');
    assert.deepEqual(names(), ['web_fetch', 'web_search']);
    const search = await call('web_search', { queries: ['tea'] });
    assert.deepEqual(asked, [{ query: 'tea', maxResults: 8 }]);
    assert.match(search.text, /\[A\]\(https:\/\/a\.test\/\)/);
    assert.deepEqual(search.after, { card: 'web', kind: 'search', title: 'tea', sources: [{ url: 'https://a.test/', title: 'A' }], truncated: false });
    const fetched = await call('web_fetch', { url: 'https://a.test/' });
    assert.match(fetched.text, /^Fetched https:\/\/a\.test\/ \(HTTP 200\)/);
    assert.match(fetched.text, /# Hi/);
    assert.equal(fetched.after.card, 'web');
    await fiber.dispose();
    assert.match((await call('web_search', { queries: ['tea'] })).text, /^Error: /);
  });

  it('X13.8 @deepseek-ai/dsh-tool-jobs', async () => {
    assert.throws(() => ctx.jobs.start({ kind: 'x', label: 'x', owner: agent, run: () => ({ cancel: () => undefined, done: new Promise(() => undefined) }) }), /no job controller/);
    await load('- name: "@deepseek-ai/dsh-tool-jobs"\n');
    assert.deepEqual(names(), ['job_kill', 'job_list', 'job_output']);
    let end: (outcome: { status: 'completed' | 'killed'; output?: string }) => void = () => undefined;
    const done = new Promise<{ status: 'completed' | 'killed'; output?: string }>((resolve) => (end = resolve));
    const id = ctx.jobs.start({ kind: 'brew', label: 'tea', owner: agent, run: () => ({ cancel: () => end({ status: 'killed' }), done }) });
    const list = await call('job_list', {});
    assert.equal(list.text, 'brew-1 [brew] running — tea');
    assert.equal(list.before.title, 'List background jobs');
    const waiting = call('job_output', { job_id: id, wait: true });
    end({ status: 'completed', output: 'hot\n' });
    assert.match((await waiting).text, /hot\n\[status: completed\]/);
    assert.match((await call('job_kill', { job_id: id })).text, /already finished/);
    assert.match((await call('job_kill', { job_id: 'brew-9' })).text, /unknown job brew-9/);
  });
});
