import assert from 'node:assert/strict';
import type { SessionEvent, SessionEventMap, SessionEventType } from '../../src/contract/event.ts';
import { createAssistantMessage, createToolResultMessage, createUserMessage } from '../../src/contract/message.ts';
import type { ToolDefinition } from '../../src/contract/tool.ts';
import type { ToolItem, TranscriptPatch } from '../../src/protocol.ts';
import type { ReviewFile, ReviewHunk } from '../../src/seams/review.ts';
import { SessionLog } from '../../src/session/log.ts';
import { cut, cutHead, LIMITS } from '../../src/transcript/limits.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { ENGLISH, type TranscriptWords } from '../../src/transcript/words.ts';

const TOOLS: Record<string, Partial<ToolDefinition>> = {
  bash: {
    presentCall: () => ({ card: 'terminal', title: 'make' }),
    presentResult: (_args, { content }) => ({ card: 'terminal', output: content[0]?.type === 'text' ? content[0].text : '', exitCode: 0 }),
  },
  edit: {
    presentCall: () => ({ card: 'diff', title: 'Edit a.txt', diffs: [{ path: 'a.txt', oldText: 'b\n', newText: 'B\n' }] }),
    presentResult: () => ({ card: 'diff', diffs: [{ path: 'a.txt', oldText: 'b\n', newText: 'B\n' }] }),
  },
};

/** A log that is written while a transcript follows it. */
class Follower {
  readonly log = new SessionLog({ header: { type: 'session', version: 0, id: 's', createdAt: 0, delegationDepth: 0 } });
  readonly transcript: Transcript;
  readonly patches: TranscriptPatch[] = [];
  constructor(review?: (callId: string) => ReviewFile | undefined, words: TranscriptWords = ENGLISH) {
    this.transcript = new Transcript({ tool: (name) => TOOLS[name] as ToolDefinition | undefined, words, ...(review && { review }) });
    this.log.onAppend((event) => this.patches.push(...this.transcript.apply(event)));
  }
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T]): SessionEvent<T> { return this.log.append(type, data); }
  call(id: string, name: string, args = '{}'): void {
    this.append('turn/start', { turn: 1 });
    this.append('step/start', { turn: 1, step: 1 });
    this.append('tool/call', { turn: 1, step: 1, callId: id, name, arguments: args });
  }
  settle(id: string, text: string, isError = false): void {
    this.append('tool/result', { turn: 1, step: 1, message: createToolResultMessage(id, [{ type: 'text', text }], isError) });
  }
  tool(id: string): ToolItem {
    const item = this.transcript.item(id);
    assert.ok(item?.kind === 'tool');
    return item;
  }
}

const hunk = (state: ReviewHunk['state']): ReviewHunk => ({ id: 'h1', state, oldStart: 2, oldLines: ['b\n'], newStart: 2, newLines: ['B\n'] });
const reviewFile = (state: ReviewFile['state'], hunks: ReviewHunk[], decided: ReviewHunk[] = [], landed = state === 'applied'): ReviewFile => ({
  id: 'f1', turn: 1, sessionId: 's', callIds: ['c1'], path: 'a.txt', file: '/w/a.txt', realPath: '/w/a.txt', operation: 'update', state,
  base: 'a\nb\nc\n', proposed: 'a\nB\nc\n', original: 'a\nB\nc\n', hunks, decided, landed,
});

