import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { COMMANDS } from '../../src/host/command-ids.ts';
import type { Settings } from '../../src/host/settings.ts';

interface Property { readonly type: string; readonly default: unknown; readonly enum?: readonly unknown[]; readonly scope?: string }
interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, Property>> };
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly keybindings: readonly { readonly command: string }[];
  };
}

/** The type checker holds this list to `Settings`: a setting that is added there must be added here, and so in the manifest. */
const SETTINGS: { readonly [K in keyof Settings]: 'string' | 'number' | 'boolean' | 'array' } = {
  model: 'string', providers: 'array', permissionPreset: 'string', pluginFile: 'string', pluginPatches: 'array', webSearch: 'string',
  searxngUrl: 'string', maxSteps: 'number', openDiffOnReview: 'boolean', strReplaceEditor: 'boolean', revealTerminal: 'boolean',
};

describe('settings and commands in the real extension host', () => {
  const manifest = () => {
    const extension = vscode.extensions.getExtension('dsh-host.dsh-host');
    assert.ok(extension);
    return (extension.packageJSON as Manifest).contributes;
  };
  const declared = () => Object.entries(manifest().configuration.properties);

  it('the manifest declares each setting of the code, with its type, and no other', () => {
    assert.deepEqual(Object.fromEntries(declared().map(([name, { type }]) => [name.replace(/^dshHost\./, ''), type]).sort()), Object.fromEntries(Object.entries(SETTINGS).sort()));
  });

  it('every default is of its own type and among its values, and VS Code gives it', () => {
    for (const [name, property] of declared()) {
      const { type, enum: values } = property;
      assert.equal(Array.isArray(property.default) ? 'array' : typeof property.default, type, name);
      if (values) assert.ok(values.includes(property.default), name);
      const known = vscode.workspace.getConfiguration().inspect(name);
      assert.deepEqual(known?.defaultValue, property.default, name);
    }
  });

  it('the manifest lists each command of the code and no other; menus and keys name listed commands', () => {
    const listed = manifest().commands.map(({ command }) => command);
    assert.deepEqual([...listed].sort(), COMMANDS.map((id) => `dshHost.${id}`).sort());
    assert.equal(new Set(listed).size, listed.length, 'no command twice');
    const used = [...Object.values(manifest().menus).flat(), ...manifest().keybindings].map(({ command }) => command);
    assert.deepEqual(used.filter((command) => command.startsWith('dshHost.') && !listed.includes(command)), []);
  });

  it('L5 no setting can hold a key, and a workspace can set neither endpoints nor what needs no approval', () => {
    assert.deepEqual(declared().map(([name]) => name).filter((name) => /key|token|secret|password/i.test(name)), []);
    for (const name of ['providers', 'permissionPreset', 'searxngUrl'] as const) assert.equal(manifest().configuration.properties[`dshHost.${name}`]?.scope, 'application', name);
  });
});
