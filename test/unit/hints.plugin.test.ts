import assert from 'node:assert/strict';
import { defineTool } from '../../src/contract/define-tool.ts';
import type { ToolDefinition } from '../../src/contract/tool.ts';
import * as hints from '../../src/tools/hints/plugin.ts';
import { textOf, toolRoom, type ToolRoom } from '../harness/tool-room.ts';

describe('argument hints', () => {
  let room: ToolRoom;
  beforeEach(async () => {
    room = await toolRoom();
    await room.ctx.plugin(hints);
    room.ctx.tools.register(defineTool({
      name: 'go', description: 'd', parameters: { file_path: { type: 'string', required: true }, timeoutMs: { type: 'number' } },
      output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
      execute: async ({ file_path: file }) => {
        if (file === 'bad') throw new Error('no such thing');
        return `went to ${file}`;
      },
    }));
  });
  afterEach(() => room.dispose());

  const fails = async (args: unknown): Promise<string[]> => {
    const result = await room.call('go', args, { agent: room.agent() });
    assert.equal(result.isError, true);
    assert.equal(result.additionalContexts, undefined);
    const [first, ...more] = textOf(result).split('\n');
    assert.equal(first, `Error: ${result.error.message}`, 'the contract\'s own text stays as it is');
    return more;
  };

  it('O15.2 says where malformed JSON breaks, behind the contract\'s text', async () => {
    const result = await room.call('go', '{"file_path": "a", }');
    assert.equal(result.error?.message, 'invalid arguments: "arguments" must be an object');
    assert.deepEqual(await fails('{"file_path": "a", }'), [
      'The arguments are not JSON: they break at line 1, column 20, before "}". Line breaks, quotes and backslashes in a string need a backslash.',
    ]);
    assert.match((await fails('{\n  "file_path": "a\nb"\n}'))[0]!, /break at line 2, column 18, before "\\nb\\"\\n}"/);
    assert.match((await fails('{"file_path": "C:\\dir"}'))[0]!, /break at line 1, column 18, before "\\\\dir/);
  });

  it('O15.6 says that a call was cut off', async () => {
    for (const raw of ['{"file_path": ', '{"file_path": "a"', '{', '{"file_path": "a",\n']) {
      assert.match((await fails(raw))[0]!, /^The arguments are not JSON: they end too early \(line \d+, column \d+\), as if the call had been cut off/, raw);
    }
    for (const raw of ['{"file_path": "abc', '{"file_path": "abc\\', '{"file_path": "abc\\u00', '{"timeoutMs": -', '{"timeoutMs": tru']) {
      assert.match((await fails(raw))[0]!, /end too early/, raw);
    }
  });

  it('H9 says that an object came as a string', async () => {
    assert.deepEqual(await fails('{"file_path": "a"}'), ['The arguments are a string that holds JSON: send the object itself.']);
  });

  it('S1.8 names arguments the tool does not have, at the end of an error', async () => {
    assert.deepEqual(await fails({ path: 'a' }), ['`go` has no parameter "path" (did you mean "file_path"?): what was given for it had no effect. Its parameters are: file_path, timeoutMs.']);
    assert.deepEqual(await fails({ file_path: 'bad', x: 1 }), ['`go` has no parameter "x": what was given for it had no effect. Its parameters are: file_path, timeoutMs.']);
    assert.deepEqual(await fails({ file_path: 'bad' }), [], 'nothing to add');
    assert.match((await fails(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i}`, i]))))[0]!, /"k4", …: what was/);
  });

  it('S1.8 a call that succeeds keeps its result; the model is told once for each name', async () => {
    const agent = room.agent();
    const call = () => room.call('go', { file_path: 'a', timeout: 5 }, { agent });
    const first = await call();
    assert.equal(textOf(first), 'went to a');
    assert.deepEqual(first.additionalContexts?.map(({ content, source }) => [content, source]), [[
      [{ type: 'text', text: '`go` has no parameter "timeout" (did you mean "timeoutMs"?): what was given for it had no effect. Its parameters are: file_path, timeoutMs.' }],
      { kind: 'plugin', plugin: 'argument-hints', form: 'notice', summary: 'go has no parameter "timeout"' },
    ]]);
    assert.equal((await call()).additionalContexts, undefined);
    assert.equal((await room.call('go', { file_path: 'a', other: 5 }, { agent })).additionalContexts?.length, 1);
    assert.equal((await room.call('go', { file_path: 'a', timeout: 5 }, { agent: room.agent('b') })).additionalContexts?.length, 1);
  });

  it('P4.20 a tool that is not there: the one whose name is nearly the same', async () => {
    room.ctx.tools.register(defineTool({ name: 'read_file', description: 'd', parameters: {}, output: { schema: { type: 'null' }, render: () => [] }, execute: async () => null }));
    const hint = async (name: string): Promise<string> => textOf(await room.call(name, {}, { agent: room.agent() }));
    assert.equal(await hint('GO '), 'Error: unknown tool "GO "\nDid you mean `go`?');
    assert.equal(await hint('readFile'), 'Error: unknown tool "readFile"\nDid you mean `read_file`?');
    assert.equal(await hint('Read'), 'Error: unknown tool "Read"\nDid you mean `read_file`?');
    for (const name of ['', '读取', 'nope', '__proto__']) assert.equal(await hint(name), `Error: unknown tool "${name}"`);
  });

  it('S1.28 tools whose own schema may mean to be open are left alone, and so are blocked results', async () => {
    const open: ToolDefinition = {
      name: 'open', description: 'd', parameters: { type: 'object', properties: {}, additionalProperties: { type: 'number' } },
      output: { schema: { type: 'null' }, render: () => [{ type: 'text', text: 'ok' }] }, execute: async () => null,
    };
    room.ctx.tools.register(open);
    assert.equal((await room.call('open', { x: 1 }, { agent: room.agent() })).additionalContexts, undefined);
    room.ctx.on('tools/post-execute', async () => ({ kind: 'block', feedback: [{ type: 'text', text: 'no' }] }));
    assert.equal(textOf(await room.call('go', { path: 'a' }, { agent: room.agent() })), 'no');
  });
});
