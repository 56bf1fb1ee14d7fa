import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Frame } from 'playwright-core';
import { ModelServer, type Answer } from '../harness/model-server.ts';
import { openVSCode, runCommand, shotOfFailure, tab, webviewFrame, type VSCode } from '../harness/vscode.ts';

const call = (name: string, args: Record<string, unknown>, text = ''): Answer => ({ text, toolCalls: [{ name, arguments: args }] });
const say = (text: string): Answer => ({ text });

const CODE = Array.from({ length: 60 }, (_, i) => `export const value${i + 1} = ${i + 1}; // TODO ${i % 7 === 0 ? 'rename' : 'keep'}`).join('\r\n') + '\r\n';

const PLUGINS = `
import { defineTool } from '@deepseek-ai/dsh-tools';
const text = { schema: { type: 'string' } as const, render: (_a: unknown, v: string) => [{ type: 'text' as const, text: v }] };
export const inject = ['tools'];
export function apply(ctx: any) {
  ctx.tools.register(defineTool({ name: 'explode', description: 'Throws.', parameters: {}, output: text, execute: async () => { throw new Error('kaboom at work'); } }));
  ctx.tools.register(defineTool({ name: 'badcard', description: 'Its presenter throws.', parameters: {}, output: text, execute: async () => 'still fine', presentCall: () => { throw new Error('no card'); }, presentResult: () => { throw new Error('no card'); } }));
  ctx.tools.register({ name: 'dated', description: 'Returns a Date.', parameters: { type: 'object', properties: {} }, output: { schema: {}, render: () => [] }, execute: async () => new Date(0) });
}
`;

