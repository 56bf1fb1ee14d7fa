import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import { NodeFileSystem } from '../../src/headless/fs.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import { Review } from '../../src/review/review.ts';
import type { FileOutcome } from '../../src/seams/fs.ts';
import type { ReviewFile } from '../../src/seams/review.ts';

describe('review', () => {
  let folder: string;
  let ctx: Context;
  let staged: ReviewFile[];
  let mode: 'stage' | 'apply';

  async function start(): Promise<void> {
    ctx = new Context();
    await ctx.plugin(SystemPrompt, {});
    await ctx.plugin(ToolRuntime, {});
    await ctx.plugin(NodeFileSystem, {});
    await ctx.plugin(Review, { sessions: path.join(folder, 'sessions'), mode: () => mode });
    ctx.on('review/staged', (file) => void staged.push(file));
  }
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'dsh-review-'));
    staged = [];
    mode = 'stage';
    await start();
  });
  afterEach(async () => {
    await ctx.fiber.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const file = (name: string) => path.join(folder, name);
  const bytes = (name: string) => readFile(file(name), 'latin1');
  async function write(name: string, content: string, signal?: AbortSignal): Promise<FileOutcome> {
    const target = await ctx.fs.resolve(name, folder);
    return ctx.fs.write(target, content, { displayPath: name, toolName: 'write', callId: `call ${name}`, ...(signal && { signal }) });
  }
  async function until(what: () => boolean): Promise<void> {
    for (let i = 0; i < 400 && !what(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(what());
  }
  async function propose(name: string, content: string): Promise<{ id: string; done: Promise<FileOutcome> }> {
    const before = staged.length;
    const done = write(name, content);
    done.catch(() => undefined);
    await until(() => staged.length > before);
    return { id: staged.at(-1)!.id, done };
  }
  const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
  const text = (changes: Record<number, string> = {}) => LINES.map((line, i) => changes[i + 1] ?? line).join('\n') + '\n';

  it('leaves the disk alone until the change is accepted', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three', 15: 'fifteen' }));
    assert.equal(await bytes('a.txt'), text());
    assert.equal(ctx.review.file(id)?.hunks.length, 2);
    await ctx.review.accept(id);
    assert.equal((await done).after, text({ 3: 'three', 15: 'fifteen' }));
    assert.equal(await bytes('a.txt'), text({ 3: 'three', 15: 'fifteen' }));
    assert.deepEqual(ctx.review.files(), []);
  });

  it('B1 reject leaves the bytes as they were, and the tool says why', async () => {
    await writeFile(file('a.txt'), text().replaceAll('\n', '\r\n'));
    const { id, done } = await propose('a.txt', text({ 3: 'three' }));
    await ctx.review.reject(id, 'keep the old name');
    await assert.rejects(done, /the user rejected this change to "a\.txt".*keep the old name/);
    assert.equal(await bytes('a.txt'), text().replaceAll('\n', '\r\n'));
  });

  it('B11 a rejected new file leaves no folder behind', async () => {
    const { id, done } = await propose('n/e/w.txt', 'new\n');
    await ctx.review.reject(id);
    await assert.rejects(done);
    assert.equal(existsSync(file('n')), false);
  });

  it('B3 takes what the user left on the proposed side, hunk by hunk, and tells the model', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three', 15: 'fifteen', 25: 'twentyfive' }));
    const [first] = ctx.review.file(id)!.hunks;
    await ctx.review.acceptHunk(id, first!.id);
    assert.equal(await bytes('a.txt'), text({ 3: 'three' }));
    await ctx.review.setProposed(id, text({ 3: 'three', 15: 'FIFTEEN of the user', 25: 'twentyfive' }));
    await ctx.review.acceptHunk(id, ctx.review.file(id)!.hunks[0]!.id);
    await ctx.review.rejectHunk(id, ctx.review.file(id)!.hunks[0]!.id, 'not this one');
    const expected = text({ 3: 'three', 15: 'FIFTEEN of the user' });
    assert.equal((await done).after, expected);
    assert.equal(await bytes('a.txt'), expected);
    const waterfall = (ctx as unknown as { waterfall(...args: unknown[]): Promise<{ content: { text: string }[] }> }).waterfall.bind(ctx);
    const result = await waterfall('tools/post-execute', { callId: 'call a.txt' }, { content: [] }, async () => ({ kind: 'accept' }));
    const report = result.content[0]!.text;
    assert.match(report, /2 of 3 changes accepted/);
    assert.match(report, /rejected \(line 25\): not this one/);
    assert.match(report, /\+FIFTEEN of the user/);
    assert.match(report, /-fifteen/);
  });

  it('B5 reviews of two files are independent', async () => {
    await writeFile(file('a.txt'), text());
    await writeFile(file('b.txt'), text());
    const a = await propose('a.txt', text({ 1: 'A' }));
    const b = await propose('b.txt', text({ 1: 'B' }));
    await ctx.review.accept(b.id);
    assert.equal((await b.done).after, text({ 1: 'B' }));
    await ctx.review.reject(a.id);
    await assert.rejects(a.done);
    assert.equal(await bytes('a.txt'), text());
  });

  it('moves pending changes along when the file changes under the review', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 15: 'fifteen', 25: 'twentyfive' }));
    await writeFile(file('a.txt'), `new first line\n${text({ 25: 'of the user' })}`);
    await ctx.review.accept(id);
    const expected = `new first line\n${text({ 15: 'fifteen', 25: 'of the user' })}`;
    assert.equal((await done).after, expected);
    assert.equal(await bytes('a.txt'), expected);
  });

  it('keeps pending changes over a restart, and writes nothing before they are decided', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three' }));
    await ctx.fiber.dispose();
    await assert.rejects(done, /still pending/);
    await start();
    assert.equal(await bytes('a.txt'), text());
    assert.equal(ctx.review.file(id)?.hunks.length, 1);
    await ctx.review.accept(id);
    assert.equal(await bytes('a.txt'), text({ 3: 'three' }));
    assert.deepEqual(await readdir(path.join(folder, 'sessions', 'none', 'reviews')), []);
  });

  it('a stopped call takes its untouched proposal with it', async () => {
    await writeFile(file('a.txt'), text());
    const abort = new AbortController();
    const done = write('a.txt', text({ 3: 'three' }), abort.signal);
    done.catch(() => undefined);
    await until(() => staged.length === 1);
    abort.abort();
    await assert.rejects(done);
    await until(() => ctx.review.files().length === 0);
    assert.equal(await bytes('a.txt'), text());
  });

  it('a stopped call leaves what the user typed pending', async () => {
    await writeFile(file('a.txt'), text());
    const abort = new AbortController();
    const done = write('a.txt', text({ 3: 'three' }), abort.signal);
    done.catch(() => undefined);
    await until(() => staged.length === 1);
    await ctx.review.setProposed(staged[0]!.id, text({ 3: 'mine' }));
    abort.abort();
    await assert.rejects(done);
    await ctx.review.accept(staged[0]!.id);
    assert.equal(await bytes('a.txt'), text({ 3: 'mine' }));
  });

  it('A17 a new empty file is a decision too', async () => {
    const { id, done } = await propose('empty.txt', '');
    await ctx.review.accept(id);
    assert.equal((await done).operation, 'create');
    assert.equal(await bytes('empty.txt'), '');
    const again = await propose('empty2.txt', '');
    await ctx.review.reject(again.id);
    await assert.rejects(again.done);
    assert.equal(existsSync(file('empty2.txt')), false);
  });

  it('auto-edit: the change lands, Undo takes one hunk back byte for byte, Keep leaves it', async () => {
    mode = 'apply';
    const crlf = (value: string) => value.replaceAll('\n', '\r\n');
    await writeFile(file('a.txt'), crlf(text()));
    await write('a.txt', text({ 3: 'three', 15: 'fifteen' }));
    assert.equal(await bytes('a.txt'), crlf(text({ 3: 'three', 15: 'fifteen' })));
    const [change] = ctx.review.files();
    assert.equal(change?.state, 'applied');
    await ctx.review.rejectHunk(change!.id, change!.hunks[0]!.id);
    assert.equal(await bytes('a.txt'), crlf(text({ 15: 'fifteen' })));
    await ctx.review.accept(change!.id);
    assert.equal(await bytes('a.txt'), crlf(text({ 15: 'fifteen' })));
    assert.deepEqual(ctx.review.files(), []);
  });

  it('auto-edit: several edits of one file are one change, undone together', async () => {
    mode = 'apply';
    await mkdir(file('d'));
    await writeFile(file('a.txt'), text());
    await write('a.txt', text({ 3: 'three' }));
    await write('a.txt', text({ 3: 'three', 15: 'fifteen' }));
    assert.equal(ctx.review.files().length, 1);
    await ctx.review.reject(ctx.review.files()[0]!.id);
    assert.equal(await bytes('a.txt'), text());
  });

  it('auto-edit: undoing a new file removes it', async () => {
    mode = 'apply';
    await write('new.txt', 'hello\n');
    await ctx.review.reject(ctx.review.files()[0]!.id);
    assert.equal(existsSync(file('new.txt')), false);
  });

  it('auto-edit: an edit of the user beside a hunk is part of both sides, one in it makes undoing ask', async () => {
    mode = 'apply';
    await writeFile(file('a.txt'), text());
    await write('a.txt', text({ 3: 'three', 15: 'fifteen' }));
    await writeFile(file('a.txt'), `mine\n${text({ 3: 'three', 15: 'fifteen and mine' })}`);
    const { id } = ctx.review.files()[0]!;
    await ctx.review.refresh(id);
    const [clean, mixed] = ctx.review.file(id)!.hunks;
    assert.deepEqual([clean?.edited, mixed?.edited], [undefined, true]);
    await assert.rejects(ctx.review.rejectHunk(id, mixed!.id), { code: 'REVIEW_EDITED' });
    await ctx.review.reject(id);
    assert.equal(await bytes('a.txt'), `mine\n${text({ 15: 'fifteen and mine' })}`);
    await assert.rejects(ctx.review.reject(id), { code: 'REVIEW_EDITED' });
    await ctx.review.reject(id, undefined, { edited: 'undo' });
    assert.equal(await bytes('a.txt'), `mine\n${text()}`);
  });

  it('auto-edit: undoing over bytes that were no text brings them back exactly', async () => {
    mode = 'apply';
    const odd = Buffer.from([0, 255, 254, 10, 13, 0]);
    await writeFile(file('a.bin'), odd);
    await write('a.bin', 'text\n');
    await ctx.review.reject(ctx.review.files()[0]!.id);
    assert.deepEqual(await readFile(file('a.bin')), odd);
  });

  it('auto-edit: undoing a new file removes the folders made for it, after a restart too', async () => {
    mode = 'apply';
    await write('n/e/w.txt', 'new\n');
    await ctx.fiber.dispose();
    await start();
    await ctx.review.reject(ctx.review.files()[0]!.id);
    assert.equal(existsSync(file('n')), false);
  });

  it('a host that dies between the write and its record knows what has landed', async () => {
    await writeFile(file('a.txt'), text());
    const { id } = await propose('a.txt', text({ 3: 'three', 15: 'fifteen' }));
    await ctx.fiber.dispose();
    await writeFile(file('a.txt'), text({ 3: 'three' }));
    await start();
    await ctx.review.refresh(id);
    assert.deepEqual(ctx.review.file(id)?.decided.map(({ state }) => state), ['kept']);
    await ctx.review.accept(id);
    assert.equal(await bytes('a.txt'), text({ 3: 'three', 15: 'fifteen' }));
  });

  it('drift that takes every proposal ends the review: the call is told, the user too, nothing is written', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three' }));
    let lost = 0;
    ctx.on('review/drift', (_file, hunks) => void (lost = hunks.length));
    await rm(file('a.txt'));
    await ctx.review.refresh(id);
    await assert.rejects(done, /the file was changed at these lines/);
    assert.equal(lost, 1);
    assert.equal(existsSync(file('a.txt')), false);
    assert.deepEqual(ctx.review.files(), []);
  });

  it('a decision that can not be carried out stays with the change, over a restart too, until the next one', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three', 20: 'twenty' }));
    await chmod(file('a.txt'), 0o444);
    await assert.rejects(ctx.review.acceptHunk(id, ctx.review.file(id)!.hunks[0]!.id), { code: 'FS_PERMISSION' });
    const { problem, hunks } = ctx.review.file(id)!;
    assert.ok(problem?.kind === 'failed');
    assert.match(problem.message, /a\.txt.*read-only/);
    assert.equal(hunks.length, 2);
    assert.equal(await bytes('a.txt'), text());
    await ctx.fiber.dispose();
    await assert.rejects(done);
    await start();
    assert.deepEqual(ctx.review.file(id)?.problem, problem);
    await chmod(file('a.txt'), 0o644);
    await ctx.review.acceptHunk(id, hunks[0]!.id);
    assert.equal(ctx.review.file(id)?.problem, undefined);
    assert.equal(await bytes('a.txt'), text({ 3: 'three' }));
  });

  it('a decision about a hunk that is gone is an error of the moment, no state of the change', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three' }));
    await assert.rejects(ctx.review.acceptHunk(id, 'gone'), { code: 'REVIEW_DECIDED' });
    assert.equal(ctx.review.file(id)?.problem, undefined);
    await ctx.review.accept(id);
    await done;
  });

  it('drift of some proposals is told with the change that is left, and to the model as nobody\'s decision', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three', 20: 'twenty' }));
    await writeFile(file('a.txt'), text({ 3: 'of the user' }));
    await ctx.review.refresh(id);
    assert.deepEqual(ctx.review.file(id)?.problem, { kind: 'drift', lost: 1 });
    await ctx.review.reject(id, 'not that either');
    await assert.rejects(done, { code: 'REVIEW_REJECTED', message: /the user rejected this change to "a\.txt"\. The user says: not that either\. 1 of 2 changes were given up: the file was changed at these lines/ });
  });

  it('typing the proposal back decides nothing; accepting it then takes nothing', async () => {
    await writeFile(file('a.txt'), text());
    const { id, done } = await propose('a.txt', text({ 3: 'three' }));
    await ctx.review.setProposed(id, text());
    assert.equal(ctx.review.file(id)?.state, 'staged');
    await ctx.review.setProposed(id, text({ 3: 'mine' }));
    assert.equal(ctx.review.file(id)?.hunks.length, 1);
    await ctx.review.setProposed(id, text());
    await ctx.review.accept(id);
    await assert.rejects(done, /rejected/);
    assert.equal(await bytes('a.txt'), text());
  });

  it('what is decided after the call ended is told once, at the next step, after a restart too', async () => {
    const agent = { id: 's', session: { id: 's', cwd: folder, events: [] } };
    const step = () => (ctx as unknown as { waterfall(...args: unknown[]): Promise<{ messages: { content: { text: string }[] }[] }> })
      .waterfall('agent/pre-step', { agent, messages: [], turn: 1, step: 1 }, async () => ({ kind: 'enter', messages: [] }));
    await writeFile(file('a.txt'), text());
    const target = await ctx.fs.resolve('a.txt', folder);
    ctx.fs.write(target, text({ 3: 'three', 15: 'fifteen' }), { displayPath: 'a.txt', toolName: 'write', callId: 'c', agent: agent as never }).catch(() => undefined);
    await until(() => staged.length === 1);
    await ctx.fiber.dispose();
    await start();
    const { id } = staged[0]!;
    await ctx.review.acceptHunk(id, ctx.review.file(id)!.hunks[0]!.id);
    assert.match((await step()).messages[0]!.content[0]!.text, /1 of 1 accepted, 1 left/);
    assert.deepEqual((await step()).messages, []);
    await ctx.review.reject(id, 'no');
    await ctx.fiber.dispose();
    await start();
    assert.match((await step()).messages[0]!.content[0]!.text, /0 of 1 accepted, 0 left[^]*: no/);
    assert.deepEqual((await step()).messages, []);
  });
});
