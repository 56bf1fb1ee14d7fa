import assert from 'node:assert/strict';
import type { UserAnswer, UserQuestionRequest } from '../../src/seams/questions.ts';
import * as ask from '../../src/tools/ask/plugin.ts';
import { UserQuestions } from '../../src/tools/ask/service.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { TestAgent, ToolRoom } from '../harness/tool-room.ts';

const QUESTIONS = [
  { id: 'db', question: 'Which database?', options: [{ label: 'sqlite' }, { label: 'postgres', description: 'A server' }] },
  { id: 'more', question: 'Extras?', multi_select: true, options: [{ label: 'a' }, { label: 'b' }] },
];

describe('ask.tool', () => {
  let room: ToolRoom;
  let agent: TestAgent;
  beforeEach(async () => {
    room = await toolRoom();
    await room.ctx.plugin(UserQuestions);
    await room.ctx.plugin(ask);
    agent = room.agent();
  });
  afterEach(() => room.dispose());
  const call = (questions: unknown = QUESTIONS, options = {}) => room.call('ask_user_question', { questions }, { agent, ...options });
  const code = async (result: ReturnType<typeof call>) => {
    const settled = await result;
    return settled.isError ? settled.error.info?.code : undefined;
  };

  it('B10.35 the call waits for the answers and returns them as JSON', async () => {
    let answer!: (answers: UserAnswer[]) => void;
    let seen: UserQuestionRequest | undefined;
    room.ctx.get('userQuestions')!.provide((request) => {
      seen = request;
      return new Promise((resolve) => { answer = resolve; });
    });
    const pending = call(QUESTIONS, { callId: 'c7' });
    await new Promise(setImmediate);
    assert.equal(seen?.callId, 'c7');
    assert.deepEqual(seen?.questions, QUESTIONS);
    answer([{ id: 'more', selected: ['a', 'b'] }, { id: 'db', selected: ['sqlite'], custom: 'in memory' }]);
    assert.deepEqual(JSON.parse(textOf(await pending)), {
      answers: [{ id: 'db', selected: ['sqlite'], custom: 'in memory' }, { id: 'more', selected: ['a', 'b'] }],
    });
  });

  it('B10.35 an answer holds only what was on offer', async () => {
    room.ctx.get('userQuestions')!.provide(async () => [{ id: 'db', selected: ['postgres', 'sqlite', 'oracle'] }, { id: 'other', selected: ['x'] }]);
    assert.deepEqual(JSON.parse(textOf(await call())), { answers: [{ id: 'db', selected: ['postgres'] }, { id: 'more', selected: [] }] });
  });

  it('B10.35 error codes', async () => {
    assert.equal(await code(call()), 'NO_PROVIDER');
    const questions = room.ctx.get('userQuestions')!;
    const off = questions.provide(async () => []);
    assert.throws(() => questions.provide(async () => []), { code: 'DUPLICATE_PROVIDER' });
    assert.equal(await code(call([])), 'EMPTY_QUESTIONS');
    assert.equal(await code(call([{ id: 'a', question: ' ' }])), 'BAD_INTENT');
    assert.equal(await code(call([{ id: 'a', question: 'x' }, { id: 'a', question: 'y' }])), 'BAD_INTENT');
    assert.equal(await code(call([{ id: 'a', question: 'x', options: [{ label: 'l' }, { label: 'l' }] }])), 'BAD_INTENT');
    assert.equal(await code(room.call('ask_user_question', { questions: QUESTIONS })), 'CALLER_NOT_LIVE');
    const delegated = room.agent('child');
    Object.assign(delegated.session.header, { origin: 'subagent', delegationDepth: 1 });
    assert.equal(await code(call(QUESTIONS, { agent: delegated })), 'DELEGATED_CALLER');
    const gone = room.ctx.provide('agents' as never, { get: () => undefined } as never);
    assert.equal(await code(call()), 'CALLER_NOT_LIVE');
    gone();
    off();
    assert.equal(await code(call()), 'NO_PROVIDER');
  });

  it('B10.35 the user may decline: the model is told, and that it was no accident', async () => {
    room.ctx.get('userQuestions')!.provide(async () => undefined);
    const result = await call();
    assert.match(textOf(result), /^Error: the user declined to answer: /);
    assert.equal(await code(call()), 'ASK_ABORTED');
  });

  it('B10.35 a stop withdraws the question', async () => {
    room.ctx.get('userQuestions')!.provide(() => new Promise(() => undefined));
    const stop = new AbortController();
    const pending = call(QUESTIONS, { signal: stop.signal });
    await new Promise(setImmediate);
    stop.abort();
    assert.equal(await code(pending), 'ASK_ABORTED');
  });

  it('B10.35 a provider goes with its plugin', async () => {
    const fiber = await room.ctx.plugin({ name: 'ui', inject: ['userQuestions'], apply: (ctx) => void ctx.userQuestions.provide(async () => []) });
    assert.equal((await call()).isError, false);
    await fiber.dispose();
    assert.equal(await code(call()), 'NO_PROVIDER');
  });
});
