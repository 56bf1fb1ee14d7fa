import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { allowAll, call, cards, idle, play, put, runningHost, say, until, workspace } from './house.ts';

describe('turns in the real extension host', () => {
  it('C1 C3 C15 a terminal card has the exact output and the structured status', async () => {
    const host = await runningHost();
    const stop = allowAll(host);
    try {
      await play(host, [
        call('bash', { command: 'printf abc', description: 'a' }), call('bash', { command: "sh -c 'exit 7'", description: 'b' }),
        call('bash', { command: "echo '[exit code: 3]'", description: 'c' }), call('bash', { command: '(echo a; sleep 0.3); echo b', description: 'd' }), say('Done.'),
      ]);
      await idle(host);
      const views = cards(host).map((card) => card.view);
      assert.ok(views.every((view) => view.card === 'terminal'));
      const [abc, seven, marker, both] = views.map((view) => (view.card === 'terminal' ? view : undefined));
      assert.equal(abc?.output, 'abc');
      assert.equal(seven?.exitCode, 7);
      assert.equal(marker?.exitCode, 0);
      assert.match(marker?.output ?? '', /\[exit code: 3\]/);
      assert.match(both?.output ?? '', /^a\nb/);
    } finally {
      stop();
    }
  });

  it('B9 an approval takes no focus, and typing goes on where it was', async () => {
    const host = await runningHost();
    const file = put('typing.txt', '');
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
    await play(host, [call('bash', { command: 'touch made-by-command', description: 'make' }), say('Done.')]);
    const card = await until(() => cards(host).find((candidate) => candidate.ask?.kind === 'approval'));
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, file);
    await vscode.commands.executeCommand('type', { text: 'y\n' });
    assert.equal(editor.document.getText().replace(/\r/g, ''), 'y\n');
    assert.equal(existsSync(path.join(workspace(), 'made-by-command')), false);
    assert.ok(card.ask?.kind === 'approval');
    assert.equal(host.approvals.decide('some other id', true), false);
    assert.equal(host.approvals.decide(card.ask.id, false), true);
    await idle(host);
    assert.equal(existsSync(path.join(workspace(), 'made-by-command')), false);
    assert.equal(cards(host)[0]?.status, 'stopped');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('B10.35 a question is answered or skipped: the model gets the answer, or learns that there is none', async () => {
    const host = await runningHost();
    const ask = call('ask_user_question', { questions: [{ id: 'q', question: 'Which one?', options: [{ label: 'a' }, { label: 'b' }] }] });
    await play(host, [ask, ask, say('Fine.')]);
    const first = await until(() => cards(host).find((card) => card.ask?.kind === 'question'));
    assert.equal(host.approvals.skip('some other call'), false);
    assert.equal(host.approvals.skip(first.id), true);
    assert.equal(host.approvals.skip(first.id), false, 'only once');
    const second = await until(() => cards(host).find((card) => card.id !== first.id && card.ask?.kind === 'question'));
    assert.equal(host.approvals.answer(second.id, [{ id: 'q', selected: ['b'] }]), true);
    await idle(host);
    const [skipped, answered] = cards(host);
    assert.equal(skipped?.status, 'stopped');
    assert.match(skipped?.error ?? '', /^the user declined to answer/);
    assert.equal(answered?.status, 'completed');
    assert.equal(answered?.resultText, '{"answers":[{"id":"q","selected":["b"]}]}');
  });

  it('J5 a write that makes code run asks with its change on the card, once, and not at all when it can only fail', async () => {
    const host = await runningHost();
    put('.vscode/hello.json', '{}\n');
    await play(host, [
      call('write', { file_path: '.vscode/hello.json', content: '1\n' }), call('write', { file_path: '.vscode/new.json', content: '{}\n' }), say('Done.'),
    ]);
    const card = await until(() => cards(host).find(({ ask }) => ask?.kind === 'approval'));
    assert.equal(card.view.card, 'diff');
    assert.ok(card.ask?.kind === 'approval');
    assert.match(card.ask.reason ?? '', /^"\.vscode\/new\.json" can make code run: /);
    assert.match(cards(host)[0]?.error ?? '', /without reading it first/);
    assert.equal(host.approvals.decide(card.ask.id, false), true);
    await idle(host);
    assert.equal(cards(host)[1]?.status, 'stopped');
    assert.match(cards(host)[1]?.error ?? '', /^the user rejected tool "write"/);
    assert.equal(host.chat.agent?.session.events.filter(({ type }) => type === 'approval/asked').length, 1);
  });

  it('J9 switching to Read Only takes back what was being asked', async () => {
    const host = await runningHost();
    await play(host, [call('bash', { command: 'touch made-after-all', description: 'make' }), say('Done.')]);
    const card = await until(() => cards(host).find((candidate) => candidate.ask?.kind === 'approval'));
    await host.chat.setPreset('read-only');
    assert.ok(card.ask?.kind === 'approval');
    assert.equal(host.approvals.decide(card.ask.id, true), false);
    await idle(host);
    assert.equal(existsSync(path.join(workspace(), 'made-after-all')), false);
  });

  it('D1 D3 stop ends the whole tree of a running command', async () => {
    const host = await runningHost();
    const stop = allowAll(host);
    try {
      await play(host, [call('bash', { command: "bash -c 'for i in 1 2 3; do sleep 1; touch t$i; done'", description: 'loop' }), say('never said')]);
      await until(() => cards(host)[0]?.status === 'running');
      await new Promise((resolve) => setTimeout(resolve, 300));
      host.chat.stop();
      await until(() => host.chat.agent?.status === 'idle');
      await new Promise((resolve) => setTimeout(resolve, 2500));
      assert.deepEqual(['t1', 't2', 't3'].filter((name) => existsSync(path.join(workspace(), name))), []);
      assert.equal(cards(host)[0]?.status, 'stopped');
    } finally {
      stop();
    }
  });

  it('L11.8 a stored session shows the same cards again and runs nothing', async () => {
    const host = await runningHost();
    put('count.txt', 'x\n');
    const stop = allowAll(host);
    await play(host, [call('bash', { command: 'echo again >> count.txt', description: 'append' }), say('Done.')], 'Append once.');
    await idle(host);
    stop();
    const id = host.chat.agent!.id;
    const before = JSON.stringify(host.chat.items);
    await host.chat.newSession();
    assert.deepEqual(host.chat.items, []);
    await host.chat.openSession(id);
    assert.equal(JSON.stringify(host.chat.items), before);
    const text = await vscode.workspace.fs.readFile(vscode.Uri.file(path.join(workspace(), 'count.txt')));
    assert.equal(Buffer.from(text).toString(), 'x\nagain\n');
    assert.ok(host.chat.meta.sessions.some((session) => session.id === id && session.title === 'Append once.'));
  });

  it('of two sessions clicked one after the other the later one stays on show, and a message sent meanwhile goes to it', async () => {
    const host = await runningHost();
    const ids: string[] = [];
    for (const name of ['First.', 'Second.']) {
      await play(host, [say('Hello.'), say('Again.')], name);
      await idle(host);
      ids.push(host.chat.agent!.id);
    }
    await host.chat.newSession();
    const [first, second] = ids as [string, string];
    await Promise.all([host.chat.openSession(second), host.chat.openSession(first), host.chat.send('More.')]);
    assert.equal(host.chat.agent?.id, first);
    await until(() => host.chat.items.some((item) => item.kind === 'user' && item.text === 'More.'));
    await idle(host);
    await Promise.all([host.chat.openSession(second), host.chat.newSession()]);
    assert.equal(host.chat.agent, undefined);
    assert.deepEqual(host.chat.items, []);
  });

  it('the rest of the window does not wait for a session that another window holds', async () => {
    const host = await runningHost();
    await play(host, [say('Hello.')], 'Held.');
    await idle(host);
    const id = host.chat.agent!.id;
    await host.chat.newSession();
    const { folder } = host.ctx.sessions as unknown as { folder: { lockPath(id: string): string } };
    const lock = folder.lockPath(id);
    writeFileSync(lock, JSON.stringify({ pid: process.ppid, host: hostname(), token: 'another window' }));
    try {
      await host.chat.openSession(id);
      assert.equal(host.chat.agent, undefined, 'it is only looked at');
      await host.chat.restore();
      assert.deepEqual(host.chat.items, [], 'still waited for');
      await until(() => host.chat.items.some((item) => item.kind === 'user' && item.text === 'Held.'));
      assert.equal(host.chat.agent, undefined);
    } finally {
      rmSync(lock);
      await host.chat.newSession();
    }
  });

  it('H9 a broken argument gives an error the model can repair from, and the agent goes on', async () => {
    const host = await runningHost();
    await play(host, [call('read', { file_path: 7 }), { text: '', toolCalls: [{ name: 'read', arguments: '{' }] }, say('Recovered.')]);
    await idle(host);
    assert.deepEqual(cards(host).map((card) => card.status), ['failed', 'failed']);
    assert.match(cards(host)[0]?.resultText ?? '', /invalid arguments: "file_path" must be a string/);
    assert.match(cards(host)[1]?.resultText ?? '', /"arguments" must be an object/);
  });

  it('J9 a preset that is picked holds for its session alone', async () => {
    const host = await runningHost();
    const stored = (): unknown => vscode.workspace.getConfiguration('dshHost').inspect('permissionPreset')?.globalValue;
    await play(host, [say('Hello.')]);
    await idle(host);
    await host.chat.setPreset('full');
    assert.equal(host.chat.meta.preset.id, 'full');
    assert.equal(stored(), undefined, 'the setting is left alone');
    const first = host.chat.agent!.id;
    await host.chat.newSession();
    assert.equal(host.chat.meta.preset.id, 'ask', 'the next session starts as the setting says');
    await host.chat.setPreset('read-only');
    assert.equal(host.chat.meta.preset.id, 'read-only', 'chosen before the first message');
    const file = put('.script-preset.json', JSON.stringify({ user: ['Go.'], model: [call('bash', { command: 'touch read-only-ran', description: 'make' }), say('Refused.')] }));
    await vscode.workspace.getConfiguration('dshHost').update('model', `scripted:${file}`, vscode.ConfigurationTarget.Global);
    await host.chat.send('Go.');
    await idle(host);
    assert.equal(host.chat.meta.preset.id, 'read-only');
    assert.equal(existsSync(path.join(workspace(), 'read-only-ran')), false);
    await host.chat.openSession(first);
    assert.equal(host.chat.meta.preset.id, 'full', 'and is kept with its session');
    await host.chat.newSession();
  });
});
