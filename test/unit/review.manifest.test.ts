import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Manifest {
  readonly enabledApiProposals?: readonly string[];
  readonly contributes: {
    readonly menus: Readonly<Record<string, readonly { readonly command?: string; readonly when?: string }[]>>;
    readonly commands: readonly { readonly command: string }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string; readonly when?: string }[];
  };
}

const manifest = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8')) as Manifest;

/** Menus that stable VS Code takes from any extension; everything else is proposed, or not there. */
const STABLE_MENUS = [
  'commandPalette', 'view/title', 'view/item/context', 'editor/title', 'editor/title/run', 'editor/title/context', 'editor/context', 'editor/lineNumber/context',
  'explorer/context', 'scm/title', 'scm/change/title', 'scm/resourceState/context', 'webview/context', 'comments/commentThread/title', 'terminal/context',
];

describe('the manifest of the review', () => {
  it('uses no proposed menu and no proposed API: it works where only stable API is let through', () => {
    assert.deepEqual(Object.keys(manifest.contributes.menus).filter((menu) => !STABLE_MENUS.includes(menu)), []);
    assert.equal(manifest.enabledApiProposals, undefined);
  });

  it('every menu entry and key is a command of ours, and review keys work in reviews only', () => {
    const commands = new Set(manifest.contributes.commands.map(({ command }) => command));
    for (const entries of Object.values(manifest.contributes.menus)) for (const { command } of entries) assert.ok(command === undefined || commands.has(command), command);
    for (const { command, when } of manifest.contributes.keybindings) {
      assert.ok(commands.has(command), command);
      if (command.startsWith('dshHost.review.')) assert.match(when ?? '', /dsh-review|dshHost\.(hasChanges|reviewHere)/);
    }
  });

  it('B9 no key without a modifier decides anything', () => {
    for (const { command, key } of manifest.contributes.keybindings) if (command.startsWith('dshHost.review.')) assert.match(key, /\b(alt|ctrl|cmd)\+/);
  });
});
