import assert from 'node:assert/strict';
import path from 'node:path';
import { Service, type Context } from '@deepseek-ai/cordis';
import { lentModules } from '../../src/plugins/modules.ts';
import { IMPORTS, REQUIRES, openPluginRoom, type PluginRoom } from '../harness/plugin-room.ts';

/** What a plugin adds: a tool named like it, listeners, a guard, a prompt section, an event of its own, and a thing to take down. */
const BODY = (name: string, define: string) => `
  ctx.tools.register(${define}({
    name: '${name}', description: 'Says its name.', parameters: { word: { type: 'string', required: true } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: async ({ word }) => { if (word === 'fail') throw new HarnessError('as asked', 'ASKED'); return '${name}: ' + word + suffix; },
  }));
  ctx.on('tools/pre-execute', async (_exec, next) => next());
  ctx.on('tools/result', () => undefined);
  ctx.tools.guard(() => undefined);
  ctx.systemPrompt.section({ name: 'form:${name}', order: 150, text: '${name} is there.' });
  ctx.effect(() => { globalThis.__forms.up.push('${name}'); return () => { globalThis.__forms.down.push('${name}'); }; }, 'thing');
`;
const INJECT = "['tools', 'systemPrompt']";

/** Ten plugins, every form and every kind of file. */
const PLUGINS: Record<string, { readonly files: Record<string, string>; readonly row?: string; readonly suffix?: string }> = {
  esm: { files: { 'esm.mjs': `${IMPORTS}const suffix = '';\nexport const inject = ${INJECT};\nexport function apply(ctx) {${BODY('esm', 'defineTool')}}\n` } },
  cjs: { files: { 'cjs.cjs': `${REQUIRES}const suffix = '';\nexports.inject = ${INJECT};\nexports.apply = function apply(ctx) {${BODY('cjs', 'defineTool')}};\n` } },
  ts: {
    files: {
      'ts.ts': `import type { Context } from 'cordis';\nimport { defineTool as define } from '@deepseek-ai/dsh-tools';\nimport { HarnessError } from '@deepseek-ai/dsh-llm';\nimport { suffix } from './part.ts';\nexport const name: string = 'ts-plugin';\nexport const inject = ${INJECT} as const;\nexport function apply(ctx: Context): void {${BODY('ts', 'define')}}\n`,
      'part.ts': "export const suffix: string = ' (of two files)';\n",
    },
    suffix: ' (of two files)',
  },
  class: {
    files: {
      'class.ts': `import { Service, type Context } from '@deepseek-ai/cordis';\n${IMPORTS}declare global { var __forms: any }\nconst suffix = '';\nexport default class Counter extends Service {\n  static inject = ${INJECT};\n  constructor(ctx: Context) {\n    super(ctx, 'formCounter');\n${BODY('class', 'defineTool')}  }\n}\n`,
    },
  },
  function: { files: { 'function.ts': `${IMPORTS}const suffix = '';\nfunction plugin(ctx: any): void {${BODY('function', 'defineTool')}}\nplugin.inject = ${INJECT};\nexport default plugin;\n` } },
  object: { files: { 'object.mjs': `${IMPORTS}const suffix = '';\nexport default { name: 'object-plugin', inject: ${INJECT}, apply(ctx) {${BODY('object', 'defineTool')}} };\n` } },
  config: {
    files: { 'config.ts': `${IMPORTS}import Schema from '@deepseek-ai/schemastery';\nexport const inject = ${INJECT};\nexport const Config = Schema.object({ suffix: Schema.string().default('!'), times: Schema.natural().min(1).required() });\nexport function apply(ctx: any, config: any) {\n  const suffix = config.suffix.repeat(config.times);${BODY('config', 'defineTool')}}\n` },
    row: '  config: { times: 3 }\n', suffix: '!!!',
  },
  async: { files: { 'async.mjs': `${IMPORTS}export const inject = ${INJECT};\nexport async function apply(ctx) {\n  const suffix = await new Promise((resolve) => setTimeout(resolve, 20, ' late'));${BODY('async', 'defineTool')}}\n` }, suffix: ' late' },
  package: {
    files: {
      'node_modules/form-package/package.json': '{ "name": "form-package", "type": "module", "exports": { ".": { "import": "./lib/index.js" } } }',
      'node_modules/form-package/lib/index.js': `${IMPORTS}const suffix = '';\nexport const inject = ${INJECT};\nexport function apply(ctx) {${BODY('package', 'defineTool')}}\n`,
    },
  },
  waiting: {
    files: { 'waiting.ts': `${IMPORTS}const suffix = '';\nexport const inject = { tools: {}, systemPrompt: {}, formLater: {} };\nexport function apply(ctx: any) {${BODY('waiting', 'defineTool')}}\n` },
  },
};
/** And those that fail, each another way. */
const FAILING: Record<string, { readonly file: string; readonly text: string; readonly message: RegExp; readonly line: number }> = {
  throws: { file: 'throws.ts', text: `${IMPORTS}const suffix = '';\nexport const inject = ${INJECT};\nexport function apply(ctx: any) {${BODY('throws', 'defineTool')}  throw new Error('after all that');\n}\n`, message: /after all that/, line: 16 },
  rejects: { file: 'rejects.mjs', text: `export async function apply() {\n  await null;\n  throw new Error('later');\n}\n`, message: /later/, line: 3 },
  loads: { file: 'loads.cjs', text: `'use strict';\nrequire('./nowhere.cjs');\n`, message: /nowhere/, line: 2 },
  parses: { file: 'parses.ts', text: 'export const a = 1;\nexport function apply( {\n', message: /./, line: 3 },
  empty: { file: 'empty.mjs', text: 'export const nothing = 1;\n', message: /is not a plugin/, line: 1 },
  config: { file: 'strict.mjs', text: "import Schema from 'schemastery';\nexport const Config = Schema.object({ deep: Schema.object({ port: Schema.number().required() }) });\nexport function apply() {}\n", message: /deep\.port/, line: 1 },
};

