import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pieces, rawArguments, type ScriptEntry } from '../../src/model/script.ts';

/**
 * A real chat-completions server on loopback, for tests of the adapter, the host and the whole product. Each request is
 * answered by the next entry: script entries (design 6), a few more ways to misbehave, or a function of the request.
 */
export interface ServerEntry extends ScriptEntry {
  /** Milliseconds between two frames. */
  readonly delayMs?: number;
  /** The stream stops after that many deltas until `release()` (or the client goes away). 0: before the first. */
  readonly holdAt?: number;
  /** The connection is destroyed after that many deltas. */
  readonly dropAt?: number;
  /** These bytes instead of a made stream, one write each. */
  readonly raw?: readonly (string | Uint8Array)[];
  /** Content type of `raw`; default text/event-stream. */
  readonly contentType?: string;
  /** No `[DONE]` at the end. */
  readonly noDone?: boolean;
}
export type Answer = ServerEntry | ((request: RecordedRequest) => ServerEntry);

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The parsed body of a chat request. */
  readonly body: ChatBody;
  /** True once the client closed the connection before the answer was complete. */
  aborted: boolean;
}
export interface ChatBody {
  model: string;
  messages: { role: string; content: unknown; reasoning_content?: string; tool_call_id?: string; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }[];
  tools?: { function: { name: string; description: string; parameters: unknown } }[];
  [key: string]: unknown;
}

export class ModelServer {
  /** Chat requests in order. */
  readonly requests: RecordedRequest[] = [];
  /** Entries left. */
  readonly answers: Answer[] = [];
  private readonly server: Server;
  private readonly waiters: (() => void)[] = [];
  private gate = new Gate();

  private constructor(server: Server, answers: readonly Answer[]) {
    this.server = server;
    this.answers.push(...answers);
    server.on('request', (request, response) => void this.handle(request, response));
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(answers: readonly Answer[] = []): Promise<ModelServer> {
    const server = createServer();
    const self = new ModelServer(server, answers);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => resolve());
    });
    return self;
  }

  /** What an endpoint's base URL is. */
  get baseURL(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  push(...answers: Answer[]): void {
    this.answers.push(...answers);
  }

  /** Lets every held stream go on. */
  release(): void {
    this.gate.open();
    this.gate = new Gate();
  }

  /** Resolves once `count` chat requests came in. */
  async waitFor(count: number): Promise<RecordedRequest> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.waiters.push(resolve));
    return this.requests[count - 1]!;
  }

  async close(): Promise<void> {
    this.gate.open();
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.url?.endsWith('/models')) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'local-model', object: 'model' }] }));
      return;
    }
    const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as ChatBody;
    const recorded: RecordedRequest = { path: request.url ?? '', headers: request.headers, body, aborted: false };
    this.requests.push(recorded);
    response.on('close', () => { recorded.aborted = !response.writableFinished; });
    for (const wake of this.waiters.splice(0)) wake();
    const answer = this.answers.shift();
    const entry = typeof answer === 'function' ? answer(recorded) : answer;
    if (!entry) {
      sendError(response, { status: 500, message: `the model server has no answer for request ${this.requests.length}` });
      return;
    }
    await this.play(entry, body, response).catch(() => response.destroy());
  }

  private async play(entry: ServerEntry, body: ChatBody, response: ServerResponse): Promise<void> {
    if (entry.error) {
      sendError(response, entry.error);
      return;
    }
    response.setHeader('content-type', entry.contentType ?? 'text/event-stream; charset=utf-8');
    response.flushHeaders();
    if (entry.raw) {
      for (const part of entry.raw) {
        response.write(part);
        await pause(entry.delayMs ?? 0);
      }
      response.end();
      return;
    }
    let sent = 0;
    for (const frame of [...deltas(entry, this.requests.length), 'end' as const]) {
      if (entry.holdAt === sent) await Promise.race([this.gate.promise, new Promise((resolve) => response.once('close', resolve))]);
      if (response.destroyed) return;
      if (entry.dropAt === sent) {
        response.destroy();
        return;
      }
      if (entry.cutAt === sent) {
        response.end();
        return;
      }
      if (frame === 'end') break;
      write(response, { model: body.model, choices: [{ index: 0, delta: frame, finish_reason: null }] });
      sent += 1;
      await pause(entry.delayMs ?? 0);
    }
    const reason = entry.maxTokens ? 'length' : (entry.toolCalls?.length ?? 0) > 0 ? 'tool_calls' : 'stop';
    write(response, { model: body.model, choices: [{ index: 0, delta: { content: '' }, finish_reason: reason }] });
    const usage = entry.usage ?? { inputTokens: 10, outputTokens: 5 };
    write(response, { choices: [], usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens } });
    if (!entry.noDone) response.write('data: [DONE]\n\n');
    response.end();
  }
}

function* deltas(entry: ServerEntry, turn: number): Generator<Record<string, unknown>> {
  for (const part of pieces(entry.reasoning ?? '', entry.chunks)) yield { reasoning_content: part };
  for (const part of pieces(entry.text ?? '', entry.chunks)) yield { content: part };
  for (const [index, call] of (entry.toolCalls ?? []).entries()) {
    const first = { index, id: call.id ?? `call_${turn}_${index + 1}`, type: 'function', function: { name: call.name, arguments: '' } };
    yield { tool_calls: [first] };
    for (const part of pieces(rawArguments(call), entry.chunks)) yield { tool_calls: [{ index, function: { arguments: part } }] };
  }
}

function write(response: ServerResponse, frame: unknown): void {
  response.write(`data: ${JSON.stringify(frame)}\n\n`);
}

function sendError(response: ServerResponse, error: NonNullable<ScriptEntry['error']>): void {
  response.statusCode = error.status;
  response.setHeader('content-type', 'application/json');
  if (error.retryAfter !== undefined) response.setHeader('retry-after', String(error.retryAfter));
  response.end(JSON.stringify({ error: { message: error.message ?? `failing with ${error.status} as told` } }));
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

class Gate {
  open: () => void = () => undefined;
  readonly promise = new Promise<void>((resolve) => { this.open = resolve; });
}
