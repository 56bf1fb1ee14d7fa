import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Agent } from '../../src/contract/agent.ts';
import type { Host } from '../../src/host/main.ts';
import type { FileOutcome, FileTarget } from '../../src/seams/fs.ts';
import type { ReviewFile } from '../../src/seams/review.ts';
import { put, runningHost, until, workspace } from './house.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
const text = (changes: Record<number, string> = {}) => LINES.map((line, i) => changes[i + 1] ?? line).join('\n') + '\n';
const bytes = (file: string) => readFileSync(file, 'latin1');

describe('review in the real editor', function () {
  this.timeout(120_000);
  let host: Host;
  let preset: 'ask' | 'auto-edit' | 'full';
  let calls = 0;

  before(async () => {
    host = await runningHost();
    session.cwd = workspace();
  });
  beforeEach(async () => {
    preset = 'ask';
    // the user is with the review, not in a file of their own
    await vscode.commands.executeCommand('dshHost.review.nextHunk');
  });
  afterEach(async () => {
    for (const file of host.ctx.review.files()) await host.ctx.review.reject(file.id, undefined, { edited: 'undo' }).catch(() => undefined);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  /** An agent as far as the file system and the permissions look at one. */
  const session = { id: 'review-test', cwd: '', get events() { return [{ type: 'permission/preset', data: { preset } }, { type: 'turn/start', data: { turn: 1 } }]; } };
  const agent = { id: 'review-test', session } as unknown as Agent;
  const change = (file: string) => host.ctx.review.files().find((review) => review.file === path.normalize(file));
  /** Resolves a file the agent has read. */
  async function seen(file: string): Promise<FileTarget> {
    const target = await host.ctx.fs.resolve(file, workspace());
    const stat = await host.ctx.fs.stat(target);
    host.ctx.emit('fs/observed', target, stat === null ? { kind: 'absent' } : { kind: 'present', version: stat.version }, agent);
    return target;
  }
  async function propose(file: string, content: string): Promise<{ review: ReviewFile; done: Promise<FileOutcome> }> {
    const target = await seen(file);
    const done = host.ctx.fs.write(target, content, { displayPath: file, toolName: 'write', callId: `case ${++calls}`, agent });
    done.catch(() => undefined);
    const review = await until(() => host.ctx.review.files().find((candidate) => candidate.callIds.includes(`case ${calls}`)));
    return { review, done };
  }
  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const diffTab = (review: ReviewFile) => tabs().find(({ input }) => input instanceof vscode.TabInputTextDiff && (input.modified.authority === review.id || input.original.authority === review.id));
  const proposal = async (review: ReviewFile) => until(() => vscode.workspace.textDocuments.find((document) => document.uri.scheme === 'dsh-review' && document.uri.authority === review.id && document.uri.query === ''));

  it('B1 three edits, the third rejected: bytes are as before it', async () => {
    const file = put('b1.txt', text());
    for (const n of [1, 2]) {
      const { review, done } = await propose(file, text(n === 1 ? { 3: 'one' } : { 3: 'one', 9: 'two' }));
      await host.ctx.review.accept(review.id);
      await done;
    }
    const before = bytes(file);
    const { review, done } = await propose(file, text({ 3: 'one', 9: 'two', 20: 'three' }));
    await host.ctx.review.reject(review.id);
    await assert.rejects(done);
    assert.equal(bytes(file), before);
  });

  it('B3 what the user left on the proposed side is what is written', async () => {
    const file = put('b3.txt', text());
    const { review, done } = await propose(file, text({ 3: 'three', 9: 'nine' }));
    await until(() => diffTab(review));
    const document = await proposal(review);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, document.lineAt(2).range, 'THREE of the user');
    await vscode.workspace.applyEdit(edit);
    await vscode.commands.executeCommand('dshHost.review.acceptFile', document.uri);
    assert.equal((await done).after, text({ 3: 'THREE of the user', 9: 'nine' }));
    assert.equal(bytes(file), text({ 3: 'THREE of the user', 9: 'nine' }));
    await until(() => diffTab(review) === undefined);
  });

  it('saving, by hand or by auto-save, accepts nothing', async () => {
    const file = put('save.txt', text());
    const { review, done } = await propose(file, text({ 3: 'three' }));
    const document = await proposal(review);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, document.lineAt(2).range, 'saved, not accepted');
    await vscode.workspace.applyEdit(edit);
    assert.equal(await document.save(), true);
    assert.equal(bytes(file), text());
    assert.equal(host.ctx.review.file(review.id)?.proposed, text({ 3: 'saved, not accepted' }));
    await vscode.workspace.getConfiguration('files').update('autoSave', 'afterDelay', vscode.ConfigurationTarget.Global);
    await vscode.workspace.getConfiguration('files').update('autoSaveDelay', 100, vscode.ConfigurationTarget.Global);
    try {
      const again = new vscode.WorkspaceEdit();
      again.replace(document.uri, document.lineAt(2).range, 'saved by itself');
      await vscode.workspace.applyEdit(again);
      await until(() => !document.isDirty);
      assert.equal(bytes(file), text());
      assert.equal(host.ctx.review.file(review.id)?.hunks.length, 1);
    } finally {
      await vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global);
      await vscode.workspace.getConfiguration('files').update('autoSaveDelay', undefined, vscode.ConfigurationTarget.Global);
    }
    await host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 3: 'saved by itself' }));
  });

  it('B3 typing on while the review takes up what was typed loses nothing', async () => {
    const file = put('typing.txt', text());
    const { review, done } = await propose(file, text({ 3: 'three', 20: 'twenty' }));
    const document = await proposal(review);
    const { setProposed } = host.ctx.review;
    // a busy machine: what was typed comes late into the review, in its order
    let order: Promise<unknown> = Promise.resolve();
    host.ctx.review.setProposed = (...args) => {
      const call = order.then(() => new Promise((resolve) => setTimeout(resolve, 300))).then(() => setProposed.apply(host.ctx.review, args));
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
      const pending = host.ctx.review.file(review.id)!;
      await vscode.commands.executeCommand('dshHost.review.rejectHunk', { kind: 'hunk', file: pending, hunk: pending.hunks.at(-1) });
      await until(() => document.lineAt(19).text === 'line 20');
      assert.equal(document.lineAt(2).text, typed);
      await vscode.commands.executeCommand('dshHost.review.acceptFile', document.uri);
      assert.equal((await done).after, text({ 3: typed }));
    } finally {
      host.ctx.review.setProposed = setProposed;
    }
  });

  it('B5 two edits to two files in a row: each is decided by itself', async () => {
    const [a, b] = [put('b5a.txt', text()), put('b5b.txt', text())];
    const first = await propose(a, text({ 3: 'A' }));
    const second = await propose(b, text({ 3: 'B' }));
    await until(() => diffTab(first.review) !== undefined && diffTab(second.review) !== undefined);
    await host.ctx.review.accept(second.review.id);
    assert.equal((await second.done).after, text({ 3: 'B' }));
    assert.equal(bytes(a), text());
    await host.ctx.review.accept(first.review.id);
    assert.equal((await first.done).after, text({ 3: 'A' }));
  });

  it('B7 a path with odd slashes opens the same file\'s diff', async () => {
    const file = put('odd/b7.txt', text());
    const { review, done } = await propose(`${workspace()}//odd/../odd/./b7.txt`, text({ 3: 'three' }));
    const tab = await until(() => diffTab(review));
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    assert.equal(tab.input.original.toString(), vscode.Uri.file(file).toString());
    await host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 3: 'three' }));
  });

  it('B9 who types in a file keeps it: no diff comes over it, and typed keys decide nothing', async () => {
    const other = put('b9-typing.txt', '');
    const file = put('b9.txt', text());
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(other));
    await vscode.commands.executeCommand('type', { text: 'x' });
    const { review, done } = await propose(file, text({ 3: 'three' }));
    await vscode.commands.executeCommand('type', { text: 'y' });
    assert.equal(vscode.window.activeTextEditor, editor);
    assert.equal(editor.document.getText(), 'xy');
    assert.equal(diffTab(review), undefined);
    assert.equal(bytes(file), text());
    await vscode.commands.executeCommand('dshHost.review.openDiff');
    await until(() => diffTab(review));
    assert.equal(host.ctx.review.file(review.id)?.state, 'staged');
    await host.ctx.review.reject(review.id);
    await assert.rejects(done);
    await editor.document.save();
  });

  it('B11 a rejected new file leaves neither file nor folder', async () => {
    const { review, done } = await propose('n/e/w.txt', 'new\n');
    const tab = await until(() => diffTab(review));
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    await host.ctx.review.reject(review.id);
    await assert.rejects(done);
    assert.equal(existsSync(path.join(workspace(), 'n')), false);
  });

  it('B13 the native diff editor shows the real file against the proposal', async () => {
    const file = put('b13.ts', 'export const a = 1;\n');
    const { review, done } = await propose(file, 'export const a = 2;\n');
    const tab = await until(() => diffTab(review));
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    assert.equal(tab.input.original.fsPath, file);
    const document = await proposal(review);
    assert.equal(document.languageId, 'typescript');
    assert.equal(document.getText(), 'export const a = 2;\n');
    await host.ctx.review.reject(review.id);
    await assert.rejects(done);
  });

  for (const way of ['ask', 'auto-edit', 'full'] as const) {
    it(`B17 ${way}: format on save: outcome, review and disk are the same, and the report has the lines of now`, async () => {
      preset = way;
      const file = put(`b17-${way}.dshfmt`, text());
      const formatter = vscode.languages.registerDocumentFormattingEditProvider({ pattern: '**/*.dshfmt' }, {
        provideDocumentFormattingEdits: (document) => (document.getText().startsWith('// formatted') ? [] : [vscode.TextEdit.insert(new vscode.Position(0, 0), '// formatted\n')]),
      });
      await vscode.workspace.getConfiguration('editor').update('formatOnSave', true, vscode.ConfigurationTarget.Global);
      try {
        await vscode.window.showTextDocument(vscode.Uri.file(file));
        const expected = `// formatted\n${text({ 3: 'three', 9: 'nine' })}`;
        const target = await seen(file);
        const callId = `case ${++calls}`;
        const done = host.ctx.fs.write(target, text({ 3: 'three', 9: 'nine' }), { displayPath: file, toolName: 'write', callId, agent });
        if (way === 'ask') {
          const review = await until(() => change(file));
          await host.ctx.review.acceptHunk(review.id, review.hunks[0]!.id);
          assert.equal(bytes(file), `// formatted\n${text({ 3: 'three' })}`);
          // what is still pending moved along with the lines
          const [left] = host.ctx.review.file(review.id)!.hunks;
          assert.equal(left?.oldStart, 10);
          await host.ctx.review.accept(review.id);
        }
        const outcome = await done;
        assert.equal(outcome.after, expected);
        assert.equal(bytes(file), expected);
        assert.equal(outcome.version, (await host.ctx.fs.stat(target))?.version);
        if (way === 'auto-edit') {
          const review = change(file)!;
          assert.equal(review.proposed, expected);
          await host.ctx.review.accept(review.id);
        }
        const waterfall = (host.ctx as unknown as { waterfall(...args: unknown[]): Promise<{ content?: { text: string }[] }> }).waterfall.bind(host.ctx);
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
    const { review, done } = await propose(file, unsaved.replace('line 15', 'fifteen'));
    await host.ctx.review.accept(review.id);
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
    const { review, done } = await propose(file, text({ 3: 'three', 25: 'twentyfive' }));
    await host.ctx.review.acceptHunk(review.id, review.hunks[0]!.id);
    assert.equal(bytes(file), text({ 3: 'three' }));
    await vscode.window.showTextDocument(editor.document, { preview: false });
    await vscode.commands.executeCommand('undo');
    await editor.document.save();
    assert.equal(bytes(file), text());
    await host.ctx.review.refresh(review.id);
    assert.deepEqual(host.ctx.review.file(review.id)?.decided.map(({ state }) => state), ['undone']);
    await host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 25: 'twentyfive' }));
  });

  it('auto-edit: undo never takes the user\'s edit of the same lines; beside them it stays', async () => {
    preset = 'auto-edit';
    const file = put('edited.txt', text());
    const { done } = await propose(file, text({ 3: 'three', 25: 'twentyfive' }));
    await done;
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
    await editor.edit((edit) => {
      edit.insert(new vscode.Position(2, 5), ' AND MINE');
      edit.insert(new vscode.Position(9, 0), 'beside\n');
    });
    await editor.document.save();
    const review = change(file)!;
    await host.ctx.review.refresh(review.id);
    const [mixed, clean] = host.ctx.review.file(review.id)!.hunks;
    assert.deepEqual([mixed?.edited, clean?.edited], [true, undefined]);
    await assert.rejects(host.ctx.review.rejectHunk(review.id, mixed!.id), { code: 'REVIEW_EDITED' });
    await host.ctx.review.reject(review.id);
    assert.equal(bytes(file), text({ 3: 'three AND MINE', 10: 'beside\nline 10' }));
    await host.ctx.review.rejectHunk(review.id, mixed!.id, undefined, { edited: 'undo' });
    assert.equal(bytes(file), text({ 10: 'beside\nline 10' }));
  });

  it('a file open in two editors shows the change in both', async () => {
    const file = put('two.txt', text());
    await vscode.window.showTextDocument(vscode.Uri.file(file), { viewColumn: vscode.ViewColumn.One, preview: false });
    await vscode.window.showTextDocument(vscode.Uri.file(file), { viewColumn: vscode.ViewColumn.Two, preview: false });
    const { review, done } = await propose(file, text({ 3: 'three' }));
    await host.ctx.review.accept(review.id);
    await done;
    assert.equal(bytes(file), text({ 3: 'three' }));
    const documents = vscode.workspace.textDocuments.filter((document) => document.uri.fsPath === file);
    assert.deepEqual(documents.map((document) => [document.getText(), document.isDirty]), [[text({ 3: 'three' }), false]]);
  });

  it('a read-only file is refused before anything is shown', async () => {
    if (process.getuid?.() === 0) chmodSync(put('ro.txt', text()), 0o444);
    const file = put('ro2.txt', text());
    chmodSync(file, 0o444);
    const target = await seen(file);
    await assert.rejects(host.ctx.fs.write(target, 'x', { displayPath: 'ro2.txt', toolName: 'write', agent }), /read-only/);
    assert.equal(change(file), undefined);
    chmodSync(file, 0o644);
  });

  it('a file outside the workspace is reviewed like any other', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'dsh-outside-'));
    try {
      // nobody's call: an agent's would be asked for permission first
      const file = path.join(folder, 'far', 'new.txt');
      const target = await host.ctx.fs.resolve(file, workspace());
      const done = host.ctx.fs.write(target, text(), { displayPath: file, toolName: 'write', callId: `case ${++calls}` });
      const review = await until(() => change(file));
      await until(() => diffTab(review));
      assert.equal((await proposal(review)).getText(), text());
      assert.equal(existsSync(path.dirname(file)), false);
      await host.ctx.review.accept(review.id);
      await done;
      assert.equal(bytes(file), text());
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('a command deletes the file of a pending change: nothing is made again, and the tool says why', async () => {
    const file = put('deleted.txt', text());
    const { review, done } = await propose(file, text({ 3: 'three' }));
    rmSync(file);
    await host.ctx.review.refresh(review.id);
    await assert.rejects(done, /the file was changed at these lines during the review/);
    assert.equal(existsSync(file), false);
  });

  it('two edits of one file in a row stack: the second waits for the first and starts from what it left', async () => {
    const file = put('stack.txt', text());
    const first = await propose(file, text({ 3: 'three' }));
    const target = await seen(file);
    const second = host.ctx.fs.edit(target, (before) => {
      const start = before.text.indexOf('line 9');
      return [{ start, end: start + 6, text: 'nine' }];
    }, { displayPath: file, toolName: 'edit', callId: `case ${++calls}`, agent });
    await host.ctx.review.reject(first.review.id);
    await assert.rejects(first.done);
    const review = await until(() => change(file));
    assert.equal(review.hunks.length, 1);
    await host.ctx.review.accept(review.id);
    await second;
    assert.equal(bytes(file), text({ 9: 'nine' }));
  });

  it('auto-edit: the files of a turn open together, and gutter marks have the text before', async () => {
    preset = 'auto-edit';
    const files = [put('m1.txt', text()), put('m2.txt', text())];
    for (const file of files) await (await propose(file, text({ 3: 'three' }))).done;
    await vscode.commands.executeCommand('dshHost.review.openTurn');
    await until(() => tabs().find((tab) => tab.label.startsWith('Changes of Turn 1')));
    const review = change(files[0]!)!;
    const base = await vscode.workspace.fs.readFile(vscode.Uri.from({ scheme: 'dsh-review', authority: review.id, path: '/m1.txt', query: 'base' }));
    assert.equal(new TextDecoder().decode(base), text());
    await vscode.window.showTextDocument(vscode.Uri.file(files[0]!), { selection: new vscode.Range(2, 0, 2, 0) });
    await vscode.commands.executeCommand('dshHost.review.rejectHunk');
    assert.equal(bytes(files[0]!), text());
    await vscode.window.showTextDocument(vscode.Uri.file(files[1]!), { selection: new vscode.Range(2, 0, 2, 0) });
    await vscode.commands.executeCommand('dshHost.review.acceptHunk');
    assert.equal(bytes(files[1]!), text({ 3: 'three' }));
    assert.equal(change(files[1]!), undefined);
  });

  it('50,000 lines and 500 hunks: shown, decided one by one and all at once, and the host answers meanwhile', async () => {
    const many = Array.from({ length: 50_000 }, (_, i) => `value ${i} of many lines`);
    const file = put('large.txt', many.join('\n') + '\n');
    const changed = many.map((line, i) => (i % 100 === 50 ? `changed ${i}` : line)).join('\n') + '\n';
    let worst = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
    }, 5);
    try {
      const { review, done } = await propose(file, changed);
      assert.equal(review.hunks.length, 500);
      await host.ctx.review.acceptHunk(review.id, review.hunks[250]!.id);
      await host.ctx.review.rejectHunk(review.id, host.ctx.review.file(review.id)!.hunks[0]!.id);
      assert.equal(host.ctx.review.file(review.id)!.hunks.length, 498);
      await host.ctx.review.accept(review.id);
      await done;
    } finally {
      clearInterval(timer);
    }
    const expected = changed.replace('changed 50\n', 'value 50 of many lines\n');
    assert.equal(bytes(file), expected);
    console.log(`      longest pause of the extension host with 50,000 lines and 500 hunks: ${Math.round(worst)} ms`);
  });
});
