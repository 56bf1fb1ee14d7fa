import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../../src/contract/agent.ts';
import type { SessionEvent } from '../../src/contract/event.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { callTools, Gate, ofType, Rig, say, user } from './agent.harness.ts';

/** What a reader of the log sees of the user: messages, and words that were not sent. */
function seen(events: readonly SessionEvent[]): string[] {
  const transcript = new Transcript({ tool: () => undefined });
  for (const event of events) transcript.apply(event);
  return transcript.items().flatMap((item) => (item.kind === 'user' ? item.text : item.kind === 'notice' && item.text.startsWith('Not sent:') ? item.text : []));
}
const said = (agent: Agent): string[] => seen(agent.session.events);
const history = (agent: Agent): string[] => agent.session.messages().flatMap(({ content }) => content.flatMap((block) => (block.type === 'text' ? block.text : [])));
const reasonOf = (agent: Agent) => ofType(agent.session.events, 'turn/end').at(-1)!.data.reason.kind;

describe('what the user said', () => {
  let rig: Rig;
  beforeEach(async () => { rig = await Rig.start(); });
  afterEach(() => rig.stop());

  it('A6.2 stays in the conversation when a plugin on pre-step throws', async () => {
    const off = rig.root.on('agent/pre-step', () => Promise.reject(new Error('plugin bug')));
    const agent = await rig.agent();
    await rig.ask(agent, 'typed for ten minutes');
    assert.deepEqual([reasonOf(agent), said(agent)], ['error', ['typed for ten minutes']]);
    off();
    rig.replies = [say('ok')];
    await rig.ask(agent, 'again');
    assert.deepEqual(history(agent), ['typed for ten minutes', 'again', 'ok']);
  });

  it('A6.2 stays in the conversation when the turn is stopped while a plugin thinks about it', async () => {
    const agent = await rig.agent();
    rig.root.on('agent/pre-step', (_payload, next) => {
      agent.cancel({ kind: 'user' });
      return next();
    });
    await rig.ask(agent, 'typed for ten minutes');
    assert.deepEqual([reasonOf(agent), said(agent), history(agent)], ['aborted', ['typed for ten minutes'], ['typed for ten minutes']]);
  });

  it('A6.2 stays in sight when a plugin keeps it from the model, which never gets it', async () => {
    const agent = await rig.agent();
    const off = rig.root.on('agent/pre-step', () => Promise.resolve({ kind: 'reject' }));
    await rig.ask(agent, 'kept away');
    assert.equal(reasonOf(agent), 'blocked');
    off();
    const drop = rig.root.on('agent/pre-step', () => Promise.resolve({ kind: 'enter', messages: [] }));
    await rig.ask(agent, 'left out');
    assert.equal(reasonOf(agent), 'completed');
    drop();
    rig.root.on('agent/pre-step', async (_payload, next) => {
      const decision = await next();
      return decision.kind === 'enter' ? { kind: 'enter', messages: decision.messages.map((message) => user(`more than ${(message.content[0] as { text: string }).text}`)) } : decision;
    });
    rig.replies = [say('ok')];
    await rig.ask(agent, 'typed');
    assert.deepEqual(said(agent), ['kept away', 'left out', 'typed', 'more than typed']);
    assert.deepEqual(history(agent), ['more than typed', 'ok']);
    assert.deepEqual(rig.requests.at(-1)!.messages.length, 1);
  });

  it('A6.2 stays in the conversation when the last allowed step was taken', async () => {
    await rig.stop();
    rig = await Rig.start({ maxSteps: 1 });
    const agent = await rig.agent();
    rig.tool('steer', () => { agent.steer(user('also this')); return ''; });
    rig.replies = [callTools(['c1', 'steer', {}])];
    await rig.ask(agent, 'go');
    assert.deepEqual([reasonOf(agent), said(agent)], ['error', ['go', 'also this']]);
  });

  it('A6.2 and waited for its turn stays in sight when that is stopped, or the agent disposed', async () => {
    for (const kind of ['user', 'disposed'] as const) {
      const handle = await rig.root.agents.create({ meta: { cwd: '/w' } });
      const { agent } = handle;
      const gate = new Gate();
      rig.tool(`slow-${kind}`, async (_args, exec) => { gate.open(); await new Promise((resolve) => exec.signal.addEventListener('abort', resolve)); return ''; });
      rig.replies = [callTools(['c1', `slow-${kind}`, {}])];
      agent.followup(user('go'));
      await gate.opened;
      agent.steer(user('keep the table sorted'));
      agent.followup(user('then write\nthe changelog'));
      agent.inject({ content: [{ type: 'text', text: 'from a plugin' }], source: { kind: 'plugin', plugin: 'p' } });
      if (kind === 'user') agent.cancel({ kind });
      else await handle.dispose();
      await agent.whenIdle();
      assert.deepEqual(said(agent), ['go', 'Not sent: keep the table sorted', 'Not sent: then write']);
      await handle.dispose();
    }
  });

  it('D3 L11.6 stays in the conversation when the window is gone between claim and step', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'dsh-words-'));
    try {
      await rig.stop();
      rig = await Rig.start({ dir });
      const { agent } = await rig.root.agents.create({ sessionId: 'a' });
      const gate = new Gate();
      const held = new Gate();
      rig.root.on('agent/pre-step', async (_payload, next) => { gate.open(); await held.opened; return next(); });
      rig.replies = [say('never said')];
      agent.followup(user('typed for ten minutes'));
      await gate.opened;
      await agent.session.flush();
      const then = await readFile(join(dir, 'a.jsonl'));
      held.open();
      await agent.whenIdle();
      await rig.stop();
      await writeFile(join(dir, 'a.jsonl'), then);
      rig = await Rig.start({ dir });
      const resumed = (await rig.root.agents.resume({ resumeSessionId: 'a' })).agent;
      assert.deepEqual([reasonOf(resumed), said(resumed), history(resumed)], ['interrupted', ['typed for ten minutes'], ['typed for ten minutes']]);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
