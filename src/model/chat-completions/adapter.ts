import { createParser } from 'eventsource-parser';
import type { StreamChunk } from '../../contract/event.ts';
import { LlmError, type GenerateOptions, type LlmAdapter, type LlmModelInfo, type LlmProviderInfo } from '../types.ts';
import { Assembler } from './assembler.ts';
import { endpointURL, type Endpoint } from './endpoint.ts';
import { httpFailure, transportFailure } from './errors.ts';
import { buildRequest, type RequestOptions } from './request.ts';

const IDLE_MS = 300_000;
const MODELS_MS = 5_000;
/** Largest single frame in characters: a server that never ends a line must not fill the memory. */
const MAX_FRAME = 16 * 1024 * 1024;

export interface ChatCompletionsOptions extends RequestOptions {
  readonly endpoints: readonly Endpoint[];
  /** Asked for every request, so that a key that was just entered works. Never logged; undefined: there is none. */
  readonly getApiKey: (provider: string, signal?: AbortSignal) => Promise<string | undefined>;
}

/** Speaks chat-completions with any number of endpoints (M16.3-M16.7). */
export class ChatCompletionsAdapter implements LlmAdapter {
  private readonly endpoints: ReadonlyMap<string, Endpoint>;
  private readonly options: ChatCompletionsOptions;

  constructor(options: ChatCompletionsOptions) {
    this.options = options;
    this.endpoints = new Map(options.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  }

  providerInfo(provider: string): LlmProviderInfo {
    const { id, name } = this.endpoint(provider);
    return { id, name };
  }

  /** The endpoint's known models, else what its `/models` answers. Throws LlmError. */
  async listModels(provider: string, signal?: AbortSignal): Promise<readonly LlmModelInfo[]> {
    const endpoint = this.endpoint(provider);
    if (endpoint.models) return endpoint.models;
    const key = await this.options.getApiKey(provider, signal);
    const url = endpointURL(endpoint, 'models');
    const timeout = AbortSignal.timeout(MODELS_MS);
    let response: Response;
    try {
      response = await fetch(url, { headers: this.headers(endpoint, key), signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    } catch (error) {
      throw transportFailure(error, url);
    }
    if (!response.ok) throw await httpFailure(response, endpoint.name, key);
    const body: unknown = await response.json().catch(() => undefined);
    const list = typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined;
    if (!Array.isArray(list)) throw new LlmError(`${endpoint.name} did not answer ${url} with a list of models`, 'MALFORMED_RESPONSE');
    return (list as unknown[]).flatMap((entry) => {
      const id = typeof entry === 'object' && entry !== null ? (entry as { id?: unknown }).id : undefined;
      return typeof id === 'string' ? [{ provider, id, name: id }] : [];
    });
  }

  /** A model that is not in the endpoint's list is taken as it is: new ones appear before we know of them. */
  async resolveModel(provider: string, model: string): Promise<LlmModelInfo> {
    const endpoint = this.endpoint(provider);
    return endpoint.models?.find((known) => known.id === model) ?? { provider, id: model, name: model };
  }

  async *stream(options: GenerateOptions): AsyncGenerator<StreamChunk, void, undefined> {
    const endpoint = this.endpoint(options.provider);
    const key = await this.options.getApiKey(endpoint.id, options.signal);
    if (endpoint.needsKey && (key === undefined || key === '')) {
      throw new LlmError(`no API key for ${endpoint.name} is set`, 'MISSING_CREDENTIAL');
    }
    const model = await this.resolveModel(options.provider, options.model);
    const body = JSON.stringify(await buildRequest(endpoint, model, options, this.options));
    const idle = new IdleTimer(endpoint.idleTimeoutMs ?? IDLE_MS);
    const signal = options.signal ? AbortSignal.any([options.signal, idle.signal]) : idle.signal;
    const url = endpointURL(endpoint, 'chat/completions');
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...this.headers(endpoint, key), 'content-type': 'application/json', accept: 'text/event-stream' },
        body,
        signal,
      });
      if (!response.ok) throw await httpFailure(response, endpoint.name, key);
      if (!response.body) throw new LlmError(`${endpoint.name} sent an empty answer`, 'EMPTY_RESPONSE');
      if (response.headers.get('content-type')?.includes('application/json')) yield* wholeAnswer(await response.text(), options);
      else yield* readAnswer(response.body, endpoint, options, idle);
    } catch (error) {
      if (idle.signal.aborted && !options.signal?.aborted) {
        throw new LlmError(`${endpoint.name} was silent for ${idle.ms} ms`, 'TIMEOUT', { cause: error });
      }
      if (error instanceof LlmError) throw error;
      throw transportFailure(error, url);
    } finally {
      idle.stop();
    }
  }

  private endpoint(provider: string): Endpoint {
    const endpoint = this.endpoints.get(provider);
    if (!endpoint) throw new LlmError(`no endpoint "${provider}" is configured`, 'UNKNOWN_PROVIDER');
    return endpoint;
  }

  private headers(endpoint: Endpoint, key: string | undefined): Record<string, string> {
    return { ...endpoint.headers, ...(key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` }) };
  }
}

/** For servers that answer a request for a stream with one JSON body. */
function* wholeAnswer(text: string, options: GenerateOptions): Generator<StreamChunk, void, undefined> {
  const assembler = new Assembler(options.tools ?? []);
  yield* assembler.push(text);
  yield* assembler.end();
}

/** Reads the event stream up to `[DONE]`; nothing after it counts. */
async function* readAnswer(
  body: ReadableStream<Uint8Array>, endpoint: Endpoint, options: GenerateOptions, idle: IdleTimer,
): AsyncGenerator<StreamChunk, void, undefined> {
  const assembler = new Assembler(options.tools ?? []);
  const frames: string[] = [];
  let overflow = false;
  const parser = createParser({
    maxBufferSize: MAX_FRAME,
    onEvent: (event) => frames.push(event.data),
    onError: (error) => { overflow ||= error.type === 'max-buffer-size-exceeded'; },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let done = false;
  const take = function* (): Generator<StreamChunk, void, undefined> {
    for (const data of frames.splice(0)) {
      if (data.trim() === '[DONE]') {
        done = true;
        return;
      }
      if (data.trim() !== '') yield* assembler.push(data);
    }
  };
  try {
    while (!done) {
      const part = await reader.read();
      idle.touch();
      // The end of the body ends the last frame too; a frame that was cut there is no frame.
      parser.feed(part.done ? `${decoder.decode()}\n\n` : decoder.decode(part.value, { stream: true }));
      if (part.done) dropCutFrame(frames);
      if (overflow) throw new LlmError(`${endpoint.name} sent a frame of more than ${MAX_FRAME} characters`, 'MALFORMED_RESPONSE');
      yield* take();
      if (part.done) break;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (!done && (endpoint.dialect === 'deepseek' || !assembler.finished)) {
    throw new LlmError(`${endpoint.name} broke off in mid-answer`, 'STREAM_CLOSED');
  }
  yield* assembler.end();
}

function dropCutFrame(frames: string[]): void {
  const last = frames.at(-1)?.trim();
  if (last === undefined || last === '[DONE]') return;
  try {
    JSON.parse(last);
  } catch {
    frames.pop();
  }
}

/** Aborts its signal when `touch` was not called for `ms`. */
class IdleTimer {
  readonly ms: number;
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.ms = ms;
    this.timer = this.arm();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  touch(): void {
    clearTimeout(this.timer);
    this.timer = this.arm();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private arm(): NodeJS.Timeout {
    return setTimeout(() => this.controller.abort(new Error('idle')), this.ms);
  }
}
