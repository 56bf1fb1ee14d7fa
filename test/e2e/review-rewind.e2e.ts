import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { runCommand, tab } from '../harness/vscode.ts';
import { call, Journey, say } from '../harness/review-journey.ts';

const lines = (changes: Record<number, string> = {}) => Array.from({ length: 40 }, (_, i) => changes[i + 1] ?? `// line ${i + 1}`).join('\n') + '\n';
const read = (name: string) => call('read', { file_path: name });
const edit = (name: string, from: string, to: string) => call('edit', { file_path: name, old_string: from, new_string: to });

describe('Keep, Undo and rewind, in a real VS Code', function () {
  this.timeout(180_000);
  let journey: Journey;

  before(async () => {
    journey = await Journey.open({ files: { 'a.ts': lines(), 'b.ts': lines() }, settings: { 'dshHost.permissionPreset': 'auto-edit' } });
  });
  after(async () => {
    await journey?.close();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await journey.vscode.shot(`failed-rewind-${this.currentTest.title.slice(0, 40).replace(/\W+/g, '-')}`);
  });

  it('auto-edit: edits land, show in the gutter and together, and are kept or undone by key in the normal editor', async () => {
    const { page } = journey.vscode;
    await journey.ask('Change both.', read('a.ts'), edit('a.ts', '// line 5\n', '// five\n'), edit('a.ts', '// line 20\n', '// twenty\n'), edit('a.ts', '// line 30\n', '// thirty\n'), edit('a.ts', '// line 35\n', '// thirty-five\n'),
      read('b.ts'), edit('b.ts', '// line 9\n', '// nine\n'), say('Both changed.'));
    await journey.done('Both changed.');
    assert.equal(journey.bytes('a.ts'), lines({ 5: '// five', 20: '// twenty', 30: '// thirty', 35: '// thirty-five' }));
    await runCommand(page, 'DSH: Open All Changes of This Turn');
    await page.locator('.multiDiffEntry').nth(1).waitFor();
    await journey.vscode.shot('docs/review-turn');
    await journey.keys('Control+p');
    await journey.type('a.ts');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'a.ts' }).first().waitFor();
    await journey.keys('Enter');
    await journey.inEditor();
    await page.locator('.margin-view-overlays .dirty-diff-glyph').first().waitFor();
    await journey.vscode.shot('docs/review-gutter');
    // the marks open a peek, with Keep and Undo in it
    const mark = (at: number) => page.locator('.margin-view-overlays > div', { hasText: new RegExp(`^${at}$`) }).locator('.dirty-diff-glyph').first();
    const peek = (name: string) => page.locator(`.peekview-widget .peekview-actions .action-label[aria-label^="${name}"]`);
    await mark(30).click({ force: true, position: { x: 1, y: 8 } });
    await page.locator('.peekview-widget .monaco-diff-editor .view-line', { hasText: 'thirty' }).first().waitFor();
    await journey.vscode.shot('docs/review-peek');
    await peek('Undo Change').click();
    await journey.holds('a.ts', lines({ 5: '// five', 20: '// twenty', 35: '// thirty-five' }));
    // the cursor goes on to the next change, and the peek closes
    await journey.caretAt(35);
    await page.locator('.peekview-widget').waitFor({ state: 'detached' });
    await mark(30).waitFor({ state: 'detached' });
    await mark(35).click({ force: true, position: { x: 1, y: 8 } });
    await page.locator('.peekview-widget', { hasText: '3 of 3 changes' }).locator('.view-line', { hasText: 'thirty-five' }).first().waitFor();
    await journey.vscode.shot('review-peek-35');
    await peek('Keep Change').click();
    await page.locator('.badge-content, .monaco-count-badge, .badge', { hasText: /^3$/ }).first().waitFor();
    await page.keyboard.press('Escape');
    await journey.inEditor();
    await journey.keys('Alt+F5');
    await journey.caretAt(5);
    await journey.keys('Alt+Backspace');
    await journey.holds('a.ts', lines({ 20: '// twenty', 35: '// thirty-five' }));
    await journey.caretAt(20);
    await journey.keys('Alt+Enter');
    await page.locator('[role="treeitem"]', { hasText: 'b.ts' }).first().waitFor();
    assert.equal(journey.bytes('a.ts'), lines({ 20: '// twenty', 35: '// thirty-five' }));
    await journey.ask('Go on.', say('I know.'));
    await journey.done('I know.');
    const told = journey.lastRequest();
    assert.match(told, /The user took back 2 changes you made to a\.ts/);
    assert.match(told, /-\/\/ five/);
    assert.match(told, /-\/\/ thirty/);
    assert.doesNotMatch(told, /thirty-five|twenty/);
  });

  it('N5 rewind: preview, files and conversation go back, the message waits in the composer, and the undo brings all again', async () => {
    const { page } = journey.vscode;
    await journey.ask('Make a file.', call('write', { file_path: 'n/new.ts', content: 'export {};\n' }), read('b.ts'), edit('b.ts', '// line 30\n', '// thirty\n'), say('Made.'));
    await journey.done('Made.');
    const before = { a: journey.bytes('a.ts'), b: journey.bytes('b.ts') };
    assert.match(before.b, /thirty/);
    const bubble = journey.chat.locator('.user', { hasText: 'Make a file.' });
    await bubble.hover();
    await bubble.getByRole('button', { name: 'Rewind to Before This Message' }).click();
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Files and Conversation' }).waitFor();
    await page.locator('.quick-input-widget', { has: page.locator('input[placeholder*="commands are not covered"]') }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'did not exist, will be deleted' }).waitFor();
    await journey.vscode.shot('docs/rewind');
    await page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
    await journey.holds('b.ts', lines({ 9: '// nine' }));
    await journey.holds('n/new.ts', null);
    assert.equal(existsSync(journey.file('n')), false);
    await journey.chat.locator('.assistant', { hasText: 'Made.' }).waitFor({ state: 'detached' });
    await journey.chat.locator('.assistant', { hasText: 'I know.' }).waitFor();
    assert.equal(await journey.chat.locator('.composer-input').inputValue(), 'Make a file.');
    await journey.vscode.shot('docs/rewound');
    await runCommand(page, 'DSH: Undo Rewind');
    await journey.holds('b.ts', before.b);
    await journey.holds('n/new.ts', 'export {};\n');
    await journey.done('Made.');
    assert.equal(journey.bytes('a.ts'), before.a);
    await tab(page, 'a.ts').first().waitFor();
  });

  it('rewinding the conversation alone leaves every file as it is, and is taken back, after a reload too', async () => {
    const { page } = journey.vscode;
    await journey.ask('Add a line.', read('b.ts'), edit('b.ts', '// line 2\n', '// two\n'), say('Added.'));
    await journey.done('Added.');
    const before = { a: journey.bytes('a.ts'), b: journey.bytes('b.ts') };
    assert.match(before.b, /two/);
    const rewind = async () => {
      const bubble = journey.chat.locator('.user', { hasText: 'Add a line.' });
      await bubble.hover();
      await bubble.getByRole('button', { name: 'Rewind to Before This Message' }).click();
      await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Conversation Only' }).click();
      await journey.chat.locator('.assistant', { hasText: 'Added.' }).waitFor({ state: 'detached' });
      await journey.chat.locator('.assistant', { hasText: 'Made.' }).waitFor();
      assert.equal(await journey.chat.locator('.composer-input').inputValue(), 'Add a line.');
      assert.deepEqual({ a: journey.bytes('a.ts'), b: journey.bytes('b.ts') }, before);
    };
    await rewind();
    await runCommand(page, 'DSH: Undo Rewind');
    await journey.done('Added.');
    assert.deepEqual({ a: journey.bytes('a.ts'), b: journey.bytes('b.ts') }, before);
    await rewind();
    await journey.reloadWindow();
    await journey.openChat();
    await journey.chat.locator('.assistant', { hasText: 'Made.' }).waitFor();
    await runCommand(page, 'DSH: Undo Rewind');
    await journey.done('Added.');
    assert.deepEqual({ a: journey.bytes('a.ts'), b: journey.bytes('b.ts') }, before);
  });
});
