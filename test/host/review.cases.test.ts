import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { put, until, workspace } from './house.ts';
import { bytes, ReviewRoom, text } from './review-room.ts';

describe('review in the real editor', function () {
  this.timeout(120_000);
  const room = new ReviewRoom();

  before(() => room.open());
  beforeEach(() => room.begin());
  afterEach(() => room.clear());

  it('B1 three edits, the third rejected: bytes are as before it', async () => {
    const file = put('b1.txt', text());
    for (const n of [1, 2]) {
      const { review, done } = await room.propose(file, text(n === 1 ? { 3: 'one' } : { 3: 'one', 9: 'two' }));
      await room.host.ctx.review.accept(review.id);
      await done;
    }
    const before = bytes(file);
    const { review, done } = await room.propose(file, text({ 3: 'one', 9: 'two', 20: 'three' }));
    await room.host.ctx.review.reject(review.id);
    await assert.rejects(done);
    assert.equal(bytes(file), before);
  });

  it('B3 what the user left on the proposed side is what is written', async () => {
    const file = put('b3.txt', text());
    const { review, done } = await room.propose(file, text({ 3: 'three', 9: 'nine' }));
    await until(() => room.diffTab(review));
    const document = await room.proposal(review);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, document.lineAt(2).range, 'THREE of the user');
    await vscode.workspace.applyEdit(edit);
    await vscode.commands.executeCommand('dshHost.review.acceptFile', document.uri);
    assert.equal((await done).after, text({ 3: 'THREE of the user', 9: 'nine' }));
    assert.equal(bytes(file), text({ 3: 'THREE of the user', 9: 'nine' }));
    await until(() => room.diffTab(review) === undefined);
  });

  it('saving, by hand or by auto-save, accepts nothing', async () => {
    const file = put('save.txt', text());
    const { review, done } = await room.propose(file, text({ 3: 'three' }));
    const document = await room.proposal(review);
    const replace = async (line: string) => {
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, document.lineAt(2).range, line);
      await vscode.workspace.applyEdit(edit);
    };
    await room.withAutoSave('off', async () => {
      await replace('saved, not accepted');
      assert.equal(await document.save(), true);
      assert.equal(bytes(file), text());
      assert.equal(room.host.ctx.review.file(review.id)?.proposed, text({ 3: 'saved, not accepted' }));
    });
    await room.withAutoSave('afterDelay', async () => {
      await replace('saved by itself');
      await until(() => !document.isDirty);
      assert.equal(bytes(file), text());
      assert.equal(room.host.ctx.review.file(review.id)?.hunks.length, 1);
    });
    await room.host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 3: 'saved by itself' }));
  });

  it('B3 typing on while the review takes up what was typed loses nothing', async () => {
    const file = put('typing.txt', text());
    const { review, done } = await room.propose(file, text({ 3: 'three', 20: 'twenty' }));
    const document = await room.proposal(review);
    const { setProposed } = room.host.ctx.review;
    // a busy machine: what was typed comes late into the review, in its order
    let order: Promise<unknown> = Promise.resolve();
    room.host.ctx.review.setProposed = (...args) => {
      const call = order.then(() => new Promise((resolve) => setTimeout(resolve, 300))).then(() => setProposed.apply(room.host.ctx.review, args));
      order = call.catch(() => undefined);
      return call;
    };
    try {
      for (let i = 0; i < 40; i++) {
        const edit = new vscode.WorkspaceEdit();
        edit.insert(document.uri, document.lineAt(2).range.end, String(i % 10));
        await vscode.workspace.applyEdit(edit);
        await new Promise((resolve) => setTimeout(resolve, i % 4 === 0 ? 220 : 15));
      }
      const typed = `three${'0123456789'.repeat(4)}`;
      assert.equal(document.lineAt(2).text, typed);
      const pending = room.host.ctx.review.file(review.id)!;
      await vscode.commands.executeCommand('dshHost.review.rejectHunk', { kind: 'hunk', file: pending, hunk: pending.hunks.at(-1) });
      await until(() => document.lineAt(19).text === 'line 20');
      assert.equal(document.lineAt(2).text, typed);
      await vscode.commands.executeCommand('dshHost.review.acceptFile', document.uri);
      assert.equal((await done).after, text({ 3: typed }));
    } finally {
      room.host.ctx.review.setProposed = setProposed;
    }
  });

  it('B5 two edits to two files in a row: each is decided by itself', async () => {
    const [a, b] = [put('b5a.txt', text()), put('b5b.txt', text())];
    const first = await room.propose(a, text({ 3: 'A' }));
    const second = await room.propose(b, text({ 3: 'B' }));
    await until(() => room.diffTab(first.review) !== undefined && room.diffTab(second.review) !== undefined);
    await room.host.ctx.review.accept(second.review.id);
    assert.equal((await second.done).after, text({ 3: 'B' }));
    assert.equal(bytes(a), text());
    await room.host.ctx.review.accept(first.review.id);
    assert.equal((await first.done).after, text({ 3: 'A' }));
  });

  it('B7 a path with odd slashes opens the same file\'s diff', async () => {
    const file = put('odd/b7.txt', text());
    const { review, done } = await room.propose(`${workspace()}//odd/../odd/./b7.txt`, text({ 3: 'three' }));
    const tab = await until(() => room.diffTab(review));
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    assert.equal(tab.input.original.toString(), vscode.Uri.file(file).toString());
    await room.host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 3: 'three' }));
  });

  it('B9 who types in a file keeps it: no diff comes over it, and typed keys decide nothing', async () => {
    const other = put('b9-typing.txt', '');
    const file = put('b9.txt', text());
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(other));
    await vscode.commands.executeCommand('type', { text: 'x' });
    const { review, done } = await room.propose(file, text({ 3: 'three' }));
    await vscode.commands.executeCommand('type', { text: 'y' });
    assert.equal(vscode.window.activeTextEditor, editor);
    assert.equal(editor.document.getText(), 'xy');
    assert.equal(room.diffTab(review), undefined);
    assert.equal(bytes(file), text());
    await vscode.commands.executeCommand('dshHost.review.openDiff');
    await until(() => room.diffTab(review));
    assert.equal(room.host.ctx.review.file(review.id)?.state, 'staged');
    await room.host.ctx.review.reject(review.id);
    await assert.rejects(done);
    await editor.document.save();
  });

  it('B11 a rejected new file leaves neither file nor folder', async () => {
    const { review, done } = await room.propose('n/e/w.txt', 'new\n');
    const tab = await until(() => room.diffTab(review));
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    await room.host.ctx.review.reject(review.id);
    await assert.rejects(done);
    assert.equal(existsSync(path.join(workspace(), 'n')), false);
  });

  it('B13 the native diff editor shows the real file against the proposal', async () => {
    const file = put('b13.ts', 'export const a = 1;\n');
    const { review, done } = await room.propose(file, 'export const a = 2;\n');
    const tab = await until(() => room.diffTab(review));
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    assert.equal(tab.input.original.fsPath, file);
    const document = await room.proposal(review);
    assert.equal(document.languageId, 'typescript');
    assert.equal(document.getText(), 'export const a = 2;\n');
    await room.host.ctx.review.reject(review.id);
    await assert.rejects(done);
  });

  for (const way of ['ask', 'auto-edit', 'full'] as const) {
    it(`B17 ${way}: format on save: outcome, review and disk are the same, and the report has the lines of now`, async () => {
      room.preset = way;
      const file = put(`b17-${way}.dshfmt`, text());
      const formatter = vscode.languages.registerDocumentFormattingEditProvider({ pattern: '**/*.dshfmt' }, {
        provideDocumentFormattingEdits: (document) => (document.getText().startsWith('// formatted') ? [] : [vscode.TextEdit.insert(new vscode.Position(0, 0), '// formatted\n')]),
      });
      await vscode.workspace.getConfiguration('editor').update('formatOnSave', true, vscode.ConfigurationTarget.Global);
      try {
        await vscode.window.showTextDocument(vscode.Uri.file(file));
        const expected = `// formatted\n${text({ 3: 'three', 9: 'nine' })}`;
        const target = await room.seen(file);
        const callId = room.nextCall();
        const done = room.host.ctx.fs.write(target, text({ 3: 'three', 9: 'nine' }), { displayPath: file, toolName: 'write', callId, agent: room.agent });
        if (way === 'ask') {
          const review = await until(() => room.change(file));
          await room.host.ctx.review.acceptHunk(review.id, review.hunks[0]!.id);
          assert.equal(bytes(file), `// formatted\n${text({ 3: 'three' })}`);
          // what is still pending moved along with the lines
          const [left] = room.host.ctx.review.file(review.id)!.hunks;
          assert.equal(left?.oldStart, 10);
          await room.host.ctx.review.accept(review.id);
        }
        const outcome = await done;
        assert.equal(outcome.after, expected);
        assert.equal(bytes(file), expected);
        assert.equal(outcome.version, (await room.host.ctx.fs.stat(target))?.version);
        if (way === 'auto-edit') {
          const review = room.change(file)!;
          assert.equal(review.proposed, expected);
          await room.host.ctx.review.accept(review.id);
        }
        const waterfall = (room.host.ctx as unknown as { waterfall(...args: unknown[]): Promise<{ content?: { text: string }[] }> }).waterfall.bind(room.host.ctx);
        const result = await waterfall('tools/post-execute', { callId, name: 'write', agent: undefined, arguments: {} }, { content: [] }, async () => ({ kind: 'accept' }));
        assert.match(result.content?.map((block) => block.text).join('\n') ?? '', /@@ -1,2 \+1,3 @@\n\+\/\/ formatted\n line 1/);
      } finally {
        await vscode.workspace.getConfiguration('editor').update('formatOnSave', undefined, vscode.ConfigurationTarget.Global);
        formatter.dispose();
      }
    });
  }

  it('A13 unsaved edits survive an accepted change, and one undo takes just the change back', async () => {
    const file = put('a13.txt', text());
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'X'));
    const unsaved = editor.document.getText();
    const { review, done } = await room.propose(file, unsaved.replace('line 15', 'fifteen'));
    await room.host.ctx.review.accept(review.id);
    await done;
    assert.equal(editor.document.getText(), unsaved.replace('line 15', 'fifteen'));
    assert.equal(bytes(file), text());
    await vscode.window.showTextDocument(editor.document);
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), unsaved);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('undo in the editor takes an accepted hunk back while others are pending, and the decision says so', async () => {
    const file = put('undo.txt', text());
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
    const { review, done } = await room.propose(file, text({ 3: 'three', 25: 'twentyfive' }));
    await room.host.ctx.review.acceptHunk(review.id, review.hunks[0]!.id);
    assert.equal(bytes(file), text({ 3: 'three' }));
    await vscode.window.showTextDocument(editor.document, { preview: false });
    await vscode.commands.executeCommand('undo');
    await editor.document.save();
    assert.equal(bytes(file), text());
    await room.host.ctx.review.refresh(review.id);
    assert.deepEqual(room.host.ctx.review.file(review.id)?.decided.map(({ state }) => state), ['undone']);
    await room.host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 25: 'twentyfive' }));
  });

  it('auto-edit: undo never takes the user\'s edit of the same lines; beside them it stays', async () => {
    room.preset = 'auto-edit';
    const file = put('edited.txt', text());
    const { done } = await room.propose(file, text({ 3: 'three', 25: 'twentyfive' }));
    await done;
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
    await editor.edit((edit) => {
      edit.insert(new vscode.Position(2, 5), ' AND MINE');
      edit.insert(new vscode.Position(9, 0), 'beside\n');
    });
    await editor.document.save();
    const review = room.change(file)!;
    await room.host.ctx.review.refresh(review.id);
    const [mixed, clean] = room.host.ctx.review.file(review.id)!.hunks;
    assert.deepEqual([mixed?.edited, clean?.edited], [true, undefined]);
    await assert.rejects(room.host.ctx.review.rejectHunk(review.id, mixed!.id), { code: 'REVIEW_EDITED' });
    await room.host.ctx.review.reject(review.id);
    assert.equal(bytes(file), text({ 3: 'three AND MINE', 10: 'beside\nline 10' }));
    await room.host.ctx.review.rejectHunk(review.id, mixed!.id, undefined, { edited: 'undo' });
    assert.equal(bytes(file), text({ 10: 'beside\nline 10' }));
  });

  it('a file open in two editors shows the change in both', async () => {
    const file = put('two.txt', text());
    await vscode.window.showTextDocument(vscode.Uri.file(file), { viewColumn: vscode.ViewColumn.One, preview: false });
    await vscode.window.showTextDocument(vscode.Uri.file(file), { viewColumn: vscode.ViewColumn.Two, preview: false });
    const { review, done } = await room.propose(file, text({ 3: 'three' }));
    await room.host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 3: 'three' }));
    const documents = vscode.workspace.textDocuments.filter((document) => document.uri.fsPath === file);
    assert.deepEqual(documents.map((document) => [document.getText(), document.isDirty]), [[text({ 3: 'three' }), false]]);
  });

  it('a read-only file is refused before anything is shown', async () => {
    if (process.getuid?.() === 0) chmodSync(put('ro.txt', text()), 0o444);
    const file = put('ro2.txt', text());
    chmodSync(file, 0o444);
    const target = await room.seen(file);
    await assert.rejects(room.host.ctx.fs.write(target, 'x', { displayPath: 'ro2.txt', toolName: 'write', agent: room.agent }), /read-only/);
    assert.equal(room.change(file), undefined);
    chmodSync(file, 0o644);
  });

  it('a file outside the workspace is reviewed like any other', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'dsh-outside-'));
    try {
      // nobody's call: an agent's would be asked for permission first
      const file = path.join(folder, 'far', 'new.txt');
      const target = await room.host.ctx.fs.resolve(file, workspace());
      const done = room.host.ctx.fs.write(target, text(), { displayPath: file, toolName: 'write', callId: room.nextCall() });
      const review = await until(() => room.change(file));
      await until(() => room.diffTab(review));
      assert.equal((await room.proposal(review)).getText(), text());
      assert.equal(existsSync(path.dirname(file)), false);
      await room.host.ctx.review.accept(review.id);
      await done;
      assert.equal(bytes(file), text());
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('a command deletes the file of a pending change: nothing is made again, and the tool says why', async () => {
    const file = put('deleted.txt', text());
    const { review, done } = await room.propose(file, text({ 3: 'three' }));
    rmSync(file);
    await room.host.ctx.review.refresh(review.id);
    await assert.rejects(done, /the file was changed at these lines during the review/);
    assert.equal(existsSync(file), false);
  });

  it('two edits of one file in a row stack: the second waits for the first and starts from what it left', async () => {
    const file = put('stack.txt', text());
    const first = await room.propose(file, text({ 3: 'three' }));
    const target = await room.seen(file);
    const second = room.host.ctx.fs.edit(target, (before) => {
      const start = before.text.indexOf('line 9');
      return [{ start, end: start + 6, text: 'nine' }];
    }, { displayPath: file, toolName: 'edit', callId: room.nextCall(), agent: room.agent });
    await room.host.ctx.review.reject(first.review.id);
    await assert.rejects(first.done);
    const review = await until(() => room.change(file));
    assert.equal(review.hunks.length, 1);
    await room.host.ctx.review.accept(review.id);
    await second;
    assert.equal(bytes(file), text({ 9: 'nine' }));
  });

  it('auto-edit: the files of a turn open together, and gutter marks have the text before', async () => {
    room.preset = 'auto-edit';
    const files = [put('m1.txt', text()), put('m2.txt', text())];
    for (const file of files) await (await room.propose(file, text({ 3: 'three' }))).done;
    await vscode.commands.executeCommand('dshHost.review.openTurn');
    await until(() => room.tabs().find((tab) => tab.label.startsWith('Changes of Turn 1')));
    const review = room.change(files[0]!)!;
    const base = await vscode.workspace.fs.readFile(vscode.Uri.from({ scheme: 'dsh-review', authority: review.id, path: '/m1.txt', query: 'base' }));
    assert.equal(new TextDecoder().decode(base), text());
    await vscode.window.showTextDocument(vscode.Uri.file(files[0]!), { selection: new vscode.Range(2, 0, 2, 0) });
    await vscode.commands.executeCommand('dshHost.review.rejectHunk');
    assert.equal(bytes(files[0]!), text());
    await vscode.window.showTextDocument(vscode.Uri.file(files[1]!), { selection: new vscode.Range(2, 0, 2, 0) });
    await vscode.commands.executeCommand('dshHost.review.acceptHunk');
    assert.equal(bytes(files[1]!), text({ 3: 'three' }));
    assert.equal(room.change(files[1]!), undefined);
  });

  for (const open of [false, true]) {
    it(`50,000 lines and 500 hunks, ${open ? 'open in an editor' : 'closed'}: shown, decided one by one and all at once, and the host answers meanwhile`, async () => {
      const many = Array.from({ length: 50_000 }, (_, i) => `value ${i} of many lines`);
      const file = put(`large-${open}.txt`, many.join('\n') + '\n');
      const changed = many.map((line, i) => (i % 100 === 50 ? `changed ${i}` : line)).join('\n') + '\n';
      if (open) await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
      let worst = 0;
      let last = performance.now();
      const timer = setInterval(() => {
        worst = Math.max(worst, performance.now() - last);
        last = performance.now();
      }, 5);
      try {
        const { review, done } = await room.propose(file, changed);
        assert.equal(review.hunks.length, 500);
        await room.host.ctx.review.acceptHunk(review.id, review.hunks[250]!.id);
        await room.host.ctx.review.rejectHunk(review.id, room.host.ctx.review.file(review.id)!.hunks[0]!.id);
        assert.equal(room.host.ctx.review.file(review.id)!.hunks.length, 498);
        await room.host.ctx.review.accept(review.id);
        await done;
      } finally {
        clearInterval(timer);
      }
      const expected = changed.replace('changed 50\n', 'value 50 of many lines\n');
      assert.equal(bytes(file), expected);
      console.log(`      longest pause of the extension host with 50,000 lines and 500 hunks, ${open ? 'open' : 'closed'}: ${Math.round(worst)} ms`);
    });
  }
});
