import assert from 'node:assert/strict';
import { Outbox } from '../../src/host/chat/outbox.ts';
import type { ChatMeta, TranscriptPatch } from '../../src/protocol.ts';

describe('outbox', () => {
  function outbox(): { box: Outbox; posts: { ops: readonly TranscriptPatch[]; meta: Partial<ChatMeta> | undefined }[] } {
    const posts: { ops: readonly TranscriptPatch[]; meta: Partial<ChatMeta> | undefined }[] = [];
    return { box: new Outbox((ops, meta) => posts.push({ ops, meta })), posts };
  }
  const delta = (text: string, id = 'a', block = 0): TranscriptPatch => ({ op: 'append', id, block, type: 'text', text });

  it('F5 10,000 deltas of one block become one post with all the text', () => {
    const { box, posts } = outbox();
    for (let i = 0; i < 10_000; i++) box.patches([delta(`${i} `)]);
    box.flush();
    assert.equal(posts.length, 1);
    assert.equal(posts[0]?.ops.length, 1);
    assert.equal((posts[0]?.ops[0] as { text: string }).text, Array.from({ length: 10_000 }, (_, i) => `${i} `).join(''));
  });

  it('F1 what is posted grows with what is new, not with what is there', () => {
    const { box, posts } = outbox();
    let posted = 0;
    for (let i = 0; i < 5_000; i++) {
      box.patches([{ op: 'put', item: { kind: 'user', id: `m${i}`, turn: 1, text: 'x'.repeat(2_000), time: 0 } }]);
      box.flush();
      posted += JSON.stringify(posts.pop()).length;
    }
    assert.ok(posted < 5_000 * 2_200, `${posted} bytes`);
  });

  it('keeps the order of blocks, items and puts', () => {
    const { box, posts } = outbox();
    box.patches([delta('1'), delta('2'), delta('3', 'a', 1), delta('4'), { op: 'remove', id: 'x' }, delta('5')]);
    box.flush();
    assert.deepEqual(posts[0]?.ops.map((op) => ('text' in op ? op.text : op.op)), ['12', '3', '4', 'remove', '5']);
  });

  it('bounds the output of a command that floods', () => {
    const { box, posts } = outbox();
    for (let i = 0; i < 1_000; i++) box.patches([{ op: 'output', id: 'c', text: `${String(i).padStart(4)} ${'y'.repeat(1_000)}` }]);
    box.flush();
    const [op] = posts[0]?.ops ?? [];
    assert.ok(op?.op === 'output' && op.text.length <= 64 * 1024 && op.text.includes(' 999 '));
  });

  it('later meta fields win, and a cleared outbox posts nothing', () => {
    const { box, posts } = outbox();
    box.meta({ title: 'a', queued: ['m'] });
    box.meta({ title: 'b' });
    box.flush();
    assert.deepEqual(posts[0]?.meta, { title: 'b', queued: ['m'] });
    box.patches([delta('x')]);
    box.clear();
    box.flush();
    assert.equal(posts.length, 1);
  });
});
