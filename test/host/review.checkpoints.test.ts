import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { call, cards, idle, play, put, runningHost, say, workspace } from './house.ts';

/** Every file below a folder with its bytes. */
const tree = (folder: string): Map<string, string> => new Map(readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((name) => path.join(folder, name)).filter((file) => statSync(file).isFile()).map((file) => [file, readFileSync(file, 'latin1')]));

describe('rewinding files in the real extension host', () => {
  const preset = (value: string | undefined): Thenable<void> => vscode.workspace.getConfiguration('dshHost').update('permissionPreset', value, vscode.ConfigurationTarget.Global);
  const repository = (): string => path.join(workspace(), 'repository');
  // VS Code's own git must not look at the repository meanwhile
  const detection = (value: boolean | undefined): Thenable<void> => vscode.workspace.getConfiguration('git').update('autoRepositoryDetection', value, vscode.ConfigurationTarget.Global);
  before(async () => {
    await detection(false);
    await preset('full');
  });
  after(async () => {
    await preset(undefined);
    await detection(undefined);
    rmSync(repository(), { recursive: true, force: true });
  });

  it('N1 N3 the user\'s .git stays as it is byte for byte, and only files that tools touched are kept and go back', async () => {
    const host = await runningHost();
    const touched = put('repository/touched.txt', 'one\n');
    const untouched = put('repository/untouched.txt', 'mine\n');
    const git = (...args: string[]): string => execFileSync('git', ['-C', repository(), '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { encoding: 'utf8' });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'before');
    const before = tree(path.join(repository(), '.git'));
    await play(host, [
      call('read', { file_path: 'repository/touched.txt' }),
      call('edit', { file_path: 'repository/touched.txt', old_string: 'one', new_string: 'two' }),
      call('write', { file_path: 'repository/made.txt', content: 'new\n' }), say('Done.'),
    ]);
    await idle(host);
    assert.deepEqual(cards(host).map((card) => card.status), ['completed', 'completed', 'completed']);
    assert.equal(readFileSync(touched, 'utf8'), 'two\n');

    const { checkpoints } = host.ctx;
    const plan = await checkpoints.plan({ sessionId: host.chat.agent!.id, turn: 1 });
    assert.deepEqual(plan.items.map(({ path: name }) => path.basename(name)).sort(), ['made.txt', 'touched.txt']);
    // the user goes on with a file that no tool touched
    put('repository/untouched.txt', 'mine, changed\n');
    await checkpoints.rewind(plan, plan.items.map(({ realPath }) => realPath));
    assert.equal(readFileSync(touched, 'utf8'), 'one\n');
    assert.equal(readFileSync(untouched, 'utf8'), 'mine, changed\n');
    assert.deepEqual(readdirSync(repository()).sort(), ['.git', 'touched.txt', 'untouched.txt']);
    assert.deepEqual(tree(path.join(repository(), '.git')), before);
    await host.chat.newSession();
  });
});
