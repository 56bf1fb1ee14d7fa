import assert from 'node:assert/strict';
import type { SessionEvent } from '../../src/contract/event.ts';
import { createAssistantMessage, createToolResultMessage, createUserMessage } from '../../src/contract/message.ts';
import type { Message } from '../../src/contract/message.ts';
import { completePairs } from '../../src/session/history.ts';
import { SessionLog } from '../../src/session/log.ts';

const log = () => new SessionLog({ header: { type: 'session', version: 0, id: 's', createdAt: 0, delegationDepth: 0 } });
const user = (text: string) => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
const calls = (...ids: string[]) => createAssistantMessage(ids.map((id) => ({ type: 'tool-call', id, name: 'x', arguments: '{}' })), { provider: 'p', model: 'm' });
const result = (id: string, text = 'ok') => createToolResultMessage(id, [{ type: 'text', text }], false);
const shape = (messages: readonly Message[]) => messages.map(({ content }) => content.map((block) => (block.type === 'tool-call' ? `call ${block.id}` : block.type === 'tool-result' ? `result ${block.toolCallId}` : block.type === 'text' ? block.text : '')).join(','));

describe('session log', () => {
  it('L11.1 events are numbered from 0, stamped, and deep-frozen', () => {
    const session = log();
    const message = user('hi');
    const first = session.append('turn/start', { turn: 1 });
    const second = session.append('user/message', message);
    assert.deepEqual([first.seq, second.seq, session.events.length], [0, 1, 2]);
    assert.ok(Object.isFrozen(second) && Object.isFrozen(second.data) && Object.isFrozen(second.data.content[0]));
    assert.equal(second.surfaceOp, 'append');
    assert.equal(first.surfaceOp, undefined);
  });

  it('L11.1 data that is not lossless JSON is refused, and nothing is appended', () => {
    const session = log();
    const bad: unknown[] = [undefined, { turn: undefined }, { turn: NaN }, { turn: new Date() }, { turn: 1n }, () => 1];
    for (const data of bad) assert.throws(() => session.append('turn/start', data as never), { message: 'session event "turn/start" carries non-JSON-serializable data' });
    assert.equal(session.events.length, 0);
  });

  it('L11.1 an append from inside a listener is refused; a listener that throws stops nobody', () => {
    const errors: unknown[] = [];
    const session = new SessionLog({ header: log().header, onListenerError: (error) => errors.push(error) });
    const seen: number[] = [];
    const off = session.onAppend(() => { session.append('turn/start', { turn: 2 }); });
    session.onAppend(({ seq }) => seen.push(seq));
    session.append('turn/start', { turn: 1 });
    assert.match(String(errors[0]), /inside a listener/);
    off();
    session.append('turn/start', { turn: 2 });
    assert.deepEqual([seen, errors.length, session.events.length], [[0, 1], 1, 2]);
  });

  it('L11.7 a plugin\'s own event type is marked ignorable, so that the log stays readable', () => {
    const event = log().append('my/thing' as never, { a: 1 } as never) as SessionEvent;
    assert.equal(event.ignorable, true);
  });

  it('L11.4 history is the surface: messages in order, empty answers left out, ranges replaced in place', () => {
    const session = log();
    session.append('user/message', user('a'));
    session.append('assistant/message', { turn: 1, step: 1, message: createAssistantMessage([], { provider: 'p', model: 'm' }) });
    session.append('assistant/message', { turn: 1, step: 1, message: calls('c1') });
    session.append('tool/result', { turn: 1, step: 1, message: result('c1', 'long') });
    session.append('user/message', user('b'));
    assert.deepEqual(shape(session.messages()), ['a', 'call c1', 'result c1', 'b']);
    session.append('tool/result', { turn: 1, step: 1, message: result('c1', 'short') }, { surfaceOp: { op: 'replace', start: 3, end: 3 } });
    assert.deepEqual(shape(session.messages()), ['a', 'call c1', 'result c1', 'b']);
    assert.deepEqual(session.messages()[2]!.content[0], { type: 'tool-result', toolCallId: 'c1', content: [{ type: 'text', text: 'short' }] });
    session.append('user/message', user('summary'), { surfaceOp: { op: 'replace', start: 0, end: 5 } });
    assert.deepEqual(shape(session.messages()), ['summary', 'b']);
  });

  it('L11.4 a range that is not there, or an event that is no message, is refused', () => {
    const session = log();
    session.append('user/message', user('a'));
    session.append('user/message', user('b'));
    assert.throws(() => session.append('user/message', user('x'), { surfaceOp: { op: 'replace', start: 1, end: 0 } }), /not a range/);
    assert.throws(() => session.append('user/message', user('x'), { surfaceOp: { op: 'replace', start: 0, end: 7 } }), /not a range/);
    assert.throws(() => session.append('turn/start', { turn: 1 }, { surfaceOp: 'append' }), /cannot be on the model surface/);
    assert.equal(session.events.length, 2);
  });

  it('H5 every call has its result behind it, in order, whatever the log holds', () => {
    const fixed = completePairs([user('a'), calls('1', '2', '3'), result('3'), user('between'), result('1'), calls('1'), result('1', 'again'), result('stray'), user('b')]);
    assert.deepEqual(shape(fixed), ['a', 'call 1,call 2,call 3', 'result 1', 'result 2', 'result 3', 'between', 'call 1', 'result 1', 'b']);
    const lost = fixed[3]!.content[0];
    assert.ok(lost?.type === 'tool-result' && lost.isError && /was lost/.test(JSON.stringify(lost)));
    assert.deepEqual(completePairs(fixed), fixed);
  });
});
