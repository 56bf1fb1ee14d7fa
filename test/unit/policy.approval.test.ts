import assert from 'node:assert/strict';
import { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../src/contract/agent.ts';
import type { ApprovalOutcome } from '../../src/contract/event.ts';
import type { UserMessageInput } from '../../src/contract/message.ts';
import { Approval } from '../../src/policy/approval.ts';
import { Sessions } from '../../src/session/sessions.ts';

describe('approval', () => {
  let ctx: Context;
  let agent: Agent;
  let injected: UserMessageInput[];
  afterEach(() => ctx.fiber.dispose());

  async function open(policy: 'ask' | 'never' = 'ask', openTurn = true): Promise<void> {
    ctx = new Context();
    await ctx.plugin(Sessions, {});
    await ctx.plugin(Approval, { policy });
    injected = [];
    const session = ctx.sessions.create({ cwd: '/' });
    agent = { id: session.id, session, inject: (message: UserMessageInput) => void injected.push(message) } as unknown as Agent;
    if (openTurn) session.append('turn/start', { turn: 1 });
  }
  const log = (): [string, unknown][] => agent.session.events.filter((event) => event.type.startsWith('approval/')).map((event) => [event.type, event.data]);
  const answering = (answer: () => unknown): void => void ctx.on('approval/request', () => answer() as Promise<ApprovalOutcome>);

  it('G12.2 logs asked, then exactly one decided, with one id', async () => {
    await open();
    answering(async () => 'allowed-once');
    assert.equal(await ctx.approval.request({ agent, toolName: 'bash', callId: 'c', reason: 'why' }), 'allowed-once');
    const [asked, decided] = log() as [[string, { id: string }], [string, { id: string }]];
    assert.deepEqual(asked, ['approval/asked', { id: asked[1].id, toolName: 'bash', callId: 'c', reason: 'why' }]);
    assert.deepEqual(decided, ['approval/decided', { id: asked[1].id, outcome: 'allowed-once' }]);
    assert.equal(log().length, 2);
  });

  it('G12.2 needs an open turn', async () => {
    await open('ask', false);
    await assert.rejects(ctx.approval.request({ agent, toolName: 'bash' }), /outside a turn/);
    agent.session.append('turn/start', { turn: 1 });
    agent.session.append('turn/end', { turn: 1, reason: { kind: 'completed' } });
    await assert.rejects(ctx.approval.request({ agent, toolName: 'bash' }), /outside a turn/);
    assert.equal(log().length, 0);
  });

  it('G12.2 nobody there, a throw, and a rogue answer are all "unavailable"', async () => {
    await open();
    assert.equal(await ctx.approval.request({ agent, toolName: 't' }), 'unavailable');
    const answers: (() => unknown)[] = [() => { throw new Error('x'); }, async () => { throw new Error('x'); }, async () => 'allowed-forever', async () => true, async () => undefined];
    for (const answer of answers) {
      const dispose = ctx.on('approval/request', () => answer() as Promise<ApprovalOutcome>);
      assert.equal(await ctx.approval.request({ agent, toolName: 't' }), 'unavailable');
      dispose();
    }
  });

  it('G12.2 an aborted signal cancels before anybody is asked; policy never rejects without dispatch', async () => {
    await open('never');
    let asked = 0;
    answering(async () => { asked += 1; return 'allowed-once'; });
    assert.equal(await ctx.approval.request({ agent, toolName: 't', signal: AbortSignal.abort() }), 'cancelled');
    assert.equal(await ctx.approval.request({ agent, toolName: 't' }), 'rejected');
    assert.equal(asked, 0);
    assert.equal(log().length, 4);
  });

  it('G12.2 abort while waiting cancels at once, and a late answer is dropped', async () => {
    await open();
    let late: (outcome: ApprovalOutcome) => void = () => undefined;
    answering(() => new Promise((resolve) => { late = resolve; }));
    const stop = new AbortController();
    const outcome = ctx.approval.request({ agent, toolName: 't', signal: stop.signal });
    stop.abort();
    assert.equal(await outcome, 'cancelled');
    late('allowed-once');
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(log().map(([type]) => type), ['approval/asked', 'approval/decided']);
  });

  it('G12.4 the last logged policy holds; a live switch injects one notice', async () => {
    await open();
    const approval = ctx.approval as Approval;
    approval.setPolicy(agent, 'ask');
    assert.equal(injected.length, 0, 'no change, no notice');
    approval.setPolicy(agent, 'never');
    assert.equal(injected.length, 1);
    assert.equal(approval.policyOf(agent.session), 'never');
    answering(async () => 'allowed-once');
    assert.equal(await ctx.approval.request({ agent, toolName: 't' }), 'rejected');
  });

  it('an offer is logged with its request, and is remembered only while that request waits', async () => {
    await open();
    ctx.approval.offer('c', { reason: 'it runs a command', why: { code: 'command' }, rule: { kind: 'command-prefix', toolName: 'bash', words: ['npm', 'test'] } });
    let id = '';
    ctx.on('approval/request', async (request) => {
      id = request.id;
      assert.deepEqual(request.remember, { label: 'npm test …' });
      assert.equal(ctx.approval.remember('another'), false);
      assert.equal(ctx.approval.remember(id), true);
      return 'allowed-once';
    });
    await ctx.approval.request({ agent, toolName: 'bash', callId: 'c', reason: 'it runs a command' });
    assert.deepEqual((log()[0] as [string, { why: unknown }])[1].why, { code: 'command' });
    assert.deepEqual(ctx.approval.rules(agent.session), [{ kind: 'command-prefix', toolName: 'bash', words: ['npm', 'test'] }]);
    assert.equal(ctx.approval.remember(id), false, 'decided already');
    assert.deepEqual(log().map(([type]) => type), ['approval/asked', 'approval/remembered', 'approval/decided']);
  });

  it('an offer is not for a request with another reason: another policy put its own in the place', async () => {
    await open();
    ctx.approval.offer('c', { reason: 'it runs a command', why: { code: 'command' }, rule: { kind: 'tool', toolName: 'bash' } });
    answering(async () => 'allowed-once');
    await ctx.approval.request({ agent, toolName: 'bash', callId: 'c', reason: 'a plugin asks' });
    assert.deepEqual(Object.keys((log()[0] as [string, object])[1]).sort(), ['callId', 'id', 'reason', 'toolName']);
    await ctx.approval.request({ agent, toolName: 'bash', callId: 'c', reason: 'it runs a command' });
    assert.equal((log()[2] as [string, { remember?: unknown }])[1].remember, undefined, 'and it is gone with it');
  });
});
