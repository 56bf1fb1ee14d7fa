import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import * as vscode from 'vscode';
import { call, cards, idle, play, put, say, until } from './house.ts';
import { bytes, ReviewRoom, text } from './review-room.ts';

describe('the editors and files of a review, from its start to its end', function () {
  this.timeout(120_000);
  const room = new ReviewRoom();

  before(() => room.open());
  beforeEach(() => room.begin());
  afterEach(() => room.clear());

  it('the tab of a decided change closes with what was typed in it, asks nothing, and closes again when it is called back', async () => {
    await room.withAutoSave('off', async () => {
      const file = put('typed-tab.txt', text());
      const { review, done } = await room.propose(file, text({ 3: 'three', 20: 'twenty' }));
      const document = await room.proposal(review);
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, document.lineAt(2).range, 'THREE');
      await vscode.workspace.applyEdit(edit);
      assert.equal(document.isDirty, true);
      await vscode.commands.executeCommand('dshHost.review.acceptFile', document.uri);
      assert.equal((await done).after, text({ 3: 'THREE', 20: 'twenty' }));
      await until(() => room.diffTab(review) === undefined);
      const left: vscode.Tab[] = [];
      const watch = vscode.window.tabGroups.onDidChangeTabs(({ opened }) => left.push(...opened));
      try {
        await vscode.commands.executeCommand('workbench.action.reopenClosedEditor');
        await until(() => left.length > 0 && room.diffTab(review) === undefined);
      } finally {
        watch.dispose();
      }
      assert.equal(bytes(file), text({ 3: 'THREE', 20: 'twenty' }));
    });
  });

  it('texts of a decided change are served to whoever still asks, and one nobody knows says so instead of failing', async () => {
    const file = put('served.txt', text());
    const { review, done } = await room.propose(file, text({ 3: 'three', 20: 'twenty' }));
    const { uri } = await room.proposal(review);
    await room.host.ctx.review.acceptHunk(review.id, review.hunks[0]!.id);
    await room.host.ctx.review.reject(review.id);
    await done;
    const read = async (from: vscode.Uri) => Buffer.from(await vscode.workspace.fs.readFile(from)).toString();
    assert.equal(await read(uri), text({ 3: 'three' }));
    assert.equal(await read(uri.with({ query: 'base' })), text({ 3: 'three' }));
    const unknown = uri.with({ authority: 'never-heard-of' });
    assert.match(await read(unknown), /^This change was decided\./);
    await assert.rejects(async () => vscode.workspace.fs.writeFile(unknown, Buffer.from('typed')), /This change was decided/);
  });

  it('B3 the review changes the proposal while the user types in it: saving is no conflict, both are there', async () => {
    await room.withAutoSave('off', async () => {
      const file = put('conflict.txt', text());
      const { review, done } = await room.propose(file, text({ 3: 'three', 20: 'twenty' }));
      const document = await room.proposal(review);
      const rejected = room.host.ctx.review.rejectHunk(review.id, review.hunks[1]!.id);
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, document.lineAt(2).range.end, ' typed');
      await vscode.workspace.applyEdit(edit);
      await rejected;
      await until(() => room.host.ctx.review.file(review.id)?.proposed === text({ 3: 'three typed' }));
      assert.equal(await document.save(), true);
      await until(() => document.getText() === text({ 3: 'three typed' }));
      await vscode.commands.executeCommand('dshHost.review.acceptFile', document.uri);
      await done;
      assert.equal(bytes(file), text({ 3: 'three typed' }));
    });
  });

  it('B3 what was typed and undone again is not in the file, with nothing left to save', async () => {
    await room.withAutoSave('off', async () => {
      const file = put('undone.txt', text());
      const { review, done } = await room.propose(file, text({ 3: 'three' }));
      await until(() => room.diffTab(review));
      await vscode.commands.executeCommand('dshHost.review.nextHunk');
      const document = await room.proposal(review);
      await vscode.commands.executeCommand('type', { text: 'typed' });
      await until(() => room.host.ctx.review.file(review.id)?.proposed === text({ 3: 'typedthree' }));
      await vscode.commands.executeCommand('undo');
      await until(() => document.getText() === text({ 3: 'three' }) && !document.isDirty);
      await vscode.commands.executeCommand('dshHost.review.acceptFile', document.uri);
      await done;
      assert.equal(bytes(file), text({ 3: 'three' }));
    });
  });

  it('a file that VS Code is just saving by itself is saved with the accepted change once that is done', async () => {
    const file = put('saved-twice.txt', text());
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
    const mine = (document: vscode.TextDocument) => document === editor.document;
    const other: Thenable<boolean>[] = [];
    // as a formatter that takes its time, and an auto-save that came first
    const listeners = [
      vscode.workspace.onWillSaveTextDocument((event) => {
        if (mine(event.document)) event.waitUntil(new Promise((resolve) => setTimeout(resolve, 700)));
      }),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (mine(event.document) && event.contentChanges.length > 0) other.push(event.document.save());
      }),
    ];
    try {
      const { review, done } = await room.propose(file, text({ 3: 'three' }));
      await room.host.ctx.review.accept(review.id);
      assert.equal((await done).after, text({ 3: 'three' }));
      assert.equal(bytes(file), text({ 3: 'three' }));
      assert.equal(editor.document.isDirty, false);
      assert.deepEqual(await Promise.all(other), [true]);
    } finally {
      for (const listener of listeners) listener.dispose();
    }
  });

  it('a decision that can not be carried out is told on the card until it is', async () => {
    const file = put('unwritable.txt', text());
    await play(room.host, [call('read', { file_path: 'unwritable.txt' }), call('edit', { file_path: 'unwritable.txt', old_string: 'line 3\n', new_string: 'three\n' }), say('Done.')]);
    const review = await until(() => room.change(file));
    const ask = () => cards(room.host).find(({ name }) => name === 'edit')?.ask;
    await until(() => ask()?.kind === 'review');
    chmodSync(file, 0o444);
    try {
      await vscode.commands.executeCommand('dshHost.review.acceptFile', { kind: 'file', file: review });
      const told = await until(() => {
        const now = ask();
        return now?.kind === 'review' ? now.problem : undefined;
      });
      assert.ok(told.kind === 'failed');
      assert.match(told.message, /read-only/);
      assert.equal(bytes(file), text());
    } finally {
      chmodSync(file, 0o644);
    }
    await vscode.commands.executeCommand('dshHost.review.acceptFile', { kind: 'file', file: review });
    await idle(room.host);
    assert.equal(bytes(file), text({ 3: 'three' }));
    assert.equal(cards(room.host).find(({ name }) => name === 'edit')?.status, 'completed');
  });
});
