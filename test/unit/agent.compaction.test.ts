import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { SessionEvent } from '../../src/contract/event.ts';
import { cutPoint } from '../../src/agent/history-size.ts';
import type { SurfaceNode } from '../../src/agent/history-size.ts';
import { createAssistantMessage, createToolResultMessage } from '../../src/contract/message.ts';
import { callTools, done, ofType, resultText, Rig, say, text, user } from './agent.harness.ts';

const usage = (inputTokens: number) => ({ type: 'usage' as const, usage: { inputTokens, outputTokens: 0 } });
const words = (messages: readonly { content: readonly { type: string }[] }[]) => JSON.stringify(messages);

describe('compaction', () => {
  let rig: Rig;
  beforeEach(async () => { rig = await Rig.start(); });
  afterEach(() => rig.stop());

  it('O15.7 big results are shortened first, and that may be enough', async () => {
    rig.tool('big', () => `start ${'x'.repeat(20_000)} end`);
    const [callChunk, closeChunk, finish] = callTools(['c1', 'big', {}]);
    rig.replies = [[callChunk!, closeChunk!, finish!], [...text('read it'), usage(8_500), done()], say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'one');
    await rig.ask(agent, 'two');
    const [prune] = ofType(agent.session.events, 'compaction/prune');
    assert.equal(prune!.data.removedChars, 20_010 - 4096 - 1024);
    assert.equal(ofType(agent.session.events, 'compaction/start').length, 0);
    const sent = words(rig.requests[2]!.messages);
    assert.ok(sent.length < 8_000 && /start x/.test(sent) && /x end/.test(sent) && /characters were left out/.test(sent));
    assert.equal(resultText(agent.session.events, 'c1')!.length, 20_010, 'the log keeps all of it');
  });

  it('O15.7 then the older part becomes notes, and the newest stays as it is', async () => {
    rig.replies = [
      [...text('first answer'), usage(2_000), done()], [...text(`second answer ${'y'.repeat(4_000)}`), usage(9_000), done()],
      say('They said hello; I answered.'), say('third answer'),
    ];
    const agent = await rig.agent();
    await rig.ask(agent, 'hello');
    await rig.ask(agent, 'again');
    await rig.ask(agent, 'and now');
    assert.equal(rig.requests[2]!.purpose, 'compaction');
    assert.equal(rig.requests[2]!.tools, undefined);
    assert.match(words(rig.requests[2]!.messages), /first answer/);
    const sent = words(rig.requests[3]!.messages);
    assert.match(sent, /They said hello; I answered\./);
    assert.match(sent, /and now/);
    assert.doesNotMatch(sent, /first answer/);
    assert.deepEqual(ofType(agent.session.events, 'compaction/end').map((event) => event.data.outcome), ['done']);
    assert.equal(ofType(agent.session.events, 'assistant/message').length, 3, 'the log keeps everything');
  });

  it('H7 a 100 KB write is never cut inside: it goes whole or stays whole', async () => {
    const content = 'z'.repeat(100_000);
    rig.tool('write', () => 'written');
    const [callChunk, closeChunk, finish] = callTools(['c1', 'write', { file_path: 'a', content }]);
    rig.replies = [[callChunk!, closeChunk!, usage(9_500), finish!], say('Notes.'), say('done'), say('Notes 2.'), say('more')];
    const agent = await rig.agent();
    await rig.ask(agent, 'write it');
    for (const { messages } of rig.requests) {
      for (const block of messages.flatMap(({ content: blocks }) => blocks)) {
        if (block.type === 'tool-call') assert.equal(JSON.parse(block.arguments).content, content);
      }
    }
    assert.equal(ofType(agent.session.events, 'turn/end')[0]!.data.reason.kind, 'completed');
  });

  it('H7 a cut never parts a call from its result (property)', () => {
    const step = fc.oneof(fc.constant(['user'] as const), fc.nat(3).map((n) => ['calls', n] as const));
    fc.assert(fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), fc.nat(400), (steps, keep) => {
      const nodes: SurfaceNode[] = [];
      const push = (type: SurfaceNode['type'], data: unknown) => nodes.push({ type, seq: nodes.length, time: 0, data } as SurfaceNode);
      for (const [kind, n = 0] of steps) {
        if (kind === 'user') push('user/message', user('hello there'));
        else {
          const ids = Array.from({ length: n }, (_, i) => `${nodes.length}.${i}`);
          push('assistant/message', { turn: 1, step: 1, message: createAssistantMessage(ids.map((id) => ({ type: 'tool-call', id, name: 'x', arguments: '{}' })), { provider: 'p', model: 'm' }) });
          for (const id of ids) push('tool/result', { turn: 1, step: 1, message: createToolResultMessage(id, [{ type: 'text', text: 'result text' }], false) });
        }
      }
      const cut = cutPoint(nodes, keep);
      assert.ok(cut >= 0 && cut < nodes.length);
      assert.notEqual(nodes[cut]?.type === 'tool/result' && cut > 0, true);
    }));
  });

  it('O15.7 an overflow compacts once, then the same step is tried again', async () => {
    const overflow = [{ type: 'finish' as const, reason: { kind: 'error' as const, failure: { message: 'too long', code: 'CONTEXT_WINDOW_EXCEEDED' } } }];
    rig.replies = [say('a'), overflow, say('Notes.'), say('b'), overflow, say('Notes.'), overflow];
    const agent = await rig.agent();
    await rig.ask(agent, 'one');
    await rig.ask(agent, 'two');
    assert.equal(ofType(agent.session.events, 'turn/end').at(-1)!.data.reason.kind, 'completed');
    await rig.ask(agent, 'three');
    const { reason } = ofType(agent.session.events, 'turn/end').at(-1)!.data;
    assert.ok(reason.kind === 'error' && reason.error.code === 'CONTEXT_WINDOW_EXCEEDED');
  });

  it('O15.7 a summary that fails leaves the history alone', async () => {
    rig.replies = [[...text('a'), usage(9_000), done()], [...text(''), done()], say('b')];
    const agent = await rig.agent();
    await rig.ask(agent, 'one');
    await rig.ask(agent, 'two');
    assert.deepEqual(ofType(agent.session.events, 'compaction/end').map((event) => event.data.outcome), ['failed']);
    assert.equal(rig.requests[2]!.messages.length, 3);
  });

  it('Y14.5 the runtime context is given again when it went with the history', async () => {
    rig.root.systemPrompt.context({ name: 'day', order: 1, text: 'It is monday.' });
    rig.replies = [[...text('a'), usage(9_000), done()], say('Notes.'), say('b')];
    const agent = await rig.agent();
    await rig.ask(agent, 'one');
    await rig.ask(agent, 'two');
    assert.match(words(rig.requests[2]!.messages), /It is monday/);
  });

  it('O15.7 a stop while the summary streams ends the turn', async () => {
    rig.replies = [[...text('a'), usage(9_000), done()], async function* ({ signal }) {
      agent.cancel({ kind: 'user' });
      assert.ok(signal!.aborted);
      yield* say('late');
    }];
    const agent = await rig.agent();
    await rig.ask(agent, 'one');
    await rig.ask(agent, 'two');
    const events: readonly SessionEvent[] = agent.session.events;
    assert.deepEqual(ofType(events, 'turn/end').at(-1)!.data.reason.kind, 'aborted');
    assert.equal(rig.requests.length, 2);
  });
});
