import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { clampPosition, jumpTo, locate } from '../../src/host/navigation.ts';
import { call, idle, cards, play, put, runningHost, say, until, workspace } from './house.ts';

describe('jump to, in the real editor', () => {
  const active = () => vscode.window.activeTextEditor;
  const lines = 'one\ntwo\nthree\nfour\n';

  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  for (const [id, name] of [['E1', 'Some Folder/a.js'], ['E3', 'a#b?.txt'], ['E11', "it's/f.txt"], ['E1', 'ünï çode/%41.txt']] as const) {
    it(`${id} opens "${name}" at the line`, async () => {
      const file = put(name, lines);
      await jumpTo(name, workspace(), { line: 3 });
      assert.equal(active()?.document.uri.fsPath, file);
      assert.equal(active()?.selection.active.line, 2);
      await jumpTo(file, '/', { line: 2 });
      assert.equal(active()?.selection.active.line, 1);
    });
  }

  it('E9 clamps line 99999, 0, NaN and negative ones on a short file', async () => {
    put('short.txt', 'a\nb\nc');
    for (const [line, expected] of [[99999, 2], [0, 0], [Number.NaN, 0], [-5, 0], [2.7, 1], [Infinity, 0]] as const) {
      await jumpTo('short.txt', workspace(), { line });
      assert.equal(active()?.selection.active.line, expected, `line ${line}`);
    }
  });

  it('E9 clamps columns, and selects a hit', async () => {
    put('cols.txt', 'hello world\n');
    await jumpTo('cols.txt', workspace(), { line: 1, column: 7, length: 5 });
    const editor = active();
    assert.equal(editor?.document.getText(editor.selection), 'world');
    const document = editor!.document;
    assert.deepEqual(clampPosition(document, 1, 999), new vscode.Position(0, 11));
  });

  it('a file that is gone is told, not thrown', async () => {
    assert.equal(await locate('not/there.txt', workspace()), undefined);
    await jumpTo('not/there.txt', workspace(), { line: 1 });
  });

  it('E3 a read card of "a#b?.txt" jumps to its line', async () => {
    const file = put('odd/a#b?.txt', lines);
    const host = await runningHost();
    await play(host, [call('read', { file_path: 'odd/a#b?.txt', offset: 2, limit: 2 }), say('Done.')]);
    await idle(host);
    const [card] = cards(host);
    assert.equal(card?.status, 'completed');
    await host.chat.openCall(card!.id);
    await until(() => active()?.document.uri.fsPath === file);
    assert.equal(active()?.selection.active.line, 1);
  });
});
