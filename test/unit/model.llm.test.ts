import assert from 'node:assert/strict';
import { Context } from '@deepseek-ai/cordis';
import type { StreamChunk } from '../../src/contract/event.ts';
import { LlmRuntime } from '../../src/model/llm.ts';
import { LlmError, type GenerateOptions, type LlmAdapter } from '../../src/model/types.ts';

function adapter(stream: (options: GenerateOptions) => AsyncIterable<StreamChunk>): LlmAdapter {
  return {
    providerInfo: (id) => ({ id, name: id }),
    listModels: async (provider) => [{ provider, id: 'm', name: 'm' }],
    resolveModel: async (provider, id) => ({ provider, id, name: id }),
    stream,
  };
}
async function* emit(...chunks: StreamChunk[]): AsyncGenerator<StreamChunk> {
  for (const chunk of chunks) yield chunk;
}
const STOP: StreamChunk = { type: 'finish', reason: { kind: 'stop' } };

describe('llm runtime', () => {
  let ctx: Context;
  beforeEach(async () => {
    ctx = new Context();
    await ctx.plugin(LlmRuntime);
  });
  afterEach(() => ctx.fiber.dispose());

  async function run(stream: (options: GenerateOptions) => AsyncIterable<StreamChunk>, signal?: AbortSignal, seen?: (chunk: StreamChunk) => void): Promise<StreamChunk[]> {
    const dispose = ctx.llm.registerAdapter(['p'], adapter(stream));
    const chunks: StreamChunk[] = [];
    for await (const chunk of ctx.llm.stream({ provider: 'p', model: 'm', messages: [], ...(signal ? { signal } : {}) })) {
      chunks.push(chunk);
      seen?.(chunk);
    }
    dispose();
    return chunks;
  }
  function code(chunks: StreamChunk[]): string {
    const last = chunks.at(-1);
    assert.ok(last?.type === 'finish' && (last.reason.kind === 'error' || last.reason.kind === 'aborted'));
    assert.equal(chunks.filter((chunk) => chunk.type === 'finish').length, 1);
    return last.reason.failure.code;
  }

  it('M16.1 a good stream passes unchanged', async () => {
    const good: StreamChunk[] = [
      { type: 'block-start', index: 0, blockType: 'text' }, { type: 'text-delta', index: 0, text: 'x' },
      { type: 'block-end', index: 0, block: { type: 'text', text: 'x' } }, { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }, STOP,
    ];
    assert.deepEqual(await run(() => emit(...good)), good);
  });

  const breaches: [string, StreamChunk[]][] = [
    ['a delta without its block', [{ type: 'text-delta', index: 0, text: 'x' }]],
    ['a delta of another type', [{ type: 'block-start', index: 0, blockType: 'text' }, { type: 'reasoning-delta', index: 0, text: 'x' }]],
    ['a block opened twice', [{ type: 'block-start', index: 0, blockType: 'text' }, { type: 'block-start', index: 0, blockType: 'text' }]],
    ['a block closed as another type', [{ type: 'block-start', index: 0, blockType: 'text' }, { type: 'block-end', index: 0, block: { type: 'reasoning', text: '' } }]],
    ['a good finish with an open block', [{ type: 'block-start', index: 0, blockType: 'text' }, STOP]],
  ];
  for (const [name, chunks] of breaches) {
    it(`M16.1 ${name} ends in one BAD_STREAM failure`, async () => assert.equal(code(await run(() => emit(...chunks, STOP))), 'BAD_STREAM'));
  }

  it('M16.1 nothing follows finish', async () => {
    assert.deepEqual(await run(() => emit(STOP, { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } })), [STOP]);
  });

  it('M16.2 thrown errors become the finish: an LlmError with its code, others as ADAPTER_ERROR, also when stream itself throws', async () => {
    const failing = (error: unknown) => async function* (): AsyncGenerator<StreamChunk> { throw error; };
    assert.equal(code(await run(failing(new LlmError('x', 'QUOTA', { status: 402 })))), 'QUOTA');
    assert.equal(code(await run(failing(new Error('x')))), 'ADAPTER_ERROR');
    assert.equal(code(await run(() => { throw new Error('at once'); })), 'ADAPTER_ERROR');
    assert.equal(code(await run(() => emit())), 'STREAM_CLOSED');
  });

  it('M16.2 abort ends at once even when the adapter ignores it', async () => {
    const stop = new AbortController();
    const deaf = async function* (): AsyncGenerator<StreamChunk> {
      yield { type: 'block-start', index: 0, blockType: 'text' };
      await new Promise(() => undefined);
    };
    assert.equal(code(await run(deaf, stop.signal, () => stop.abort())), 'ABORTED');
  });

  it('an unknown provider is named with the known ones', async () => {
    const chunks: StreamChunk[] = [];
    for await (const chunk of ctx.llm.stream({ provider: 'nope', model: 'm', messages: [] })) chunks.push(chunk);
    assert.equal(code(chunks), 'UNKNOWN_PROVIDER');
  });

  it('registration is an effect: a plugin\'s adapter leaves with it, and a taken name is refused', async () => {
    let updates = 0;
    ctx.on('llm/adapters-updated', () => { updates += 1; });
    const fiber = await ctx.plugin({ name: 'p', inject: ['llm'], apply: (inner: Context) => void inner.llm.registerAdapter(['p'], adapter(() => emit(STOP))) });
    assert.deepEqual(ctx.llm.listProviders(), [{ id: 'p', name: 'p' }]);
    assert.throws(() => ctx.llm.registerAdapter(['q', 'p'], adapter(() => emit(STOP))), /"p" is already served/);
    await fiber.dispose();
    assert.deepEqual(ctx.llm.listProviders(), []);
    assert.equal(updates, 2);
  });
});
