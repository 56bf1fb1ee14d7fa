import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { callTools, done, Gate, ofType, resultText, Rig, say, text, types, user } from './agent.harness.ts';
import { parseArguments } from '../../src/agent/arguments.ts';
import { createUserMessage } from '../../src/contract/message.ts';

describe('agent loop', () => {
  let rig: Rig;
  beforeEach(async () => { rig = await Rig.start(); });
  afterEach(() => rig.stop());

  it('O15.1 a turn is request, tool calls, request, until nothing is owed', async () => {
    rig.tool('greet', ({ name }) => `Hello, ${String(name)}!`);
    rig.replies = [callTools(['c1', 'greet', { name: 'Ada' }]), say('Done.')];
    const agent = await rig.agent();
    await rig.ask(agent, 'greet Ada');
    assert.deepEqual(types(agent.session.events), [
      'turn/start', 'step/start', 'user/message', 'assistant/message', 'tool/call', 'tool/result', 'step/end',
      'step/start', 'assistant/message', 'step/end', 'turn/end',
    ]);
    assert.equal(resultText(agent.session.events, 'c1'), 'Hello, Ada!');
    assert.deepEqual(ofType(agent.session.events, 'turn/end')[0]!.data, { turn: 1, reason: { kind: 'completed' } });
    assert.deepEqual(rig.requests[1]!.messages.map(({ role }) => role), ['user', 'assistant', 'user']);
    assert.deepEqual(rig.requests[0]!.tools?.map(({ name }) => name), ['greet']);
    assert.match(rig.requests[0]!.system!, /coding agent/);
    assert.equal(agent.status, 'idle');
  });

  it('L11.3 a result cites its call, and no canonical value is logged', async () => {
    rig.tool('greet', () => 'hi');
    rig.replies = [callTools(['c1', 'greet', {}]), say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    const [toolCall] = ofType(agent.session.events, 'tool/call');
    const [result] = ofType(agent.session.events, 'tool/result');
    assert.deepEqual([result!.sourceEventSeqs, result!.surfaceOp], [[toolCall!.seq], 'append']);
    assert.deepEqual(Object.keys(result!.data).sort(), ['message', 'step', 'turn']);
    assert.deepEqual(result!.data.message.source, { kind: 'tool', callId: 'c1' });
  });

  it('L11.3 D3 a call is in the file before anything of it happens: a host killed then still says that it ran', async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'dsh-test-'));
    const stored = await Rig.start({ dir });
    try {
      const seen: string[] = [];
      const look = (): void => void seen.push(readFileSync(path.join(dir, 's.jsonl'), 'utf8').split('\n').filter((line) => line.includes('"type":"tool/call"')).map((line) => /"callId":"(\w+)"/.exec(line)![1]).join(' '));
      stored.tool('look', () => { look(); return 'ok'; }, true);
      stored.root.on('tools/pre-execute', (exec, next) => { look(); return next(); });
      stored.replies = [callTools(['c1', 'look', {}], ['c2', 'look', {}]), say('done')];
      await stored.ask(await stored.agent({ sessionId: 's' }), 'go');
      assert.deepEqual(seen.sort(), ['c1', 'c1', 'c1 c2', 'c1 c2']);
    } finally {
      await stored.stop();
      await rm(dir, { recursive: true, force: true });
    }
  });

  it('O15.2 arguments: nothing is {}, JSON is parsed, anything else stays text', async () => {
    assert.deepEqual(['', ' ', '{"a":1}', '[1]', '{', 'x'].map(parseArguments), [{}, {}, { a: 1 }, [1], '{', 'x']);
    rig.tool('greet', () => 'hi');
    rig.replies = [callTools(['c1', 'greet', '{"name":'], ['c2', 'greet', '']), say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.equal(resultText(agent.session.events, 'c1'), 'Error: invalid arguments: "arguments" must be an object');
    assert.equal(resultText(agent.session.events, 'c2'), 'hi');
    assert.equal(ofType(agent.session.events, 'tool/call')[0]!.data.arguments, '{"name":');
  });

  it('O15.3 parallel-safe neighbours overlap, and are logged in the model\'s order', async () => {
    const gates = { a: new Gate(), b: new Gate() };
    const order: string[] = [];
    rig.tool('look', async ({ id }) => {
      order.push(`start ${String(id)}`);
      // Each waits for the other: alone, neither would end.
      gates[id as 'a' | 'b'].open();
      await gates[id === 'a' ? 'b' : 'a'].opened;
      return String(id);
    }, true);
    rig.replies = [callTools(['a', 'look', { id: 'a' }], ['b', 'look', { id: 'b' }]), say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.deepEqual(order, ['start a', 'start b']);
    assert.deepEqual(types(agent.session.events).slice(4, 8), ['tool/call', 'tool/call', 'tool/result', 'tool/result']);
    assert.deepEqual(ofType(agent.session.events, 'tool/result').map((event) => event.data.message.source.callId), ['a', 'b']);
  });

  it('O15.3 an exclusive call is a barrier on both sides; policy never overlaps', async () => {
    const order: string[] = [];
    for (const [name, parallel] of [['read', true], ['write', false]] as const) {
      rig.tool(name, async ({ id }) => {
        order.push(`>${String(id)}`);
        await new Promise(setImmediate);
        order.push(`<${String(id)}`);
        return '';
      }, parallel);
    }
    let policing = 0;
    rig.root.on('tools/post-execute', async (_exec, _result, next) => {
      assert.equal(++policing, 1);
      await new Promise(setImmediate);
      policing--;
      return next();
    });
    rig.replies = [callTools(['1', 'read', { id: 1 }], ['2', 'read', { id: 2 }], ['3', 'write', { id: 3 }], ['4', 'read', { id: 4 }]), say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.deepEqual(order, ['>1', '>2', '<1', '<2', '>3', '<3', '>4', '<4']);
    assert.deepEqual(ofType(agent.session.events, 'tool/result').map((event) => event.data.message.source.callId), ['1', '2', '3', '4']);
  });

  it('O15.3 no more calls overlap than the pool holds', async () => {
    await rig.stop();
    rig = await Rig.start({ maxParallelToolCalls: 2 });
    let running = 0;
    let most = 0;
    rig.tool('look', async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return '';
    }, true);
    rig.replies = [callTools(...Array.from({ length: 7 }, (_, i): [string, string, unknown] => [`c${i}`, 'look', {}])), say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.equal(most, 2);
    assert.equal(ofType(agent.session.events, 'tool/result').length, 7);
  });

  it('O15.4 contexts of a result reach the model in the next step, after the results', async () => {
    rig.tool('greet', (_args, exec) => {
      exec.deferContext(createUserMessage({ content: [{ type: 'text', text: 'by the way' }], source: { kind: 'plugin', plugin: 'p' } }));
      return 'hi';
    });
    rig.replies = [callTools(['c1', 'greet', {}]), say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.deepEqual(types(agent.session.events).slice(4, 9), ['tool/call', 'tool/result', 'step/end', 'step/start', 'user/message']);
    assert.deepEqual(rig.requests[1]!.messages.at(-1)!.content, [{ type: 'text', text: 'by the way' }]);
  });

  it('O15.4 concludeTurn ends the turn, unless next-step work waits', async () => {
    rig.tool('finish', (_args, exec) => { exec.concludeTurn(); return 'over'; });
    rig.replies = [callTools(['c1', 'finish', {}])];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.equal(rig.requests.length, 1);
    assert.deepEqual(ofType(agent.session.events, 'turn/end')[0]!.data.reason, { kind: 'completed' });

    rig.replies = [async function* () { agent.steer(user('wait')); yield* callTools(['c2', 'finish', {}]); }, say('still here')];
    await rig.ask(agent, 'y');
    assert.equal(rig.requests.length, 3);
  });

  it('O15.5 a cancel in mid-stream keeps the text, drops the call, and runs nothing (D7)', async () => {
    const ran: string[] = [];
    rig.tool('bash', () => { ran.push('bash'); return ''; });
    const agent = await rig.agent();
    rig.replies = [async function* ({ signal }) {
      yield { type: 'text-delta', index: 0, text: 'I will ' };
      yield { type: 'tool-call-delta', index: 1, id: 'c1', name: 'bash', argumentsDelta: '{"command":"rm' };
      agent.cancel({ kind: 'user' });
      await new Promise((resolve) => { if (signal!.aborted) resolve(undefined); else signal!.addEventListener('abort', resolve); });
      yield done('tool-calls');
    }];
    await rig.ask(agent, 'x');
    assert.deepEqual(ran, []);
    const [message] = ofType(agent.session.events, 'assistant/message');
    assert.equal(message!.data.interrupted, true);
    assert.deepEqual(message!.data.message.content, [{ type: 'text', text: 'I will ' }]);
    assert.deepEqual(ofType(agent.session.events, 'turn/end')[0]!.data.reason, { kind: 'aborted', reason: { kind: 'user' } });
    assert.equal(ofType(agent.session.events, 'tool/call').length, 0);
    assert.equal(ofType(agent.session.events, 'assistant/chunk').length, 2);
  });

  it('O15.5 a cancel while tools run: what runs is recorded, the rest gets abort pairs in order (H5)', async () => {
    const agent = await rig.agent();
    rig.tool('slow', async (_args, exec) => {
      agent.cancel({ kind: 'user' });
      assert.equal(exec.signal.aborted, true);
      await new Promise(setImmediate);
      return 'done anyway';
    });
    rig.replies = [callTools(['c1', 'slow', {}], ['c2', 'slow', {}], ['c3', 'slow', {}])];
    await rig.ask(agent, 'x');
    const results = ofType(agent.session.events, 'tool/result');
    assert.deepEqual(results.map((event) => [event.data.message.source.callId, event.data.error?.code]), [
      ['c1', 'ABORTED'], ['c2', 'ABORTED_BEFORE_DISPATCH'], ['c3', 'ABORTED_BEFORE_DISPATCH'],
    ]);
    assert.equal(resultText(agent.session.events, 'c2'), 'Error: tool call aborted before dispatch');
    assert.deepEqual(types(agent.session.events).slice(-6), ['tool/call', 'tool/result', 'tool/call', 'tool/result', 'step/end', 'turn/end']);
    rig.replies = [say('hello again')];
    await rig.ask(agent, 'go on');
    assert.deepEqual(rig.requests[1]!.messages.map(({ role, content }) => `${role}:${content.length}`), ['user:1', 'assistant:3', 'user:1', 'user:1', 'user:1', 'user:1']);
  });

  it('O15.6 max-tokens ends the turn and runs none of the answer\'s calls', async () => {
    const ran: string[] = [];
    rig.tool('bash', () => { ran.push('x'); return ''; });
    rig.replies = [[...text('so '), ...callTools(['c1', 'bash', '{"comm']).slice(0, -1).map((chunk) => ('index' in chunk ? { ...chunk, index: 1 } : chunk)), done('max-tokens')]];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.deepEqual(ran, []);
    assert.deepEqual(ofType(agent.session.events, 'turn/end')[0]!.data.reason, { kind: 'max-tokens' });
    assert.deepEqual(ofType(agent.session.events, 'assistant/message')[0]!.data.message.content, [{ type: 'text', text: 'so ' }]);
  });

  it('O15.6 the model learns with its next request that its call was cut off, and nothing runs for that alone', async () => {
    rig.tool('write', () => '');
    rig.replies = [[...callTools(['c1', 'write', '{"file_path": "a", "cont']).slice(0, -1), done('max-tokens')], say('ok'), [...text('long'), done('max-tokens')]];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.equal(rig.requests.length, 1, 'it waits for the user');
    await rig.ask(agent, 'go on');
    const texts = rig.requests[1]!.messages.slice(-2).map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''));
    assert.match(texts[0]!, /length limit inside a call of `write`\. Nothing of that call was run/);
    assert.equal(texts[1], 'go on');
    await rig.ask(agent, 'y');
    assert.equal(agent.inbox.nextStep.length, 0, 'an answer without a call needs no words');
  });

  it('O15.6 a failed request may be retried in the same step, and else ends the turn', async () => {
    const failure = { message: 'busy', code: 'SERVER' };
    let retries = 1;
    rig.root.on('agent/request-error', (_payload, next) => (retries-- > 0 ? Promise.resolve({ kind: 'retry' as const }) : next()));
    const broken = [{ type: 'text-delta' as const, index: 0, text: 'half' }, { type: 'finish' as const, reason: { kind: 'error' as const, failure } }];
    rig.replies = [broken, say('whole'), broken];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.deepEqual(types(agent.session.events), ['turn/start', 'step/start', 'user/message', 'assistant/message', 'step/end', 'turn/end']);
    assert.deepEqual(ofType(agent.session.events, 'assistant/message')[0]!.data.message.content, [{ type: 'text', text: 'whole' }]);
    await rig.ask(agent, 'y');
    const last = ofType(agent.session.events, 'assistant/message').at(-1)!.data;
    assert.deepEqual([last.message.content, last.interrupted], [[{ type: 'text', text: 'half' }], true]);
    assert.deepEqual(ofType(agent.session.events, 'turn/end').at(-1)!.data.reason, { kind: 'error', error: failure });
  });

  it('O15.1 a step limit is off by default and ends the turn with a clear error when set', async () => {
    await rig.stop();
    rig = await Rig.start({ maxSteps: 2 });
    rig.tool('again', () => '');
    rig.replies = [callTools(['a', 'again', {}]), callTools(['b', 'again', {}]), say('never')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    const { reason } = ofType(agent.session.events, 'turn/end')[0]!.data;
    assert.ok(reason.kind === 'error' && reason.error.code === 'STEP_LIMIT' && /2 requests/.test(reason.error.message));
  });

  it('O15.1 pre-step may change or reject what enters a step', async () => {
    const stop = rig.root.on('agent/pre-step', async (payload, next) => {
      const decision = await next();
      return decision.kind === 'enter' ? { kind: 'enter', messages: [...decision.messages, user(`step ${payload.step}`)] } : decision;
    });
    rig.replies = [say('a')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.equal(rig.requests[0]!.messages.length, 2);
    stop();
    rig.root.on('agent/pre-step', () => Promise.resolve({ kind: 'reject' }));
    await rig.ask(agent, 'y');
    assert.deepEqual(ofType(agent.session.events, 'turn/end').at(-1)!.data.reason, { kind: 'blocked' });
    assert.equal(rig.requests.length, 1);
  });

  it('O15.1 a plugin that answers nonsense on pre-step blocks with an error, not with silence', async () => {
    rig.root.on('agent/pre-step', () => Promise.resolve({ kind: 'maybe' } as never));
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    const { reason } = ofType(agent.session.events, 'turn/end')[0]!.data;
    assert.ok(reason.kind === 'error' && /agent\/pre-step/.test(reason.error.message));
  });

  it('L11.2 the request header is logged at first, and again only when it changes', async () => {
    rig.replies = [say('a'), say('b'), say('c')];
    const agent = await rig.agent();
    await rig.ask(agent, '1');
    await rig.ask(agent, '2');
    rig.tool('new', () => '');
    await rig.ask(agent, '3');
    assert.deepEqual(ofType(agent.session.events, 'request/header').map((event) => event.data.reason), ['initial', 'change']);
    assert.deepEqual(ofType(agent.session.events, 'request/context').map((event) => event.data), [{ provider: 'test', model: 'm', contextWindow: 10_000 }]);
  });

  it('Y14.5 runtime context becomes a snapshot message, before the user\'s words, only when it changed', async () => {
    let now = 'monday';
    const off = rig.root.systemPrompt.context({ name: 'day', order: 1, text: () => now });
    rig.replies = [say('a'), say('b'), say('c'), say('d'), say('e')];
    const agent = await rig.agent();
    for (const day of ['monday', 'monday', 'tuesday']) { now = day; await rig.ask(agent, day); }
    off();
    await rig.ask(agent, 'none');
    await rig.ask(agent, 'none');
    const words = ofType(agent.session.events, 'user/message').map((event) => event.data.content.map((block) => (block.type === 'text' ? block.text.split('\n').at(-1) : '')).join(''));
    assert.deepEqual(words, ['monday', 'monday', 'monday', 'tuesday', 'tuesday', 'Current runtime context: none. Earlier runtime-context snapshots no longer apply.', 'none', 'none']);
  });

  it('Y14.3 a prompt that cannot be made ends the turn with its error, and the user\'s message stays', async () => {
    rig.root.systemPrompt.section({ name: 'bad', order: 1, text: '{{nothing}}' });
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    const { reason } = ofType(agent.session.events, 'turn/end')[0]!.data;
    assert.ok(reason.kind === 'error' && /unknown prompt variable/.test(reason.error.message));
    assert.equal(ofType(agent.session.events, 'user/message').length, 1);
  });

  it('O15.1 without a model the turn says what to do', async () => {
    await rig.stop();
    rig = await Rig.start({ defaultModel: () => undefined });
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    const { reason } = ofType(agent.session.events, 'turn/end')[0]!.data;
    assert.ok(reason.kind === 'error' && reason.error.code === 'NO_MODEL' && /choose one/.test(reason.error.message));
  });

  it('M16.1 call ids that repeat, or are missing, are told apart within the session', async () => {
    rig.tool('greet', ({ n }) => `n${String(n)}`);
    rig.replies = [callTools(['0', 'greet', { n: 1 }], ['', 'greet', { n: 2 }]), callTools(['0', 'greet', { n: 3 }], ['', 'greet', { n: 4 }]), say('ok')];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    assert.deepEqual(ofType(agent.session.events, 'tool/result').map((event) => event.data.message.source.callId), ['0', 'call-2', '0-2', 'call-3']);
    assert.equal(resultText(agent.session.events, '0-2'), 'n3');
    const sent = rig.requests[2]!.messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])));
    assert.deepEqual(sent, ['0', 'call-2', '0-2', 'call-3']);
  });

  it('F5 many deltas become few events, and none of the text is lost', async () => {
    await rig.stop();
    rig = await Rig.start({ chunkIntervalMs: 20 });
    const words = Array.from({ length: 5000 }, (_, i) => `${i} `);
    rig.replies = [[...words.map((word) => ({ type: 'text-delta' as const, index: 0, text: word })), done()]];
    const agent = await rig.agent();
    await rig.ask(agent, 'x');
    const chunks = ofType(agent.session.events, 'assistant/chunk');
    assert.ok(chunks.length < 500, `${chunks.length} events`);
    assert.ok(chunks.map(({ data: { chunk } }) => (chunk.type === 'text-delta' ? chunk.text : '')).join('') === words.join(''));
  });
});