describe('transcript, live', () => {
  it('O3 why a call asks is said in the words of the reader; a reason that this build does not know, as it was logged', () => {
    const follower = new Follower(undefined, { ...ENGLISH, asks: (why) => `<${why.code}>` });
    follower.call('c1', 'bash');
    const said = (data: Omit<SessionEventMap['approval/asked'], 'toolName' | 'callId'>): string | undefined => {
      follower.append('approval/asked', { toolName: 'bash', callId: 'c1', ...data });
      const { ask } = follower.tool('c1');
      assert.ok(ask?.kind === 'approval');
      return ask.reason;
    };
    assert.equal(said({ id: '1', reason: 'it runs a command', why: { code: 'command' } }), '<command>');
    assert.equal(said({ id: '2', reason: 'r', why: { code: 'outside', given: 'a', realPath: '/a' } }), '<outside>');
    assert.equal(said({ id: '3', reason: 'r', why: { code: 'command-uncertain', doubt: { code: 'syntax', syntax: 'variable' } } }), '<command-uncertain>');
    assert.equal(said({ id: '4', reason: 'a plugin\'s own' }), 'a plugin\'s own');
    const foreign: unknown[] = [
      { code: 'later' }, { code: 'toString' }, { code: 'outside', given: 'a' }, { code: 'command-uncertain' }, { code: 'command-uncertain', doubt: { code: 'syntax', syntax: 'later' } }, [], 'command', null, 7,
    ];
    for (const why of foreign) assert.equal(said({ id: '5', reason: 'as logged', why: why as { code: 'command' } }), 'as logged', JSON.stringify(why));
    assert.equal(said({ id: '6' }), undefined);
  });

  it('O15.6 a wait before the next try is shown as progress that can be stopped, and makes way for what comes', () => {
    const follower = new Follower();
    const failure = { message: 'busy', code: 'RATE_LIMIT', providerRetryAfterMs: 240_000 };
    follower.append('turn/start', { turn: 1 });
    follower.append('step/start', { turn: 1, step: 1 });
    const { time } = follower.append('llm/retry', { turn: 1, step: 1, attempt: 1, delayMs: 240_000, failure });
    assert.deepEqual(follower.transcript.items(), [{
      kind: 'notice', id: 'retry:1', turn: 1, level: 'info', text: 'The request failed (busy). Try 2 in 4 min.', wait: { from: time, until: time + 240_000 },
      action: { title: 'Stop', message: { type: 'stop' } },
    }]);
    follower.append('llm/retry-started', { turn: 1, step: 1, attempt: 1, failure });
    assert.deepEqual(follower.transcript.items(), [{ kind: 'notice', id: 'retry:1', turn: 1, level: 'info', text: 'The request failed (busy). Try 2 is under way.' }]);
    follower.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text: 'hi' } });
    assert.deepEqual(follower.transcript.items().map(({ kind }) => kind), ['assistant']);
  });

  it('O15.6 a turn that ends because the server asks for too long a wait says how long', () => {
    const follower = new Follower();
    follower.append('turn/start', { turn: 1 });
    follower.append('turn/end', { turn: 1, reason: { kind: 'error', error: { message: 'busy', code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 3_600_000 } } });
    const [item] = follower.transcript.items();
    assert.ok(item?.kind === 'notice');
    assert.equal(item.text, 'The request failed: busy. The server asks to wait 60 min.');
  });

  it('O3 what went wrong with a request is said in the words of the reader', () => {
    const follower = new Follower(undefined, { ...ENGLISH, failure: ({ code }) => `<${code}>` });
    const failure = { message: 'busy', code: 'SERVER' };
    follower.append('turn/start', { turn: 1 });
    follower.append('llm/retry', { turn: 1, step: 1, attempt: 1, delayMs: 1000, failure });
    const text = (): string | undefined => follower.transcript.items().map((item) => (item.kind === 'notice' ? item.text : '')).at(-1);
    assert.equal(text(), 'The request failed (<SERVER>). Try 2 in 1 s.');
    follower.append('llm/retry-started', { turn: 1, step: 1, attempt: 1, failure });
    assert.equal(text(), 'The request failed (<SERVER>). Try 2 is under way.');
    follower.append('turn/end', { turn: 1, reason: { kind: 'error', error: failure } });
    assert.equal(text(), 'The request failed: <SERVER>');
  });

  it('O3 a switch of the preset is told in the words of the reader, when it happens and once', () => {
    const follower = new Follower(undefined, { ...ENGLISH, preset: (preset) => `<${preset}>` });
    follower.append('permission/preset', { preset: 'full' });
    const text = 'The user switched the permission preset to "full".';
    follower.append('user/message', createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'permissions', form: 'notice', summary: text } }));
    assert.deepEqual(follower.transcript.items().map((item) => item.kind === 'notice' && item.text), ['<full>']);
  });

  it('V9.4 output of a running command is shown, bounded, and gives way to the result', () => {
    const follower = new Follower();
    follower.call('c1', 'bash');
    assert.deepEqual(follower.transcript.output('c1', 'building\n'), [{ op: 'output', id: 'c1', text: 'building\n' }]);
    follower.transcript.output('c1', 'x'.repeat(LIMITS.output * 2));
    const { view } = follower.tool('c1');
    assert.ok(view.card === 'terminal' && view.output?.length === LIMITS.output);
    follower.settle('c1', 'all done');
    assert.deepEqual(follower.tool('c1').view, { card: 'terminal', title: 'make', output: 'all done', exitCode: 0 });
    assert.deepEqual(follower.transcript.output('c1', 'late'), []);
    assert.deepEqual(follower.transcript.output('nobody', 'x'), []);
  });

  it('B15 a staged change asks on its own card, with its hunks where they stand', () => {
    const follower = new Follower();
    follower.call('c1', 'edit');
    follower.transcript.review(reviewFile('staged', [hunk('pending')]));
    const item = follower.tool('c1');
    assert.equal(item.status, 'asking');
    assert.deepEqual(item.ask, { kind: 'review', fileId: 'f1' });
    assert.ok(item.view.card === 'diff');
    assert.deepEqual(item.view.files[0]!.hunks, [{
      id: 'h1', state: 'pending', rows: [
        { sign: ' ', text: 'a', old: 1, new: 1 }, { sign: '-', text: 'b', old: 2 }, { sign: '+', text: 'B', new: 2 }, { sign: ' ', text: 'c', old: 3, new: 3 },
      ],
    }]);
    follower.transcript.review(reviewFile('decided', [], [hunk('undone')]));
    assert.equal(follower.tool('c1').status, 'running');
    follower.settle('c1', 'the user rejected it');
    assert.equal(follower.tool('c1').ask, undefined);
  });

  it('B5 an applied change keeps its pending review after the call settled', () => {
    let file: ReviewFile | undefined = reviewFile('applied', [hunk('pending')]);
    const follower = new Follower(() => file);
    follower.call('c1', 'edit');
    follower.settle('c1', 'updated');
    assert.deepEqual(follower.tool('c1').review, { fileId: 'f1', pending: 1, landed: true });
    assert.equal(follower.tool('c1').status, 'completed');
    file = reviewFile('decided', [], [hunk('kept')], true);
    follower.transcript.review(file);
    const { review, view } = follower.tool('c1');
    assert.equal(review, undefined);
    assert.ok(view.card === 'diff' && view.files[0]!.hunks.every(({ state }) => state === 'kept'));
  });

  it('B1 what a decided change is called follows the way it came: accepted or rejected, kept or undone', () => {
    for (const [landed, of, said] of [[false, 'kept', 'accepted'], [false, 'undone', 'rejected'], [true, 'kept', 'kept'], [true, 'undone', 'undone']] as const) {
      const file = reviewFile('decided', [], [hunk(of)], landed);
      const follower = new Follower(() => file);
      follower.call('c1', 'edit');
      follower.settle('c1', 'updated');
      const { view } = follower.tool('c1');
      assert.deepEqual(view.card === 'diff' && view.files[0]!.hunks.map(({ state }) => state), [said]);
    }
  });

  it('B1 a decision that could not be carried out is told on the card until the next one', () => {
    const follower = new Follower();
    follower.call('c1', 'edit');
    const problem = { kind: 'failed', message: 'a.txt: the file is read-only' } as const;
    follower.transcript.review({ ...reviewFile('staged', [hunk('pending')]), problem });
    assert.deepEqual(follower.tool('c1').ask, { kind: 'review', fileId: 'f1', problem });
    follower.transcript.review(reviewFile('staged', [hunk('pending')]));
    assert.deepEqual(follower.tool('c1').ask, { kind: 'review', fileId: 'f1' });
    follower.settle('c1', 'updated');
    follower.transcript.review({ ...reviewFile('applied', [hunk('pending')]), problem: { kind: 'drift', lost: 2 } });
    assert.deepEqual(follower.tool('c1').review, { fileId: 'f1', pending: 1, landed: true, problem: { kind: 'drift', lost: 2 } });
  });

  it('B5 a staged change whose call was cut off by a reload can still be decided', () => {
    const follower = new Follower(() => reviewFile('staged', [hunk('pending')]));
    follower.call('c1', 'edit');
    follower.settle('c1', 'Error: the outcome is unknown', true);
    const { status, review, view } = follower.tool('c1');
    assert.deepEqual([status, review], ['failed', { fileId: 'f1', pending: 1, landed: false }]);
    assert.ok(view.card === 'diff' && view.files[0]!.hunks[0]!.state === 'pending');
  });

  it('G9 malformed arguments, an unknown card and a presenter that throws are generic cards', () => {
    for (const presentCall of [() => ({ card: 'hologram', title: 'x' }), () => { throw new Error('no'); }, () => 7, () => ({ card: 'diff', title: 'x', diffs: [null] })]) {
      const transcript = new Transcript({ tool: () => ({ presentCall, presentResult: presentCall }) as unknown as ToolDefinition });
      const at = { seq: 0, time: 0 };
      transcript.apply({ ...at, type: 'tool/call', data: { turn: 1, step: 1, callId: 'c', name: 'n', arguments: '{' } });
      transcript.apply({ ...at, type: 'tool/result', data: { turn: 1, step: 1, message: createToolResultMessage('c', [{ type: 'text', text: 'r' }], false) } });
      const item = transcript.item('c');
      assert.ok(item?.kind === 'tool' && item.view.card === 'generic' && item.view.input === '{' && item.status === 'completed');
    }
  });

  it('B10.35 a question is on the card of the call that asks', () => {
    const follower = new Follower();
    follower.call('c1', 'ask_user_question');
    const questions = [{ id: 'q', question: 'Which?', options: [{ label: 'A' }], multiSelect: false }];
    follower.transcript.question('c1', questions);
    assert.deepEqual([follower.tool('c1').status, follower.tool('c1').ask], ['asking', { kind: 'question', questions }]);
    follower.transcript.question('c1', undefined);
    assert.equal(follower.tool('c1').status, 'running');
  });

  it('D7 a call that was cut while it streamed is stopped as soon as the answer is recorded', () => {
    const follower = new Follower();
    follower.append('turn/start', { turn: 1 });
    follower.append('step/start', { turn: 1, step: 1 });
    follower.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'tool-call-delta', index: 0, id: 'c1', name: 'bash', argumentsDelta: '{"comm' } });
    assert.equal(follower.tool('c1').status, 'streaming');
    follower.append('assistant/message', { turn: 1, step: 1, message: createAssistantMessage([], { provider: 'p', model: 'm' }), interrupted: true });
    assert.equal(follower.tool('c1').status, 'stopped');
  });

  it('B10.34 todos stand until the next turn', () => {
    const follower = new Follower();
    follower.append('todo/write', { todos: [{ content: 'a', status: 'pending' }] });
    assert.equal(follower.transcript.todos.length, 1);
    follower.append('turn/start', { turn: 2 });
    assert.deepEqual(follower.transcript.todos, []);
  });

  it('A6.2 what waits in the inbox is told apart from what was said', () => {
    const follower = new Follower();
    const message = createUserMessage({ content: [{ type: 'text', text: 'later' }], source: { kind: 'user' } });
    follower.append('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [message] });
    assert.deepEqual(follower.transcript.queued, ['later']);
    follower.append('agent/inbox/spliced', { target: 'next-turn', start: 0, removedCount: 1, inserted: [] });
    assert.deepEqual(follower.transcript.queued, []);
  });

  it('F1 5,000 events of 2 KB: what is posted is linear in what is new', () => {
    const follower = new Follower();
    follower.append('turn/start', { turn: 1 });
    const text = 'x'.repeat(2000);
    for (let step = 1; step <= 5000; step++) {
      follower.append('step/start', { turn: 1, step });
      follower.append('assistant/chunk', { turn: 1, step, chunk: { type: 'text-delta', index: 0, text } });
      follower.append('step/end', { turn: 1, step });
    }
    const bytes = follower.patches.reduce((sum, patch) => sum + JSON.stringify(patch).length, 0);
    assert.ok(bytes < 3 * 5000 * 2000, `${bytes} bytes`);
    const { items, earlier } = follower.transcript.page();
    assert.deepEqual([items.length, earlier], [200, 4800]);
    assert.deepEqual(follower.transcript.before(200).items.at(-1)?.id, 'a:1.4800');
    assert.deepEqual(follower.transcript.before(4900).earlier, 0);
  });

  it('F3 a 200 KB answer in 20-character pieces is posted twice at most, not once a piece', () => {
    const follower = new Follower();
    follower.append('turn/start', { turn: 1 });
    follower.append('step/start', { turn: 1, step: 1 });
    const piece = 'twenty characters ok';
    for (let i = 0; i < 10_000; i++) follower.append('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'text-delta', index: 0, text: piece } });
    follower.append('assistant/message', { turn: 1, step: 1, message: createAssistantMessage([{ type: 'text', text: piece.repeat(10_000) }], { provider: 'p', model: 'm' }) });
    const texts = follower.patches.reduce((sum, patch) => sum + (patch.op === 'append' ? patch.text.length : patch.op === 'put' && patch.item.kind === 'assistant' ? patch.item.blocks.reduce((n, { text }) => n + text.length, 0) : 0), 0);
    assert.equal(texts, 2 * 200_000);
  });

  it('V9.5 the text the model got is on the card, cut to 20,000 characters', () => {
    const follower = new Follower();
    follower.call('c1', 'bash');
    follower.settle('c1', 'y'.repeat(50_000));
    assert.equal(follower.tool('c1').resultText?.length, 20_001);
  });

  it('V9.5 cuts never leave half a character', () => {
    assert.equal(cut('a😀b', 2), 'a…');
    assert.equal(cut('a😀b', 3), 'a😀…');
    assert.equal(cutHead('a😀b', 2), 'b');
    assert.equal(cut('abc', 3), 'abc');
  });
});
