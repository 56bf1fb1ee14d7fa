import assert from 'node:assert/strict';
import * as vscode from 'vscode';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

describe('activation in the real extension host', () => {
  const extension = vscode.extensions.getExtension('dsh-host.dsh-host');

  it('the extension is there and activates', async () => {
    assert.ok(extension, 'dsh-host.dsh-host is not installed');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('every command of the manifest has a handler, and no handler is missing from the manifest', async () => {
    assert.ok(extension);
    await extension.activate();
    const named = (extension.packageJSON as Manifest).contributes.commands.map(({ command }) => command);
    const registered = (await vscode.commands.getCommands(true)).filter((id) => id.startsWith('dshHost.') && !/\.(focus|open|resetViewLocation|removeView|toggleVisibility)$/.test(id));
    assert.deepEqual(named.filter((id) => !registered.includes(id)), [], 'in the manifest only');
    const internal = registered.filter((id) => !named.includes(id));
    assert.ok(internal.every((id) => id.startsWith('dshHost.internal.')), `without a title in the manifest: ${internal.join(', ')}`);
  });
});
