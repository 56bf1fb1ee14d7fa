import type { StreamChunk } from '../contract/event.ts';
import { httpErrorCode } from './chat-completions/errors.ts';
import { pieces, rawArguments, type Script, type ScriptEntry } from './script.ts';
import { LlmError, type GenerateOptions, type LlmAdapter, type LlmModelInfo, type LlmProviderInfo } from './types.ts';

export const SCRIPTED_PROVIDER = 'scripted';
export const SCRIPTED_MODEL = 'script';

/** Answers each request with the script's next entry; knows nothing and looks at nothing. */
export class ScriptedAdapter implements LlmAdapter {
  /** Every request so far, for tests. */
  readonly requests: GenerateOptions[] = [];
  private readonly script: Script;
  private readonly name: string;

  constructor(script: Script, name = 'Script') {
    this.script = script;
    this.name = name;
  }

  providerInfo(provider: string): LlmProviderInfo {
    return { id: provider, name: this.name };
  }

  async listModels(provider: string): Promise<readonly LlmModelInfo[]> {
    return [await this.resolveModel(provider, SCRIPTED_MODEL)];
  }

  async resolveModel(provider: string, model: string): Promise<LlmModelInfo> {
    return { provider, id: model, name: this.name, description: 'Answers from a script' };
  }

  async *stream(options: GenerateOptions): AsyncGenerator<StreamChunk, void, undefined> {
    this.requests.push(options);
    const turn = this.requests.length;
    const entry = this.script.model[turn - 1];
    if (!entry) {
      throw new LlmError(`the script has ${this.script.model.length} model entries, and this is request ${turn}`, 'SCRIPT_EXHAUSTED');
    }
    if (entry.error) throw scriptedFailure(entry.error);
    yield* playEntry(entry, turn, options.signal);
  }
}

function scriptedFailure(error: NonNullable<ScriptEntry['error']>): LlmError {
  const message = error.message ?? `scripted failure ${error.status}`;
  return new LlmError(message, httpErrorCode(error.status, { message }), {
    status: error.status, ...(error.retryAfter === undefined ? {} : { providerRetryAfterMs: error.retryAfter * 1000 }),
  });
}

async function* playEntry(entry: ScriptEntry, turn: number, signal: AbortSignal | undefined): AsyncGenerator<StreamChunk, void, undefined> {
  const ends: StreamChunk[] = [];
  let deltas = 0;
  const deltaGate = async (): Promise<void> => {
    // One macrotask a delta, so that a stop can land between two of them.
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    if (entry.cutAt !== undefined && deltas >= entry.cutAt) {
      throw new LlmError(`the script cuts the stream after ${entry.cutAt} chunks`, 'STREAM_CLOSED');
    }
    deltas += 1;
  };
  let index = 0;
  for (const type of ['reasoning', 'text'] as const) {
    const text = entry[type] ?? '';
    if (text === '') continue;
    yield { type: 'block-start', index, blockType: type };
    for (const part of pieces(text, entry.chunks)) {
      await deltaGate();
      yield type === 'text' ? { type: 'text-delta', index, text: part } : { type: 'reasoning-delta', index, text: part };
    }
    ends.push({ type: 'block-end', index, block: { type, text } });
    index += 1;
  }
  const calls = entry.toolCalls ?? [];
  for (const [i, call] of calls.entries()) {
    const id = call.id ?? `call_${turn}_${i + 1}`;
    const args = rawArguments(call);
    yield { type: 'block-start', index, blockType: 'tool-call' };
    for (const [k, part] of (args === '' ? [''] : pieces(args, entry.chunks)).entries()) {
      await deltaGate();
      yield { type: 'tool-call-delta', index, id, ...(k === 0 ? { name: call.name } : {}), argumentsDelta: part };
    }
    ends.push({ type: 'block-end', index, block: { type: 'tool-call', id, name: call.name, arguments: args } });
    index += 1;
  }
  if (entry.cutAt !== undefined) await deltaGate();
  if (index === 0) throw new LlmError('the script answers with nothing', 'EMPTY_RESPONSE');
  yield* ends;
  yield { type: 'usage', usage: entry.usage ?? { inputTokens: 0, outputTokens: 0 } };
  yield { type: 'finish', reason: entry.maxTokens ? { kind: 'max-tokens' } : calls.length > 0 ? { kind: 'tool-calls' } : { kind: 'stop' } };
}
