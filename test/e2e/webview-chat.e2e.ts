import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { PageOptions, WebviewPage } from '../harness/webview-page.ts';
import type { CardView, ChatMeta, DiffCardHunk, ToolItem, TranscriptItem, TranscriptPatch } from '../../src/protocol.ts';
import { webviewRoom } from '../harness/webview-room.ts';
import { APPROVAL, BUSY, CARDS, GREET, MARKDOWN, QUESTION, REVIEW, STATUSES, assistant, state, tool, user } from '../harness/webview-states.ts';

/** The same diff, all of it decided in one way. */
function withStates(view: CardView, as: NonNullable<DiffCardHunk['state']>): CardView {
  assert.ok(view.card === 'diff');
  return { ...view, files: view.files.map((file) => ({ ...file, hunks: file.hunks.map((hunk) => ({ ...hunk, state: as })) })) };
}

describe('the chat webview, on a page of its own', function () {
  this.timeout(60_000);
  const room = webviewRoom();
  let view: WebviewPage;
  async function open(items: readonly TranscriptItem[], meta: Partial<ChatMeta> = {}, options: Partial<PageOptions> = {}): Promise<void> {
    view = await room.chat(state(items, meta), options);
  }
  const composer = () => view.page.locator('.composer-input');
  const types = async (): Promise<string[]> => (await view.posted()).map((message) => message.type);
  const compose = (selector: string, init: object) => view.page.locator(selector).evaluate((node, event) => node.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...event })), init);

  it('says ready, draws the state, and keeps the roles that screen readers need', async () => {
    view = await room.open({ kind: 'chat' });
    assert.equal((await view.waitPosted('ready')).type, 'ready');
    await view.send({ type: 'state', state: state(CARDS) });
    await view.page.getByRole('log', { name: 'Conversation' }).waitFor();
    await view.page.getByRole('textbox', { name: 'Message to the agent' }).waitFor();
    const nameless = await view.page.evaluate(() => [...document.querySelectorAll('button, a, input, textarea, [role=img]')].filter((node) => {
      const named = node.getAttribute('aria-label') ?? node.textContent?.trim() ?? '';
      return named === '' && (node as HTMLInputElement).labels?.length !== 1;
    }).map((node) => node.outerHTML));
    assert.deepEqual(nameless, []);
  });

  it('every status has an icon with a name', async () => {
    await open(STATUSES);
    for (const name of ['Preparing', 'Waiting', 'Running', 'Done', 'Failed', 'Stopped']) assert.ok(await view.page.getByRole('img', { name, exact: true }).count(), name);
    assert.equal(await view.page.locator('.badge-error').textContent(), 'SIGTERM');
  });

  it('J7 a command, a title and a diff cannot hide behind turned text', async () => {
    await open([
      tool('b', 'bash', { card: 'terminal', title: 'rm -rf \u202E/ # \u2066safe', description: 'Tidy \u202Eup' }, { status: 'asking', ask: { kind: 'approval', id: 'a', reason: 'names \u202Ex' } }),
      tool('r', 'read', { card: 'read', title: 'Read \u202Est.a', path: '\u202Est.a', offset: 1, totalLines: 1, lines: [{ number: 1, text: 'x \u202Ey' }] }, { status: 'failed' }),
    ]);
    assert.doesNotMatch(await view.page.locator('.transcript').innerText(), /[\u202a-\u202e\u2066-\u2069]/);
    await view.page.locator('.terminal-command', { hasText: 'rm -rf ⟨U+202E⟩/ # ⟨U+2066⟩safe' }).waitFor();
  });

  it('O3 a silent command says so in the language of the view', async () => {
    await open([tool('b', 'bash', { card: 'terminal', title: 'touch z', output: '(no output)', exitCode: 0 })]);
    await view.page.getByText('No output', { exact: true }).waitFor();
    assert.equal(await view.page.getByText('(no output)').count(), 0);
  });

  it('a failed command says its error once, without the marks of a code fence', async () => {
    const error = 'the user rejected tool "bash"';
    await open([
      tool('b', 'bash', { card: 'generic', title: 'touch z', kind: 'execute', locations: [], content: `\`\`\`console\nError: ${error}\n\`\`\`` }, { status: 'failed', resultText: `Error: ${error}`, error }),
      tool('j', 'bash', { card: 'generic', title: 'npm start', kind: 'execute', locations: [], content: '```console\nstarted background job bash-1\n```' }, { resultText: 'started background job bash-1' }),
    ]);
    const text = await view.page.locator('.transcript').innerText();
    assert.equal(text.split(error).length, 2, text);
    assert.match(text, /started background job bash-1/);
    assert.doesNotMatch(text, /```/);
  });

  it('an error of several lines is shown once, and whole', async () => {
    await open([tool('g', 'grep', { card: 'generic', title: 'Grep split(', kind: 'search', input: 'split(', locations: [] }, { status: 'failed', resultText: 'Error: the pattern was refused:\n    split(\nunclosed group', error: 'the pattern was refused:' })]);
    assert.equal(await view.page.locator('.card-body').innerText(), 'the pattern was refused:\n    split(\nunclosed group');
  });

  it('B10.35 questions and their answers are words, not JSON', async () => {
    const asked = [{ id: 'a', question: 'Which files?' }, { id: 'b', question: 'And what else?' }];
    const input = (questions: readonly object[]): CardView => ({ card: 'generic', title: 'ask_user_question', kind: 'other', input: JSON.stringify({ questions }), locations: [] });
    const answers = JSON.stringify({ answers: [{ id: 'a', selected: ['x.ts', 'y.ts'], custom: 'and z.ts' }, { id: 'b', selected: [] }] });
    await open([tool('one', 'ask_user_question', input(asked.slice(0, 1)), { resultText: answers }), tool('two', 'ask_user_question', input(asked), { resultText: answers }), tool('odd', 'ask_user_question', input([{ id: 7 }]), { resultText: 'odd' })]);
    const card = (at: number) => view.page.locator('.card').nth(at);
    assert.equal(await card(0).innerText(), 'Which files?\nx.ts, y.ts, and z.ts');
    assert.equal(await card(1).innerText(), '2 questions\nWhich files?\nx.ts, y.ts, and z.ts\nAnd what else?\nNo answer');
    await card(2).getByText('odd', { exact: true }).waitFor();
  });

  it('B10.34 a todo card opens to the list it wrote', async () => {
    await open([tool('t', 'todo_write', { card: 'generic', title: 'Update todo list', kind: 'other', locations: [], todos: BUSY.todos! }, { resultText: 'Updated todo list: …' })]);
    await view.page.locator('.card').getByText('1/3').waitFor();
    // anywhere on its row
    await view.page.locator('.card-header').click({ position: { x: 250, y: 12 } });
    assert.deepEqual(await view.page.locator('.card .todo').allInnerTexts(), BUSY.todos!.map((todo) => todo.content));
    await view.page.getByRole('button', { name: 'Update todo list Mend the scanner' }).click();
    assert.equal(await view.page.locator('.card .todo').count(), 0);
  });

  it('arguments that stream are read as they come', async () => {
    await open([tool('w', 'write', { card: 'generic', title: 'write', kind: 'other', input: '{"file_path":"a.ts","content":"one\\ntw', locations: [] }, { status: 'streaming' })], { status: 'running' });
    await view.page.getByRole('button', { name: 'write' }).click();
    assert.equal(await view.page.locator('.fields').innerText(), 'file_path\na.ts\ncontent\none\ntw');
  });

  it('without a folder the welcome page says so, and offers what works', async () => {
    await open([], { noFolder: true });
    await view.page.getByRole('button', { name: 'Open Folder' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'command', id: 'openFolder' });
    assert.equal(await view.page.getByText('/grep TODO').count(), 0);
  });

  it('every card shows what it is about, and its links post where to go', async () => {
    await open(CARDS);
    await view.page.getByText('exit 7').waitFor();
    await view.page.getByText('250 of 10,000', { exact: true }).waitFor();
    await view.page.locator('.search-line', { hasText: 'name.split' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openLocation', path: 'src/parser/tokens.ts', line: 77 });
    const terminal = view.page.getByRole('article', { name: 'Run the tests about line endings', exact: true });
    await terminal.hover();
    await terminal.getByRole('button', { name: 'Open in Terminal' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openTerminal', callId: 'te' });
    const diff = view.page.getByRole('article', { name: 'Edit src/parser/tokens.ts', exact: true });
    await diff.hover();
    await diff.getByRole('button', { name: 'Open Diff' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openDiff', callId: 'df', path: 'src/parser/tokens.ts' });
    await diff.getByRole('link', { name: 'src/parser/tokens.ts' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openLocation', path: 'src/parser/tokens.ts', line: 41 });
    await view.page.getByRole('button', { name: /Read src\/parser/ }).click();
    await view.page.locator('.read-line').nth(1).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openLocation', path: 'src/parser/tokens.ts', line: 41 });
    await view.page.getByRole('link', { name: 'Line endings' }).click();
    assert.equal((await view.posted()).at(-1)?.['type'], 'openLink');
  });

  it('K5 a reply with remote pictures makes no request, and its links go to the host', async () => {
    await open([assistant('a', `${MARKDOWN}\n\n<img src="https://example.com/x.png"> ![p](https://example.com/y.png)`)]);
    await view.page.getByRole('link', { name: 'a picture' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openLink', url: 'https://example.com/pixel.png' });
    await view.page.getByRole('link', { name: 'the notes' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'openLocation', path: 'docs/notes.md', line: 10 });
    assert.equal(await view.page.locator('img').count(), 0);
    assert.deepEqual(view.foreign, []);
    assert.equal(new URL(view.page.url()).pathname, '/');
  });

  it('F5 10,000 deltas are drawn together, the last one too', async () => {
    await open([assistant('a', '', { streaming: true, blocks: [] })], { status: 'running' });
    await view.page.evaluate(() => {
      const counter = { batches: 0 };
      Object.assign(window, { counter });
      new MutationObserver(() => (counter.batches += 1)).observe(document.querySelector('.transcript')!, { subtree: true, childList: true, characterData: true });
    });
    await view.send(...Array.from({ length: 10_000 }, (_, at): { type: 'patch'; ops: TranscriptPatch[] } => ({ type: 'patch', ops: [{ op: 'append', id: 'a', block: 0, type: 'text', text: at === 9999 ? 'the-end' : 'word ' }] })));
    await view.page.getByText('the-end').waitFor();
    const batches = await view.page.evaluate(() => (window as unknown as { counter: { batches: number } }).counter.batches);
    assert.ok(batches < 200, `${batches} times the page was changed`);
  });

  it('F7 a lost message makes the view ask for the state again', async () => {
    await open([user('u', 'one')]);
    await view.sendRaw({ type: 'patch', seq: 5, ops: [{ op: 'put', item: user('v', 'two') }] });
    assert.deepEqual(await view.waitPosted('resync'), { type: 'resync', have: 0 });
    assert.equal(await view.page.getByText('two', { exact: true }).count(), 0);
    await view.send({ type: 'state', state: state([user('u', 'one'), user('v', 'two')]) });
    await view.page.getByText('two', { exact: true }).waitFor();
  });

  it('F9 without its lesser assets the chat still works', async () => {
    await open([assistant('a', MARKDOWN)], {}, { missing: ['highlight.js', 'codicon.css'] });
    await view.page.getByText('every token, in order').waitFor();
    await composer().fill('hello');
    await composer().press('Enter');
    assert.deepEqual(await types(), ['send']);
    view.errors.length = 0;
  });

  it('G9 a card that nobody knows becomes a plain one, and the log hears of it', async () => {
    view = await room.open({ kind: 'chat' });
    await view.send({ type: 'state', state: state([tool('x', 'future', { card: 'hologram', title: 'From the future' } as unknown as ToolItem['view'], { resultText: 'its text' }), user('u', 'still here')]) });
    await view.page.getByRole('button', { name: /future/ }).click();
    await view.page.getByText('its text').waitFor();
    await view.page.getByText('still here').waitFor();
    assert.match(String((await view.posted()).find((message) => message.type === 'error')?.['message']), /unexpected card/);
  });

  it('O1 Enter of an input method does nothing, in every input', async () => {
    await open([QUESTION, REVIEW], { sessions: [] });
    await composer().fill('日本');
    await view.page.getByRole('button', { name: 'Reject with a note…' }).click();
    const inputs = await view.page.locator('.text-input').count();
    assert.equal(inputs, 3);
    for (let at = 0; at < inputs; at++) await view.page.locator('.text-input').nth(at).fill('日本');
    await view.clearPosted();
    for (const init of [{ key: 'Enter', isComposing: true }, { key: 'Enter', keyCode: 229 }]) {
      await compose('.composer-input', init);
      for (let at = 0; at < inputs; at++) await compose(`.text-input >> nth=${at}`, init);
    }
    assert.deepEqual(await types(), []);
    assert.equal(await composer().inputValue(), '日本');
  });

  it('B9 an approval takes no focus, and Enter in the composer never approves', async () => {
    await open([user('u', 'go')], { status: 'running' });
    await composer().focus();
    await view.send({ type: 'patch', ops: [{ op: 'put', item: APPROVAL }, { op: 'put', item: REVIEW }] });
    assert.equal(await composer().evaluate((node) => node === document.activeElement), true);
    await composer().press('Enter');
    await composer().press('y');
    await composer().press('Enter');
    assert.deepEqual(await view.posted(), [{ type: 'send', text: 'y', mode: 'steer' }]);
  });

  it('B15 an approval is answered by keyboard, and says what it allows', async () => {
    await open([APPROVAL]);
    const allow = view.page.getByRole('button', { name: 'Allow Once' });
    await allow.focus();
    await view.page.keyboard.press('Enter');
    assert.deepEqual((await view.posted()).at(-1), { type: 'approve', callId: 'ap', id: 'a1', outcome: 'allow' });
    await view.page.getByText('In this session: npm install …').waitFor();
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Enter');
    assert.equal((await view.posted()).at(-1)?.['outcome'], 'allow-session');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Space');
    assert.equal((await view.posted()).at(-1)?.['outcome'], 'reject');
  });

  it('B13 a review is decided by hunk, as a whole, with a note, or in the native diff', async () => {
    await open([REVIEW]);
    await view.page.getByRole('button', { name: 'Reject this change' }).first().click();
    await view.page.getByRole('button', { name: 'Accept this change' }).last().click();
    await view.page.getByRole('button', { name: 'Accept', exact: true }).click();
    await view.page.getByRole('button', { name: 'Reject with a note…' }).click();
    await view.page.keyboard.type('keep the API');
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.posted(), [
      { type: 'review', fileId: 'f1', action: 'reject', hunkId: 'h1' }, { type: 'review', fileId: 'f1', action: 'accept', hunkId: 'h2' },
      { type: 'review', fileId: 'f1', action: 'accept' }, { type: 'review', fileId: 'f1', action: 'reject', note: 'keep the API' },
    ]);
  });

  it('B1 what could not be carried out stays on the card, and what was decided is called by what it was', async () => {
    const problem = { kind: 'failed', message: 'cannot write "a.ts": the file is read-only' } as const;
    await open([{ ...REVIEW, ask: { kind: 'review', fileId: 'f1', problem } }, tool('decided', 'edit', withStates(REVIEW.view, 'rejected'))]);
    await view.page.locator('.ask .card-error', { hasText: 'Not carried out: cannot write "a.ts": the file is read-only' }).waitFor();
    assert.equal(await view.page.locator('.hunk-state', { hasText: 'Rejected' }).count(), 2);
    const landed = tool('landed', 'edit', withStates(REVIEW.view, 'pending'), { review: { fileId: 'f1', pending: 2, landed: true, problem: { kind: 'drift', lost: 3 } } });
    await view.send({ type: 'state', state: state([landed]) });
    await view.page.locator('.ask .card-error', { hasText: '3 changes were given up: the file was changed at these lines.' }).waitFor();
    await view.page.getByRole('button', { name: 'Keep', exact: true }).waitFor();
    await view.page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
  });

  it('questions are answered by keyboard alone', async () => {
    await open([QUESTION]);
    assert.equal(await view.page.locator('vscode-button[disabled]').count(), 1);
    await view.page.locator('.choice input').first().focus();
    await view.page.keyboard.press('Space');
    await view.page.keyboard.press('ArrowDown');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Space');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.type('and docs');
    await view.page.keyboard.press('Enter');
    assert.deepEqual((await view.posted()).at(-1), {
      type: 'answer', callId: 'qu', answers: [{ id: 'q1', selected: ['Scanner and tests'] }, { id: 'q2', selected: ['Lint'], custom: 'and docs' }],
    });
  });

  it('questions are skipped by keyboard, answered or not', async () => {
    await open([QUESTION]);
    await view.page.locator('.choice input').first().focus();
    await view.page.keyboard.press('Space');
    const skip = view.page.getByRole('button', { name: 'Skip' });
    await skip.focus();
    await view.page.keyboard.press('Enter');
    assert.deepEqual((await view.posted()).at(-1), { type: 'skip', callId: 'qu' });
  });

  it('the composer sends, breaks lines, steers, queues and recalls', async () => {
    await open([user('u1', 'first'), user('u2', 'second')]);
    await composer().fill('line');
    await composer().press('Shift+Enter');
    await composer().pressSequentially('two');
    await composer().press('Enter');
    assert.deepEqual((await view.posted()).at(-1), { type: 'send', text: 'line\ntwo', mode: 'steer' });
    assert.equal(await composer().inputValue(), '');
    await composer().press('ArrowUp');
    await composer().press('ArrowUp');
    assert.equal(await composer().inputValue(), 'first');
    await composer().press('ArrowDown');
    assert.equal(await composer().inputValue(), 'second');
    await view.send({ type: 'meta', meta: { status: 'running' } });
    await composer().fill('later');
    await composer().press('Alt+Enter');
    assert.deepEqual((await view.posted()).at(-1), { type: 'send', text: 'later', mode: 'queue' });
    await view.page.getByRole('button', { name: 'Stop', exact: true }).click();
    assert.equal((await types()).at(-1), 'stop');
  });

  it('completes tools and files', async () => {
    await open([]);
    await composer().pressSequentially('/g');
    const list = view.page.getByRole('listbox', { name: 'Suggestions' });
    assert.deepEqual(await list.getByRole('option').locator('.completion-label').allTextContents(), ['/glob', '/greet', '/grep']);
    await composer().press('ArrowDown');
    await composer().press('ArrowDown');
    assert.equal(await composer().getAttribute('aria-activedescendant'), 'completions-2');
    await composer().press('Enter');
    assert.equal(await composer().inputValue(), '/grep ');
    await composer().pressSequentially('TODO in @tok');
    await view.page.waitForFunction(() => (window as unknown as { dshPosted: { type: string; query?: string }[] }).dshPosted.some((message) => message.query === 'tok'));
    await view.send({ type: 'mentions', query: 'tok', paths: ['src/parser/tokens.ts', 'my tokens.ts'] });
    await composer().press('ArrowDown');
    await composer().press('Tab');
    assert.equal(await composer().inputValue(), '/grep TODO in @"my tokens.ts" ');
    assert.ok(!(await types()).includes('send'));
    await composer().pressSequentially('@x');
    await composer().press('Escape');
    assert.equal(await list.count(), 0);
  });

  it('the draft survives a reload of the view', async () => {
    await open([]);
    await composer().fill('not yet sent');
    await view.page.reload();
    await view.send({ type: 'state', state: state([]) });
    assert.equal(await composer().inputValue(), 'not yet sent');
  });

  it('a mention of the host is added to the draft; focus only moves when it says so', async () => {
    await open([]);
    await composer().fill('look at');
    await composer().blur();
    await view.send({ type: 'compose', text: '@src/a.ts ', focus: false });
    assert.equal(await composer().inputValue(), 'look at @src/a.ts ');
    assert.equal(await composer().evaluate((node) => node === document.activeElement), false);
    await view.send({ type: 'compose', focus: true });
    assert.equal(await composer().evaluate((node) => node === document.activeElement), true);
  });

  it('follows the end, but never while the user reads above', async () => {
    const long = Array.from({ length: 40 }, (_, at) => assistant(`m${at}`, `Message ${at}\n\nwith a second line`));
    await open(long);
    const scroller = view.page.locator('.transcript');
    const distance = () => scroller.evaluate((node) => Math.round(node.scrollHeight - node.scrollTop - node.clientHeight));
    assert.ok((await distance()) <= 1);
    await view.send({ type: 'patch', ops: [{ op: 'put', item: assistant('new', 'more\n\n'.repeat(20)) }] });
    assert.ok((await distance()) <= 1);
    await scroller.hover();
    await view.page.mouse.wheel(0, -900);
    await view.page.getByRole('button', { name: 'Scroll to the end' }).waitFor();
    const at = await scroller.evaluate((node) => node.scrollTop);
    await view.send({ type: 'patch', ops: [{ op: 'put', item: assistant('newer', 'even more') }] });
    assert.equal(await scroller.evaluate((node) => node.scrollTop), at);
    await view.page.getByRole('button', { name: 'New messages' }).click();
    assert.ok((await distance()) <= 1);
  });

  it('a selection is not lost and not scrolled away while text streams', async () => {
    await open([assistant('a', '', { streaming: true, blocks: [{ type: 'text', text: 'First paragraph to select.\n\nThe tail' }] })], { status: 'running' });
    await view.page.getByText('First paragraph').selectText();
    for (let at = 0; at < 20; at++) await view.send({ type: 'patch', ops: [{ op: 'append', id: 'a', block: 0, type: 'text', text: ` goes on ${at}\n\n` }] });
    assert.equal(await view.page.evaluate(() => document.getSelection()?.toString()), 'First paragraph to select.');
    await view.page.getByText('goes on 19').waitFor({ state: 'attached' });
  });

  it('F3 settled parts of a reply stay the same nodes while it grows', async () => {
    await open([assistant('a', '', { streaming: true, blocks: [{ type: 'text', text: 'One.\n\nTwo.\n\nThr' }] })], { status: 'running' });
    await view.page.locator('.markdown').getByText('One.').evaluate((node) => Object.assign(node, { dshMark: 1 }));
    for (let at = 0; at < 30; at++) await view.send({ type: 'patch', ops: [{ op: 'append', id: 'a', block: 0, type: 'text', text: 'word word.\n\n' }] });
    await view.send({ type: 'patch', ops: [{ op: 'put', item: assistant('a', `One.\n\nTwo.\n\nThr${'word word.\n\n'.repeat(30)}`) }] });
    assert.equal(await view.page.locator('.markdown').getByText('One.').evaluate((node) => (node as unknown as { dshMark?: number }).dshMark), 1);
  });

  it('screen readers hear whole replies, not tokens', async () => {
    await open([assistant('a', '', { streaming: true, blocks: [] })], { status: 'running' });
    const live = view.page.locator('[aria-live=polite]');
    await view.send({ type: 'patch', ops: [{ op: 'append', id: 'a', block: 0, type: 'text', text: 'Half' }] });
    assert.equal(await live.textContent(), '');
    await view.send({ type: 'patch', ops: [{ op: 'put', item: assistant('a', 'Half and half') }, { op: 'put', item: { ...GREET, status: 'failed' } }] });
    assert.equal(await live.textContent(), 'Half and half\nGreet Ada: Failed');
  });

  it('the welcome page offers what works, lists sessions, searches and deletes them', async () => {
    await open([]);
    await view.page.getByRole('button', { name: 'Use the greet tool to greet Ada.' }).click();
    assert.equal(await composer().inputValue(), 'Use the greet tool to greet Ada.');
    await view.page.getByRole('searchbox', { name: 'Search sessions' }).fill('sched');
    await view.page.getByRole('button', { name: /Explain the scheduler/ }).first().click();
    await view.page.getByRole('button', { name: 'Delete Explain the scheduler' }).click();
    assert.deepEqual(await view.posted(), [{ type: 'openSession', id: 's4' }, { type: 'deleteSession', id: 's4' }]);
  });

  it('bars: changes, todos, jobs, queued messages', async () => {
    await open([user('u', 'x')], BUSY);
    await view.page.getByText('Then update the changelog, please.').waitFor();
    await view.page.getByText('3 changes in 2 files to review', { exact: true }).waitFor();
    for (const name of ['Review', 'Accept All', 'Reject All']) await view.page.getByRole('button', { name, exact: true }).click();
    await view.page.getByRole('button', { name: /background job/ }).click();
    await view.page.getByRole('button', { name: 'Stop npm run watch' }).click();
    assert.deepEqual(await view.posted(), [
      { type: 'command', id: 'showChanges' }, { type: 'reviewAll', action: 'accept' }, { type: 'reviewAll', action: 'reject' }, { type: 'stopJob', id: 'bash-1' },
    ]);
    await view.page.getByRole('button', { name: /Todos \(1\/3\)/ }).click();
    assert.equal(await view.page.locator('.todo').count(), 3);
  });

  it('bars: changes that landed are kept or undone, and counted', async () => {
    await open([user('u', 'x')], { reviews: { files: 1, changes: 1, kind: 'landed' } });
    await view.page.getByText('1 change to review', { exact: true }).waitFor();
    for (const name of ['Keep All', 'Undo All']) await view.page.getByRole('button', { name, exact: true }).click();
    assert.deepEqual(await view.posted(), [{ type: 'reviewAll', action: 'accept' }, { type: 'reviewAll', action: 'reject' }]);
    await view.send({ type: 'state', state: state([user('u', 'x')], { reviews: { files: 1, changes: 1200, kind: 'both' } }) });
    await view.page.getByText('1,200 changes in 1 file to review', { exact: true }).waitFor();
    await view.page.getByRole('button', { name: 'Accept All', exact: true }).waitFor();
  });

  it('an untrusted workspace and an offline model say so', async () => {
    await open([], { untrusted: true, model: { provider: 'offline', id: 'offline', name: 'Offline', offline: true } });
    await view.page.getByRole('button', { name: 'Manage Trust' }).click();
    assert.deepEqual((await view.posted()).at(-1), { type: 'command', id: 'manageTrust' });
    await view.page.getByText('No language model', { exact: false }).first().waitFor();
  });

  it('older messages come back on demand, a window of rows at a time', async () => {
    view = await room.open({ kind: 'chat' });
    await view.send({ type: 'state', state: state(Array.from({ length: 450 }, (_, at) => user(`u${at}`, `Message ${at}`)), {}, 50) });
    assert.equal(await view.page.locator('.user').count(), 200);
    const button = view.page.getByRole('button', { name: 'Show earlier messages (300)' });
    await button.click();
    assert.equal(await view.page.locator('.user').count(), 400);
    await view.page.getByRole('button', { name: 'Show earlier messages (100)' }).click();
    assert.equal((await view.waitPosted('earlier')).type, 'earlier');
  });

  for (const width of [240, 320, 700]) {
    it(`nothing sticks out at ${width} px`, async () => {
      await open([...CARDS, APPROVAL, REVIEW, QUESTION, ...STATUSES.slice(1)], { ...BUSY, untrusted: true }, { width });
      const wide = await view.page.evaluate(() => [...document.querySelectorAll('.transcript, .footer, .chat, body')].filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => `${node.className || node.tagName} ${node.scrollWidth}`));
      assert.deepEqual(wide, []);
    });
  }

  it('O3 in a pseudo-language no text is left as it was', async () => {
    const keys = Object.keys(JSON.parse(fs.readFileSync(new URL('../../l10n/bundle.l10n.ja.json', import.meta.url), 'utf8')) as Record<string, string>);
    const pseudo = Object.fromEntries(keys.map((key) => [key, `⟦${key}⟧`]));
    const items = [...CARDS, APPROVAL, REVIEW, QUESTION, ...STATUSES.slice(1)];
    const given = JSON.stringify([items, BUSY, state([]).meta]);
    for (const shown of [items, []]) {
      await open(shown, { ...BUSY, untrusted: true }, { l10n: pseudo, locale: 'ja' });
      await view.page.evaluate(() => {
        for (const toggle of document.querySelectorAll<HTMLElement>('.bar-toggle, .card-toggle[aria-expanded=false], .reasoning-toggle')) toggle.click();
      });
      const texts = await view.page.evaluate(() => {
        const out = new Set<string>();
        const walk = document.createTreeWalker(document.querySelector('#root')!, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
        for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
          if (node instanceof Element) for (const name of ['title', 'aria-label', 'placeholder']) out.add(node.getAttribute(name) ?? '');
          else if (!node.parentElement?.closest('.markdown, .example, code, .terminal-output, .diff-rows, .session-time, .code-block')) out.add(node.textContent ?? '');
        }
        return [...out];
      });
      const plain = texts.flatMap((text) => text.split('\n')).map((text) => text.trim()).filter((text) => /[A-Za-z]{2}/.test(text) && !text.includes('⟦') && !given.includes(JSON.stringify(text).slice(1, -1)) && !/^(?:example\.com|docs\.example\.org)|^[\w /.#?]+:\d+$|^npm |^split/.test(text));
      assert.deepEqual(plain, []);
    }
  });
});
