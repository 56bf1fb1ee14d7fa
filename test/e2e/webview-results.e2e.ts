import assert from 'node:assert/strict';
import type { WebviewPage } from '../harness/webview-page.ts';
import type { ResultsPage } from '../../src/protocol.ts';
import { webviewRoom } from '../harness/webview-room.ts';
import { RESULTS } from '../harness/results-states.ts';

describe('the results webview, on a page of its own', function () {
  this.timeout(60_000);
  const room = webviewRoom();
  let view: WebviewPage;
  async function open(page: ResultsPage | undefined): Promise<void> {
    view = await room.results(page);
  }
  const tree = () => view.page.getByRole('tree');

  it('I3 says how much of how much, groups by file and marks the hits', async () => {
    await open(RESULTS['matches']);
    await view.page.getByText('250 of 10,000 results in 3 files').waitFor();
    assert.equal(await view.page.locator('mark').first().textContent(), 'split(');
  });

  it('is walked by keyboard: Enter opens at the hit, Space previews, arrows fold', async () => {
    await open(RESULTS['matches']);
    await tree().focus();
    await view.page.keyboard.press('ArrowDown');
    await view.page.keyboard.press('Enter');
    assert.deepEqual((await view.posted()).at(-1), { type: 'open', path: 'src/parser/tokens.ts', line: 42, column: 15, length: 6, preview: false });
    await view.page.keyboard.press('ArrowDown');
    await view.page.keyboard.press('Space');
    assert.deepEqual((await view.posted()).at(-1), { type: 'open', path: 'src/parser/tokens.ts', line: 77, column: 24, length: 6, preview: true });
    await view.page.keyboard.press('ArrowLeft');
    await view.page.keyboard.press('ArrowLeft');
    assert.equal(await view.page.getByRole('treeitem', { name: /tokens\.ts/ }).getAttribute('aria-expanded'), 'false');
    assert.equal(await tree().evaluate((node) => node === document.activeElement), true);
    await view.page.keyboard.press('End');
    await view.page.locator('.result-row.active', { hasText: '// 47' }).waitFor();
  });

  it('a click previews, a double click opens', async () => {
    await open(RESULTS['matches']);
    await view.page.getByRole('treeitem', { name: /name\.split/ }).dblclick();
    assert.deepEqual((await view.posted()).map((message) => message['preview']), [true, true, false]);
  });

  it('filters, folds all, opens all and copies', async () => {
    await open(RESULTS['matches']);
    await view.page.getByRole('searchbox').fill('tokens');
    await view.page.getByText('2 match the filter', { exact: false }).waitFor();
    await view.page.getByRole('button', { name: 'Copy All' }).click();
    assert.match(String((await view.posted()).at(-1)?.['text']), /^src\/parser\/tokens\.ts:42: .*\nsrc\/parser\/tokens\.ts:77: /);
    await view.page.getByRole('button', { name: 'Open All Files' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openAll', paths: ['src/parser/tokens.ts'] });
    await view.page.getByRole('searchbox').fill('');
    await view.page.getByRole('button', { name: 'Collapse All' }).click();
    assert.equal(await view.page.getByRole('treeitem').count(), 3);
    await view.page.getByRole('button', { name: 'Expand All' }).click();
    assert.ok((await view.page.getByRole('treeitem').count()) > 3);
  });

  it('nothing is selected at first; the row of a file opens it by its button, and a filter without a hit says so', async () => {
    await open(RESULTS['matches']);
    assert.equal(await view.page.locator('.result-row.picked').count(), 0);
    const file = view.page.getByRole('treeitem', { name: /tokens\.ts/ });
    await file.hover();
    await file.getByRole('button', { name: 'Open File' }).click();
    assert.deepEqual(await view.posted(), [{ type: 'open', path: 'src/parser/tokens.ts', preview: false }]);
    assert.equal(await file.getAttribute('aria-expanded'), 'true');
    await view.page.getByRole('searchbox').fill('nowhere at all');
    await view.page.getByText('Nothing matches the filter.').waitFor();
  });

  it('10,000 rows: only what is visible is in the page', async () => {
    await open({ kind: 'matches', callId: 'c', title: 'many', pattern: 'x', truncated: false, total: 10_000, files: Array.from({ length: 100 }, (_, file) => ({ path: `src/f${file}.ts`, matches: Array.from({ length: 100 }, (_line, at) => ({ lineNumber: at + 1, line: `x ${file} ${at}` })) })) });
    assert.ok((await view.page.getByRole('treeitem').count()) < 80);
    await tree().focus();
    await view.page.keyboard.press('End');
    await view.page.getByText('99 99').waitFor();
    assert.ok((await view.page.getByRole('treeitem').count()) < 80);
  });

  it('paths are a list that opens on Enter', async () => {
    await open(RESULTS['paths']);
    await view.page.getByRole('listbox').focus();
    await view.page.keyboard.press('End');
    await view.page.keyboard.press('ArrowUp');
    await view.page.keyboard.press('Enter');
    assert.deepEqual((await view.posted()).at(-1), { type: 'open', path: 'test/a b/#x?.ts', preview: false });
  });

  it('K5 web pages are shown without a request; links go to the host, in full', async () => {
    await open(RESULTS['web']);
    await view.page.getByText('https://docs.example.org/a/very/long/address/that/goes/on/and/on/until/it/does/not/fit?with=parameters&and=more').waitFor();
    await view.page.getByRole('link', { name: 'Line endings' }).click();
    assert.equal((await view.posted()).at(-1)?.['type'], 'openLink');
    await view.send({ type: 'page', page: RESULTS['fetch']! });
    await view.page.getByRole('heading', { name: 'What I found' }).waitFor();
    assert.equal(await view.page.locator('img').count(), 0);
    assert.deepEqual(view.foreign, []);
  });

  it('O1 an input method keeps its keys in the filter', async () => {
    await open(RESULTS['matches']);
    await view.page.getByRole('searchbox').focus();
    await view.page.getByRole('searchbox').evaluate((node) => node.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', isComposing: true, bubbles: true })));
    assert.equal(await view.page.getByRole('searchbox').evaluate((node) => node === document.activeElement), true);
  });
});
