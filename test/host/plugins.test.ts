import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Host } from '../../src/host/main.ts';
import { put, runningHost, until, workspace } from './house.ts';

/** The example workspace of the repository: beside the extension, or above the folder it was staged in. */
function example(name: string): string {
  const extension = vscode.extensions.getExtension('dsh-host.dsh-host');
  assert.ok(extension);
  const file = [extension.extensionPath, path.resolve(extension.extensionPath, '../..')].map((root) => path.join(root, 'examples/workspace', name)).find((candidate) => existsSync(candidate));
  assert.ok(file, `examples/workspace/${name} is there`);
  return readFileSync(file, 'utf8');
}

describe('plugins in the real extension host', () => {
  let host: Host;
  const names = () => host.ctx.tools.schemas().map((schema) => schema.name);
  const status = (id: string) => host.plugins.set?.list().find((plugin) => plugin.id === id)?.status;
  const problems = (file: string) => vscode.languages.getDiagnostics(vscode.Uri.file(file)).filter((diagnostic) => diagnostic.source === 'dsh');
  let calls = 0;
  async function run(name: string, args: object): Promise<string> {
    const result = await host.ctx.tools.execute({ callId: `host-${++calls}`, name, arguments: args, signal: AbortSignal.timeout(20_000) });
    return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  }

  before(async () => {
    host = await runningHost();
  });
  beforeEach(async () => {
    put('plugins/greet.ts', example('plugins/greet.ts'));
    put('cordis.yml', example('cordis.yml'));
    await until(() => status('./plugins/greet.ts')?.state === 'active' && names().includes('greet'));
  });
  after(async () => {
    rmSync(path.join(workspace(), 'cordis.yml'), { force: true });
    rmSync(path.join(workspace(), 'plugins'), { recursive: true, force: true });
    await until(() => !names().includes('greet'));
  });

  it('T2.8 X13.5 the example workspace loads as soon as its plugin file is there', async () => {
    assert.equal(await run('greet', { name: 'Ada' }), 'Hello, Ada!');
    const [node] = await host.pluginTree.getChildren() as { plugin: { tools: string[] } }[];
    assert.deepEqual(node?.plugin.tools, ['greet']);
    const item = await host.pluginTree.getTreeItem(node!);
    assert.equal(item.label, './plugins/greet.ts');
    assert.equal(item.contextValue, 'plugin.active');
  });

  it('X13.4 saving the plugin in an editor replaces the old tool by the new one', async () => {
    const document = await vscode.workspace.openTextDocument(path.join(workspace(), 'plugins/greet.ts'));
    const edit = new vscode.WorkspaceEdit();
    const text = document.getText().replace("name: 'greet',", "name: 'welcome',").replace('Hello', 'Welcome');
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.ok(await document.save());
    await until(() => names().includes('welcome') && !names().includes('greet'));
    assert.equal(await run('welcome', { name: 'Ada' }), 'Welcome, Ada!');
    assert.match(await run('greet', { name: 'Ada' }), /unknown tool "greet"/);
  });

  it('an error is shown at its file and line, breaks nothing else, and goes when it is mended', async () => {
    const file = put('plugins/broken.ts', "export const inject = ['tools']\n\nexport function apply() {\n  throw new Error('out of tea')\n}\n");
    put('cordis.yml', `${example('cordis.yml')}- name: ./plugins/broken.ts\n`);
    const [problem] = await until(() => problems(file).length > 0 && problems(file));
    assert.equal(problem?.message, 'out of tea');
    assert.equal(problem?.severity, vscode.DiagnosticSeverity.Error);
    assert.equal(problem?.range.start.line, 3);
    assert.equal(await run('greet', { name: 'Ada' }), 'Hello, Ada!');
    put('plugins/broken.ts', 'export function apply() {}\n');
    await until(() => status('./plugins/broken.ts')?.state === 'active' && problems(file).length === 0);
  });

  it('a reload that does not parse leaves the version before it at work', async () => {
    const file = put('plugins/greet.ts', `${example('plugins/greet.ts')}\nexport const x: = 1\n`);
    const [problem] = await until(() => problems(file).length > 0 && problems(file));
    assert.equal(problem?.range.start.line, example('plugins/greet.ts').split('\n').length);
    assert.equal(await run('greet', { name: 'Ada' }), 'Hello, Ada!');
    const now = status('./plugins/greet.ts');
    assert.ok(now?.state === 'failed' && now.running);
  });

  it('a plugin file that is no list says where', async () => {
    const file = put('cordis.yml', 'name: ./plugins/greet.ts\n');
    const [problem] = await until(() => problems(file).length > 0 && problems(file));
    assert.match(problem?.message ?? '', /expected a list of plugins/);
    assert.equal(problem?.range.start.line, 0);
  });

  it('X13.2 a plugin that waits says for what', async () => {
    put('plugins/later.ts', "export const inject = ['tools', 'sundial']\nexport function apply() {}\n");
    put('cordis.yml', `${example('cordis.yml')}- name: ./plugins/later.ts\n`);
    await until(() => status('./plugins/later.ts')?.state === 'waiting');
    const nodes = await host.pluginTree.getChildren() as { plugin: { id: string } }[];
    const item = await host.pluginTree.getTreeItem(nodes.find((node) => node.plugin.id === './plugins/later.ts')!);
    assert.match(String(item.description), /sundial/);
  });

  it('X13.6 patch files of the settings apply last, and go with the setting', async () => {
    const settings = vscode.workspace.getConfiguration('dshHost');
    put('plugins/extra.ts', example('plugins/greet.ts').replace("name: 'greet',", "name: 'extra',"));
    const patch = put('plugins/mine.yml', '- insert:\n    - id: extra\n      name: ./extra.ts\n');
    try {
      await settings.update('pluginPatches', ['plugins/mine.yml', 'plugins/gone.yml'], vscode.ConfigurationTarget.Workspace);
      await until(() => names().includes('extra') && names().includes('greet'));
      assert.ok(host.plugins.set?.list().some(({ status: state }) => state.state === 'failed' && state.problem.message.includes('gone.yml')));
      assert.equal(host.plugins.owns(patch), true);
    } finally {
      await settings.update('pluginPatches', undefined, vscode.ConfigurationTarget.Workspace);
    }
    await until(() => !names().includes('extra') && names().includes('greet'));
  });

  it('the view\'s actions: Open Source leads to the failing line, Reload loads again', async () => {
    const file = put('plugins/broken.ts', "export const inject = ['tools']\n\nexport function apply() {\n  throw new Error('out of tea')\n}\n");
    put('cordis.yml', `${example('cordis.yml')}- name: ./plugins/broken.ts\n`);
    await until(() => status('./plugins/broken.ts')?.state === 'failed');
    const nodeOf = async (id: string) => (await host.pluginTree.getChildren() as { plugin: { id: string } }[]).find((node) => node.plugin.id === id)!;
    const broken = await nodeOf('./plugins/broken.ts');
    const item = await host.pluginTree.getTreeItem(broken);
    assert.equal(item.contextValue, 'plugin.failed');
    assert.match(String(item.description), /out of tea/);
    assert.match(String(item.tooltip), /broken\.ts:4/);
    await vscode.commands.executeCommand('dshHost.openPluginSource', broken);
    const editor = await until(() => vscode.window.visibleTextEditors.find((candidate) => candidate.document.uri.fsPath === file));
    assert.equal(editor.selection.active.line, 3);
    const definition = host.ctx.tools.get('greet');
    await vscode.commands.executeCommand('dshHost.reloadPlugin', await nodeOf('./plugins/greet.ts'));
    await until(() => host.ctx.tools.get('greet') !== undefined && host.ctx.tools.get('greet') !== definition);
    assert.equal(await run('greet', { name: 'Ada' }), 'Hello, Ada!');
    await vscode.commands.executeCommand('dshHost.openPluginSource', await nodeOf('./plugins/greet.ts'));
    await until(() => vscode.window.activeTextEditor?.document.uri.fsPath === path.join(workspace(), 'plugins/greet.ts'));
  });

  it('J5 writing what runs when it is saved asks, also when it is a plugin in an odd place', () => {
    assert.equal(host.plugins.owns(path.join(workspace(), 'plugins/greet.ts')), true);
    assert.equal(host.plugins.owns(path.join(workspace(), 'cordis.yml')), true);
    assert.equal(host.plugins.owns(path.join(workspace(), 'plugins/other.ts')), false);
  });

  it('X13.8 a plugin gets VS Code itself', async () => {
    put('plugins/greet.ts', example('plugins/greet.ts').replace("import { defineTool }", "import * as vscode from 'vscode'\nimport { defineTool }").replace('Hello', 'Hello from ${vscode.version}'));
    await until(() => status('./plugins/greet.ts')?.state === 'active' && host.ctx.tools.get('greet') !== undefined);
    let said = '';
    await until(() => {
      void run('greet', { name: 'Ada' }).then((text) => (said = text));
      return said === `Hello from ${vscode.version}, Ada!`;
    });
  });
});
