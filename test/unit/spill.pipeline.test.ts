import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { defineTool } from '../../src/contract/define-tool.ts';
import type { ContentBlock } from '../../src/contract/content.ts';
import { NodeSpillStore } from '../../src/headless/spill.ts';
import * as spill from '../../src/tools/spill/plugin.ts';
import { previewText } from '../../src/tools/spill/preview.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { TestAgent, ToolRoom } from '../harness/tool-room.ts';

describe('spill.pipeline', () => {
  let room: ToolRoom;
  let agent: TestAgent;
  beforeEach(async () => {
    room = await toolRoom();
    agent = room.agent();
    for (const name of ['say', 'read']) {
      room.ctx.get('tools')!.register(defineTool({
        name, description: 'Says text.', parameters: { text: { type: 'string', required: true }, image: { type: 'boolean' } },
        output: {
          schema: { type: 'string' },
          render: (args, value): ContentBlock[] => [
            { type: 'text', text: value },
            ...(args.image === true ? [{ type: 'image' as const, attachment: { attachmentId: 'a', mediaType: 'image/png', bytes: 1, width: 1, height: 1 } }] : []),
          ],
        },
        execute: async (args) => args.text,
      }));
    }
  });
  afterEach(() => room.dispose());

  const store = () => room.ctx.plugin(NodeSpillStore, { sessions: path.join(room.dir, 'sessions') });
  const long = Array.from({ length: 500 }, (_, i) => `line ${i} é`).join('\n');

  it('C8.21 a long result becomes head, tail and the place of all of it', async () => {
    await store();
    await room.ctx.plugin(spill, { maxInlineBytes: 1000 });
    const text = textOf(await room.call('say', { text: long }, { agent, callId: 'call/1' }));
    assert.ok(Buffer.byteLength(text) <= 1000);
    const match = /^line 0 é\n[\s\S]*\n…\n[\s\S]*line 499 é\n\n\((\d+) of (\d+) bytes omitted\. Full formatted result stored at: (.+?\.txt)\. (.+)\)$/.exec(text);
    assert.ok(match !== null, text);
    assert.equal(readFileSync(match[3]!, 'utf8'), long);
    assert.equal(match[3], path.join(room.dir, 'sessions/session-agent-1/spill/say-call_1.txt'));
    const again = textOf(await room.call('say', { text: long }, { agent, callId: 'call/1' }));
    assert.match(again, /say-call_1-2\.txt/);
  });

  it('C8.21 what stays as it is: short, read, nested, images, no session, errors', async () => {
    await store();
    await room.ctx.plugin(spill, { maxInlineBytes: 1000 });
    assert.equal(textOf(await room.call('say', { text: 'short' }, { agent })), 'short');
    assert.equal(textOf(await room.call('read', { text: long }, { agent })), long);
    assert.equal(textOf(await room.call('say', { text: long }, { agent, parent: Symbol('p') as never })), long);
    assert.equal(textOf(await room.call('say', { text: long })), long);
    assert.deepEqual((await room.call('say', { text: long, image: true }, { agent })).content[0], { type: 'text', text: long });
  });

  it('C8.21 off without a limit, and without a store', async () => {
    await room.ctx.plugin(spill, {});
    assert.equal(textOf(await room.call('say', { text: long }, { agent })), long);
    await room.ctx.plugin(spill, { maxInlineBytes: 1000 });
    assert.equal(textOf(await room.call('say', { text: long }, { agent })), long);
  });

  it('C8.21 a disk that takes nothing changes nothing', async () => {
    writeFileSync(path.join(room.dir, 'sessions'), 'a file in the way');
    await store();
    await room.ctx.plugin(spill, { maxInlineBytes: 1000 });
    assert.equal(textOf(await room.call('say', { text: long }, { agent })), long);
  });

  it('C8.21 a notice over the limit changes nothing', async () => {
    await store();
    await room.ctx.plugin(spill, { maxInlineBytes: 50 });
    assert.equal(textOf(await room.call('say', { text: long }, { agent })), long);
  });

  it('C8.21 content another listener put in place is what counts', async () => {
    await store();
    room.ctx.on('tools/post-execute', async () => ({ kind: 'accept', content: [{ type: 'text', text: 'mine '.repeat(1000) }] }));
    await room.ctx.plugin(spill, { maxInlineBytes: 1000 });
    assert.match(textOf(await room.call('say', { text: 'x' }, { agent })), /^mine mine[\s\S]*5000 bytes omitted/);
  });

  it('C8.21 the logged copy of a nested result is cut too, also of read', async () => {
    await store();
    await room.ctx.plugin(spill, { maxInlineBytes: 1000 });
    const content = await room.ctx.waterfall('tools/code-dispatch-log', {
      exec: {} as never, agent, subCallId: 'c:code:1', name: 'read', isError: false, content: [],
    }, async () => [{ type: 'text', text: long }]);
    assert.match((content[0] as { text: string }).text, /read-c_code_1-dispatch\.txt/);
  });

  it('C8.21 a preview never exceeds its limit nor splits a character', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', minLength: 200 }), fc.integer({ min: 10, max: 600 }), (text, limit) => {
      const preview = previewText(text, limit, { locator: '/x', retrievalHint: 'Read.' });
      if (preview === undefined) return;
      assert.ok(Buffer.byteLength(preview) <= limit);
      assert.ok(!preview.replaceAll(text, '').includes('\ufffd') || text.includes('\ufffd'));
    }));
  });
});
