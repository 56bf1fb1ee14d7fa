import assert from 'node:assert/strict';
import { defineTool } from '../../src/contract/define-tool.ts';
import * as repeat from '../../src/tools/timeout/repeat.ts';
import * as timeout from '../../src/tools/timeout/plugin.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { ToolRoom } from '../harness/tool-room.ts';

describe('timeout.plugin', () => {
  let room: ToolRoom;
  beforeEach(async () => {
    room = await toolRoom();
  });
  afterEach(() => room.dispose());

  function waits(timeoutMs: number | undefined, onAbort: (resolve: (text: string) => void, reject: (error: unknown) => void, reason: unknown) => void): void {
    room.ctx.get('tools')!.register(defineTool({
      name: 'waits', description: 'Waits.', parameters: {}, output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
      ...(timeoutMs !== undefined ? { timeoutMs } : {}),
      execute: (_args, exec) => new Promise((resolve, reject) => exec.signal.addEventListener('abort', () => onAbort(resolve, reject, exec.signal.reason))),
    }));
  }

  it('O15.8 a call past its time fails as such', async () => {
    await room.ctx.plugin(timeout);
    waits(20, (_resolve, reject, reason) => reject(reason));
    const result = await room.call('waits', {});
    assert.ok(result.isError);
    assert.deepEqual(result.error, { message: 'tool call timed out after 20ms', info: { name: 'ToolTimeoutError', code: 'TOOL_TIMEOUT' } });
    assert.equal(textOf(result), 'Error: tool call timed out after 20ms');
  });

  it('O15.8 a body that answers the stop with a value has run out of time all the same', async () => {
    await room.ctx.plugin(timeout, { defaultTimeoutMs: 20 });
    waits(undefined, (resolve) => resolve('late'));
    assert.equal(textOf(await room.call('waits', {})), 'Error: tool call timed out after 20ms');
  });

  it('O15.8 the user\'s stop stays the user\'s', async () => {
    await room.ctx.plugin(timeout);
    waits(10_000, (resolve) => resolve('late'));
    const stop = new AbortController();
    const pending = room.call('waits', {}, { signal: stop.signal });
    setImmediate(() => stop.abort());
    const result = await pending;
    assert.equal(result.isError && result.error.info?.code, 'ABORTED');
  });

  it('O15.8 identical calls are pointed out after the third, fifth and eighth', async () => {
    await room.ctx.plugin(repeat);
    room.ctx.get('tools')!.register(defineTool({
      name: 'same', description: 'Same.', parameters: { n: { type: 'number' } }, output: { schema: { type: 'null' }, render: () => [] }, execute: async () => null,
    }));
    const agent = room.agent();
    const told: number[] = [];
    for (let i = 1; i <= 9; i++) if ((await room.call('same', { n: 1 }, { agent })).additionalContexts !== undefined) told.push(i);
    assert.deepEqual(told, [3, 5, 8]);
    for (const n of [2, 1, 1]) assert.equal((await room.call('same', { n }, { agent })).additionalContexts, undefined);
    const third = await room.call('same', { n: 1 }, { agent });
    assert.deepEqual(third.additionalContexts?.map(({ role, source }) => [role, source]), [
      ['user', { kind: 'plugin', plugin: 'repeat-reminder', form: 'notice', summary: 'same was called 3 times in a row with the same arguments' }],
    ]);
  });
});
