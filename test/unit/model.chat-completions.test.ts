import assert from 'node:assert/strict';
import { Context } from '@deepseek-ai/cordis';
import fc from 'fast-check';
import { createAssistantMessage, createToolResultMessage, createUserMessage, type Message } from '../../src/contract/message.ts';
import type { ToolSchema } from '../../src/contract/content.ts';
import type { StreamChunk } from '../../src/contract/event.ts';
import { ChatCompletionsAdapter } from '../../src/model/chat-completions/adapter.ts';
import { retryAfterMs } from '../../src/model/chat-completions/errors.ts';
import { deepseekEndpoint, type Endpoint } from '../../src/model/chat-completions/endpoint.ts';
import { buildRequest } from '../../src/model/chat-completions/request.ts';
import { wireName } from '../../src/model/chat-completions/tool-names.ts';
import { LlmRuntime } from '../../src/model/llm.ts';
import type { GenerateOptions } from '../../src/model/types.ts';
import { ModelServer, type Answer } from '../harness/model-server.ts';

const user = (text: string): Message => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
const tool = (name: string): ToolSchema => ({ name, description: `The ${name} tool`, parameters: { type: 'object', properties: { path: { type: 'string' } } } });
const sse = (...frames: unknown[]): string => [...frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`), 'data: [DONE]\n\n'].join('');
const delta = (value: unknown, finish: string | null = null): unknown => ({ choices: [{ index: 0, delta: value, finish_reason: finish }] });

let server: ModelServer;
let ctx: Context;

async function open(answers: Answer[], extra: Partial<Endpoint> = {}, key: string | undefined = 'sk-test-1234'): Promise<void> {
  server = await ModelServer.start(answers);
  ctx = new Context();
  await ctx.plugin(LlmRuntime);
  const endpoint: Endpoint = { ...deepseekEndpoint(server.baseURL), ...extra };
  const adapter = new ChatCompletionsAdapter({ endpoints: [endpoint], getApiKey: async () => key });
  await ctx.plugin({ name: 'adapter', inject: ['llm'], apply: (inner: Context) => void inner.llm.registerAdapter([endpoint.id], adapter) });
}

async function ask(options: Partial<GenerateOptions> = {}, seen?: (chunk: StreamChunk) => void): Promise<StreamChunk[]> {
  const chunks: StreamChunk[] = [];
  for await (const chunk of ctx.llm.stream({ provider: 'deepseek-official', model: 'deepseek-v4-flash', messages: [user('hi')], ...options })) {
    chunks.push(chunk);
    seen?.(chunk);
  }
  return chunks;
}

function finish(chunks: StreamChunk[]): Extract<StreamChunk, { type: 'finish' }> {
  assert.equal(chunks.filter((chunk) => chunk.type === 'finish').length, 1, 'exactly one finish');
  const last = chunks.at(-1)!;
  assert.equal(last.type, 'finish');
  return last as Extract<StreamChunk, { type: 'finish' }>;
}
function failure(chunks: StreamChunk[]): { code: string; message: string; status?: number; providerRetryAfterMs?: number } {
  const { reason } = finish(chunks);
  assert.ok(reason.kind === 'error' || reason.kind === 'aborted', reason.kind);
  return reason.failure;
}
const blocks = (chunks: StreamChunk[]): unknown[] => chunks.flatMap((chunk) => (chunk.type === 'block-end' ? [chunk.block] : []));

describe('chat-completions', () => {
  afterEach(async () => {
    await server.close();
    await ctx.fiber.dispose();
  });

  it('M16.3 posts to {baseURL}/chat/completions with the bearer key, stream and include_usage', async () => {
    await open([{ text: 'ok' }]);
    await ask({ system: 'be brief' });
    const [request] = server.requests;
    assert.equal(request!.path, '/v1/chat/completions');
    assert.equal(request!.headers.authorization, 'Bearer sk-test-1234');
    assert.deepEqual(
      { stream: request!.body.stream, opts: request!.body.stream_options, model: request!.body.model, max: request!.body.max_tokens },
      { stream: true, opts: { include_usage: true }, model: 'deepseek-v4-flash', max: 256_000 },
    );
    assert.deepEqual(request!.body.messages, [{ role: 'system', content: 'be brief' }, { role: 'user', content: 'hi' }]);
    assert.ok(!('tools' in request!.body), 'M16.5 tools omitted when none');
  });

  it('M16.3 the DeepSeek entry lists its three models', async () => {
    await open([]);
    const models = await ctx.llm.listModels('deepseek-official');
    assert.deepEqual(models.map((model) => [model.id, model.contextWindow]), [
      ['deepseek-v4-flash', 1_000_000], ['deepseek-v4-pro', 1_000_000], ['deepseek-v4-flash-vision-exp', 1_000_000],
    ]);
  });

  it('M16.4 thinking is on with effort high; off disables it; titles never think', async () => {
    await open([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
    await ask();
    await ask({ reasoningEffort: 'off' });
    await ask({ purpose: 'session-title' });
    assert.deepEqual(server.requests.map(({ body }) => [body.thinking, body.reasoning_effort]), [
      [{ type: 'enabled' }, 'high'], [{ type: 'disabled' }, undefined], [{ type: 'disabled' }, undefined],
    ]);
  });

  it('M16.5 H1 reasoning_content goes back on every assistant turn; content is never null; results are tool messages', async () => {
    await open([{ text: 'done' }]);
    const source = { provider: 'deepseek-official', model: 'deepseek-v4-flash' };
    await ask({
      messages: [
        user('read it'),
        createAssistantMessage([
          { type: 'reasoning', text: 'I should ' }, { type: 'reasoning', text: 'read.' },
          { type: 'tool-call', id: 'c1', name: 'read', arguments: '{"path": ' },
        ], source),
        createToolResultMessage('c1', [], false),
        createAssistantMessage([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'It is empty.' }], source),
        user('sure?'),
      ],
      tools: [tool('read')],
    });
    const { body } = server.requests[0]!;
    assert.deepEqual(body.messages, [
      { role: 'user', content: 'read it' },
      {
        role: 'assistant', content: '', reasoning_content: 'I should read.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path": ' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '(no output)' },
      { role: 'assistant', content: 'It is empty.', reasoning_content: 'hm' },
      { role: 'user', content: 'sure?' },
    ]);
    assert.deepEqual(body.tools, [{ type: 'function', function: { name: 'read', description: 'The read tool', parameters: tool('read').parameters } }]);
  });

  it('H5 a call without a result gets one, and results stand right behind their call', async () => {
    await open([{ text: 'done' }]);
    const source = { provider: 'p', model: 'm' };
    await ask({
      messages: [
        createAssistantMessage([
          { type: 'tool-call', id: 'a', name: 'x', arguments: '{}' }, { type: 'tool-call', id: 'b', name: 'x', arguments: '{}' },
        ], source),
        user('a word in between'),
        createToolResultMessage('b', [{ type: 'text', text: 'B' }], false),
      ],
    });
    const { messages } = server.requests[0]!.body;
    assert.deepEqual(messages.map((message) => [message.role, message.tool_call_id]), [
      ['assistant', undefined], ['tool', 'a'], ['tool', 'b'], ['user', undefined],
    ]);
    assert.match(String(messages[1]!.content), /^Error: /);
    assert.equal(messages[2]!.content, 'B');
  });

  it('M16.6 streams reasoning, text and tool calls; ends, usage and finish come last', async () => {
    await open([{
      reasoning: 'think', text: 'Looking.', toolCalls: [{ name: 'read', arguments: { path: 'a' } }, { name: 'read', arguments: 'not json' }],
      chunks: 3, usage: { inputTokens: 7, outputTokens: 3 },
    }]);
    const chunks = await ask({ tools: [tool('read')] });
    assert.deepEqual(blocks(chunks), [
      { type: 'reasoning', text: 'think' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool-call', id: 'call_1_1', name: 'read', arguments: '{"path":"a"}' },
      { type: 'tool-call', id: 'call_1_2', name: 'read', arguments: 'not json' },
    ]);
    assert.deepEqual(chunks.slice(-6).map((chunk) => chunk.type), ['block-end', 'block-end', 'block-end', 'block-end', 'usage', 'finish']);
    assert.deepEqual(finish(chunks).reason, { kind: 'tool-calls' });
    const named = chunks.filter((chunk) => chunk.type === 'tool-call-delta' && chunk.name !== undefined);
    assert.equal(named.length, 2, 'the name comes with the first delta only');
  });

  it('M16.6 inputTokens excludes cache hits', async () => {
    await open([{ raw: [sse(delta({ content: 'x' }, 'stop'), {
      choices: [],
      usage: { prompt_tokens: 100, completion_tokens: 9, prompt_cache_hit_tokens: 60, completion_tokens_details: { reasoning_tokens: 4 } },
    })] }]);
    assert.deepEqual((await ask()).find((chunk) => chunk.type === 'usage'), {
      type: 'usage', usage: { inputTokens: 40, outputTokens: 9, cacheReadTokens: 60, reasoningTokens: 4 },
    });
  });

  const finishes: [string, string, unknown][] = [
    ['stop', 'x', { kind: 'stop' }],
    ['length', 'x', { kind: 'max-tokens' }],
    ['content_filter', 'x', { kind: 'error', failure: { message: 'the model stopped: content_filter', code: 'CONTENT_FILTER' } }],
  ];
  for (const [reason, content, expected] of finishes) {
    it(`M16.6 finish_reason ${reason}`, async () => {
      await open([{ raw: [sse(delta({ content }, reason))] }]);
      assert.deepEqual(finish(await ask()).reason, expected);
    });
  }

  it('M16.6 stop without a block is EMPTY_RESPONSE, and an empty reasoning_content opens none', async () => {
    await open([{ raw: [sse(delta({ reasoning_content: '', content: '' }), delta({}, 'stop'))] }]);
    assert.equal(failure(await ask()).code, 'EMPTY_RESPONSE');
  });

  it('M16.6 bad JSON is MALFORMED_RESPONSE; an end without [DONE] is STREAM_CLOSED, also inside a frame', async () => {
    await open([
      { raw: ['data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {oops\n\n'] },
      { text: 'abc', noDone: true },
      { text: 'abcdef', chunks: 1, cutAt: 3 },
      { raw: ['data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"choices":[{"del'] },
    ]);
    assert.equal(failure(await ask()).code, 'MALFORMED_RESPONSE');
    assert.equal(failure(await ask()).code, 'STREAM_CLOSED');
    const cut = await ask();
    assert.equal(failure(cut).code, 'STREAM_CLOSED');
    assert.equal(blocks(cut).length, 0, 'nothing looks complete');
    assert.equal(failure(await ask()).code, 'STREAM_CLOSED');
  });

  it('H11 a compatible server may end without [DONE] once it gave a finish reason', async () => {
    await open([{ text: 'abc', noDone: true }], { dialect: 'generic' });
    assert.deepEqual(finish(await ask()).reason, { kind: 'stop' });
  });

  it('H11 any split of the bytes, CRLF, comments, null content, empty choices and interleaved calls give the same answer', async () => {
    const body = [
      ': keep-alive', '', 'event: message', `data: ${JSON.stringify(delta({ role: 'assistant', content: null }))}`, '',
      `data: ${JSON.stringify(delta({ content: 'Grüße 你好 🎉' }))}`, '',
      `data:${JSON.stringify(delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{"n"' } }] }))}`, '',
      `data: ${JSON.stringify(delta({ tool_calls: [{ index: 1, id: 'b', function: { name: 'two', arguments: '' } }] }))}`, '',
      `data: ${JSON.stringify(delta({ tool_calls: [{ index: 0, function: { arguments: ':"é"}' } }, { index: 1, function: { arguments: '{}' } }] }))}`, '',
      ': ping', '', `data: ${JSON.stringify(delta({}, 'tool_calls'))}`, '',
      `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } })}`, '', 'data: [DONE]', '', '',
    ];
    const expected = [
      { type: 'text', text: 'Grüße 你好 🎉' },
      { type: 'tool-call', id: 'a', name: 'one', arguments: '{"n":"é"}' },
      { type: 'tool-call', id: 'b', name: 'two', arguments: '{}' },
    ];
    await open([]);
    await fc.assert(fc.asyncProperty(
      fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 }),
      async (newline, sizes) => {
        const bytes = new TextEncoder().encode(body.join(newline));
        const parts: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i += 1) {
          const size = sizes[i % sizes.length]!;
          parts.push(bytes.subarray(at, at + size));
          at += size;
        }
        server.push({ raw: parts });
        const chunks = await ask();
        assert.deepEqual(blocks(chunks), expected);
        assert.deepEqual(finish(chunks).reason, { kind: 'tool-calls' });
      },
    ), { numRuns: 12 });
  });

  it('H11 calls without an index, or with one index for all, stay apart', async () => {
    await open([
      { raw: [sse(delta({ tool_calls: [{ id: 'a', function: { name: 'x', arguments: '{"a":' } }] }), delta({ tool_calls: [{ function: { arguments: '1}' } }] }), delta({ tool_calls: [{ id: 'b', function: { name: 'x', arguments: '{}' } }] }, 'stop'))] },
      { raw: [sse(delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'x', arguments: '{}' } }, { index: 0, id: 'b', function: { name: 'y', arguments: '{}' } }] }, 'tool_calls'))] },
    ]);
    assert.deepEqual(blocks(await ask()), [
      { type: 'tool-call', id: 'a', name: 'x', arguments: '{"a":1}' }, { type: 'tool-call', id: 'b', name: 'x', arguments: '{}' },
    ]);
    assert.deepEqual(blocks(await ask()).map((block) => (block as { name: string }).name), ['x', 'y']);
  });

  it('H11 a server that answers with one JSON body is understood', async () => {
    await open([{ contentType: 'application/json', raw: [JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1 } })] }], { dialect: 'generic' });
    assert.deepEqual(blocks(await ask()), [{ type: 'text', text: 'whole' }]);
  });

  const errors: [number, string, string][] = [
    [401, 'bad key', 'AUTH'], [403, 'no', 'AUTH'], [413, 'too large', 'INVALID_REQUEST'], [402, 'Insufficient Balance', 'QUOTA'],
    [429, 'You exceeded your current quota', 'QUOTA'], [429, 'slow down', 'RATE_LIMIT'], [400, 'maximum context length is 10', 'CONTEXT_WINDOW_EXCEEDED'],
    [400, 'bad field', 'INVALID_REQUEST'], [500, 'oops', 'SERVER'], [503, 'busy', 'SERVER'], [418, 'teapot', 'HTTP_418'],
  ];
  for (const [status, message, code] of errors) {
    it(`M16.7 ${status} "${message}" is ${code}`, async () => {
      await open([{ error: { status, message } }]);
      const failed = failure(await ask());
      assert.equal(failed.code, code);
      assert.equal(failed.status, status);
      assert.ok(failed.message.includes(message));
    });
  }

  it('M16.7 Retry-After comes as seconds, as a date or in ms, and nonsense is none', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const asked = (value: string, name = 'retry-after'): number | undefined => retryAfterMs(new Headers({ [name]: value }), now);
    assert.deepEqual(['0', '120', '1.5', ' 7 '].map((value) => asked(value)), [0, 120_000, 1500, 7000]);
    assert.equal(asked('Thu, 01 Jan 2026 00:01:00 GMT'), 60_000);
    assert.equal(asked('Wed, 31 Dec 2025 23:00:00 GMT'), 0);
    assert.equal(asked('250', 'retry-after-ms'), 250);
    for (const value of ['', 'soon', '-1', 'Infinity', '1e300', '99999999999', 'Fri, 01 Jan 2100 00:00:00 GMT']) assert.equal(asked(value), undefined, value);
  });

  it('M16.7 Retry-After is told in ms', async () => {
    await open([{ error: { status: 429, retryAfter: 2 } }]);
    assert.equal(failure(await ask()).providerRetryAfterMs, 2000);
  });

  it('M16.7 no key is MISSING_CREDENTIAL and no request; an endpoint that needs none is asked without one', async () => {
    await open([], {}, '');
    assert.equal(failure(await ask()).code, 'MISSING_CREDENTIAL');
    assert.equal(server.requests.length, 0);
    await server.close();
    await open([{ text: 'local' }], { needsKey: false, dialect: 'generic' }, '');
    assert.deepEqual(finish(await ask()).reason, { kind: 'stop' });
    assert.equal(server.requests[0]!.headers.authorization, undefined);
    assert.equal(server.requests[0]!.body.thinking, undefined);
  });

  it('L3 a key that the server echoes is not in the error', async () => {
    await open([{ error: { status: 401, message: 'Incorrect key: sk-test-1234' } }]);
    assert.ok(!failure(await ask()).message.includes('sk-test-1234'));
  });

  it('M16.7 an error frame in mid-stream and a dropped connection end in one failure', async () => {
    await open([{ raw: [sse(delta({ content: 'x' }), { error: { message: 'overloaded', code: 503 } })] }, { text: 'abcdef', chunks: 1, dropAt: 2 }]);
    assert.equal(failure(await ask()).code, 'SERVER');
    assert.equal(failure(await ask()).code, 'TRANSPORT');
  });

  it('TRANSPORT a server that is not there is named', async () => {
    await open([], { baseURL: 'http://127.0.0.1:9/v1' });
    const failed = failure(await ask());
    assert.equal(failed.code, 'TRANSPORT');
    assert.ok(failed.message.includes('http://127.0.0.1:9'), failed.message);
  });

  it('TIMEOUT a stream that falls silent', async () => {
    await open([{ text: 'abc', chunks: 1, holdAt: 1 }], { idleTimeoutMs: 60 });
    assert.equal(failure(await ask()).code, 'TIMEOUT');
  });

  it('D7 abort in mid-stream ends in one aborted finish and closes the connection', async () => {
    await open([{ text: 'abc', chunks: 1, holdAt: 1 }]);
    const stop = new AbortController();
    const chunks = await ask({ signal: stop.signal }, (chunk) => { if (chunk.type === 'text-delta') stop.abort(); });
    assert.equal(finish(chunks).reason.kind, 'aborted');
    assert.equal(failure(chunks).code, 'ABORTED');
    while (!server.requests[0]!.aborted) await new Promise((resolve) => setImmediate(resolve));
  });

  it('an aborted signal sends nothing', async () => {
    await open([]);
    assert.equal(failure(await ask({ signal: AbortSignal.abort() })).code, 'ABORTED');
    assert.equal(server.requests.length, 0);
  });

  it('lists the models of an endpoint that is not ours', async () => {
    await open([], { models: undefined, dialect: 'generic' });
    assert.deepEqual(await ctx.llm.listModels('deepseek-official'), [{ provider: 'deepseek-official', id: 'local-model', name: 'local-model' }]);
  });

  describe('H3 tool calls written as text', () => {
    const written = '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="read">\n<｜DSML｜parameter name="path" string="true">a.txt</｜DSML｜parameter>\n<｜DSML｜parameter name="lines" string="false">[1,2]</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>';
    const forms: [string, string, unknown][] = [
      ['DSML', written, { path: 'a.txt', lines: [1, 2] }],
      ['function_calls', '<function_calls>\n<invoke name="read">\n<parameter name="path">a.txt</parameter>\n</invoke>\n</function_calls>', { path: 'a.txt' }],
      ['tool_call JSON', '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}}\n</tool_call>', { path: 'a.txt' }],
      ['begin/sep tokens', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path": "a.txt"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>', { path: 'a.txt' }],
    ];
    for (const [name, text, expected] of forms) {
      it(`${name}, split anywhere`, async () => {
        await open([]);
        for (const chunks of [1, 2, 7, 1000]) {
          server.push({ text: `Let me look.\n\n${text}`, chunks });
          const answer = await ask({ tools: [tool('read')] });
          assert.deepEqual(finish(answer).reason, { kind: 'tool-calls' });
          const [said, call] = blocks(answer) as [{ text: string }, { name: string; arguments: string }];
          assert.equal(said.text, 'Let me look.\n\n');
          assert.equal(call.name, 'read');
          assert.deepEqual(JSON.parse(call.arguments), expected);
        }
      });
    }

    it('what can\'t be understood, is cut, or names an unknown tool is shown with a notice that nothing ran', async () => {
      await open([]);
      for (const text of [written.slice(0, -60), written.replace('"read"', '"rm"'), `${written}\nand more prose`]) {
        server.push({ text, chunks: 5 });
        const answer = await ask({ tools: [tool('read')] });
        assert.deepEqual(finish(answer).reason, { kind: 'stop' });
        const [said] = blocks(answer) as [{ text: string }];
        assert.ok(said.text.startsWith(text) && said.text.endsWith('Nothing was run.]'), said.text);
      }
    });

    it('an example in a code fence, in backticks or in prose is text', async () => {
      await open([]);
      for (const text of [`Like so:\n\`\`\`xml\n${written}\n\`\`\`\n`, 'Write `<｜DSML｜tool_calls>` then.', 'a <tool_call> in a line', 'a < b']) {
        server.push({ text, chunks: 3 });
        assert.deepEqual(blocks(await ask({ tools: [tool('read')] })), [{ type: 'text', text }]);
      }
    });

    it('text is never lost or changed, whatever it is', async () => {
      await open([]);
      const part = fc.constantFrom('<', '<｜', 'DSML', '<tool_call', '`', '\n', '```', 'word ', '｜', '<function_calls');
      await fc.assert(fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (parts, chunks) => {
        const text = parts.join('');
        server.push({ text, chunks });
        const [said] = blocks(await ask({ tools: [tool('read')] })) as [{ text: string }];
        assert.ok(said.text.startsWith(text), JSON.stringify([text, said.text]));
      }), { numRuns: 40 });
    });
  });

  it('M1 a long or odd tool name has a stable short one on the wire and comes back whole', async () => {
    const long = `mcp.server/${'x'.repeat(80)}`;
    const wire = wireName(long);
    assert.ok(wire.length <= 64 && /^[A-Za-z0-9_-]+$/.test(wire));
    assert.notEqual(wire, wireName(`${long}y`));
    await open([{ toolCalls: [{ name: wire, arguments: {} }] }]);
    const chunks = await ask({ tools: [tool(long)] });
    assert.equal(server.requests[0]!.body.tools![0]!.function.name, wire);
    assert.equal((blocks(chunks)[0] as { name: string }).name, long);
  });

  it('M3 one bad tool is dropped with a warning, the others are offered', async () => {
    await open([]);
    const warned: string[] = [];
    const bad: ToolSchema = { name: 'bad', description: '', parameters: [] as unknown as Record<string, unknown> };
    const request = await buildRequest(
      deepseekEndpoint(), { provider: 'p', id: 'm', name: 'm' },
      { provider: 'p', model: 'm', messages: [], tools: [bad, tool('good')] }, { warn: (message) => warned.push(message) },
    );
    assert.deepEqual(request.tools?.map((entry) => entry.function.name), ['good']);
    assert.match(warned.join(), /"bad"/);
  });
});