describe('the main job, in a real VS Code, with a model server', function () {
  this.timeout(180_000);
  let server: ModelServer;
  let vscode: VSCode;
  let chat: Frame;

  before(async () => {
    server = await ModelServer.start();
    vscode = await openVSCode({
      files: { 'src/values.ts': CODE, 'src/other.ts': '// TODO one\nexport {};\n', 'cordis.yml': '- name: ./plugins/bad.ts\n', 'plugins/bad.ts': PLUGINS },
      settings: {
        'workbench.colorTheme': 'Default Dark Modern',
        'dshHost.providers': [{ id: 'local', name: 'Local', baseUrl: server.baseURL, models: ['scripted'], needsKey: false }],
        'dshHost.model': 'local/scripted',
      },
    });
    await runCommand(vscode.page, 'DSH: Open Chat');
    chat = await webviewFrame(vscode.page, '.composer-input');
    await chat.locator('.composer-input').waitFor();
  });
  after(async () => {
    await vscode?.close();
    await server?.close();
  });
  afterEach(async function () {
    await shotOfFailure(this.currentTest, vscode);
  });

  async function ask(text: string, ...answers: Answer[]): Promise<void> {
    server.push(...answers);
    const field = chat.locator('.composer-input');
    await field.fill(text);
    await field.press('Enter');
  }
  const card = (title: string) => chat.locator('.card', { has: chat.locator(`.card-toggle[title*="${title}"]`) }).last();
  const done = (text: string) => chat.getByText(text, { exact: true }).last().waitFor();
  const file = (name: string) => path.join(vscode.workspace, name);

  it('reads a file: a card, and a click on a line lands on that line', async () => {
    await ask('Read the values.', call('read', { file_path: 'src/values.ts', offset: 10, limit: 20 }, 'Reading.'), say('Read done.'));
    await done('Read done.');
    const read = card('Read src/values.ts');
    if ((await read.locator('.read-line').count()) === 0) await read.locator('.card-toggle').click();
    // its number: the line itself would be scrolled to
    await read.locator('.read-line[title$=":17"] .line-number').click();
    await tab(vscode.page, 'values.ts').waitFor();
    await vscode.page.locator('.statusbar-item', { hasText: 'Ln 17' }).waitFor();
    await vscode.shot('docs/read-and-jump');
  });

  it('B13 B15 an edit opens the native diff; the disk is unchanged until Accept, which writes just that line', async () => {
    await ask('Rename value3.', call('edit', { file_path: 'src/values.ts', old_string: 'value3 = 3', new_string: 'third = 3' }), say('Edit done.'));
    const edit = card('Edit src/values.ts');
    await edit.locator('.status-asking').waitFor();
    await tab(vscode.page, 'values.ts (Review)').waitFor();
    await vscode.page.locator('.monaco-diff-editor .line-insert, .monaco-diff-editor .char-insert').first().waitFor();
    assert.equal(readFileSync(file('src/values.ts'), 'latin1'), CODE);
    await vscode.shot('docs/review');
    await vscode.page.locator('.editor-actions a[aria-label^="Accept All Changes in File"]').first().click();
    await done('Edit done.');
    assert.equal(readFileSync(file('src/values.ts'), 'latin1'), CODE.replace('value3 = 3', 'third = 3'));
    await edit.locator('.status-completed').waitFor();
    await tab(vscode.page, 'values.ts (Review)').waitFor({ state: 'detached' });
  });

  it('B1 Reject leaves the file byte-identical, and the model is told', async () => {
    const before = readFileSync(file('src/values.ts'));
    await ask('Rename value4.', call('edit', { file_path: 'src/values.ts', old_string: 'value4 = 4', new_string: 'fourth = 4' }), say('Reject done.'));
    const edit = card('Edit src/values.ts');
    await edit.locator('.status-asking').waitFor();
    await tab(vscode.page, 'values.ts (Review)').waitFor();
    await edit.getByRole('button', { name: 'Reject', exact: true }).last().click();
    await done('Reject done.');
    assert.deepEqual(readFileSync(file('src/values.ts')), before);
    const told = JSON.stringify(server.requests.at(-1)?.body.messages.at(-1)?.content);
    assert.match(told, /the user rejected this change/);
  });

  it('C1 a command asks, runs, and its card and terminal show the output and status 7', async () => {
    await ask('Run it.', call('bash', { command: 'printf "hello from bash\\n"; exit 7', description: 'Say hello and fail' }), say('Command done.'));
    const bash = card('Say hello and fail');
    await bash.locator('.status-asking').waitFor();
    await vscode.shot('docs/approval');
    await bash.getByRole('button', { name: 'Allow Once' }).click();
    await done('Command done.');
    await bash.locator('.badge-error', { hasText: 'exit 7' }).waitFor();
    await bash.getByText('hello from bash').first().waitFor();
    await bash.locator('.card-header').hover();
    await bash.locator('[aria-label="Open in Terminal"]').click();
    await vscode.page.locator('.terminal-wrapper.active .xterm-rows', { hasText: /hello.from.bash/ }).waitFor();
    await vscode.page.locator('.terminal-wrapper.active .xterm-rows', { hasText: /Exit.code:.7/ }).waitFor();
    await vscode.shot('docs/terminal');
  });

  it('grep fills the results view, and a click jumps to the line', async () => {
    await ask('Find TODO.', call('grep', { pattern: 'TODO', path: 'src' }), say('Grep done.'));
    await done('Grep done.');
    const grep = card('Grep TODO');
    await grep.locator('.card-header').hover();
    await grep.locator('[aria-label="Open Results"]').first().click();
    const results = await webviewFrame(vscode.page, '[role="tree"]');
    await results.locator('[role="treeitem"]', { hasText: 'value1 ' }).first().waitFor();
    await vscode.shot('docs/results');
    await results.locator('input').first().fill('one');
    await results.locator('[role="treeitem"]', { hasText: 'TODO one' }).first().dblclick();
    await tab(vscode.page, 'other.ts').waitFor();
    await vscode.page.locator('.statusbar-item', { hasText: 'Ln 1' }).waitFor();
  });

  it('stops in mid-stream and keeps what was said', async () => {
    await ask('Talk.', { text: 'This answer goes on and on and never comes to its end. '.repeat(20), chunks: 20, holdAt: 6 } as Answer);
    await chat.getByText('This answer goes on').waitFor();
    await vscode.shot('docs/streaming');
    await chat.locator('.stop').click();
    await chat.getByText('Stopped.').last().waitFor();
    assert.equal(server.requests.at(-1)?.aborted, true);
    await ask('Go on.', say('Still here.'));
    await done('Still here.');
  });

  it('A6.2 messages that still wait are back in the composer when the turn is stopped, behind what was being typed', async () => {
    await ask('Talk more.', { text: 'This one never ends either. '.repeat(20), chunks: 20, holdAt: 6 } as Answer);
    await chat.getByText('This one never ends').waitFor();
    const field = chat.locator('.composer-input');
    await field.fill('Keep the table sorted.');
    await field.press('Enter');
    await field.fill('Then write the changelog.');
    await field.press('Alt+Enter');
    await chat.locator('.queued', { hasText: 'Then write the changelog.' }).waitFor();
    await field.fill('And');
    await chat.locator('.stop').click();
    await chat.locator('.notice-text', { hasText: 'Not sent: Then write the changelog.' }).waitFor();
    await chat.locator('.queued').waitFor({ state: 'detached' });
    assert.equal(await field.inputValue(), 'And Keep the table sorted.\n\nThen write the changelog.');
    await ask('Go on.', say('Here again.'));
    await done('Here again.');
  });

  it('T2.6 P4.22 tools that throw, present badly or return a Date give clear cards, and the agent goes on', async () => {
    await ask('Try them.', call('explode', {}), call('badcard', {}), call('dated', {}), say('All three tried.'));
    await done('All three tried.');
    await card('explode').locator('.status-failed').waitFor();
    await card('explode').getByText('kaboom at work').first().waitFor();
    await card('badcard').locator('.status-completed').waitFor();
    await card('dated').locator('.status-failed').waitFor();
    await card('dated').getByText('value is not lossless JSON').first().waitFor();
    await vscode.shot('docs/failures');
  });

  it('after a reload the session is there with the same cards, and nothing ran', async () => {
    const titles = () => chat.locator('.card-toggle').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('title')));
    const before = await titles();
    const requests = server.requests.length;
    const bytes = readFileSync(file('src/values.ts'));
    await vscode.reload();
    await runCommand(vscode.page, 'DSH: Open Chat');
    chat = await webviewFrame(vscode.page, '.card');
    await chat.getByText('All three tried.').last().waitFor();
    assert.deepEqual(await titles(), before);
    assert.equal(server.requests.length, requests);
    assert.deepEqual(readFileSync(file('src/values.ts')), bytes);
    await runCommand(vscode.page, 'DSH: Show Sessions');
    await vscode.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Read the values.' }).first().waitFor();
    await vscode.page.keyboard.press('Escape');
    await card('Say hello and fail').locator('.card-header').hover();
    await card('Say hello and fail').locator('[aria-label="Open in Terminal"]').click();
    await vscode.page.locator('.terminal-wrapper.active .xterm-rows', { hasText: /hello.from.bash/ }).waitFor();
    assert.equal(existsSync(file('n')), false);
  });
});
