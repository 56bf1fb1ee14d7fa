import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Context } from '@deepseek-ai/cordis';
import { createUserMessage } from '../../src/contract/message.ts';
import { acquireLock } from '../../src/session/lock.ts';
import { Sessions } from '../../src/session/sessions.ts';

const WINDOW = join(import.meta.dirname, '../fixtures/lock-window.ts');
/** No system gives numbers this high. */
const DEAD = JSON.stringify({ pid: 2 ** 30, host: hostname() });
const claimOf = (path: string) => `${path}.${createHash('sha256').update(DEAD).digest('hex').slice(0, 16)}.0`;

const user = (text: string) => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });

describe('session lock', () => {
  let dir: string;
  const roots: Context[] = [];
  const windows: ChildProcess[] = [];

  async function openWindow(): Promise<ChildProcess> {
    const child = fork(WINDOW, { execArgv: ['--import', 'tsx'], cwd: process.cwd() });
    windows.push(child);
    await once(child, 'message');
    return child;
  }
  async function ask(child: ChildProcess, message: { take?: string; tries?: number }): Promise<number> {
    const answer = once(child, 'message');
    child.send(message);
    return ((await answer) as [{ owned: number }])[0].owned;
  }
  async function sessions(): Promise<Sessions> {
    const root = new Context();
    roots.push(root);
    await root.plugin(Sessions, { dir });
    return root.sessions;
  }
  const lockFile = (id: string) => join(dir, `${id}.jsonl.lock`);
  const asleep = async (path: string) => {
    const then = new Date(Date.now() - 3_600_000);
    await utimes(path, then, then);
  };
  const texts = async (store: Sessions, id: string) => (await store.view(id)).events.map((event) => (event.type === 'user/message' && event.data.content[0]?.type === 'text' ? event.data.content[0].text : event.type));

  beforeEach(async () => { dir = await mkdtemp(join(tmpdir(), 'dsh-lock-')); });
  afterEach(async () => {
    for (const child of windows.splice(0)) {
      const gone = once(child, 'exit');
      if (child.kill('SIGKILL')) await gone;
    }
    for (const root of roots.splice(0)) await root.fiber.dispose();
    await rm(dir, { recursive: true, force: true });
  });

  it('L11.7 however long its owner was silent, a lock is not taken while that process lives', async () => {
    const other = await openWindow();
    const path = lockFile('a');
    assert.equal(await ask(other, { take: path }), 1);
    await asleep(path);
    await assert.rejects(acquireLock(path, 'a'), { code: 'SESSION_IN_USE' });
    const gone = once(other, 'exit');
    other.kill('SIGKILL');
    await gone;
    const lock = await acquireLock(path, 'a');
    assert.equal(await lock.isHeld(), true);
    await lock.release();
    assert.deepEqual(await readdir(dir), []);
  });

  it('L11.7 the number of a dead owner that another process has by now does not keep its lock', async function () {
    if (process.platform !== 'linux') return this.skip();
    await writeFile(lockFile('a'), JSON.stringify({ pid: process.pid, host: hostname(), start: '1', token: 'x' }));
    await (await acquireLock(lockFile('a'), 'a')).release();
  });

  it('L11.7 an owner that is over counts as gone, also while its parent takes no note of it', async function () {
    if (process.platform !== 'linux') return this.skip();
    const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    windows.push(parent);
    const pid = Number(String(((await once(parent.stdout!, 'data')) as [Buffer])[0]));
    let fields: string[] = [];
    while (fields[0] !== 'Z') fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
    await writeFile(lockFile('a'), JSON.stringify({ pid, host: hostname(), start: fields[19], token: 'x' }));
    await (await acquireLock(lockFile('a'), 'a')).release();
  });

  it('L11.7 whoever looks at a lock sees whose it is: it is never there half-written', async () => {
    const path = lockFile('a');
    const shared = new Int32Array(new SharedArrayBuffer(4));
    // on a thread of its own, that does nothing but look
    const looker = new Worker(`
      const { parentPort, workerData: { path, shared } } = require('node:worker_threads');
      const { readFileSync } = require('node:fs');
      const seen = new Set();
      let looks = 0;
      while (Atomics.load(shared, 0) === 0) {
        try { const text = readFileSync(path, 'utf8'); looks++; if (!text.endsWith('"}')) seen.add(text); } catch {}
      }
      parentPort.postMessage({ looks, seen: [...seen] });
    `, { eval: true, workerData: { path, shared } });
    const told = once(looker, 'message') as Promise<[{ looks: number; seen: string[] }]>;
    await once(looker, 'online');
    for (let round = 0; round < 400; round++) await (await acquireLock(path, 'a')).release();
    Atomics.store(shared, 0, 1);
    const [{ looks, seen }] = await told;
    assert.ok(looks > 0);
    assert.deepEqual(seen, []);
    assert.deepEqual(await readdir(dir), []);
  });

  it('L11.7 what is no lock text is left for two minutes, and so is a claim on it', async () => {
    await writeFile(lockFile('a'), '{"pid');
    await writeFile(lockFile('b'), DEAD);
    await writeFile(claimOf(lockFile('b')), '{"pid');
    for (const id of ['a', 'b']) await assert.rejects(acquireLock(lockFile(id), id), { code: 'SESSION_IN_USE' });
    for (const path of [lockFile('a'), claimOf(lockFile('b'))]) await asleep(path);
    for (const id of ['a', 'b']) await (await acquireLock(lockFile(id), id)).release();
    assert.deepEqual(await readdir(dir), []);
  });

  it('L11.7 of windows that find the same dead lock, one gets it', async () => {
    const all = await Promise.all([openWindow(), openWindow(), openWindow()]);
    for (let round = 0; round < 100; round++) {
      const path = lockFile(`x${round}`);
      await writeFile(path, DEAD);
      // Left by one that died while it took over: the worst there is.
      if (round % 2 === 1) await writeFile(claimOf(path), DEAD);
      const owned = await Promise.all(all.map((child) => ask(child, { take: path, tries: 3 })));
      assert.equal(owned.reduce((sum, n) => sum + n, 0), 1, `round ${round}: ${owned.join()} owners`);
      await Promise.all(all.map((child) => ask(child, {})));
    }
    assert.deepEqual(await readdir(dir), []);
  });

  it('L11.7 an owner who lost its lock leaves the new one alone', async () => {
    const path = lockFile('a');
    const first = await acquireLock(path, 'a');
    await rm(path);
    const second = await acquireLock(path, 'a');
    assert.deepEqual([await first.isHeld(), await second.isHeld()], [false, true]);
    await first.release();
    await stat(path);
    await second.release();
  });

  it('L11.7 a window whose session was taken over writes nothing into it any more: it goes on in a copy', async () => {
    const [mine, theirs] = [await sessions(), await sessions()];
    const moved: string[] = [];
    const errors: unknown[] = [];
    roots[0]!.on('session/moved', (_session, copy) => void moved.push(copy));
    roots[0]!.on('session/write-error', (_session, error) => void errors.push(error));
    const session = mine.create({ id: 'a', cwd: '/w' });
    session.append('user/message', user('first'));
    await session.flush();
    // A machine that was away for long, on a folder two machines share.
    await rm(lockFile('a'));
    const other = await theirs.open('a');
    other.append('user/message', user('theirs'));
    await other.flush();
    const before = await readFile(join(dir, 'a.jsonl'));
    for (const text of ['mine', 'mine too']) {
      session.append('user/message', user(text));
      await session.flush();
    }
    assert.deepEqual(await readFile(join(dir, 'a.jsonl')), before);
    assert.deepEqual([moved.length, errors], [1, []]);
    await mine.close(session);
    other.append('user/message', user('theirs too'));
    await theirs.close(other);
    const third = await sessions();
    assert.deepEqual(await texts(third, 'a'), ['first', 'theirs', 'theirs too']);
    assert.deepEqual(await texts(third, moved[0]!), ['first', 'mine', 'mine too']);
    assert.equal((await third.info(moved[0]!))?.parentSession, 'a');
    assert.deepEqual((await readdir(dir)).filter((name) => name.includes('.lock')), []);
  });

  it('L11.7 bytes that somebody else put behind ours are never written over', async () => {
    const store = await sessions();
    const moved: string[] = [];
    roots[0]!.on('session/moved', (_session, copy) => void moved.push(copy));
    const session = store.create({ id: 'a' });
    session.append('user/message', user('first'));
    await session.flush();
    const line = `${JSON.stringify({ type: 'user/message', seq: 1, time: 1, data: user('from elsewhere'), surfaceOp: 'append' })}\n`;
    await writeFile(join(dir, 'a.jsonl'), line, { flag: 'a' });
    session.append('user/message', user('second'));
    await store.close(session);
    assert.deepEqual(await texts(store, 'a'), ['first', 'from elsewhere']);
    assert.deepEqual(await texts(store, moved[0]!), ['first', 'second']);
  });
});
