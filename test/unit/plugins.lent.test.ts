import assert from 'node:assert/strict';
import Module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { IMPORTS as ESM, REQUIRES as CJS, openPluginRoom, type PluginRoom } from '../harness/plugin-room.ts';

/** A tool that tells whether the modules it was made with are the host's: the code of a HarnessError survives then (P4.36). */
const register = (name: string, value = `'${name}'`) => `ctx.tools.register(defineTool({
    name: '${name}', description: 'd', parameters: { fail: { type: 'boolean' } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    async execute(args) { if (args.fail) throw new HarnessError('asked to', 'ASKED'); return ${value}; },
  }))`;

/** name → [row, files, the tool's answer]. A copy of the lent packages is installed in node_modules and must not be used. */
const FORMS: Readonly<Record<string, { row: string; files: Record<string, string>; answers?: string }>> = {
  'ESM, .mjs, named exports': { row: '- name: ./a.mjs', files: { 'a.mjs': `${ESM}export const name = 'a';\nexport const inject = ['tools'];\nexport function apply(ctx) { ${register('form')}; }\n` } },
  'ESM, .js of a "type": "module" package, helper file': {
    row: '- name: ./pkg', files: {
      'pkg/package.json': '{ "name": "pkg", "type": "module", "exports": "./main.js" }',
      'pkg/main.js': `${ESM}import { answer } from './helper.js';\nexport const inject = ['tools'];\nexport const apply = (ctx) => { ${register('form', 'answer')}; };\n`,
      'pkg/helper.js': "import * as tools from '@deepseek-ai/dsh-tools';\nexport const answer = tools.RUN_CODE_NAME;\n",
    }, answers: 'run_code',
  },
  'CommonJS, exports.apply, helper file': {
    row: '- name: ./a.cjs', files: {
      'a.cjs': `${CJS}const { answer } = require('./helper.cjs');\nexports.inject = ['tools'];\nexports.apply = (ctx) => { ${register('form', 'answer')}; };\n`,
      'helper.cjs': "exports.answer = require('@deepseek-ai/dsh-tools').RUN_CODE_NAME;\n",
    }, answers: 'run_code',
  },
  'CommonJS, module.exports is the plugin': { row: '- name: ./a.js', files: { 'a.js': `${CJS}module.exports = Object.assign((ctx) => { ${register('form')}; }, { inject: ['tools'] });\n` } },
  'TypeScript, default function': { row: '- name: ./a.ts', files: { 'a.ts': `${ESM}import type { Context } from 'cordis';\nfunction plugin(ctx: Context): void { ${register('form')}; }\nplugin.inject = ['tools'] as const;\nexport default plugin;\n` } },
  'TypeScript, class that is a service': {
    row: '- name: ./a.ts', files: {
      'a.ts': `${ESM}import { Service, type Context } from '@deepseek-ai/cordis';\nexport default class Form extends Service {\n  static inject = ['tools'];\n  readonly greeting: string = 'from a class';\n  constructor(ctx: Context) { super(ctx, 'form'); ${register('form', "ctx.get('form').greeting")}; }\n}\n`,
    }, answers: 'from a class',
  },
  'TypeScript, with Config': {
    row: '- name: ./a.mts\n  config: { words: [x, y] }', files: {
      'a.mts': `${ESM}import Schema from 'schemastery';\nimport type { Context } from 'cordis';\nexport const inject = ['tools'];\nexport const Config = Schema.object({ words: Schema.array(String), end: Schema.string().default('!') });\nexport function apply(ctx: Context, config: { words: string[]; end: string }) { ${register('form', "config.words.join('-') + config.end")}; }\n`,
    }, answers: 'x-y!',
  },
  'async apply': { row: '- name: ./a.cts', files: { 'a.cts': `${ESM}export const inject = ['tools'];\nexport async function apply(ctx) { await new Promise((resolve) => setTimeout(resolve, 5)); ${register('form')}; }\n` } },
  'await at the top level': { row: '- name: ./a.mts', files: { 'a.mts': `${ESM}const word: string = await Promise.resolve('awaited');\nexport const inject = ['tools'];\nexport function apply(ctx) { ${register('form', 'word')}; }\n` }, answers: 'awaited' },
  'an installed ESM package': {
    row: '- name: dsh-form', files: {
      'node_modules/dsh-form/package.json': '{ "name": "dsh-form", "version": "1.0.0", "type": "module", "exports": { ".": { "import": "./index.js" } } }',
      'node_modules/dsh-form/index.js': `${ESM}export const inject = ['tools'];\nexport function apply(ctx) { ${register('form')}; }\n`,
    },
  },
  'an installed CommonJS package': {
    row: '- name: "@me/dsh-form"', files: {
      'node_modules/@me/dsh-form/package.json': '{ "name": "@me/dsh-form", "version": "1.0.0", "main": "./index.js" }',
      'node_modules/@me/dsh-form/index.js': `${CJS}exports.inject = ['tools'];\nexports.apply = (ctx) => { ${register('form')}; };\n`,
    },
  },
};

