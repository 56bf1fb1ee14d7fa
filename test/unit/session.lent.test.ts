import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { SessionEvent, SurfaceIntent } from '../../src/contract/event.ts';
import { createAssistantMessage, createToolResultMessage, createUserMessage } from '../../src/contract/message.ts';
import * as ours from '../../src/session/dsh-session.ts';

const theirs = createRequire(import.meta.url)('@deepseek-ai/dsh-session') as typeof ours;

/** Builds a log in memory, event by event. */
function logOf(build: (append: ours.Session['append']) => void): readonly SessionEvent[] {
  const session = new ours.Session({ header: { type: 'session', version: 0, id: 's', createdAt: 0, delegationDepth: 0 }, now: () => 5 });
  build((type, data, intent?: SurfaceIntent) => session.append(type, data, intent));
  return session.events;
}
const user = (text: string) => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
const model = { provider: 'p', model: 'm' };

/** A turn with streamed text, a call and its result, then a replacement of the first three messages. */
const whole = logOf((append) => {
  append('turn/start', { turn: 1 });
  append('user/message', user('hi'));
  append('step/start', { turn: 1, step: 1 });
  for (const text of ['a', 'b', 'c']) append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text } });
  append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'finish', reason: { kind: 'stop' } } });
  append('assistant/message', { turn: 1, step: 1, message: createAssistantMessage([{ type: 'tool-call', id: 'c', name: 'x', arguments: '{}' }], model) });
  append('tool/call', { turn: 1, step: 1, callId: 'c', name: 'x', arguments: '{}' });
  append('tool/result', { turn: 1, step: 1, message: createToolResultMessage('c', [{ type: 'text', text: 'y' }], false) }, { sourceEventSeqs: [8] });
  append('assistant/message', { turn: 1, step: 1, message: createAssistantMessage([], model) });
  append('step/end', { turn: 1, step: 1 });
  append('turn/end', { turn: 1, reason: { kind: 'completed' } });
  append('user/message', user('what was said, in short'), { surfaceOp: { op: 'replace', start: 1, end: 9 }, sourceEventSeqs: [1, 7, 9] });
});

describe('the session module lent to plugins', () => {
  it('X13.8 L11.4 folds, projects and tells events apart like the published one', () => {
    assert.deepEqual(ours.foldSurface(whole), theirs.foldSurface(whole));
    assert.deepEqual(ours.foldSurface(whole).nodes, [13, 10]);
    for (const event of whole) {
      assert.deepEqual(ours.deriveEventMessage(event), theirs.deriveEventMessage(event), event.type);
      for (const is of ['isSurfaceEvent', 'isAppendSurfaceEvent', 'isReplacementSurfaceEvent'] as const) assert.equal(ours[is](event), theirs[is](event), `${is} ${event.type}`);
      assert.equal(ours.isSurfaceEligibleType(event.type), theirs.isSurfaceEligibleType(event.type));
    }
  });

  it('X13.8 L11.7 packs streamed text into the rows of the published one, and reads them back', () => {
    const rows = ours.packChunkRuns(whole);
    assert.deepEqual(rows, theirs.packChunkRuns(whole));
    assert.ok(rows.length < whole.length);
    assert.deepEqual(rows.flatMap((row) => ours.decodeStorageRecord(JSON.parse(JSON.stringify(row)))), JSON.parse(JSON.stringify(whole)));
    assert.throws(() => ours.decodeStorageRecord({ nonsense: true }), /no record of a session log/);
  });

  it('X13.8 L11.6 closes a cut log with the events of the published one, numbered on', () => {
    assert.deepEqual(ours.interruptedTurnClosers(whole), []);
    for (const end of [3, 6, 8, 9, 10]) {
      const cut = whole.slice(0, end);
      const closers = ours.interruptedTurnClosers(cut);
      assert.deepEqual(closers.map(({ seq }) => seq), closers.map((_, i) => end + i));
      assert.deepEqual(ours.interruptedTurnClosers([...cut, ...closers]), [], 'and then it is whole');
      assert.deepEqual(closers.at(-1)!.type, 'turn/end');
    }
  });

  it('X13.8 says what is JSON like the published one', () => {
    for (const value of [1, 'x', null, [1, { a: [] }], {}, undefined, NaN, new Date(0), { a: undefined }, () => 1]) {
      assert.equal(ours.isJsonValue(value), theirs.isJsonValue(value));
      assert.deepEqual(ours.snapshotJsonValue(value), theirs.snapshotJsonValue(value));
    }
    assert.equal(ours.SESSION_FORMAT_VERSION, theirs.SESSION_FORMAT_VERSION);
    assert.deepEqual([ours.TOOL_NOT_STARTED, ours.TOOL_OUTCOME_UNKNOWN], [theirs.TOOL_NOT_STARTED, theirs.TOOL_OUTCOME_UNKNOWN]);
    assert.equal(ours.SessionId('x'), 'x');
  });
});
