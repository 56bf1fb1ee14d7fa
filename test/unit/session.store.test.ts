import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import fc from 'fast-check';
import type { Session } from '../../src/contract/agent.ts';
import type { SessionEvent } from '../../src/contract/event.ts';
import { createAssistantMessage, createToolResultMessage, createUserMessage } from '../../src/contract/message.ts';
import { packRows, unpackRow } from '../../src/session/rows.ts';
import { Sessions } from '../../src/session/sessions.ts';
import { titleOf } from '../../src/session/summary.ts';

const source = { kind: 'user' } as const;
const user = (text: string) => createUserMessage({ content: [{ type: 'text', text }], source });
const answer = (text: string) => createAssistantMessage([{ type: 'text', text }], { provider: 'p', model: 'm' });

function turn(session: Session, n: number, text: string): void {
  session.append('turn/start', { turn: n });
  session.append('step/start', { turn: n, step: 1 });
  session.append('user/message', user(text));
  session.append('assistant/message', { turn: n, step: 1, message: answer(`re: ${text}`) });
  session.append('step/end', { turn: n, step: 1 });
  session.append('turn/end', { turn: n, reason: { kind: 'completed' } });
}

describe('session store', () => {
  let dir: string;
  const roots: Context[] = [];

  async function sessions(config: { dir?: string } = { dir }): Promise<Sessions> {
    const root = new Context();
    roots.push(root);
    await root.plugin(Sessions, config);
    return root.sessions;
  }
  const file = (id: string) => join(dir, `${id}.jsonl`);
  const lines = async (id: string) => (await readFile(file(id), 'utf8')).split('\n');

  beforeEach(async () => { dir = await mkdtemp(join(tmpdir(), 'dsh-sessions-')); });
  afterEach(async () => {
    for (const root of roots.splice(0)) await root.fiber.dispose();
    await rm(dir, { recursive: true, force: true });
  });

  async function stored(id: string, turns = 2): Promise<void> {
    const store = await sessions();
    const session = store.create({ id, cwd: '/w' });
    for (let n = 1; n <= turns; n++) turn(session, n, `message ${n}`);
    await store.close(session);
  }

  it('says once when the file is deleted under an open session', async () => {
    const store = await sessions();
    const told: string[] = [];
    roots.at(-1)!.on('session/write-error', (_session, error) => void told.push(String(error)));
    const session = store.create({ id: 'gone', cwd: '/w' });
    turn(session, 1, 'kept');
    await session.flush();
    assert.deepEqual(told, []);
    await rm(file('gone'));
    for (const n of [2, 3]) {
      turn(session, n, 'lost');
      await session.flush();
    }
    assert.equal(told.length, 1);
    assert.match(told[0]!, /its file was deleted.*gone\.jsonl/);
  });

  it('F11 L11.7 the file is a header line and one line an event, and opens as it was', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a', cwd: '/w' });
    turn(session, 1, 'hello');
    await store.close(session);
    const text = await lines('a');
    assert.equal(text.pop(), '');
    const [header, ...events] = text.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual({ ...header, createdAt: 0 }, { type: 'session', version: 0, id: 'a', cwd: '/w', createdAt: 0, delegationDepth: 0 });
    assert.deepEqual(events.map((event) => event.seq), [0, 1, 2, 3, 4, 5]);
    const again = await (await sessions()).open('a');
    assert.deepEqual(again.events, session.events);
    assert.equal(again.messages().length, 2);
  });

  it('L11.7 a session without an event leaves no file', async () => {
    const store = await sessions();
    await store.close(store.create({ id: 'a' }));
    assert.deepEqual(await readdir(dir), []);
  });

  it('L11.7 appends of one tick are one ordered write, and flush waits for them', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    for (let n = 0; n < 500; n++) session.append('todo/write', { todos: [{ content: `${n}`, status: 'pending' }] });
    await session.flush();
    assert.equal((await lines('a')).length, 502);
  });

  for (const [name, first] of [['another version', '{"type":"session","version":1,"id":"a"}'], ['an unknown event type', undefined]] as const) {
    it(`L11.7 ${name} is rejected and the file is left alone`, async () => {
      await stored('a');
      const text = await lines('a');
      if (first) text[0] = first;
      else text.splice(7, 0, '{"type":"future/thing","seq":6,"time":1,"data":{}}');
      await writeFile(file('a'), text.join('\n'));
      const before = await readFile(file('a'));
      await assert.rejects((await sessions()).open('a'), { code: 'SESSION_UNREADABLE', message: first ? /version 1/ : /future\/thing/ });
      assert.deepEqual(await readFile(file('a')), before);
    });
  }

  it('L11.7 an unknown event that is ignorable is kept', async () => {
    await stored('a', 1);
    await appendFile(file('a'), '{"type":"future/thing","seq":6,"time":1,"data":{},"ignorable":true}\n');
    const session = await (await sessions()).open('a');
    assert.equal(session.events[6]?.type as string, 'future/thing');
    assert.equal(session.messages().length, 2);
  });

  it('G1 a torn last line is cut before the next append, and nothing else is lost', async () => {
    await stored('a');
    const whole = await readFile(file('a'), 'utf8');
    await appendFile(file('a'), '{"type":"turn/start","seq":12,"ti');
    const store = await sessions();
    const session = await store.open('a');
    turn(session, 3, 'third');
    await store.close(session);
    const text = await readFile(file('a'), 'utf8');
    assert.ok(text.startsWith(whole));
    assert.equal(text.split('\n').filter((line) => line !== '').every((line) => JSON.parse(line) as boolean), true);
    assert.equal((await (await sessions()).open('a')).events.length, 18);
  });

  it('G1 at any cut of the file, what was whole before it stays and the log goes on', async () => {
    await stored('a', 1);
    const bytes = await readFile(file('a'));
    for (let cut = 1; cut < bytes.length; cut += 37) {
      await writeFile(file('a'), bytes.subarray(0, cut));
      const store = await sessions();
      const session = await store.open('a');
      const kept = bytes.subarray(0, cut).toString().split('\n').length - 2;
      assert.ok(session.events.length >= Math.max(0, kept), `cut ${cut}`);
      session.append('turn/start', { turn: 9 });
      session.append('turn/end', { turn: 9, reason: { kind: 'completed' } });
      await store.close(session);
      const again = await store.view('a');
      assert.deepEqual(again.events.map((event) => event.seq), again.events.map((_, i) => i));
      assert.equal(again.events.at(-1)?.type, 'turn/end');
      await rm(join(dir, 'a.bad'), { force: true });
    }
  });

  it('G3 a bad line goes to a sidecar, the rest stays and keeps its numbers', async () => {
    await stored('a');
    const text = await lines('a');
    const lost = text[3]!;
    text[3] = lost.slice(0, 20) + '\u0000garbage';
    await writeFile(file('a'), text.join('\n'));
    const store = await sessions();
    const session = await store.open('a');
    assert.equal(session.events.length, 12);
    assert.equal(session.events[2]?.type, 'session/lost');
    assert.equal(session.messages().length, 3);
    await store.close(session);
    assert.match(await readFile(join(dir, 'a.bad'), 'utf8'), /garbage/);
    const again = await (await sessions()).open('a');
    assert.equal(again.events[2]?.type, 'session/lost');
    assert.equal(again.events.length, 12);
  });

  it('G3 a line that is simply gone is marked in the file, once', async () => {
    await stored('a');
    const text = await lines('a');
    text.splice(3, 1);
    await writeFile(file('a'), text.join('\n'));
    const store = await sessions();
    await store.close(await store.open('a'));
    assert.match((await lines('a'))[3]!, /session\/lost/);
    assert.equal((await store.view('a')).messages().length, 3);
  });

  it('L11.7 a write that failed is told, kept, and tried again with the next event', async () => {
    const blocked = join(dir, 'blocked');
    await writeFile(blocked, 'a file where the folder should be');
    const store = await sessions({ dir: blocked });
    const errors: unknown[] = [];
    roots.at(-1)!.on('session/write-error', (_session, error) => { errors.push(error); });
    const session = store.create({ id: 'a' });
    session.append('turn/start', { turn: 1 });
    await assert.rejects(session.flush());
    assert.equal(errors.length, 1);
    await rm(blocked);
    session.append('turn/end', { turn: 1, reason: { kind: 'completed' } });
    await session.flush();
    assert.deepEqual((await store.list()).map(({ id }) => id), ['a']);
    await store.close(session);
    assert.equal((await store.view('a')).events.length, 2);
  });

  describe('on a disk that takes nothing for a while', () => {
    let blocked: string;
    let store: Sessions;
    let told: string[];
    let recovered: Promise<unknown>;
    beforeEach(async () => {
      blocked = join(dir, 'blocked');
      await writeFile(blocked, 'a file where the folder should be');
      store = await sessions({ dir: blocked });
      told = [];
      roots.at(-1)!.on('session/write-error', (_session, error) => void told.push((error as NodeJS.ErrnoException).code!));
      recovered = new Promise((resolve) => void roots.at(-1)!.on('session/write-recovered', (session) => {
        told.push('recovered');
        resolve(session);
      }));
    });

    it('G1 it is told once, and once when all is written; nobody needs to say anything for that', async () => {
      const session = store.create({ id: 'a' });
      for (let n = 1; n <= 30; n++) {
        turn(session, n, `message ${n}`);
        await assert.rejects(session.flush());
      }
      assert.deepEqual(told, ['EEXIST']);
      await rm(blocked);
      assert.equal(await recovered, session);
      assert.deepEqual((await store.view('a')).events, session.events);
      assert.deepEqual(told, ['EEXIST', 'recovered']);
      turn(session, 31, 'after it');
      await session.flush();
      await store.close(session);
      assert.equal((await store.view('a')).events.length, 31 * 6);
    });

    it('G1 a session that was closed meanwhile is written when there is room again', async () => {
      const session = store.create({ id: 'a' });
      turn(session, 1, 'kept');
      await store.close(session);
      assert.deepEqual(told, ['EEXIST']);
      await assert.rejects(store.open('a'), { code: 'EEXIST' });
      await rm(blocked);
      await recovered;
      assert.deepEqual((await store.open('a')).events, session.events);
      assert.deepEqual(told, ['EEXIST', 'recovered']);
    });
  });

  it('L11.7 a closed session takes no more events: none is accepted and then lost', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    turn(session, 1, 'kept');
    const closing = store.close(session);
    assert.throws(() => session.append('turn/start', { turn: 2 }), { code: 'SESSION_CLOSED' });
    await closing;
    assert.throws(() => session.append('turn/start', { turn: 2 }), { code: 'SESSION_CLOSED' });
    assert.equal(session.events.length, 6);
    assert.deepEqual((await store.view('a')).events, session.events);
  });

  it('G3 a lost header does not lose the session', async () => {
    await stored('a');
    const text = await lines('a');
    text[0] = '{"type":"sess';
    await writeFile(file('a'), text.join('\n'));
    const session = await (await sessions()).open('a');
    assert.equal(session.id, 'a');
    assert.equal(session.messages().length, 4);
  });

  it('G5 sessions are listed by folder, newest first, and all of them on demand', async () => {
    const store = await sessions();
    for (const [id, cwd] of [['a', '/one'], ['b', '/two'], ['c', '/one']] as const) {
      const session = store.create({ id, cwd });
      turn(session, 1, `said in ${id}\nsecond line`);
      await store.close(session);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    assert.deepEqual((await store.list({ cwd: '/one' })).map(({ id, title }) => [id, title]), [['c', 'said in c'], ['a', 'said in a']]);
    assert.deepEqual((await store.list()).map(({ id }) => id), ['c', 'b', 'a']);
  });

  it('G5 a title is found behind a big first event, and the user\'s own name wins', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    session.append('request/header', { header: { config: { provider: 'p', model: 'm' }, system: 'x'.repeat(100_000) }, reason: 'initial' });
    turn(session, 1, 'far away');
    await store.close(session);
    assert.equal((await store.list())[0]?.title, 'far away');
    await store.rename('a', ' Mine ');
    assert.equal((await store.list())[0]?.title, 'Mine');
    await store.rename('a', '');
    assert.equal((await store.list())[0]?.title, 'far away');
  });

  it('G5 a message of two megabytes gives a title too', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    turn(session, 1, `Read "this" 😀 of mine\n${'x'.repeat(2_000_000)}`);
    await store.close(session);
    assert.equal((await store.list())[0]?.title, 'Read "this" 😀 of mine');
  });

  it('G5 a title is one line, cut between characters', () => {
    assert.equal(titleOf('\n  \n hello '), 'hello');
    assert.equal(titleOf('  '), undefined);
    assert.equal([...titleOf('😀'.repeat(200))!].length, 80);
  });

  it('G7 a deleted session can be brought back, with what belongs to it', async () => {
    await stored('a');
    const store = await sessions();
    await store.rename('a', 'Kept');
    const { undo } = await store.remove('a');
    assert.deepEqual(await store.list(), []);
    await undo();
    assert.equal((await store.list())[0]?.title, 'Kept');
    assert.equal((await store.open('a')).messages().length, 4);
    assert.deepEqual(await readdir(join(dir, '.trash')), []);
  });

  it('G7 an open session is not deleted; the trash is emptied by age', async () => {
    await stored('a');
    const store = await sessions();
    const session = await store.open('a');
    await assert.rejects(store.remove('a'), { code: 'SESSION_OPEN' });
    await store.close(session);
    await store.remove('a');
    await store.emptyTrash(60_000);
    assert.equal((await readdir(join(dir, '.trash'))).length, 1);
    await store.emptyTrash(0);
    assert.equal((await readdir(join(dir, '.trash'))).length, 0);
  });

  it('L11.7 one writer a file: the second opens read-only or forks', async () => {
    await stored('a');
    const first = await sessions();
    await first.open('a');
    const second = await sessions();
    await assert.rejects(second.open('a'), { code: 'SESSION_IN_USE' });
    const view = await second.view('a');
    assert.equal(view.messages().length, 4);
    assert.throws(() => view.append('turn/start', { turn: 3 }), { code: 'SESSION_READ_ONLY' });
    const fork = second.fork(view);
    turn(fork, 3, 'elsewhere');
    await second.close(fork);
    assert.equal((await second.view(fork.id)).messages().length, 6);
    assert.equal((await second.view(fork.id)).header.parentSession, 'a');
  });

  it('L11.7 a lock left by a dead process is taken over', async () => {
    await stored('a');
    await writeFile(`${file('a')}.lock`, JSON.stringify({ pid: 2 ** 30, host: hostname() }));
    const store = await sessions();
    await store.close(await store.open('a'));
    await writeFile(`${file('a')}.lock`, JSON.stringify({ pid: 1, host: 'another-host' }));
    await assert.rejects(store.open('a'), { code: 'SESSION_IN_USE' });
    await utimes(`${file('a')}.lock`, 1, 1);
    await store.close(await store.open('a'));
    await assert.rejects(stat(`${file('a')}.lock`));
  });

  it('L11.7 ids that are no plain names are refused', async () => {
    const store = await sessions();
    for (const id of ['../x', '', 'a/b', '.hidden', 'a\u0000']) assert.throws(() => store.create({ id }), { code: 'SESSION_BAD_ID' });
    await assert.rejects(store.open('../../etc/passwd'), { code: 'SESSION_BAD_ID' });
  });

  it('L11.2 streamed crumbs are packed into few lines and come back as they were', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    session.append('turn/start', { turn: 1 });
    session.append('step/start', { turn: 1, step: 1 });
    for (let i = 0; i < 1000; i++) session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text: `${i} ` } });
    session.append('step/end', { turn: 1, step: 1 });
    session.append('turn/end', { turn: 1, reason: { kind: 'completed' } });
    await store.close(session);
    assert.ok((await lines('a')).length < 10);
    assert.deepEqual((await store.view('a')).events, session.events);
  });

  it('L11.2 packing loses nothing, whatever the mix (property)', () => {
    const plain = { noNullPrototype: true } as const;
    const chunk = fc.oneof(
      fc.record({ type: fc.constant('text-delta' as const), index: fc.nat(2), text: fc.string() }, plain),
      fc.record({ type: fc.constant('reasoning-delta' as const), index: fc.nat(2), text: fc.string() }, plain),
      fc.record({ type: fc.constant('tool-call-delta' as const), index: fc.nat(2), id: fc.constantFrom('x', 'y'), argumentsDelta: fc.string() }, plain),
      fc.record({ type: fc.constant('tool-call-delta' as const), index: fc.nat(2), id: fc.constantFrom('x', 'y'), name: fc.constant('n'), argumentsDelta: fc.string() }, plain),
      fc.record({ type: fc.constant('block-start' as const), index: fc.nat(2), blockType: fc.constant('text' as const) }, plain),
    );
    fc.assert(fc.property(fc.array(fc.tuple(chunk, fc.nat(2), fc.integer({ min: 0, max: 2 ** 40 }))), (items) => {
      const events = items.map(([c, step, time], seq) => ({ type: 'assistant/chunk', seq, time, data: { turn: 1, step, chunk: c } }) as SessionEvent);
      const stored = packRows(events).map((row) => JSON.parse(JSON.stringify(row)) as unknown);
      assert.deepEqual(stored.flatMap((row) => unpackRow(row)!), events);
    }));
  });

  it('L11.2 malformed packed rows are bad lines, never half an event', () => {
    for (const row of [
      { type: 'text-chunks', seq0: 0, time0: 0, data: { dt: [1], texts: ['a'], index: 0 } },
      { type: 'text-chunks', seq0: 0, time0: 0, data: { dt: [], texts: [1], index: 0 } },
      { type: 'tool-call-chunks', seq0: 0, time0: 0, data: { dt: [], args: ['{'], index: 0 } },
      { type: 'text-chunks', seq0: -1, time0: 0, data: {} }, { seq: 0 }, null, 3, 'x', [],
    ]) assert.equal(unpackRow(row), undefined);
  });

  it('X13.4 disposing the service closes every file and takes the locks back', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    turn(session, 1, 'x');
    await roots.splice(0)[0]!.fiber.dispose();
    assert.deepEqual(await readdir(dir), ['a.jsonl']);
    assert.equal((await lines('a')).length, 8);
  });

  it('D3 a log in mid-turn is closed when it is opened again (L11.6)', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    session.append('turn/start', { turn: 1 });
    session.append('step/start', { turn: 1, step: 1 });
    session.append('user/message', user('go'));
    session.append('assistant/message', {
      turn: 1, step: 1,
      message: createAssistantMessage([
        { type: 'tool-call', id: 'c1', name: 'bash', arguments: '{}' }, { type: 'tool-call', id: 'c2', name: 'bash', arguments: '{"a":1}' },
        { type: 'tool-call', id: 'c3', name: 'bash', arguments: '{}' },
      ], { provider: 'p', model: 'm' }),
    });
    session.append('tool/call', { turn: 1, step: 1, callId: 'c1', name: 'bash', arguments: '{}' });
    session.append('tool/call', { turn: 1, step: 1, callId: 'c2', name: 'bash', arguments: '{"a":1}' });
    session.append('tool/result', { turn: 1, step: 1, message: createToolResultMessage('c1', [{ type: 'text', text: 'ok' }], false) });
    await store.close(session);
    const again = await store.open('a');
    const added = again.events.slice(session.events.length);
    assert.deepEqual(added.map(({ type }) => type), ['tool/result', 'tool/call', 'tool/result', 'step/end', 'turn/end']);
    assert.ok(added[0]?.type === 'tool/result' && added[2]?.type === 'tool/result');
    assert.deepEqual([added[0].data.error, added[0].sourceEventSeqs], [{ name: 'ToolOutcomeUnknownError', code: 'TOOL_OUTCOME_UNKNOWN' }, [5]]);
    assert.deepEqual(added[2].data.error, { name: 'ToolNotStartedError', code: 'TOOL_NOT_STARTED' });
    assert.deepEqual(added[4]!.data, { turn: 1, reason: { kind: 'interrupted' } });
    await store.close(again);
    assert.equal((await store.open('a')).events.length, again.events.length);
  });

  it('D3 text streamed before the crash is kept as an interrupted answer', async () => {
    const store = await sessions();
    const session = store.create({ id: 'a' });
    session.append('turn/start', { turn: 1 });
    session.append('step/start', { turn: 1, step: 1 });
    for (const text of ['Hel', 'lo']) session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text } });
    session.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'tool-call-delta', index: 1, id: 'c', name: 'bash', argumentsDelta: '{"comm' } });
    await store.close(session);
    const again = await store.open('a');
    const message = again.events.find((event) => event.type === 'assistant/message');
    assert.ok(message?.type === 'assistant/message' && message.data.interrupted);
    assert.deepEqual(message.data.message.content, [{ type: 'text', text: 'Hello' }]);
  });
});