describe('modules lent to plugins', function () {
  this.timeout(30_000);
  let room: PluginRoom;
  const run = (args: unknown) => room.call('form', args);

  beforeEach(async () => {
    const decoy = 'throw new Error("a copy was loaded instead of the host\'s own module")';
    room = await openPluginRoom(Object.fromEntries(['dsh-tools', 'dsh-llm', 'cordis', 'schemastery'].flatMap((name) => [
      [`node_modules/@deepseek-ai/${name}/package.json`, `{ "name": "@deepseek-ai/${name}", "main": "./index.js" }`], [`node_modules/@deepseek-ai/${name}/index.js`, decoy],
    ])));
  });
  afterEach(() => room.dispose());

  for (const [name, { row, files, answers = 'form' }] of Object.entries(FORMS)) {
    it(`X13.8 ${name}: loads with the host's own modules, runs, reloads, unloads`, async () => {
      room.write({ ...files, 'cordis.yml': `${row}\n` });
      await room.set.reload();
      assert.deepEqual(room.set.list().map((plugin) => plugin.status), [{ state: 'active' }]);
      assert.deepEqual(room.set.list()[0]?.tools, ['form']);
      const result = await run({});
      assert.deepEqual(result.content, [{ type: 'text', text: answers }]);
      const failed = await run({ fail: true });
      assert.ok(failed.isError);
      assert.deepEqual(failed.error, { message: 'asked to', info: { name: 'HarnessError', code: 'ASKED' } });

      const [file, text] = Object.entries(files).find(([, source]) => source.includes('asked to'))!;
      room.write({ [file]: text.replace('asked to', 'asked again') });
      await room.set.reload(room.set.list()[0]!.id);
      const again = await run({ fail: true });
      assert.equal(again.isError && again.error.message, 'asked again');

      room.write({ 'cordis.yml': '' });
      await room.set.reload();
      assert.deepEqual(room.ctx.tools.schemas(), []);
    });
  }

  it('X13.2 X13.3 X13.7 what waits or fails says why, and the others run', async () => {
    room.write({
      'cordis.yml': ['waits.ts', 'throws.ts', 'rejects.ts', 'syntax.ts', 'empty.ts', 'config.ts', 'good.ts', 'missing.ts'].map((name) => `- name: ./${name}\n`).join(''),
      'waits.ts': "export const inject = ['tools', 'sundial'];\nexport function apply() {}\n",
      'throws.ts': "export function apply() {\n  throw new Error('no luck');\n}\n",
      'rejects.ts': "export async function apply() {\n  await null;\n  throw new Error('late luck');\n}\n",
      'syntax.ts': 'export const x = ;\n',
      'empty.ts': 'export const nothing = 1;\n',
      'config.ts': "import Schema from 'schemastery';\nexport const Config = Schema.object({ port: Schema.number().required() });\nexport function apply() {}\n",
      'good.ts': `${ESM}export const inject = ['tools'];\nexport function apply(ctx) { ${register('form')}; }\n`,
    });
    await room.set.reload();
    const said = Object.fromEntries(room.set.list().map(({ id, status }) => [id, status.state === 'failed' ? `${status.problem.message} @${status.problem.line}` : status.state === 'waiting' ? `waiting for ${status.missing.join()}` : status.state]));
    assert.equal(said['./waits.ts'], 'waiting for sundial');
    assert.equal(said['./throws.ts'], 'no luck @2');
    assert.equal(said['./rejects.ts'], 'late luck @3');
    assert.match(said['./syntax.ts']!, /Unexpected token.* @1$/);
    assert.match(said['./empty.ts']!, /is not a plugin/);
    assert.match(said['./config.ts']!, /port/);
    assert.equal(said['./good.ts'], 'active');
    assert.match(said['./missing.ts']!, /does not exist @8$/);
    assert.equal((await run({})).isError, false);
  });

  it('X13.8 the modules are lent to plugins only, and no longer than the set lives', async () => {
    room.write({ 'cordis.yml': '- name: ./a.cjs\n', 'a.cjs': "require('schemastery');\nexports.apply = () => {};\n" });
    await room.set.reload();
    assert.equal(room.set.list()[0]?.status.state, 'active');
    const elsewhere = Module.createRequire(path.join(os.tmpdir(), 'x.js'));
    assert.throws(() => elsewhere('schemastery'), /Cannot find module/);
    await room.ctx.fiber.dispose();
    const inside = Module.createRequire(path.join(room.folder, 'x.js'));
    assert.throws(() => inside('@deepseek-ai/dsh-tools'), /a copy was loaded/);
  });
});
