import assert from 'node:assert/strict';
import type { HostToView, TranscriptPatch } from '../../src/protocol.ts';
import { ChatConnection } from '../../webview/chat/connection.ts';
import { announcements } from '../../webview/chat/announcer.ts';
import { EMPTY, OUTPUT_TAIL, reduce } from '../../webview/chat/store.ts';
import type { ChatView } from '../../webview/chat/store.ts';
import { assistant, state, tool, user } from '../harness/webview-states.ts';

const START: HostToView = { type: 'state', seq: 0, state: state([user('u', 'hi'), assistant('a', '', { streaming: true, blocks: [] })]) };
const patch = (seq: number, ...ops: TranscriptPatch[]): HostToView => ({ type: 'patch', seq, ops });
const text = (view: ChatView, id: string): string => {
  const item = view.items[view.index.get(id) ?? -1];
  return item?.kind === 'assistant' ? item.blocks.map((block) => `${block.type}:${block.text}`).join('|') : '';
};
const running = tool('t', 'bash', { card: 'terminal', title: 'ls' }, { status: 'running' });

describe('webview: the chat store', () => {
  it('takes a state, then patches in order', () => {
    const view = reduce(EMPTY, [START, patch(1, { op: 'append', id: 'a', block: 0, type: 'reasoning', text: 'hm' }), patch(2, { op: 'append', id: 'a', block: 1, type: 'text', text: 'He' }, { op: 'append', id: 'a', block: 1, type: 'text', text: 'llo' })]);
    assert.equal(text(view, 'a'), 'reasoning:hm|text:Hello');
    assert.equal(view.seq, 2);
  });

  it('is pure: what was there stays as it was, what did not change stays the same object', () => {
    const before = reduce(EMPTY, [START]);
    const frozen = structuredClone(before.items);
    const after = reduce(before, [patch(1, { op: 'append', id: 'a', block: 0, type: 'text', text: 'x' })]);
    assert.deepEqual(before.items, frozen);
    assert.notEqual(after.items, before.items);
    assert.equal(after.items[0], before.items[0]);
    assert.equal(after.meta, before.meta);
    assert.equal(reduce(after, []), after);
  });

  it('F7 a gap makes it stale, nothing more is taken, and a state mends it', () => {
    const gap = reduce(EMPTY, [START, patch(2, { op: 'remove', id: 'u' })]);
    assert.equal(gap.stale, true);
    assert.equal(gap.items.length, 2);
    assert.equal(reduce(gap, [patch(1, { op: 'remove', id: 'u' })]).items.length, 2);
    const mended = reduce(gap, [{ type: 'state', seq: 9, state: state([user('u', 'hi')]) }, patch(10, { op: 'put', item: user('v', 'ho') })]);
    assert.deepEqual([mended.stale, mended.items.length, mended.seq], [false, 2, 10]);
  });

  it('F7 a patch for what is not there is a gap too', () => {
    assert.equal(reduce(EMPTY, [START, patch(1, { op: 'append', id: 'nobody', block: 0, type: 'text', text: 'x' })]).stale, true);
    assert.equal(reduce(EMPTY, [START, patch(1, { op: 'append', id: 'a', block: 3, type: 'text', text: 'x' })]).stale, true);
  });

  it('a message that comes twice is taken once; before the first state nothing is', () => {
    const add = patch(1, { op: 'append', id: 'a', block: 0, type: 'text', text: 'x' });
    assert.equal(text(reduce(EMPTY, [START, add, add]), 'a'), 'text:x');
    assert.equal(reduce(EMPTY, [patch(0, { op: 'put', item: user('u', 'x') })]).items.length, 0);
  });

  it('puts, replaces and removes by id', () => {
    const view = reduce(EMPTY, [START, patch(1, { op: 'put', item: running }, { op: 'put', item: user('u', 'changed') }, { op: 'remove', id: 'a' }, { op: 'remove', id: 'nobody' })]);
    assert.deepEqual(view.items.map((item) => item.id), ['u', 't']);
    assert.deepEqual([...view.index], [['u', 0], ['t', 1]]);
    assert.equal(view.items[0]?.kind === 'user' && view.items[0].text, 'changed');
  });

  it('F1 live output is kept as a bounded tail, and dropped when the card settles', () => {
    const view = reduce(EMPTY, [START, patch(1, { op: 'put', item: running }, { op: 'output', id: 't', text: 'a'.repeat(OUTPUT_TAIL) }, { op: 'output', id: 't', text: 'end' }, { op: 'output', id: 'nobody', text: 'x' })]);
    assert.equal(view.outputs.get('t')?.length, OUTPUT_TAIL);
    assert.ok(view.outputs.get('t')?.endsWith('end'));
    assert.equal(view.outputs.size, 1);
    assert.equal(reduce(view, [patch(2, { op: 'put', item: { ...running, status: 'completed' } })]).outputs.size, 0);
  });

  it('older items come before what is there', () => {
    const view = reduce(EMPTY, [START, { type: 'earlier', seq: 1, items: [user('o', 'older')], earlier: 3 }, patch(2, { op: 'append', id: 'a', block: 0, type: 'text', text: 'x' })]);
    assert.deepEqual(view.items.map((item) => item.id), ['o', 'u', 'a']);
    assert.equal(view.earlier, 3);
    assert.equal(text(view, 'a'), 'text:x');
  });

  it('meta is merged; compose and mentions are kept with their place', () => {
    const view = reduce(EMPTY, [START, { type: 'meta', seq: 1, meta: { status: 'running' } }, { type: 'compose', seq: 2, text: '@a.ts ', focus: true }, { type: 'mentions', seq: 3, query: 'a', paths: ['a.ts'] }]);
    assert.deepEqual([view.meta?.status, view.meta?.title], ['running', 'Rename the parser']);
    assert.deepEqual(view.compose, { seq: 2, text: '@a.ts ', focus: true });
    assert.deepEqual(view.mentions, { query: 'a', paths: ['a.ts'] });
  });

  it('F5 10,000 deltas in one batch copy the list once', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => patch(at + 1, { op: 'append', id: 'a', block: 0, type: 'text', text: 'x' }));
    const view = reduce(EMPTY, [START, ...many]);
    assert.equal(text(view, 'a').length, 'text:'.length + 10_000);
  });
});

