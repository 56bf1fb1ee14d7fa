import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import { membersOf } from '../../src/plugins/group.ts';
import { patchLayers } from '../../src/plugins/layers.ts';
import { lentModules } from '../../src/plugins/modules.ts';
import { applyPatches, parsePatchFile, parsePluginFile } from '../../src/plugins/plugin-file.ts';
import { PluginSet } from '../../src/plugins/plugin-set.ts';
import { JsExpression } from '../../src/plugins/row.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';

describe('layers over a plugin file', () => {
  let root: string;
  beforeEach(() => { root = mkdtempSync(path.join(os.tmpdir(), 'dsh-layers-')); });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function write(files: Record<string, string | object>): void {
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(root, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
    }
  }
  const layers = (named: string[] = []) => patchLayers({ pluginFile: path.join(root, 'profile/cordis.yml'), home: path.join(root, 'home'), named });
  const names = (files: readonly string[]) => files.map((file) => path.relative(root, file).split(path.sep).join('/'));
  const bundle = (patch: unknown) => ({ name: 'x', dsh: { bundle: { patch } } });

  it('X13.6 bundles in the profile\'s order, then the profile, the home folder, and the files asked for', () => {
    write({
      'profile/package.json': { dsh: { profile: { bundles: ['second', '@scope/first', './own'] } } },
      'profile/node_modules/@scope/first/package.json': bundle('./patch.yml'),
      'profile/node_modules/@scope/first/patch.yml': '[]',
      // found above the profile, and without any export of its package.json
      'node_modules/second/package.json': { ...bundle(['a.yml', 'b/c.yml']), exports: { '.': './none.js' } },
      'node_modules/second/a.yml': '[]', 'node_modules/second/b/c.yml': '[]',
      'profile/own/package.json': bundle('own.yml'), 'profile/own/own.yml': '[]',
      'profile/cordis.patch.yml': '[]', 'home/cordis.patch.yml': '[]', 'profile/named.yml': '[]', 'elsewhere/other.yml': '[]',
    });
    const { files, bad } = layers([path.join(root, 'elsewhere/other.yml'), 'named.yml']);
    assert.deepEqual(names(files), [
      'node_modules/second/a.yml', 'node_modules/second/b/c.yml', 'profile/node_modules/@scope/first/patch.yml', 'profile/own/own.yml',
      'profile/cordis.patch.yml', 'home/cordis.patch.yml', 'elsewhere/other.yml', 'profile/named.yml',
    ]);
    assert.deepEqual(bad, []);
  });

  it('X13.6 what is not there is left out, and told when it was asked for by name', () => {
    assert.deepEqual(layers().files, []);
    assert.deepEqual(layers().bad, []);
    write({ 'profile/cordis.patch.yml': '[]' });
    const { files, bad, watched } = layers(['gone.yml']);
    assert.deepEqual(names(files), ['profile/cordis.patch.yml']);
    assert.match(bad[0]!.message, /"[^"]*gone\.yml" does not exist/);
    assert.ok(names(watched).includes('profile/gone.yml'), 'and is taken when it comes');
    assert.ok(names(watched).includes('home/cordis.patch.yml'));
  });

  it('X13.6 a bundle that can\'t be used is told at its line of package.json, and keeps no other from being used', () => {
    write({
      'profile/package.json': { name: 'p', dsh: { profile: { bundles: ['absent', 'empty', 'broken', 'dangling', 'good'] } } },
      'profile/node_modules/empty/package.json': { name: 'empty' },
      'profile/node_modules/broken/package.json': '{',
      'profile/node_modules/dangling/package.json': bundle('nowhere.yml'),
      'profile/node_modules/good/package.json': bundle('good.yml'), 'profile/node_modules/good/good.yml': '[]',
    });
    const { files, bad } = layers();
    assert.deepEqual(names(files), ['profile/node_modules/good/good.yml']);
    assert.deepEqual(bad.map(({ place }) => [path.basename(place.file), place.line]), [6, 7, 8, 9].map((line) => ['package.json', line]));
    assert.match(bad[0]!.message, /"absent" is not installed/);
    assert.match(bad[1]!.message, /"empty" can't be used: its package\.json needs "dsh\.bundle\.patch"/);
    assert.match(bad[3]!.message, /does not exist: ".*nowhere\.yml"/);
    write({ 'profile/package.json': { dsh: { profile: { bundles: 'one' } } } });
    assert.match(layers().bad[0]!.message, /must be a list of package names/);
    write({ 'profile/package.json': '{ "bundles": ' });
    assert.match(layers().bad[0]!.message, /can't be read/);
    write({ 'profile/package.json': '{ "name": ' });
    assert.deepEqual(layers().bad, [], 'a project that has no bundles is left in peace');
  });

  it('X13.6 X13.5 X13.7 J5 each layer changes what the layers before it left, and its paths start at its own file', async () => {
    const plugin = (word: string) => `export function apply(_ctx, config) { (globalThis.__layers ??= []).push(['${word}', config?.from]); }\n`;
    write({
      'profile/package.json': { dsh: { profile: { bundles: ['b'] } } },
      'profile/cordis.yml': '- id: base\n  name: ./base.mjs\n  config: { from: file, kept: true }\n',
      'profile/base.mjs': plugin('base'),
      'profile/node_modules/b/package.json': bundle('patch.yml'),
      'profile/node_modules/b/patch.yml': '- id: base\n  config: { from: bundle }\n- insert:\n    - id: extra\n      name: ./extra.mjs\n      config: { from: bundle }\n',
      'profile/node_modules/b/extra.mjs': plugin('extra'),
      'profile/cordis.patch.yml': '- id: extra\n  config: { from: profile }\n- id: base\n  disabled: true\n',
      'home/cordis.patch.yml': '- id: base\n  disabled: false\n  config: { from: home }\n',
      'named.yml': `- id: extra\n  name: ./another.mjs\n  config: { from: mismatch }\n- insert:\n    - name: ${JSON.stringify(path.join(root, 'profile/base.mjs'))}\n      config: { from: named }\n`,
    });
    const ctx = new Context();
    try {
      await ctx.plugin(SystemPrompt, {});
      await ctx.plugin(ToolRuntime, {});
      await ctx.plugin(PluginSet, { file: path.join(root, 'profile/cordis.yml'), patches: () => layers(['../named.yml']), modules: lentModules(), watch: false });
      assert.deepEqual(((globalThis as { __layers?: unknown[] }).__layers ?? []).sort(), [['base', 'home'], ['base', 'named'], ['extra', 'profile']]);
      // writing any of these changes what runs (J5)
      for (const name of ['profile/cordis.yml', 'profile/package.json', 'profile/node_modules/b/patch.yml', 'profile/cordis.patch.yml', 'home/cordis.patch.yml', 'named.yml', 'profile/base.mjs']) {
        assert.equal(ctx.plugins.owns(path.join(root, name)), true, name);
      }
      assert.equal(ctx.plugins.owns(path.join(root, 'profile/other.mjs')), false);
      const failed = ctx.plugins.list().filter(({ status }) => status.state === 'failed');
      assert.equal(failed.length, 1);
      assert.ok(failed[0]!.status.state === 'failed' && failed[0]!.status.problem.message.includes('skipped'));
    } finally {
      await ctx.fiber.dispose();
      delete (globalThis as { __layers?: unknown }).__layers;
    }
  });

  it('X13.6 a layer that comes or goes while the plugins run is taken up', async () => {
    write({ 'profile/cordis.yml': '- id: a\n  name: ./a.mjs\n', 'profile/a.mjs': 'export function apply() {}\n' });
    const ctx = new Context();
    try {
      await ctx.plugin(SystemPrompt, {});
      await ctx.plugin(ToolRuntime, {});
      await ctx.plugin(PluginSet, { file: path.join(root, 'profile/cordis.yml'), patches: () => layers(), modules: lentModules(), watch: true });
      const state = () => ctx.plugins.list()[0]?.status.state;
      assert.equal(state(), 'active');
      write({ 'profile/cordis.patch.yml': '- id: a\n  disabled: true\n' });
      for (let i = 0; i < 200 && state() !== 'disabled'; i++) await new Promise((resolve) => setTimeout(resolve, 25));
      assert.equal(state(), 'disabled');
      rmSync(path.join(root, 'profile/cordis.patch.yml'));
      for (let i = 0; i < 200 && state() !== 'active'; i++) await new Promise((resolve) => setTimeout(resolve, 25));
      assert.equal(state(), 'active');
    } finally {
      await ctx.fiber.dispose();
    }
  });

  it('X13.5 a group hands disabled, inject and isolate down to its members', () => {
    const { rows, bad } = parsePluginFile('/p/cordis.yml', [
      '- id: g', '  name: group', '  group: true', '  inject: [tools]', '  isolate: { rates: true, shared: label }', '  disabled: !!js a', '  config:',
      '    - id: m1', '      name: ./m1.ts', '      config: { x: 1 }', '    - id: m2', '      name: ./m2.ts', '      disabled: !!js b', '      inject: { jobs: { y: 2 } }',
      '      isolate: { rates: own }', '    - id: m3', '      name: ./m3.ts', '      disabled: true',
    ].join('\n'));
    assert.deepEqual(bad, []);
    const [m1, m2, m3] = membersOf(rows);
    assert.deepEqual(m1!.config, { x: 1 });
    assert.deepEqual(m1!.inject, ['tools']);
    assert.deepEqual(m2!.inject, { tools: undefined, jobs: { y: 2 } });
    assert.equal(m1!.isolate?.['shared'], 'label');
    assert.equal(m1!.isolate?.['rates'], m3!.isolate?.['rates']);
    assert.equal(typeof m1!.isolate?.['rates'], 'string');
    assert.equal(m2!.isolate?.['rates'], 'own');
    assert.ok(m1!.disabled instanceof JsExpression && m1!.disabled.source === 'a');
    assert.ok(m2!.disabled instanceof JsExpression && /a.*b/.test(m2!.disabled.source));
    assert.equal(m3!.disabled, true);
  });

  it('X13.5 members of a group share a service that nobody else sees, and expressions of both decide', async () => {
    write({
      'profile/cordis.yml': [
        '- id: g', '  isolate: { rates: true }', '  group:', '    - id: provider', '      name: ./provider.mjs', '    - id: user', '      name: ./user.mjs',
        '    - id: off', '      name: ./user.mjs', '      disabled: !!js "env.DSH_LAYERS_TEST === undefined"', '- id: outsider', '  name: ./user.mjs', '',
      ].join('\n'),
      'profile/provider.mjs': "import { Service } from '@deepseek-ai/cordis';\nexport default class Rates extends Service { constructor(ctx) { super(ctx, 'rates'); } }\n",
      'profile/user.mjs': "export const inject = ['rates'];\nexport function apply() {}\n",
    });
    const ctx = new Context();
    try {
      await ctx.plugin(SystemPrompt, {});
      await ctx.plugin(ToolRuntime, {});
      await ctx.plugin(PluginSet, { file: path.join(root, 'profile/cordis.yml'), modules: lentModules(), watch: false });
      const status = (id: string) => ctx.plugins.list().find((plugin) => plugin.id === id)?.status;
      for (let i = 0; i < 100 && status('user')?.state !== 'active'; i++) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.deepEqual(['provider', 'user', 'off', 'outsider'].map((id) => status(id)?.state), ['active', 'active', 'disabled', 'waiting']);
      assert.deepEqual(status('outsider'), { state: 'waiting', missing: ['rates'] });
    } finally {
      await ctx.fiber.dispose();
    }
  });

  it('X13.5 patches reach into groups; an unknown id and a name that differs are told with their line', () => {
    const { rows } = parsePluginFile('/p/cordis.yml', '- id: g\n  group:\n    - id: inner\n      name: ./a.ts\n      config: { x: 1, y: 2 }\n');
    const patch = parsePatchFile('/p/patch.yml', '- id: inner\n  config: { x: 3 }\n- id: inner\n  insert:\n    - id: next\n      name: ./b.ts\n- id: nobody\n  disabled: true\n- id: inner\n  name: ./other.ts\n  disabled: true\n');
    const told: string[] = [];
    const members = membersOf(applyPatches(rows, patch.patches, ({ message, place }) => told.push(`${place.line}: ${message}`)));
    assert.deepEqual(members.map(({ id, config }) => [id, config]), [['inner', { x: 3 }], ['next', undefined]]);
    assert.deepEqual(told, ['7: no plugin has the id "nobody"', '9: "inner" is ./a.ts, not ./other.ts: skipped']);
  });
});
