import assert from 'node:assert/strict';
import { chmodSync, rmSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { call, Journey, say } from '../harness/review-journey.ts';
import { runCommand, tab } from '../harness/vscode.ts';

const AT = [4, 8, 12, 16, 20, 24, 28] as const;
const lines = (changes: Record<number, string> = {}) => Array.from({ length: 32 }, (_, i) => changes[i + 1] ?? ((AT as readonly number[]).includes(i + 1) ? `export const old${i + 1} = ${i + 1};` : `// line ${i + 1}`)).join('\n') + '\n';
const renamed = (...at: number[]) => Object.fromEntries(at.map((line) => [line, `export const new${line} = ${line};`]));
const rename = (name: string) => call('edit', { file_path: name, old_string: 'const old', new_string: 'const new', replace_all: true });

describe('review by mouse, in a real VS Code', function () {
  this.timeout(180_000);
  let journey: Journey;

  before(async () => {
    journey = await Journey.open({ files: { 'm.ts': lines(), 'ro.ts': lines(), 'gone.ts': lines(), 'turn-a.ts': lines(), 'turn-b.ts': lines() } });
  });
  after(async () => {
    await journey?.close();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await journey.vscode.shot(`failed-mouse-${this.currentTest.title.slice(0, 40).replace(/\W+/g, '-')}`);
  });

  const title = (name: string): Locator => journey.vscode.page.locator('.editor-actions').getByRole('button', { name: new RegExp(`^${name}( \\(|$)`) }).first();
  const line = (text: string): Locator => journey.vscode.page.locator('.monaco-diff-editor .editor.modified .view-line', { hasText: text }).first();
  /** A menu takes no click in its first moment, but a key. */
  async function pick(name: string): Promise<void> {
    await journey.vscode.page.locator('.monaco-menu').getByRole('menuitem', { name }).first().hover();
    await journey.vscode.page.locator('.monaco-menu .action-item.focused', { hasText: name }).waitFor();
    await journey.keys('Enter');
  }
  const row = (text: string | RegExp): Locator => journey.vscode.page.locator('.pane', { has: journey.vscode.page.locator('.pane-header', { hasText: 'Changes' }) }).locator('[role="treeitem"]', { hasText: text }).first();
  async function inline(item: Locator, action: string): Promise<void> {
    await item.hover();
    await item.locator(`.action-label[aria-label^="${action}"]`).click();
  }

  it('each change by another way: title buttons, context menu, line number menu, the Changes view, the card, and VS Code\'s own arrow', async () => {
    const { page } = journey.vscode;
    await journey.ask('Rename.', call('read', { file_path: 'm.ts' }), rename('m.ts'), say('Renamed.'));
    await tab(page, 'm.ts (Review)').waitFor();
    await line('new4 ').click();
    await title('Accept Change').click();
    await journey.holds('m.ts', lines(renamed(4)));
    await line('new8 ').click();
    await title('Reject Change').click();
    await line('new8 ').waitFor({ state: 'detached' });
    await line('new12 ').click({ button: 'right' });
    await pick('Accept Change');
    await journey.holds('m.ts', lines(renamed(4, 12)));
    await page.locator('.monaco-diff-editor .editor.modified .line-numbers', { hasText: /^16$/ }).first().click({ button: 'right' });
    await pick('Reject Change');
    await line('new16 ').waitFor({ state: 'detached' });

    await runCommand(page, 'DSH: Show Changes');
    await row('m.ts').waitFor();
    await row('m.ts').locator('.monaco-tl-twistie').click();
    await row('new20 ').waitFor();
    await journey.vscode.shot('docs/review-changes-view');
    await inline(row('new20 '), 'Accept Change');
    await journey.holds('m.ts', lines(renamed(4, 12, 20)));
    await row('new20 ').waitFor({ state: 'detached' });

    await journey.openChat();
    await journey.card('Edit m.ts').getByRole('button', { name: 'Accept this change' }).first().click();
    await journey.holds('m.ts', lines(renamed(4, 12, 20, 24)));

    // the arrow takes the last one out of the proposal: nothing is left to decide but to end it
    await line('new28 ').click();
    await page.waitForFunction("document.querySelectorAll('.monaco-diff-editor .gutterItem').length === 1");
    await page.locator('.monaco-diff-editor .gutterItem').getByRole('button', { name: 'Revert Block' }).click();
    await line('new28 ').waitFor({ state: 'detached' });
    assert.equal(journey.bytes('m.ts'), lines(renamed(4, 12, 20, 24)));
    await title('Accept All Changes in File').click();
    await journey.done('Renamed.');
    assert.equal(journey.bytes('m.ts'), lines(renamed(4, 12, 20, 24)));
    await tab(page, 'm.ts (Review)').waitFor({ state: 'detached' });
    const told = journey.lastRequest();
    for (const gone of [8, 16, 28]) assert.match(told, new RegExp(`-export const new${gone} = ${gone};`));
    assert.doesNotMatch(told, /[-+]export const new(4|12|20|24) =/);
  });

  it('a change that can not be written is told in the Changes view and on the card, not only for a moment', async () => {
    const { page } = journey.vscode;
    await journey.ask('Rename that.', call('read', { file_path: 'ro.ts' }), rename('ro.ts'), say('Done with it.'));
    await tab(page, 'ro.ts (Review)').waitFor();
    await line('new4 ').waitFor();
    chmodSync(journey.file('ro.ts'), 0o444);
    await title('Accept All Changes in File').click();
    const told = /Not carried out: cannot write .*ro\.ts.* read-only/;
    await journey.card('Edit ro.ts').locator('.card-error', { hasText: told }).waitFor();
    await runCommand(page, 'DSH: Show Changes');
    await row(told).waitFor();
    await runCommand(page, 'Notifications: Clear All Notifications');
    await journey.vscode.shot('docs/review-not-written');
    assert.equal(journey.bytes('ro.ts'), lines());
    chmodSync(journey.file('ro.ts'), 0o644);
    await inline(row('ro.ts'), 'Accept All Changes in File');
    await journey.openChat();
    await journey.done('Done with it.');
    assert.equal(journey.bytes('ro.ts'), lines(renamed(...AT)));
  });

  it('the tab of a review that is over by the time the window comes back is closed, without an error page', async () => {
    const { page } = journey.vscode;
    await journey.ask('And this.', call('read', { file_path: 'gone.ts' }), rename('gone.ts'), say('never asked'));
    await tab(page, 'gone.ts (Review)').waitFor();
    await line('new4 ').waitFor();
    // the window goes with the tab open, and another one decides meanwhile
    const saved = page.waitForEvent('load');
    await runCommand(page, 'Developer: Reload Window');
    await saved;
    await tab(page, 'gone.ts (Review)').waitFor();
    await line('new4 ').waitFor();
    const url = page.url();
    await page.goto('about:blank');
    await journey.until(() => journey.extensionHosts().length === 0 || journey.stored().size > 0);
    for (const file of journey.stored().keys()) rmSync(file);
    for (const pid of journey.extensionHosts()) process.kill(pid, 'SIGKILL');
    await page.goto(url);
    await journey.openChat();
    await tab(page, 'gone.ts (Review)').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.monaco-editor-pane-placeholder').count(), 0);
    assert.equal(journey.bytes('gone.ts'), lines());
    await journey.vscode.shot('review-over');
  });
});
