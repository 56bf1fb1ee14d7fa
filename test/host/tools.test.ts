import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Host } from '../../src/host/main.ts';
import type { JobItem, ToolItem } from '../../src/protocol.ts';
import { allowAll, call, cards, idle, play, put, runningHost, say, until, workspace } from './house.ts';

/** The card of a call, once it is what the test waits for. */
const card = (host: Host, at: number, is: (item: ToolItem) => boolean): Promise<ToolItem> => until(() => {
  const item = cards(host)[at];
  return item !== undefined && is(item) && item;
});
const output = (item: ToolItem | undefined): string => (item?.view.card === 'terminal' ? item.view.output ?? '' : '');
const closeTerminals = (): void => vscode.window.terminals.forEach((terminal) => terminal.dispose());

describe('tools in the real extension host', () => {
  let host: Host;
  let stop: () => void;
  before(async () => { host = await runningHost(); });
  beforeEach(() => { stop = allowAll(host); });
  afterEach(async () => {
    stop();
    closeTerminals();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  describe('a command while it runs', () => {
    it('C7 the card has what was printed so far, the terminal the same bytes and colours, and closing it ends nothing', async () => {
      const go = path.join(workspace(), 'go');
      await play(host, [call('bash', { command: "printf '\\033[32mgreen\\033[0m one\\n'; until [ -e go ]; do sleep 0.05; done; echo two", description: 'wait' }), say('Done.')]);
      const live = await card(host, 0, (item) => item.status === 'running' && output(item).includes('one'));
      assert.equal(output(live), '\x1b[32mgreen\x1b[0m one\n');
      await host.chat.openCall(live.id);
      const terminal = await until(() => host.terminals.terminalOf(live.id));
      assert.match(terminal.name, /^DSH: printf/);
      assert.match(host.terminals.textOf(live.id) ?? '', /\x1b\[32mgreen\x1b\[0m one\r\n$/);
      terminal.dispose();
      await until(() => host.terminals.terminalOf(live.id) === undefined);
      put('go', '');
      await idle(host);
      assert.equal(existsSync(go), true);
      const [done] = cards(host);
      assert.match(output(done), /two/);
      await host.chat.openCall(live.id);
      assert.match(host.terminals.textOf(live.id) ?? '', /one\r\ntwo\r\n\r\n\x1b\[2m[^\r]*0\x1b\[0m\r\n$/, 'the screen went on without its terminal');
      assert.ok(host.terminals.terminalOf(live.id));
    });

    it('C9 GBK is decoded while it comes, in the card and in the terminal', async () => {
      await play(host, [call('bash', { command: "printf '\\304\\343'; sleep 0.2; printf '\\272\\303\\n'", description: 'gbk' }), say('Done.')]);
      await idle(host);
      const [item] = cards(host);
      assert.equal(output(item), '你好\n');
      assert.match(host.terminals.textOf(item!.id) ?? '', /\r\n你好\r\n/);
    });

    it('C11 a long output shows its end, says how much is missing, and names the file that has all of it', async () => {
      await play(host, [call('bash', { command: 'seq 1 200000', description: 'count' }), say('Done.')]);
      await idle(host);
      const [item] = cards(host);
      assert.match(item?.resultText ?? '', /bytes are not shown/);
      // the card keeps the end of it only; the terminal view has the whole text
      const { resultText = '' } = item ?? {};
      const shown = output(item);
      const file = /full output: (\S+?)\]/.exec(`${shown}\n${resultText}`)?.[1];
      assert.ok(file, `${shown.slice(-300)}\n--\n${resultText.slice(-300)}`);
      assert.deepEqual(item?.view.card === 'terminal' ? item.view.files : undefined, [file], 'one click away');
      assert.equal(readFileSync(file, 'utf8'), Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join(''));
    });

    it('C13 a broken quote is the shell\'s own error on the card', async () => {
      await play(host, [call('bash', { command: 'ls "C:\\x\\"', description: 'quote' }), say('Done.')]);
      await idle(host);
      assert.match(output(cards(host)[0]), /unexpected EOF/);
    });
  });

  it('file:line in our terminal is a link to that place; what is not there is none', async () => {
    const file = put('src/deep/link.ts', 'one\ntwo\nthree\n');
    await play(host, [call('bash', { command: 'echo src/deep/link.ts:2:2 gone.ts:4', description: 'say' }), say('Done.')]);
    await idle(host);
    const [item] = cards(host);
    await host.chat.openCall(item!.id);
    const terminal = await until(() => host.terminals.terminalOf(item!.id));
    let opened: unknown[] = [];
    const provider = host.terminals.linkProvider((...place) => { opened = place; });
    const token = new vscode.CancellationTokenSource().token;
    const links = await provider.provideTerminalLinks({ line: 'src/deep/link.ts:2:2 gone.ts:4', terminal }, token);
    assert.deepEqual(links?.map(({ startIndex, length, tooltip }) => [startIndex, length, tooltip]), [[0, 20, file]]);
    await provider.handleTerminalLink(links![0]!);
    assert.deepEqual(opened, ['src/deep/link.ts', workspace(), 2, 2]);
    const foreign = vscode.window.createTerminal('foreign');
    assert.deepEqual(await provider.provideTerminalLinks({ line: 'src/deep/link.ts:2:2', terminal: foreign }, token), []);
  });

  describe('background jobs', () => {
    const jobs = (): readonly JobItem[] => host.chat.meta.jobs;

    it('the list has live output; the job\'s own terminal has all of it; the stop button ends the tree', async () => {
      await play(host, [call('bash', { command: 'echo ready; (while :; do date >> ticks; sleep 0.1; done) & wait', description: 'serve', run_in_background: true }), say('Started.')]);
      await idle(host);
      const job = await until(() => jobs().find((candidate) => candidate.status === 'running' && candidate.tail === 'ready\n'));
      assert.equal(job.callId, cards(host)[0]?.id);
      await host.chat.openCall(job.callId!);
      await until(() => host.terminals.terminalOf(job.callId!));
      assert.match(host.terminals.textOf(job.callId!) ?? '', /ready\r\n$/);
      await until(() => existsSync(path.join(workspace(), 'ticks')));
      host.ctx.get('jobs')!.kill(job.id, host.chat.agent);
      await until(() => jobs().find((candidate) => candidate.id === job.id)?.status === 'killed');
      const size = readFileSync(path.join(workspace(), 'ticks')).length;
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.equal(readFileSync(path.join(workspace(), 'ticks')).length, size, 'nothing ticks any more');
      assert.match(host.terminals.textOf(job.callId!) ?? '', /SIGTERM|SIGKILL/);
    });

    it('D5 another session sees none of them, and a new session ends them', async () => {
      await play(host, [call('bash', { command: 'echo up; sleep 600', description: 'serve', run_in_background: true }), say('Started.')]);
      await idle(host);
      await until(() => jobs().some((job) => job.status === 'running'));
      await host.chat.newSession();
      assert.deepEqual(jobs(), []);
      const left = host.ctx.get('jobs')!.list();
      assert.deepEqual(left, []);
    });
  });

  describe('open documents', () => {
    // a browser's VS Code saves by itself after a second
    before(() => vscode.workspace.getConfiguration('files').update('autoSave', 'off', vscode.ConfigurationTarget.Global));
    after(() => vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global));

    it('A13 unsaved edits are what is read and edited; one undo takes the tool\'s edit back; nothing is saved', async () => {
      const file = put('open.txt', 'one\ntwo\nthree\n');
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
      await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'X'));
      await vscode.workspace.getConfiguration('dshHost').update('permissionPreset', 'full', vscode.ConfigurationTarget.Global);
      try {
        await play(host, [
          call('read', { file_path: 'open.txt' }),
          call('edit', { file_path: 'open.txt', old_string: 'three', new_string: 'THREE' }), say('Done.'),
        ]);
        await idle(host);
      } finally {
        await vscode.workspace.getConfiguration('dshHost').update('permissionPreset', undefined, vscode.ConfigurationTarget.Global);
      }
      assert.match(cards(host)[0]?.resultText ?? '', /1: Xone/);
      assert.deepEqual(cards(host).map((item) => item.status), ['completed', 'completed']);
      assert.match(cards(host)[1]?.resultText ?? '', /unsaved edits of the user/);
      assert.equal(editor.document.getText(), 'Xone\ntwo\nTHREE\n');
      assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\nthree\n');
      await vscode.window.showTextDocument(editor.document);
      await vscode.commands.executeCommand('undo');
      assert.equal(editor.document.getText(), 'Xone\ntwo\nthree\n');
      await vscode.commands.executeCommand('workbench.action.files.revert');
    });

    it('A1 A5 A7 an edit outside any editor keeps BOM, CRLF and the workspace\'s encoding', async () => {
      const bom = put('bom.txt', Buffer.from('\ufeffa\r\nb\r\nc\r\n'));
      await vscode.workspace.getConfiguration('dshHost').update('permissionPreset', 'full', vscode.ConfigurationTarget.Global);
      try {
        await play(host, [call('read', { file_path: 'bom.txt' }), call('edit', { file_path: 'bom.txt', old_string: 'b', new_string: 'B' }), say('Done.')]);
        await idle(host);
      } finally {
        await vscode.workspace.getConfiguration('dshHost').update('permissionPreset', undefined, vscode.ConfigurationTarget.Global);
      }
      assert.deepEqual(cards(host).map((item) => item.error), [undefined, undefined]);
      assert.equal(readFileSync(bom, 'utf8'), '\ufeffa\r\nB\r\nc\r\n');
    });
  });

  describe('results', () => {
    it('I3 300 matches: the card and the results view say 250 of 300, and the whole list is a click away', async () => {
      put('many/hits.txt', Array.from({ length: 300 }, (_, i) => `needle ${i}\n`).join(''));
      await play(host, [call('grep', { pattern: 'needle', path: 'many' }), say('Done.')]);
      await idle(host);
      const [item] = cards(host);
      assert.ok(item?.view.card === 'search');
      assert.equal(item.view.total, 300);
      assert.equal(item.view.truncated, true);
      await host.chat.openCall(item.id);
      const { page } = host.results;
      assert.ok(page.kind === 'matches');
      assert.equal(page.total, 300);
      assert.equal(page.files.reduce((sum, file) => sum + file.matches.length, 0), 250);
      assert.match(page.raw ?? '', /Found 250 of 300 matches/);
      const stored = /stored at: (\S+?)\.? /.exec(page.raw ?? '')?.[1];
      assert.ok(stored !== undefined && existsSync(stored), page.raw?.slice(-300));
      await until(() => vscode.window.tabGroups.all.flatMap((group) => group.tabs).find((tab) => tab.input instanceof vscode.TabInputWebview && tab.input.viewType.includes('dshHost.results')));
    });

    it('I1 a hidden folder is found', async () => {
      put('.github/workflows/ci.yml', 'on: push\n');
      await play(host, [call('glob', { pattern: '.github/workflows/*.yml' }), say('Done.')]);
      await idle(host);
      const [item] = cards(host);
      assert.ok(item?.view.card === 'search' && item.view.shape === 'paths');
      assert.deepEqual(item.view.paths, ['.github/workflows/ci.yml']);
    });

    it('K1 an address of this machine is refused on the card', async () => {
      await play(host, [call('web_fetch', { url: 'http://127.0.0.1:9/secret' }), say('Done.')]);
      await idle(host);
      assert.equal(cards(host)[0]?.status, 'failed');
      assert.match(cards(host)[0]?.resultText ?? '', /127\.0\.0\.1/);
    });
  });

  it('B10.37 str_replace_editor is there when the setting says so, and gone again', async () => {
    const has = () => host.ctx.tools.get('str_replace_editor') !== undefined;
    const config = vscode.workspace.getConfiguration('dshHost');
    assert.equal(has(), false);
    await config.update('strReplaceEditor', true, vscode.ConfigurationTarget.Global);
    await until(has);
    await config.update('strReplaceEditor', undefined, vscode.ConfigurationTarget.Global);
    await until(() => !has());
  });
});
