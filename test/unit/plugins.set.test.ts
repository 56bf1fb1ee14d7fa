import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Context, Service } from '@deepseek-ai/cordis';
import type { PatchLayers } from '../../src/plugins/layers.ts';
import { lentModules } from '../../src/plugins/modules.ts';
import { PluginSet } from '../../src/plugins/plugin-set.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';

const GREET = `
import type { Context } from 'cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'

export const name = 'greet-tool'
export const inject = ['tools']

export function apply(ctx: Context) {
  ctx.tools.register(defineTool({
    name: 'greet',
    description: 'Greet someone by name.',
    parameters: {
      name: { type: 'string', required: true, description: 'The name to greet' },
    },
    output: {
      schema: { type: 'string' },
      render: (_args, value) => [{ type: 'text', text: value }],
    },
    async execute(args) {
      return \`Hello, \${args.name}!\`
    },
  }))
}
`;

const simple = (tool: string, extra = '') => `
import { defineTool } from '@deepseek-ai/dsh-tools';
${extra}
export const inject = ['tools'];
export function apply(ctx) {
  ctx.tools.register(defineTool({ name: '${tool}', description: 'd', parameters: {}, output: { schema: { type: 'string' }, render: (_a, v) => [{ type: 'text', text: v }] }, execute: async () => '${tool}' }));
}
`;

