import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agents } from '../../src/agent/agents.ts';
import { callTools, Gate, ofType, Rig, say, types, user } from './agent.harness.ts';

describe('agent life', () => {
  let rig: Rig;
  beforeEach(async () => { rig = await Rig.start(); });
  afterEach(() => rig.stop());

  const words = (request: number) => rig.requests[request]!.messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])));

  it('A6.2 inject waits without waking, is durable at once, and is claimed at the next step', async () => {
    const agent = await rig.agent();
    agent.inject(user('note'));
    assert.equal(agent.status, 'idle');
    assert.equal(agent.inbox.nextStep.length, 1);
    assert.deepEqual(types(agent.session.events, []), ['agent/inbox/spliced']);
    rig.replies = [say('ok')];
    await rig.ask(agent, 'hello');
    assert.deepEqual(words(0), ['note', 'hello']);
    assert.equal(agent.inbox.nextStep.length, 0);
  });

  it('A6.3 a plugin\'s literal is completed, twice in a row; a pending id is refused', async () => {
    const agent = await rig.agent();
    const literal = { content: [{ type: 'text' as const, text: 'x' }], source: { kind: 'plugin' as const, plugin: 'p' } };
    agent.inject(literal);
    agent.inject(literal);
    assert.equal(agent.inbox.nextStep.length, 2);
    assert.ok(agent.inbox.nextStep.every(({ id, role }) => id !== '' && role === 'user'));
    const message = user('y');
    agent.inject(message);
    assert.throws(() => agent.inject(message), /already pending/);
  });

  it('A6.4 every followup is a turn of its own, steering joins the running one', async () => {
    const agent = await rig.agent();
    rig.tool('wait', () => { agent.steer(user('also this')); return 'ok'; });
    rig.replies = [callTools(['c1', 'wait', {}]), say('a'), say('b'), say('c')];
    for (const text of ['one', 'two', 'three']) agent.followup(user(text));
    await agent.whenIdle();
    assert.deepEqual(ofType(agent.session.events, 'turn/end').length, 3);
    assert.deepEqual(words(1), ['one', 'ok', 'also this'].filter((text) => text !== 'ok'));
  });

  it('A6.4 steering an idle agent opens a turn', async () => {
    const agent = await rig.agent();
    rig.replies = [say('ok')];
    agent.steer(user('go'));
    assert.equal(agent.status, 'running');
    await agent.whenIdle();
    assert.deepEqual(words(0), ['go']);
  });

  it('A6.4 steering that comes while the last answer streams gets a step of its own', async () => {
    const agent = await rig.agent();
    rig.replies = [async function* () { agent.steer(user('one more thing')); yield* say('done?'); }, say('done.')];
    await rig.ask(agent, 'go');
    assert.deepEqual(ofType(agent.session.events, 'turn/end').length, 1);
    assert.equal(rig.requests.length, 2);
  });

  it('A6.4 input sent after a cancel runs as the next turn once the cancelled one has settled', async () => {
    const agent = await rig.agent();
    const gate = new Gate();
    rig.tool('slow', async () => { await gate.opened; return ''; });
    rig.replies = [callTools(['c1', 'slow', {}]), say('after')];
    rig.root.on('tools/pre-execute', (_exec, next) => {
      queueMicrotask(() => {
        agent.cancel({ kind: 'user' });
        agent.cancel({ kind: 'parent' });
        agent.steer(user('instead'));
        assert.equal(agent.inbox.nextTurn.length, 1);
        gate.open();
      });
      return next();
    });
    await rig.ask(agent, 'go');
    assert.deepEqual(ofType(agent.session.events, 'turn/end').map((event) => event.data.reason), [{ kind: 'aborted', reason: { kind: 'user' } }, { kind: 'completed' }]);
    assert.equal(words(1).at(-1), 'instead');
  });

  it('A6.2 a cancel discards what is pending, unless told to keep it', async () => {
    const agent = await rig.agent();
    const discarded: string[] = [];
    agent.ctx.on('agent/inbox/discarded', ({ message }) => { discarded.push(message.id); });
    agent.inject(user('a'));
    agent.cancel({ kind: 'user' }, { keepInbox: true });
    assert.equal(agent.inbox.nextStep.length, 1);
    agent.cancel({ kind: 'user' });
    assert.equal(agent.inbox.nextStep.length, 0);
    assert.equal(discarded.length, 1);
    assert.equal(ofType(agent.session.events, 'agent/inbox/spliced').at(-1)!.data.outcome, 'canceled');
  });

  it('A6.6 events of an agent reach its own scope and plain listeners, in order', async () => {
    const heard: string[] = [];
    rig.root.on('agent/created', ({ agent }) => { heard.push(`created ${agent.id}`); });
    rig.root.on('agent/session-start', ({ source }) => { heard.push(source); });
    rig.root.on('agent/disposed', ({ agent }) => { heard.push(`disposed ${agent.id}`); });
    const first = await rig.root.agents.create({ sessionId: 'a' });
    const second = await rig.root.agents.create({ sessionId: 'b' });
    first.agent.ctx.on('agent/status', ({ agent, status }) => { heard.push(`${agent.id} ${status}`); });
    rig.replies = [say('x'), say('y')];
    await rig.ask(second.agent, 'hi');
    await rig.ask(first.agent, 'hi');
    await first.dispose();
    await second.dispose();
    assert.deepEqual(heard, ['created a', 'startup', 'created b', 'startup', 'a running', 'a idle', 'disposed a', 'disposed b']);
  });

  it('A6.6 a listener that throws or rejects stops nobody', async () => {
    rig.root.on('agent/status', () => { throw new Error('no'); });
    rig.root.on('agent/inbox/claimed', (async () => { throw new Error('no'); }) as never);
    rig.replies = [say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.equal(ofType(agent.session.events, 'turn/end')[0]!.data.reason.kind, 'completed');
  });

  it('A6.6 dispose stops the loop, unwinds the scope, and leaves nothing behind', async () => {
    const handle = await rig.root.agents.create({ sessionId: 'a' });
    const { agent } = handle;
    const order: string[] = [];
    agent.ctx.effect(() => () => { order.push('scope'); });
    rig.root.on('agent/disposed', () => { order.push('disposed'); });
    rig.replies = [async function* ({ signal }) {
      await new Promise<void>((resolve) => signal!.addEventListener('abort', () => { order.push('stopped'); resolve(); }));
      yield* say('never');
    }];
    agent.followup(user('x'));
    while (rig.requests.length === 0) await new Promise(setImmediate);
    await handle.dispose();
    assert.deepEqual(order, ['stopped', 'scope', 'disposed']);
    assert.equal(rig.root.agents.get('a'), undefined);
    assert.equal(rig.root.sessions.get('a'), undefined);
    assert.throws(() => agent.inject(user('y')), { code: 'AGENT_DISPOSED' });
    assert.equal(ofType(agent.session.events, 'turn/end')[0]!.data.reason.kind, 'aborted');
    await handle.dispose();
    await (await rig.root.agents.create({ sessionId: 'a' })).dispose();
  });

  it('A6.6 an agent ends with the fiber that created it, and with the service', async () => {
    const fiber = rig.root.plugin({ inject: ['agents'], apply(ctx) { void ctx.agents.create({ sessionId: 'mine' }); } });
    await fiber;
    await new Promise(setImmediate);
    assert.ok(rig.root.agents.get('mine'));
    await fiber.dispose();
    assert.equal(rig.root.agents.get('mine'), undefined);
    const { agent } = await rig.root.agents.create({ sessionId: 'other' });
    await rig.stop();
    assert.throws(() => agent.inject(user('y')), { code: 'AGENT_DISPOSED' });
  });

  it('A6.6 a setup that throws leaves no agent and no session', async () => {
    await assert.rejects(rig.root.agents.create({ sessionId: 'a', setup: () => { throw new Error('not today'); } }), /not today/);
    assert.deepEqual([rig.root.agents.list(), rig.root.sessions.live()], [[], []]);
    const { agent } = await rig.root.agents.create({
      sessionId: 'a', setup: (ctx) => { ctx.systemPrompt.section({ name: 'own', order: 50, text: 'Only mine.' }); },
    });
    rig.replies = [say('a'), say('b')];
    await rig.ask(agent, 'x');
    await rig.ask(await rig.agent(), 'x');
    assert.match(rig.requests[0]!.system!, /Only mine\./);
    assert.doesNotMatch(rig.requests[1]!.system!, /Only mine\./);
  });

  it('R3.9 agent.ctx is the agent\'s scope, and knows its agent', async () => {
    const agent = await rig.agent();
    assert.equal(agent.ctx.agent, agent);
    assert.equal(rig.root.agent, undefined);
  });

  it('A6.1 maintenance runs between turns; input waits for it', async () => {
    const agent = await rig.agent();
    const gate = new Gate();
    const task = agent.runMaintenance(async () => { await gate.opened; return 42; });
    assert.throws(() => agent.runMaintenance(() => Promise.resolve()), { code: 'AGENT_BUSY' });
    rig.replies = [say('ok')];
    agent.followup(user('x'));
    assert.equal(agent.status, 'idle');
    assert.equal(rig.requests.length, 0);
    gate.open();
    assert.equal(await task, 42);
    await agent.whenIdle();
    assert.equal(rig.requests.length, 1);
  });

  it('A6.1 a turn can be stopped by a plugin, with its reason in the log', async () => {
    const agent = await rig.agent();
    rig.root.on('agent/turn-stopping', () => { agent.cancel({ kind: 'hook', reason: 'enough' }); });
    rig.replies = [say('ok')];
    await rig.ask(agent, 'x');
    assert.deepEqual(ofType(agent.session.events, 'turn/end')[0]!.data.reason, { kind: 'aborted', reason: { kind: 'hook', reason: 'enough' } });
  });

  it('A6.6 turn-stopping may steer for one more step', async () => {
    const agent = await rig.agent();
    let once = true;
    rig.root.on('agent/turn-stopping', () => {
      if (once) agent.steer(user('check again'));
      once = false;
    });
    rig.replies = [say('a'), say('b')];
    await rig.ask(agent, 'x');
    assert.equal(rig.requests.length, 2);
    assert.equal(ofType(agent.session.events, 'turn/end').length, 1);
  });

  describe('on disk', () => {
    let dir: string;
    beforeEach(async () => {
      await rig.stop();
      dir = await mkdtemp(join(tmpdir(), 'dsh-agent-'));
      rig = await Rig.start({ dir });
    });
    afterEach(async () => {
      await rig.stop();
      await rm(dir, { recursive: true, force: true });
    });

    it('L11.8 a resumed session has its history, runs nothing, and goes on', async () => {
      rig.tool('greet', () => 'hi');
      rig.replies = [callTools(['c1', 'greet', {}]), say('done')];
      const handle = await rig.root.agents.create({ sessionId: 'a', meta: { cwd: '/w' } });
      await rig.ask(handle.agent, 'x');
      const { length } = handle.agent.session.events;
      await handle.dispose();
      rig.replies = [say('again')];
      const { agent } = await rig.root.agents.resume({ resumeSessionId: 'a' });
      assert.equal(agent.session.events.length, length);
      assert.equal(agent.session.cwd, '/w');
      assert.equal(rig.requests.length, 2);
      await rig.ask(agent, 'y');
      assert.equal(rig.requests[2]!.messages.length, 5);
      assert.deepEqual(ofType(agent.session.events, 'turn/start').map((event) => event.data.turn), [1, 2]);
    });

    it('A6.2 pending input survives a crash, and does not start by itself', async () => {
      const session = rig.root.sessions.create({ id: 'a', cwd: '/w' });
      session.append('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [user('unsent')] });
      await rig.root.sessions.close(session);
      const { agent } = await rig.root.agents.resume({ resumeSessionId: 'a' });
      assert.equal(agent.inbox.nextTurn.length, 1);
      assert.equal(agent.status, 'idle');
      await assert.rejects(rig.root.agents.resume({ resumeSessionId: 'a' }), { code: 'AGENT_EXISTS' });
      await assert.rejects(rig.root.agents.resume({ resumeSessionId: 'nope' }), { code: 'SESSION_NOT_FOUND' });
    });

    it('H5 a session cut in the middle of a call answers every call before the next request', async () => {
      rig.tool('slow', () => 'never logged');
      rig.replies = [callTools(['c1', 'slow', {}], ['c2', 'slow', {}])];
      const handle = await rig.root.agents.create({ sessionId: 'a' });
      await rig.ask(handle.agent, 'x');
      await handle.dispose();
      const whole = rig.root.sessions;
      const view = await whole.view('a');
      const cut = whole.create({ id: 'b' });
      for (const event of view.events) {
        if (event.type === 'tool/result') break;
        cut.append(event.type, event.data as never, event.surfaceOp ? { surfaceOp: event.surfaceOp } : {});
      }
      await whole.close(cut);
      rig.replies = [say('ok')];
      const { agent } = await rig.root.agents.resume({ resumeSessionId: 'b' });
      await rig.ask(agent, 'go on');
      const sent = rig.requests.at(-1)!.messages;
      assert.deepEqual(sent.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool-result' ? [block.toolCallId] : []))), ['c1', 'c2']);
    });
  });

  it('X13.4 nothing of an agent is left in the container', async () => {
    const before = count();
    for (let i = 0; i < 3; i++) await (await rig.root.agents.create()).dispose();
    assert.equal(count(), before);

    function count(): number {
      return Object.values(rig.root.events._hooks).flat().length + rig.root.registry.size + [...rig.root.registry.values()].reduce((sum, { fibers }) => sum + fibers.length, 0);
    }
  });

  it('A6.1 the service needs its neighbours', () => {
    assert.deepEqual(Agents.inject, ['sessions', 'systemPrompt', 'tools', 'llm']);
  });
});
