import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startHeadless } from '../../src/headless/compose.ts';
import { OFFLINE_MODEL, OFFLINE_PROVIDER, OfflineAdapter } from '../../src/model/offline/adapter.ts';
import { lentModules } from '../../src/plugins/modules.ts';
import { PluginSet } from '../../src/plugins/plugin-set.ts';
import type { Runtime } from '../../src/runtime.ts';

/** What a tool plugin may wait for here, with members it will call. The guide lists the same. */
const OFFERED: Record<string, readonly string[]> = {
  tools: ['register', 'restrict', 'guard', 'presentAs', 'get', 'schemas', 'executionMode', 'execute'],
  systemPrompt: ['section', 'context', 'tools', 'variable', 'suppressRuntimeContext', 'assemble'],
  logger: ['info', 'warn', 'error', 'debug'],
  approval: ['request'],
  jobs: ['start', 'list', 'get', 'read', 'kill', 'wait', 'onJobDone', 'onJobsChanged', 'attachController'],
  fs: [],
  agents: ['create', 'resume'],
  shell: [],
  web: [],
  llm: ['registerAdapter'],
  sessions: ['create'],
  userQuestions: [],
  spillStore: ['saveText'],
  attachments: [],
};
/** Services of other hosts that are not here: a plugin that must have one is listed as waiting for it. */
const ABSENT = ['shellEnv', 'subprocess', 'codeRuntime', 'commands', 'skills', 'settings', 'credentials', 'timer'];

describe('services for plugins', function () {
  this.timeout(30_000);
  let folder: string;
  let runtime: Runtime;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'dsh-services-'));
  });
  afterEach(async () => {
    await runtime.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(rows: string, files: Record<string, string>): Promise<PluginSet> {
    for (const [name, text] of Object.entries({ 'cordis.yml': rows, ...files })) await writeFile(path.join(folder, name), text);
    runtime = await startHeadless({
      workspace: folder, sessionsDir: path.join(folder, 'sessions'), model: () => ({ provider: OFFLINE_PROVIDER, model: OFFLINE_MODEL }),
      extras: (mount, ctx) => mount(ctx.plugin(PluginSet, { file: path.join(folder, 'cordis.yml'), modules: lentModules(), watch: false })),
    });
    await runtime.ctx.plugins.settled();
    return runtime.ctx.plugins;
  }

  it('X13.9 every service on offer is there for a plugin that injects it, with its members', async () => {
    const plugin = (name: string, members: readonly string[]) => `
export const inject = ['${name}'];
export function apply(ctx) {
  const missing = ${JSON.stringify(members)}.filter((member) => typeof ctx.${name}[member] !== 'function');
  if (missing.length > 0) throw new Error('${name} lacks ' + missing.join(', '));
}
`;
    const names = Object.keys(OFFERED);
    const set = await start(names.map((name) => `- id: ${name}\n  name: ./${name}.mjs\n`).join(''), Object.fromEntries(names.map((name) => [`${name}.mjs`, plugin(name, OFFERED[name]!)])));
    assert.deepEqual(set.list().map(({ id, status }) => [id, status]), names.map((name) => [name, { state: 'active' }]));
  });

  it('X13.9 the guide names just these services', async () => {
    const guide = await readFile(path.resolve(import.meta.dirname, '../../docs/tool-authoring.md'), 'utf8');
    const line = /The services the host offers: (.*?)\./.exec(guide)?.[1] ?? '';
    assert.deepEqual([...line.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort(), Object.keys(OFFERED).sort());
  });

  it('X13.9 a service that is not here is waited for, by name', async () => {
    const set = await start(ABSENT.map((name) => `- id: ${name}\n  name: ./${name}.mjs\n`).join(''), Object.fromEntries(ABSENT.map((name) => [`${name}.mjs`, `export const inject = ['${name}'];\nexport function apply() {}\n`])));
    assert.deepEqual(set.list().map(({ id, status }) => [id, status]), ABSENT.map((name) => [name, { state: 'waiting', missing: [name] }]));
  });

  it('C8.16 the host runs no programs: without a code runtime of a plugin, code modes refuse and run_code fails', async () => {
    await start('', {});
    const { ctx } = runtime;
    assert.equal(ctx.get('codeRuntime'), undefined);
    const { agent } = await ctx.agents.create({ meta: { cwd: folder } });
    const run = () => ctx.tools.execute({ callId: 'r', name: 'run_code', arguments: { code: 'process.exit()', description: 'x' }, agent, signal: new AbortController().signal });
    const unknown = await run();
    assert.ok(unknown.isError && unknown.error.info?.code === 'UNKNOWN_TOOL');
    agent.ctx.tools.presentAs('code');
    await assert.rejects(ctx.systemPrompt.assemble({ scope: agent, agent }), /requires a code runtime/);
    const refused = await run();
    assert.ok(refused.isError, 'nothing ran');
    assert.match(refused.error.message, /code runtime/);
  });

  it('X13.9 a plugin works with the host: it asks, starts a job, speaks to the agent', async () => {
    const set = await start('- name: ./all.mjs\n', {
      'all.mjs': `
import { defineTool } from '@deepseek-ai/dsh-tools';
export const inject = ['tools', 'systemPrompt', 'logger', 'approval', 'jobs', 'fs', 'agents', 'sessions'];
export function apply(ctx) {
  ctx.systemPrompt.section({ name: 'all', order: 150, text: 'all is there' });
  ctx.tools.register(defineTool({
    name: 'all', description: 'Uses every service.', parameters: {},
    output: { schema: { type: 'json' }, render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }] },
    async execute(_args, exec) {
      const asked = await ctx.approval.request({ agent: exec.agent, toolName: 'all', callId: exec.callId, signal: exec.signal });
      const job = ctx.jobs.start({ kind: 'all', label: 'work', owner: exec.agent, run: () => ({ cancel() {}, done: Promise.resolve({ status: 'completed', output: 'worked' }) }) });
      const finished = await ctx.jobs.wait(job, 1000, exec.agent, exec.signal);
      exec.agent.inject({ content: [{ type: 'text', text: 'from all' }], source: { kind: 'plugin', plugin: 'all' } });
      ctx.logger('all').info('done');
      return { asked, finished: finished.status, output: ctx.jobs.read(job, exec.agent).text, known: ctx.agents.get(exec.agent.id) === exec.agent, session: exec.agent.session.id };
    },
  }));
}
`,
    });
    assert.deepEqual(set.list()[0]!.status, { state: 'active' });
    const { ctx } = runtime;
    ctx.llm.registerAdapter([OFFLINE_PROVIDER], new OfflineAdapter());
    ctx.on('approval/request', async () => 'allowed-once');
    const { agent } = await ctx.agents.create({ meta: { cwd: folder } });
    agent.followup({ content: [{ type: 'text', text: '/all' }], source: { kind: 'user' } });
    await agent.whenIdle();
    const result = agent.session.events.find((event) => event.type === 'tool/result');
    assert.ok(result?.type === 'tool/result');
    const [block] = result.data.message.content[0].content;
    assert.equal(block?.type, 'text');
    const value = JSON.parse(block.type === 'text' ? block.text : '') as Record<string, unknown>;
    assert.match(String(value['output']), /worked/);
    assert.deepEqual({ ...value, output: '' }, { asked: 'allowed-once', finished: 'completed', output: '', known: true, session: agent.session.id });
    assert.ok(agent.session.events.some((event) => event.type === 'user/message' && JSON.stringify(event.data).includes('from all')));
  });
});