describe('plugin set', () => {
  let folder: string;
  let ctx: Context;
  let set: PluginSet;

  let layers: () => PatchLayers;

  async function start(files: Record<string, string>, watch = false, patches: readonly string[] | (() => PatchLayers) = []): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    ctx = new Context();
    await ctx.plugin(SystemPrompt, {});
    await ctx.plugin(ToolRuntime, {});
    if (typeof patches === 'function') layers = patches;
    await ctx.plugin(PluginSet, { file: path.join(folder, 'cordis.yml'), modules: lentModules(), watch, patches: typeof patches === 'function' ? () => layers() : patches });
    set = ctx.get('plugins') as PluginSet;
    await set.settled();
  }
  const names = () => ctx.tools.schemas().map((schema) => schema.name);
  const status = (id: string) => set.list().find((plugin) => plugin.id === id)?.status;
  async function until(what: () => boolean): Promise<void> {
    for (let i = 0; i < 200 && !what(); i++) await new Promise((resolve) => setTimeout(resolve, 25));
    assert.ok(what(), `never came: ${what}`);
  }

  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'dsh-plugins-'));
  });
  afterEach(async () => {
    await ctx?.fiber.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  it('T2.8 X13.8 loads the greet tutorial unmodified, as TypeScript, importing Context from cordis', async () => {
    await start({ 'cordis.yml': '- name: ./src/my-plugin.ts\n', 'src/my-plugin.ts': GREET });
    assert.deepEqual(names(), ['greet']);
    assert.deepEqual(set.list()[0]?.tools, ['greet']);
    const result = await ctx.tools.execute({ callId: '1', name: 'greet', arguments: { name: 'Ada' }, signal: new AbortController().signal });
    assert.equal(result.isError ? result.error.message : result.value, 'Hello, Ada!');
  });

  it('X13.4 reloads on save: the old tool is gone, the new one is there', async () => {
    await start({ 'cordis.yml': '- name: ./p.ts\n', 'p.ts': simple('one') }, true);
    assert.deepEqual(names(), ['one']);
    await writeFile(path.join(folder, 'p.ts'), simple('two'));
    await until(() => names()[0] === 'two');
    assert.deepEqual(names(), ['two']);
  });

  it('reloads when a file the plugin imports is saved', async () => {
    await start({ 'cordis.yml': '- name: ./p.ts\n', 'p.ts': simple('one', "import { x } from './dep.ts'; globalThis.__dep = x;"), 'dep.ts': 'export const x = 1;\n' }, true);
    await writeFile(path.join(folder, 'dep.ts'), 'export const x = 2;\n');
    await until(() => (globalThis as { __dep?: number }).__dep === 2);
  });

  it('keeps the running version when the new one does not parse, and tells file and line', async () => {
    await start({ 'cordis.yml': '- name: ./p.ts\n', 'p.ts': simple('one') }, true);
    await writeFile(path.join(folder, 'p.ts'), 'export const a = 1;\nexport const b: = 2;\n');
    await until(() => status('./p.ts')?.state === 'failed');
    const failed = status('./p.ts');
    assert.ok(failed?.state === 'failed' && failed.running);
    assert.equal(failed.problem.file, path.join(folder, 'p.ts'));
    assert.equal(failed.problem.line, 2);
    assert.deepEqual(names(), ['one']);
    await writeFile(path.join(folder, 'p.ts'), simple('three'));
    await until(() => names()[0] === 'three');
    assert.equal(status('./p.ts')?.state, 'active');
  });

  it('X13.1 an apply that throws fails alone, with the line it threw at', async () => {
    await start({ 'cordis.yml': '- name: ./bad.ts\n- name: ./good.ts\n', 'bad.ts': "export const inject = ['tools'];\n\nexport function apply() {\n  throw new Error('boom');\n}\n", 'good.ts': simple('good') });
    const failed = status('./bad.ts');
    assert.ok(failed?.state === 'failed');
    assert.equal(failed.problem.message, 'boom');
    assert.equal(failed.problem.line, 4);
    assert.deepEqual(names(), ['good']);
  });

  it('X13.2 a plugin that waits for a service says for which, and starts when it comes', async () => {
    await start({ 'cordis.yml': '- name: ./w.ts\n', 'w.ts': simple('late').replace("['tools']", "['tools', 'weather']") });
    assert.deepEqual(status('./w.ts'), { state: 'waiting', missing: ['weather'] });
    const provider = ctx.plugin(class Weather extends Service { constructor(inner: Context) { super(inner, 'weather'); } });
    await provider;
    await until(() => names().includes('late'));
    assert.equal(status('./w.ts')?.state, 'active');
    await provider.dispose();
    await until(() => !names().includes('late'));
    assert.equal(status('./w.ts')?.state, 'waiting');
  });

  it('X13.1 takes every form: ESM, CJS, class, function, default export', async () => {
    await start({
      'cordis.yml': ['esm.mjs', 'cjs.cjs', 'cls.ts', 'fn.ts', 'folder'].map((file) => `- name: ./${file}\n`).join(''),
      'esm.mjs': simple('esm'),
      'cjs.cjs': "const { defineTool } = require('@deepseek-ai/dsh-tools');\nexports.inject = ['tools'];\nexports.apply = (ctx) => { ctx.tools.register(defineTool({ name: 'cjs', description: 'd', parameters: {}, output: { schema: { type: 'null' }, render: () => [] }, execute: async () => null })); };\n",
      'cls.ts': "import { Service, type Context } from '@deepseek-ai/cordis';\nexport default class Weather extends Service { static inject = ['tools']; constructor(ctx: Context) { super(ctx, 'weather2'); } }\n",
      'fn.ts': "export default function plugin(ctx: any) { ctx.inject(['tools'], (inner: any) => {}); }\n",
      'folder/package.json': '{"name":"f","type":"module","main":"./lib.js"}', 'folder/lib.js': simple('packaged'),
    });
    assert.deepEqual(set.list().map((plugin) => plugin.status.state), ['active', 'active', 'active', 'active', 'active']);
    assert.deepEqual(names().sort(), ['cjs', 'esm', 'packaged']);
  });

  it('X13.3 validates the config and tells the failing path', async () => {
    const text = "import Schema from 'schemastery';\nexport const Config = Schema.object({ port: Schema.number().default(7) });\nexport function apply(ctx: any, config: any) { (globalThis as any).__port = config.port; }\n";
    await start({ 'cordis.yml': '- id: a\n  name: ./c.ts\n- id: b\n  name: ./c.ts\n  config: { port: many }\n', 'c.ts': text });
    assert.equal((globalThis as { __port?: number }).__port, 7);
    const failed = status('b');
    assert.ok(failed?.state === 'failed');
    assert.match(failed.problem.message, /port/);
  });

  it('X13.5 reads disabled, !!js, groups and patches', async () => {
    await start({
      'cordis.yml': '- id: off\n  name: ./p.ts\n  disabled: true\n- id: js\n  name: ./q.ts\n  disabled: !!js 1 + 1 === 3\n- id: g\n  group:\n    - id: inner\n      name: ./r.ts\n',
      'p.ts': simple('p'), 'q.ts': simple('q'), 'r.ts': simple('r'),
    });
    assert.deepEqual(status('off'), { state: 'disabled' });
    assert.deepEqual(names().sort(), ['q', 'r']);
  });

  it('X13.7 a name that is nowhere fails with what was looked for', async () => {
    await start({ 'cordis.yml': '- name: ./nope.ts\n- name: not-installed-here\n' });
    const [a, b] = set.list();
    assert.ok(a?.status.state === 'failed' && a.status.problem.message.includes('does not exist'));
    assert.equal(a.status.problem.line, 1);
    assert.ok(b?.status.state === 'failed' && b.status.problem.message.includes('npm install not-installed-here'));
    assert.equal(b.status.problem.line, 2);
  });

  it('X13.5 a broken plugin file is told with its line and leaves nothing half loaded', async () => {
    await start({ 'cordis.yml': '- name: ./p.ts\n  disabled: [\n', 'p.ts': simple('p') });
    const [bad] = set.list();
    assert.ok(bad?.status.state === 'failed');
    assert.ok((bad.status.problem.line ?? 0) >= 2);
    assert.deepEqual(names(), []);
  });

  it('X13.5 X13.6 while a source can not be read everything stays as it is and is told; then reloading goes on', async () => {
    const patch = path.join(folder, 'extra.patch.yml');
    await start({ 'cordis.yml': '- id: p\n  name: ./p.ts\n- id: q\n  name: ./q.ts\n', 'p.ts': simple('p1'), 'q.ts': simple('q1'), 'extra.patch.yml': '- id: q\n  disabled: true\n' }, true, [patch]);
    assert.deepEqual(names(), ['p1']);
    await rm(patch);
    await mkdir(patch);
    await until(() => set.list().some(({ status: { state } }) => state === 'failed'));
    const told = set.list().find(({ status: { state } }) => state === 'failed')!;
    assert.ok(told.status.state === 'failed' && told.status.problem.message.includes("can't be read"), JSON.stringify(told));
    assert.equal(told.place.file, patch);
    assert.deepEqual(names(), ['p1'], 'what the patch turned off stays off');
    await writeFile(path.join(folder, 'p.ts'), simple('p2'));
    await until(() => names()[0] === 'p2');
    await set.reload();
    assert.deepEqual(names(), ['p2']);
    await rm(patch, { recursive: true });
    await until(() => names().length === 2);
    assert.deepEqual(names().sort(), ['p2', 'q1']);
    assert.deepEqual(set.list().map(({ status: { state } }) => state), ['active', 'active']);
  });

  it('X13.4 what goes wrong in one reload does not end reloading', async () => {
    await start({ 'cordis.yml': '- name: ./p.ts\n', 'p.ts': simple('p1') }, true, () => { throw new Error('no layers today'); });
    const off = set.onChange(() => { throw new Error('a listener that throws'); });
    await set.reload();
    const told = set.list().map(({ status }) => (status.state === 'failed' ? status.problem.message : status.state));
    assert.deepEqual(told, ["the plugins can't be reloaded: no layers today"]);
    off();
    layers = () => ({ files: [], watched: [], bad: [] });
    await set.reload();
    assert.deepEqual(names(), ['p1']);
    assert.equal(set.list().length, 1);
  });

  it('X13.4 disposal leaves nothing behind', async () => {
    await start({ 'cordis.yml': '- name: ./p.ts\n', 'p.ts': simple('p') }, true);
    const tools = ctx.tools;
    await ctx.fiber.dispose();
    assert.deepEqual(tools.schemas(), []);
  });
});