class Hand {
  frames: (() => void)[] = [];
  timers: (() => void)[] = [];
  readonly posted: unknown[] = [];
  readonly connection = new ChatConnection((message) => this.posted.push(message), { frame: (callback) => this.frames.push(callback), later: (callback) => this.timers.push(callback) });
  frame(): void {
    for (const callback of this.frames.splice(0)) callback();
  }
  time(): void {
    for (const callback of this.timers.splice(0)) callback();
  }
}

describe('webview: the chat connection', () => {
  it('says ready until a state comes', () => {
    const hand = new Hand();
    hand.connection.start();
    hand.time();
    assert.deepEqual(hand.posted, [{ type: 'ready' }, { type: 'ready' }]);
    hand.connection.receive(START);
    hand.frame();
    hand.time();
    hand.time();
    assert.equal(hand.posted.length, 2);
    assert.equal(hand.connection.view.value.meta?.sessionId, 's1');
  });

  it('F9 gives up calling after a while, says so, and starts again when asked', () => {
    const hand = new Hand();
    hand.connection.start();
    for (let at = 0; at < 20; at++) hand.time();
    assert.equal(hand.connection.late.value, true);
    const calls = hand.posted.length;
    hand.connection.start();
    assert.equal(hand.posted.length, calls + 1);
    assert.equal(hand.connection.late.value, false);
  });

  it('F5 takes all messages of a frame at once', () => {
    const hand = new Hand();
    let views = 0;
    hand.connection.view.subscribe(() => (views += 1));
    hand.connection.receive(START);
    for (let at = 1; at <= 500; at++) hand.connection.receive(patch(at, { op: 'append', id: 'a', block: 0, type: 'text', text: 'x' }));
    hand.frame();
    assert.equal(views, 2);
    assert.equal(hand.frames.length, 0);
    assert.equal(hand.connection.view.value.seq, 500);
  });

  it('F7 asks for the state when a message is missing, and goes on asking', () => {
    const hand = new Hand();
    hand.connection.receive(START);
    hand.connection.receive(patch(3, { op: 'remove', id: 'u' }));
    hand.frame();
    assert.deepEqual(hand.posted, [{ type: 'resync', have: 0 }]);
    hand.time();
    assert.equal(hand.posted.length, 2);
    hand.connection.receive({ type: 'state', seq: 5, state: state([]) });
    hand.frame();
    hand.time();
    assert.equal(hand.posted.length, 2);
    assert.equal(hand.connection.view.value.stale, false);
  });

  it('F7 asks for the state though it has just said ready', () => {
    const hand = new Hand();
    hand.connection.start();
    hand.connection.receive(START);
    hand.connection.receive(patch(3, { op: 'remove', id: 'u' }));
    hand.frame();
    assert.deepEqual(hand.posted, [{ type: 'ready' }, { type: 'resync', have: 0 }]);
    hand.time();
    assert.deepEqual(hand.posted.slice(2), [{ type: 'resync', have: 0 }]);
  });

  it('ignores what is no message of the host', () => {
    const hand = new Hand();
    for (const junk of [null, 7, 'state', {}, { type: 'patch' }, { type: 'nope', seq: 1 }]) hand.connection.receive(junk);
    assert.equal(hand.frames.length, 0);
  });
});

describe('webview: what screen readers hear', () => {
  const base = reduce(EMPTY, [START]);
  it('nothing while a reply streams, the reply when it is whole', () => {
    const streaming = reduce(base, [patch(1, { op: 'append', id: 'a', block: 0, type: 'text', text: 'Half' })]);
    assert.deepEqual(announcements(base, streaming), []);
    const whole = reduce(streaming, [patch(2, { op: 'put', item: assistant('a', 'Half and half') })]);
    assert.deepEqual(announcements(streaming, whole), ['Half and half']);
  });
  it('a call when it asks and when it ends, not when it starts', () => {
    const started = reduce(base, [patch(1, { op: 'put', item: running })]);
    assert.deepEqual(announcements(base, started), []);
    const asks = reduce(started, [patch(2, { op: 'put', item: { ...running, status: 'asking' } })]);
    assert.deepEqual(announcements(started, asks), ['ls: Waiting for you']);
    const failed = reduce(asks, [patch(3, { op: 'put', item: { ...running, status: 'failed' } })]);
    assert.deepEqual(announcements(asks, failed), ['ls: Failed']);
  });
  it('nothing about a session that was just opened', () => {
    assert.deepEqual(announcements(base, reduce(base, [{ type: 'state', seq: 0, state: state([assistant('z', 'old')], { sessionId: 'other' }) }])), []);
  });
});