describe('plugins of every form', function () {
  this.timeout(30_000);
  let room: PluginRoom;
  const forms: { up: string[]; down: string[] } = { up: [], down: [] };
  const fileOf = (name: string) => Object.keys(PLUGINS[name]!.files)[0]!;
  const row = (name: string) => `- id: ${name}\n  name: ${name === 'package' ? 'form-package' : `./${fileOf(name)}`}\n${PLUGINS[name]!.row ?? ''}`;

  /** Everything a plugin may leave: what the two registries hold, listeners, effects of the root, services. */
  const traces = async () => ({
    tools: room.ctx.tools.schemas(),
    sections: (await room.ctx.systemPrompt.assemble({})).sections.map((section) => section.name).sort(),
    listeners: Object.fromEntries(Object.entries(room.ctx.events._hooks).map(([name, hooks]) => [name, hooks.length] as const).filter(([, count]) => count > 0)),
    effects: [...room.ctx.root.fiber._disposables].length,
    plugins: room.ctx.registry.size,
    services: Object.keys(room.ctx.root.fiber.store ?? {}).sort(),
  });
  const later = () => room.ctx.plugin(class Later extends Service { constructor(inner: Context) { super(inner, 'formLater'); } });
  async function until(what: () => boolean): Promise<void> {
    for (let i = 0; i < 200 && !what(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(what(), `never came: ${what}`);
  }
  const call = (name: string, word: string) => room.call(name, { word });

  beforeEach(async () => {
    room = await openPluginRoom(Object.assign({}, ...Object.values(PLUGINS).map(({ files }) => files), ...Object.values(FAILING).map(({ file, text }) => ({ [file]: text }))) as Record<string, string>);
    forms.up = [];
    forms.down = [];
    (globalThis as { __forms?: unknown }).__forms = forms;
  });
  afterEach(async () => {
    await room.dispose();
    delete (globalThis as { __forms?: unknown }).__forms;
  });

  for (const name of Object.keys(PLUGINS)) {
    it(`X13.1 X13.2 X13.4 X13.8 ${name}: loads, executes, unloads without a trace`, async () => {
      const provider = name === 'waiting' ? undefined : later();
      await provider;
      const before = await traces();
      await room.list(row(name));
      const status = () => room.set.list()[0]!.status;
      let fiber: ReturnType<typeof later> | undefined;
      if (name === 'waiting') {
        assert.deepEqual(status(), { state: 'waiting', missing: ['formLater'] });
        assert.deepEqual(room.ctx.tools.schemas(), []);
        fiber = later();
        await fiber;
        await until(() => status().state === 'active');
      }
      assert.deepEqual(status(), { state: 'active' });
      assert.deepEqual(room.set.list()[0]!.tools, [name]);
      const done = await call(name, 'hi');
      assert.equal(done.isError ? done.error.message : done.value, `${name}: hi${PLUGINS[name]!.suffix ?? ''}`);
      const failed = await call(name, 'fail');
      assert.deepEqual(failed.isError && failed.error, { message: 'as asked', info: { name: 'HarnessError', code: 'ASKED' } }, 'the error class is the host\'s own');
      assert.match((await room.ctx.systemPrompt.assemble({})).sections.map(({ text }) => text).join('\n'), new RegExp(`${name} is there\\.`));
      await fiber?.dispose();
      await room.list('');
      assert.deepEqual(await traces(), before);
      assert.deepEqual([forms.up, forms.down], [[name], [name]]);
    });
  }

  it('X13.1 all ten together: one that is reloaded or fails leaves the others alone', async () => {
    await later();
    const before = await traces();
    const rows = Object.keys(PLUGINS).map(row).join('');
    await room.list(rows);
    assert.deepEqual(room.set.list().map(({ id, status }) => [id, status.state]), Object.keys(PLUGINS).map((name) => [name, 'active']));
    for (const name of Object.keys(PLUGINS)) assert.equal((await call(name, 'hi')).isError, false, name);
    room.write({ 'esm.mjs': 'export function apply( {' });
    forms.up = [];
    await room.set.reload('esm');
    const broken = room.set.list()[0]!;
    assert.ok(broken.status.state === 'failed' && broken.status.running);
    await room.set.reload('ts');
    assert.deepEqual(forms.up, ['ts'], 'only that one ran again');
    for (const name of Object.keys(PLUGINS)) assert.equal((await call(name, 'hi')).isError, false, name);
    await room.list('');
    assert.deepEqual(await traces(), before);
  });

  for (const [name, { file, message, line }] of Object.entries(FAILING)) {
    it(`X13.1 X13.3 failing, ${name}: told with its line, nothing of it stays`, async () => {
      await later();
      const before = await traces();
      await room.list(`- id: bad\n  name: ./${file}\n${name === 'config' ? '  config: { deep: { port: many } }\n' : ''}${row('esm')}`);
      const [bad, good] = room.set.list();
      assert.ok(bad!.status.state === 'failed', JSON.stringify(bad!.status));
      assert.match(bad!.status.problem.message, message);
      assert.equal(bad!.status.problem.file, path.join(room.folder, file));
      assert.equal(bad!.status.problem.line, line);
      assert.deepEqual(bad!.tools, []);
      assert.deepEqual(good!.status, { state: 'active' });
      assert.deepEqual(room.ctx.tools.schemas().map((schema) => schema.name), ['esm']);
      await room.list('');
      assert.deepEqual(await traces(), before);
    });
  }

  it('X13.8 every lent name is one instance in ESM, CJS and TypeScript, file, folder and package', async () => {
    const names = Object.keys(lentModules());
    assert.deepEqual(names, [
      'cordis', '@deepseek-ai/cordis', 'schemastery', '@deepseek-ai/schemastery', '@deepseek-ai/dsh-tools', '@deepseek-ai/dsh-llm', '@deepseek-ai/dsh-scope',
      '@deepseek-ai/dsh-session', '@deepseek-ai/dsh-system-prompt',
    ]);
    const esm = `${names.map((name, i) => `import * as m${i} from '${name}';`).join('\n')}\nglobalThis.__forms.seen.push([${names.map((_, i) => `m${i}`).join(', ')}]);\nexport function apply() {}\n`;
    const cjs = `globalThis.__forms.seen.push([${names.map((name) => `require('${name}')`).join(', ')}]);\nexports.apply = () => {};\n`;
    const files: Record<string, string> = {
      'seen.mjs': esm, 'seen.ts': esm, 'seen.mts': esm, 'seen.cjs': cjs, 'seen-folder/index.ts': esm, 'node_modules/seen-esm/package.json': '{"name":"seen-esm","type":"module","main":"i.js"}',
      'node_modules/seen-esm/i.js': esm, 'node_modules/seen-cjs/package.json': '{"name":"seen-cjs"}', 'node_modules/seen-cjs/index.js': cjs,
    };
    room.write(files);
    const seen: Record<string, unknown>[][] = [];
    Object.assign(forms, { seen });
    await room.list(['./seen.mjs', './seen.ts', './seen.mts', './seen.cjs', './seen-folder', 'seen-esm', 'seen-cjs'].map((name) => `- name: ${name}\n`).join(''));
    assert.deepEqual(room.set.list().map(({ status }) => status), Array(7).fill({ state: 'active' }));
    assert.equal(seen.length, 7);
    const lent = Object.values(lentModules()) as Record<string, unknown>[];
    for (const modules of seen) {
      for (const [i, module] of modules.entries()) {
        for (const key of Object.keys(lent[i]!)) assert.equal(module[key], lent[i]![key], `${names[i]} ${key}`);
      }
    }
  });
});
