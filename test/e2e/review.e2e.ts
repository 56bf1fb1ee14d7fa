import assert from 'node:assert/strict';
import { runCommand, tab } from '../harness/vscode.ts';
import { call, Journey, say } from '../harness/review-journey.ts';

const lines = (changes: Record<number, string> = {}) => Array.from({ length: 60 }, (_, i) => changes[i + 1] ?? ([5, 30, 55].includes(i + 1) ? `export const oldName${i + 1} = ${i + 1};` : `// line ${i + 1}`)).join('\r\n') + '\r\n';
const renamed = (line: number, rest = '') => ({ [line]: `export const newName${line} = ${line};${rest}` });
const RENAME = call('edit', { file_path: 'src/names.ts', old_string: 'oldName', new_string: 'newName', replace_all: true });

describe('review by keyboard, reload and crash, in a real VS Code', function () {
  this.timeout(180_000);
  let it_: Journey;

  before(async () => {
    it_ = await Journey.open({ files: { 'src/names.ts': lines(), 'src/other.ts': '// other\n', 'src/third.ts': lines() } });
  });
  after(async () => {
    await it_?.close();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await it_.vscode.shot(`failed-review-${this.currentTest.title.slice(0, 40).replace(/\W+/g, '-')}`);
  });

  it('B3 A13 three hunks by keyboard: the first accepted, the second edited and accepted, the third rejected with a note; undo takes them back', async () => {
    const { vscode } = it_;
    const { page } = vscode;
    await it_.keys('Control+p');
    await it_.type('names.ts');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'names.ts' }).first().waitFor();
    await it_.keys('Enter');
    await tab(page, 'names.ts').waitFor();
    // a file that opens takes the focus a moment after its tab is there
    await it_.inEditor();
    await it_.ask('Rename it.', call('read', { file_path: 'src/names.ts' }), RENAME, say('Renamed.'));
    await tab(page, 'names.ts (Review)').waitFor();
    await it_.card('Edit src/names.ts').locator('.status-asking').waitFor();
    // B9: the diff came up, and the focus stayed in the chat
    await it_.type('still typing');
    assert.equal(await it_.chat.locator('.composer-input').inputValue(), 'still typing');
    await it_.chat.locator('.composer-input').fill('');
    assert.equal(it_.bytes('src/names.ts'), lines());

    await it_.keys('Alt+F5');
    await it_.inEditor();
    await it_.caretAt(5);
    await vscode.shot('docs/review-three-hunks');
    await it_.keys('Alt+Enter');
    await it_.holds('src/names.ts', lines(renamed(5)));
    await it_.caretAt(30);
    await it_.keys('End');
    await it_.type(' // mine');
    await page.locator('.monaco-diff-editor .editor.modified .view-line', { hasText: 'oldName5 ' }).first().waitFor({ state: 'hidden' });
    await vscode.shot('docs/review-edited-hunk');
    await it_.keys('Alt+Enter');
    await it_.holds('src/names.ts', lines({ ...renamed(5), ...renamed(30, ' // mine') }));
    await it_.caretAt(55);
    await it_.keys('Shift+Alt+Backspace');
    await page.locator('.quick-input-widget input').waitFor();
    await it_.type('the old name is public API');
    await vscode.shot('docs/review-note');
    await it_.keys('Enter');
    await it_.done('Renamed.');
    const expected = lines({ ...renamed(5), ...renamed(30, ' // mine') });
    assert.equal(it_.bytes('src/names.ts'), expected);
    await tab(page, 'names.ts (Review)').waitFor({ state: 'detached' });

    const told = it_.lastRequest();
    assert.match(told, /2 of 3 changes accepted/);
    assert.match(told, /rejected \(line 55\): the old name is public API/);
    assert.match(told, /-export const newName30 = 30;/);
    assert.match(told, /\+export const newName30 = 30; \/\/ mine/);
    assert.match(told, /-export const newName55 = 55;/);
    await vscode.shot('docs/review-decided');

    // the file's own editor has both accepted hunks on its undo stack
    await it_.keys('Control+p');
    await it_.type('names.ts');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'names.ts' }).first().waitFor();
    await it_.keys('Enter');
    await page.locator('.tab.active', { hasText: 'names.ts' }).waitFor();
    await it_.inEditor();
    await it_.keys('Control+z', 'Control+s');
    await it_.holds('src/names.ts', lines(renamed(5)));
    await it_.keys('Control+z', 'Control+s');
    await it_.holds('src/names.ts', lines());
  });

  it('a reload of the window in mid-review: pending hunks are there, nothing was written, the diff shows them, then they are decided', async () => {
    const { vscode } = it_;
    await it_.ask('Rename it again.', call('read', { file_path: 'src/names.ts' }), RENAME, say('never asked'));
    await tab(vscode.page, 'names.ts (Review)').waitFor();
    await it_.card('Edit src/names.ts').locator('.status-asking').waitFor();
    await it_.reloadWindow();
    await tab(vscode.page, 'names.ts (Review)').first().waitFor();
    await it_.openChat();
    assert.equal(it_.bytes('src/names.ts'), lines());
    // and on the card of the call that was cut off
    await it_.card('Edit src/names.ts').getByRole('button', { name: 'Accept this change' }).nth(2).waitFor();
    await tab(vscode.page, 'names.ts (Review)').first().click();
    await vscode.page.locator('.monaco-diff-editor .view-line', { hasText: 'newName' }).first().waitFor();
    await vscode.shot('docs/review-after-reload');
    await it_.inEditor();
    await it_.caretAt(5);
    await it_.keys('Alt+Enter');
    await it_.holds('src/names.ts', lines(renamed(5)));
    await it_.keys('Control+Alt+Backspace');
    await tab(vscode.page, 'names.ts (Review)').waitFor({ state: 'detached' });
    it_.server.answers.length = 0;
    await it_.ask('What happened?', say('I see.'));
    await it_.done('I see.');
    assert.match(it_.lastRequest(), /decided on a change to src\/names\.ts that was still pending when its call ended: 1 of 3 accepted, 0 left/);
    assert.equal(it_.bytes('src/names.ts'), lines(renamed(5)));
  });

  it('the extension host is killed in mid-review: nothing was written, the review comes back with what was typed, then it is decided', async () => {
    const { vscode } = it_;
    await it_.ask('Rename the third.', call('read', { file_path: 'src/third.ts' }), call('edit', { file_path: 'src/third.ts', old_string: 'oldName', new_string: 'newName', replace_all: true }), say('never asked'));
    await tab(vscode.page, 'third.ts (Review)').waitFor();
    await it_.keys('Alt+F5');
    await it_.inEditor();
    await it_.caretAt(5);
    await it_.keys('End');
    await it_.type(' // typed');
    // typing comes to rest and is kept
    await it_.until(() => [...it_.stored().values()].some((text) => text.includes('newName5 = 5; // typed')));
    const hosts = it_.extensionHosts();
    assert.equal(hosts.length, 1);
    process.kill(hosts[0]!, 'SIGKILL');
    await it_.until(() => it_.extensionHosts().some((pid) => pid !== hosts[0]));
    assert.equal(it_.bytes('src/third.ts'), lines());
    await vscode.reload();
    await it_.openChat();
    await runCommand(vscode.page, 'DSH: Open Review');
    await vscode.page.locator('.monaco-diff-editor .view-line', { hasText: 'typed' }).first().waitFor();
    await it_.inEditor();
    await it_.keys('Control+Alt+Enter');
    await it_.holds('src/third.ts', lines({ ...renamed(5, ' // typed'), ...renamed(30), ...renamed(55) }));
  });
});
