import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../src/contract/agent.ts';
import { NodeFileSystem } from '../../src/headless/fs.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import { Checkpoints } from '../../src/review/checkpoints.ts';
import { Review } from '../../src/review/review.ts';

describe('rewind', () => {
  let folder: string;
  let ctx: Context;
  let turn: number;
  let mode: 'stage' | 'apply' | 'pass';

  async function start(maxBytes?: number): Promise<void> {
    ctx = new Context();
    await ctx.plugin(SystemPrompt, {});
    await ctx.plugin(ToolRuntime, {});
    await ctx.plugin(NodeFileSystem, {});
    const sessions = path.join(folder, 'sessions');
    await ctx.plugin(Checkpoints, { sessions, ...(maxBytes === undefined ? {} : { maxBytes }) });
    await ctx.plugin(Review, { sessions, mode: () => mode });
  }
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'dsh-rewind-'));
    turn = 1;
    mode = 'pass';
    await start();
  });
  afterEach(async () => {
    await ctx.fiber.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const file = (name: string) => path.join(folder, name);
  const bytes = (name: string) => readFile(file(name), 'latin1');
  const agent = () => ({ id: 's', session: { id: 's', cwd: folder, events: [{ type: 'turn/start', data: { turn } }] } }) as unknown as Agent;
  async function write(name: string, content: string, callId = `${name} ${turn}`): Promise<void> {
    await ctx.fs.write(await ctx.fs.resolve(name, folder), content, { displayPath: name, toolName: 'write', callId, agent: agent() });
  }
  const plan = (at: number) => ctx.checkpoints.plan({ sessionId: 's', turn: at });
  async function rewind(at: number, pick = (drift: boolean) => !drift) {
    const planned = await plan(at);
    return ctx.checkpoints.rewind(planned, planned.items.filter(({ drift }) => pick(drift)).map(({ realPath }) => realPath));
  }

  for (const preset of ['pass', 'apply'] as const) {
    it(`${preset}: goes back to before any turn, creates removed with their folders, and forth again`, async () => {
      mode = preset;
      await writeFile(file('a.txt'), 'one\r\ntwo\r\n');
      await write('a.txt', 'ONE\ntwo\n');
      turn = 2;
      await write('a.txt', 'ONE\nTWO\n');
      await write('n/e/w.txt', 'new\n');
      turn = 3;
      await write('a.txt', 'three\n');
      assert.deepEqual((await plan(2)).items.map(({ path: name, action, drift }) => [name, action, drift]), [['a.txt', 'restore', false], ['n/e/w.txt', 'remove', false]]);
      const outcome = await rewind(2);
      assert.deepEqual(outcome.failed, []);
      assert.equal(await bytes('a.txt'), 'ONE\r\ntwo\r\n');
      assert.equal(existsSync(file('n')), false);
      await ctx.checkpoints.undo('s', outcome.id);
      assert.equal(await bytes('a.txt'), 'three\r\n');
      assert.equal(await bytes('n/e/w.txt'), 'new\n');
      await rewind(1);
      assert.equal(await bytes('a.txt'), 'one\r\ntwo\r\n');
      assert.equal(existsSync(file('n')), false);
    });
  }

  it('a file changed by somebody else is told as drift, and left alone unless picked', async () => {
    await writeFile(file('a.txt'), 'one\n');
    await writeFile(file('b.txt'), 'one\n');
    await write('a.txt', 'agent\n');
    await write('b.txt', 'agent\n');
    await writeFile(file('a.txt'), 'agent\nand the user\n');
    assert.deepEqual((await plan(1)).items.map(({ path: name, drift }) => [name, drift]), [['a.txt', true], ['b.txt', false]]);
    await rewind(1);
    assert.equal(await bytes('a.txt'), 'agent\nand the user\n');
    assert.equal(await bytes('b.txt'), 'one\n');
  });

  it('an edit of the user between two changes of the agent is drift too', async () => {
    await writeFile(file('a.txt'), 'one\n');
    await write('a.txt', 'agent\n');
    await writeFile(file('a.txt'), 'the user\n');
    await write('a.txt', 'the user\nagent\n');
    assert.equal((await plan(1)).items[0]?.drift, true);
    turn = 2;
    await write('a.txt', 'the user\nagent 2\n');
    assert.equal((await plan(2)).items[0]?.drift, false);
  });

  it('a file that changes while the preview is open stays as it is', async () => {
    await writeFile(file('a.txt'), 'one\n');
    await write('a.txt', 'agent\n');
    const planned = await plan(1);
    await writeFile(file('a.txt'), 'meanwhile\n');
    const outcome = await ctx.checkpoints.rewind(planned, planned.items.map(({ realPath }) => realPath));
    assert.deepEqual(outcome.done, []);
    assert.match(outcome.failed[0]!.reason, /changed while the preview was open/);
    assert.equal(await bytes('a.txt'), 'meanwhile\n');
  });

  it('the undo of a rewind leaves what was changed since, unless forced', async () => {
    await writeFile(file('a.txt'), 'one\n');
    await write('a.txt', 'agent\n');
    const { id } = await rewind(1);
    await writeFile(file('a.txt'), 'later work\n');
    const outcome = await ctx.checkpoints.undo('s', id);
    assert.match(outcome.failed[0]!.reason, /changed since the rewind/);
    assert.equal(await bytes('a.txt'), 'later work\n');
    assert.deepEqual((await ctx.checkpoints.undo('s', id, { force: true })).done, ['a.txt']);
    assert.equal(await bytes('a.txt'), 'agent\n');
    assert.equal(await ctx.checkpoints.lastRewind('s'), undefined);
  });

  it('bytes that are no text come back exactly', async () => {
    const odd = Buffer.from([0, 255, 1, 2, 200, 13, 10, 0]);
    await writeFile(file('a.bin'), odd);
    await write('a.bin', 'text now\n');
    await rewind(1);
    assert.deepEqual(await readFile(file('a.bin')), odd);
  });

  it('survives the end of the host: checkpoints and the undo are there after a restart', async () => {
    await writeFile(file('a.txt'), 'one\n');
    await write('a.txt', 'agent\n');
    await ctx.fiber.dispose();
    await start();
    const { id } = await rewind(1);
    assert.equal(await bytes('a.txt'), 'one\n');
    await ctx.fiber.dispose();
    await start();
    assert.equal(await ctx.checkpoints.lastRewind('s'), id);
    await ctx.checkpoints.undo('s', id);
    assert.equal(await bytes('a.txt'), 'agent\n');
  });

  it('a fork has the checkpoints of its own turns', async () => {
    await writeFile(file('a.txt'), 'one\n');
    await write('a.txt', 'agent 1\n');
    turn = 2;
    await write('a.txt', 'agent 2\n');
    await ctx.checkpoints.copy({ sessionId: 's', turn: 2 }, 'fork');
    const planned = await ctx.checkpoints.plan({ sessionId: 'fork', turn: 1 });
    assert.deepEqual(planned.items.map(({ then }) => then), ['one\n']);
  });

  it('ask: an accepted change is covered, a rejected one leaves no trace', async () => {
    mode = 'stage';
    await writeFile(file('a.txt'), 'one\n');
    const staged = new Promise<string>((resolve) => ctx.on('review/staged', (change) => resolve(change.id)));
    const done = write('a.txt', 'agent\n');
    await ctx.review.accept(await staged);
    await done;
    await rewind(1);
    assert.equal(await bytes('a.txt'), 'one\n');
  });

  it('N1 the user\'s .git is never kept nor written', async () => {
    await mkdir(file('.git'));
    await writeFile(file('.git/config'), '[core]\n');
    await write('.git/config', 'changed\n');
    assert.deepEqual((await plan(1)).items, []);
    assert.equal(existsSync(file('sessions/s/checkpoints')), false);
  });

  it('N3 only touched files are kept, and one beyond the size limit is told', async () => {
    await ctx.fiber.dispose();
    await start(1000);
    await writeFile(file('big.txt'), 'x'.repeat(2000));
    await writeFile(file('small.txt'), 'x\n');
    await writeFile(file('untouched.txt'), 'x\n');
    await write('big.txt', 'small now\n');
    await write('small.txt', 'y\n');
    const planned = await plan(1);
    assert.deepEqual([planned.items.map(({ path: name }) => name), planned.uncovered], [['small.txt'], ['big.txt']]);
    assert.equal((await readdir(file('sessions/s/checkpoints'))).filter((name) => name !== 'log.jsonl').length, 1);
  });

  it('N5 what a command changed is not covered, and makes drift of a file both changed', async () => {
    await writeFile(file('a.txt'), 'one\n');
    await writeFile(file('b.txt'), 'one\n');
    await write('a.txt', 'agent\n');
    await writeFile(file('a.txt'), 'by a command\n');
    await writeFile(file('b.txt'), 'by a command\n');
    assert.deepEqual((await plan(1)).items.map(({ path: name, drift }) => [name, drift]), [['a.txt', true]]);
  });
});
