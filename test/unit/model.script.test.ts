import assert from 'node:assert/strict';
import { createUserMessage } from '../../src/contract/message.ts';
import type { StreamChunk } from '../../src/contract/event.ts';
import { jsonErrorPosition } from '../../src/model/json-position.ts';
import { parseScript, ScriptError } from '../../src/model/script.ts';
import { ScriptedAdapter } from '../../src/model/scripted.ts';

const request = { provider: 'scripted', model: 'script', messages: [createUserMessage({ content: [{ type: 'text', text: 'hi' }], source: { kind: 'user' } })] };

async function play(adapter: ScriptedAdapter): Promise<{ chunks: StreamChunk[]; error: unknown }> {
  const chunks: StreamChunk[] = [];
  try {
    for await (const chunk of adapter.stream(request)) chunks.push(chunk);
    return { chunks, error: undefined };
  } catch (error) {
    return { chunks, error };
  }
}

const entry = (model: unknown[]): ScriptedAdapter => new ScriptedAdapter(parseScript(JSON.stringify({ user: ['x'], model }), 's.json'));

describe('script', () => {
  const broken: [string, string, RegExp][] = [
    ['text that is no JSON', '{\n  "user": ["a"],\n  "model": [}\n', /^s\.json:3:13: not JSON/],
    ['an end too early', '{"user": ["a"', /^s\.json:1:14: not JSON/],
    ['nothing', '', /^s\.json:1:1: not JSON/],
    ['no object', '[]', /^s\.json: expected an object, got \[\]/],
    ['no model', '{"user":["a"]}', /model: expected a list, got nothing/],
    ['no user message', '{"user":[],"model":[]}', /user: expected at least one message/],
    ['a user message that is no text', '{"user":[1],"model":[]}', /user\[0\]: expected a string, got 1/],
    ['a typing slip', '{"user":["a"],"model":[{"txt":"x"}]}', /model\[0\]: unknown key "txt", expected .*"text"/],
    ['an empty entry', '{"user":["a"],"model":[{}]}', /model\[0\]: expected one of "text"/],
    ['a call without a name', '{"user":["a"],"model":[{"toolCalls":[{}]}]}', /model\[0\]\.toolCalls\[0\]\.name: expected a string/],
    ['arguments of the wrong kind', '{"user":["a"],"model":[{"toolCalls":[{"name":"x","arguments":[1]}]}]}', /arguments: expected an object, or a string/],
    ['chunks 0', '{"user":["a"],"model":[{"text":"x","chunks":0}]}', /chunks: expected a whole number from 1, got 0/],
    ['an error without a status', '{"user":["a"],"model":[{"error":{}}]}', /error\.status: expected a whole number from 400/],
  ];
  for (const [name, text, message] of broken) {
    it(`a broken script gives one line: ${name}`, () => {
      assert.throws(() => parseScript(text, 's.json'), (error: unknown) => {
        assert.ok(error instanceof ScriptError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes('\n'));
        return true;
      });
    });
  }

  it('places JSON errors where JSON.parse gives none', () => {
    for (const text of ['{}', '[1, -2.5e3, "a\\u00e9\\n", null, true]', ' {"a": {"b": []}} ']) assert.equal(jsonErrorPosition(text), undefined);
    assert.deepEqual(jsonErrorPosition('{"a":1,}'), { line: 1, column: 8 });
    assert.deepEqual(jsonErrorPosition('[1\n 2]'), { line: 2, column: 2 });
    assert.deepEqual(jsonErrorPosition('{} x'), { line: 1, column: 4 });
    // in a string: the very character
    assert.deepEqual(jsonErrorPosition('{"a": "b\nc"}'), { line: 1, column: 9 });
    assert.deepEqual(jsonErrorPosition('{"a": "b\\qc"}'), { line: 1, column: 9 });
    assert.deepEqual(jsonErrorPosition('{"a": "b\\u12"}'), { line: 1, column: 9 });
    assert.deepEqual(jsonErrorPosition('["abc'), { line: 1, column: 6 });
    assert.deepEqual(jsonErrorPosition('["abc\\'), { line: 1, column: 6 });
    assert.deepEqual(jsonErrorPosition(`["${'x'.repeat(20_000_000)}`), { line: 1, column: 20_000_003 });
  });

  it('one entry answers one request, chunked by characters', async () => {
    const adapter = entry([{ reasoning: 'hm', text: 'a🎉b', chunks: 1, toolCalls: [{ name: 'read', arguments: '{"x' }, { name: 'read' }] }, { text: 'done' }]);
    const { chunks, error } = await play(adapter);
    assert.equal(error, undefined);
    assert.deepEqual(chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.text] : [])), ['a', '🎉', 'b']);
    assert.deepEqual(chunks.flatMap((chunk) => (chunk.type === 'block-end' && chunk.block.type === 'tool-call' ? [chunk.block.arguments] : [])), ['{"x', '{}']);
    assert.deepEqual(chunks.at(-1), { type: 'finish', reason: { kind: 'tool-calls' } });
    assert.deepEqual((await play(adapter)).chunks.at(-1), { type: 'finish', reason: { kind: 'stop' } });
    assert.match(String((await play(adapter)).error), /2 model entries, and this is request 3/);
  });

  it('cutAt breaks off, error fails with its status and Retry-After', async () => {
    const adapter = entry([{ text: 'abcdef', chunks: 2, cutAt: 2 }, { text: 'ab', chunks: 1, cutAt: 2 }, { error: { status: 429, retryAfter: 2 } }]);
    const cut = await play(adapter);
    assert.equal((cut.error as { code: string }).code, 'STREAM_CLOSED');
    assert.equal(cut.chunks.filter((chunk) => chunk.type === 'text-delta').length, 2);
    assert.equal(((await play(adapter)).error as { code: string }).code, 'STREAM_CLOSED', 'also after the last chunk');
    const limited = (await play(adapter)).error as { failure: unknown };
    assert.deepEqual(limited.failure, { message: 'scripted failure 429', code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 2000 });
  });
});
