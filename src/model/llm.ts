import { Service, type Context } from '@deepseek-ai/cordis';
import type { FinishReason, LlmFailure, StreamChunk } from '../contract/event.ts';
import { StreamProtocol } from './stream-protocol.ts';
import { LlmError, type GenerateOptions, type LlmAdapter, type LlmModelInfo, type LlmProviderInfo, type LlmService } from './types.ts';

/** What an aborted request ends with. */
export const ABORTED = 'ABORTED';

/**
 * `ctx.llm` (M16.2): which adapter answers for which provider, and a stream that keeps the chunk protocol (M16.1)
 * whatever the adapter does.
 */
export class LlmRuntime extends Service implements LlmService {
  private readonly adapters = new Map<string, LlmAdapter>();

  constructor(ctx: Context) {
    super(ctx, 'llm');
  }

  /** Throws LLM_DUPLICATE_PROVIDER when another adapter serves one of `providers`; an effect of the calling fiber. */
  registerAdapter(providers: readonly string[], adapter: LlmAdapter): () => void {
    const taken = providers.find((provider) => this.adapters.has(provider));
    if (taken !== undefined) {
      throw new LlmError(`provider "${taken}" is already served by another adapter`, 'LLM_DUPLICATE_PROVIDER');
    }
    const root = this.ctx.root;
    const dispose = this.ctx.effect(() => {
      for (const provider of providers) this.adapters.set(provider, adapter);
      root.emit('llm/adapters-updated');
      return () => {
        for (const provider of providers) {
          if (this.adapters.get(provider) === adapter) this.adapters.delete(provider);
        }
        root.emit('llm/adapters-updated');
      };
    }, `llm adapter ${providers.join(', ')}`);
    return () => void dispose();
  }

  listProviders(): readonly LlmProviderInfo[] {
    return [...this.adapters].map(([provider, adapter]) => adapter.providerInfo(provider));
  }

  async listModels(provider: string, signal?: AbortSignal): Promise<readonly LlmModelInfo[]> {
    return this.adapterOf(provider).listModels(provider, signal);
  }

  async resolveModel(provider: string, model: string, signal?: AbortSignal): Promise<LlmModelInfo> {
    return this.adapterOf(provider).resolveModel(provider, model, signal);
  }

  /** Ends in exactly one `finish`, also when the adapter throws, stops early, breaks the protocol, or ignores an abort. */
  async *stream(options: GenerateOptions): AsyncGenerator<StreamChunk, void, undefined> {
    const { signal } = options;
    if (signal?.aborted) {
      yield { type: 'finish', reason: abortedReason(signal) };
      return;
    }
    let iterator: AsyncIterator<StreamChunk> | undefined;
    let done = false;
    const stop = abortion(signal);
    try {
      iterator = this.adapterOf(options.provider).stream(options)[Symbol.asyncIterator]();
      const protocol = new StreamProtocol();
      for (;;) {
        const step = await Promise.race([iterator.next(), stop.promise]);
        if (step === undefined) {
          yield { type: 'finish', reason: abortedReason(signal) };
          return;
        }
        if (step.done) {
          done = true;
          throw new LlmError('the model\'s answer ended before it was complete', 'STREAM_CLOSED');
        }
        const chunk = protocol.accept(step.value);
        yield chunk;
        if (chunk.type === 'finish') return;
      }
    } catch (thrown) {
      yield { type: 'finish', reason: signal?.aborted ? abortedReason(signal) : { kind: 'error', failure: failureOf(thrown) } };
    } finally {
      stop.dispose();
      // Not awaited: an adapter that hangs in its clean-up must not hold the turn.
      if (!done) void Promise.resolve(iterator?.return?.()).catch(() => undefined);
    }
  }

  private adapterOf(provider: string): LlmAdapter {
    const adapter = this.adapters.get(provider);
    if (adapter) return adapter;
    const known = [...this.adapters.keys()].map((name) => `"${name}"`).join(', ');
    throw new LlmError(`no model provider "${provider}" is loaded (${known === '' ? 'none is' : `there is ${known}`})`, 'UNKNOWN_PROVIDER');
  }
}

/** The terminal failure a thrown value stands for: LlmErrors keep their code, anything else is `ADAPTER_ERROR`. */
export function failureOf(thrown: unknown): LlmFailure {
  if (thrown instanceof LlmError) return thrown.failure;
  return { message: thrown instanceof Error ? thrown.message : String(thrown), code: 'ADAPTER_ERROR' };
}

function abortedReason(signal: AbortSignal | undefined): FinishReason {
  const why: unknown = signal?.reason;
  const text = why instanceof Error && why.name !== 'AbortError' ? `: ${why.message}` : '';
  return { kind: 'aborted', failure: { message: `the request was stopped${text}`, code: ABORTED } };
}

/** A promise that resolves (to undefined) on abort, and takes its listener away again. */
function abortion(signal: AbortSignal | undefined): { promise: Promise<undefined>; dispose(): void } {
  let listener: (() => void) | undefined;
  const promise = new Promise<undefined>((resolve) => {
    listener = () => resolve(undefined);
    signal?.addEventListener('abort', listener, { once: true });
  });
  return { promise, dispose: () => { if (listener) signal?.removeEventListener('abort', listener); } };
}
