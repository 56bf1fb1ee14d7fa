import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Agent } from '../../src/contract/agent.ts';
import type { ToolExecutionResult } from '../../src/contract/tool.ts';
import { startHeadless } from '../../src/headless/compose.ts';
import type { PresetId } from '../../src/policy/presets.ts';
import type { Runtime } from '../../src/runtime.ts';

/** Every tool here is the real one, outside the workspace: each call would ask. */
describe('nobody is asked for what can\'t succeed', function () {
  this.timeout(30_000);
  let base: string;
  let out: string;
  let runtime: Runtime;
  let agent: Agent;
  let asked: string[];
  let calls = 0;

  beforeEach(async () => {
    base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'dsh-preflight-')));
    out = path.join(base, 'out');
    await mkdir(path.join(base, 'ws'));
    await mkdir(out);
    await writeFile(path.join(out, 'a.txt'), 'one\ntwo\n');
    await writeFile(path.join(out, 'b.bin'), 'a\0b');
    await writeFile(path.join(out, 'p.png'), 'no picture');
  });
  afterEach(async () => {
    await runtime.dispose();
    await rm(base, { recursive: true, force: true });
  });

  async function open(preset: PresetId = 'auto-edit'): Promise<void> {
    const workspace = path.join(base, 'ws');
    runtime = await startHeadless({ workspace, sessionsDir: path.join(base, 'sessions'), permissions: { defaultPreset: () => preset } });
    asked = [];
    runtime.ctx.on('approval/request', async (request) => {
      asked.push(request.reason ?? '');
      return 'allowed-once';
    });
    ({ agent } = await runtime.ctx.agents.create({ meta: { cwd: workspace } }));
    agent.session.append('turn/start', { turn: 1 });
  }
  async function call(name: string, args: unknown): Promise<{ text: string; result: ToolExecutionResult }> {
    asked = [];
    const result = await runtime.ctx.tools.execute({ callId: `c${calls += 1}`, name, arguments: args as object, agent, signal: new AbortController().signal });
    return { result, text: result.content.map((block) => (block.type === 'text' ? block.text : '')).join('') };
  }
  async function fails(name: string, args: unknown, message: RegExp): Promise<void> {
    const { result, text } = await call(name, args);
    assert.deepEqual(asked, [], text);
    assert.equal(result.isError, true);
    assert.match(text, message);
  }
  async function asksAndRuns(name: string, args: unknown): Promise<string> {
    const { result, text } = await call(name, args);
    assert.equal(asked.length, 1, text);
    assert.equal(result.isError, false, text);
    return text;
  }

  it('bad arguments, of any tool', async () => {
    await open('ask');
    await fails('bash', { command: 'npm test' }, /^Error: invalid arguments: missing required property "description"$/);
    await fails('bash', { command: '', description: 'x' }, /^Error: invalid command: expected a non-empty string$/);
    await fails('bash', { command: 'npm test', description: 'x', timeoutMs: -1 }, /^Error: invalid timeoutMs/);
    await fails('bash', { command: 'a\0b', description: 'x' }, /^Error: invalid command: it contains a NUL character$/);
    await fails('bash', '{"command": ', /^Error: invalid arguments: "arguments" must be an object\nThe arguments are not JSON/);
    await fails('read', { file_path: path.join(out, 'a.txt'), offset: 0 }, /^Error: offset must be a positive integer$/);
    await fails('write', { file_path: path.join(out, 'n.txt') }, /^Error: invalid arguments: missing required property "content"$/);
    await fails('pwsh', { command: 'ls', description: 'x' }, /^Error: unknown tool "pwsh"/);
    await fails('web_search', { queries: [] }, /^Error: queries must contain at least one query$/);
    await fails('web_search', { queries: ['a'] }, /no web search provider is set up/);
    await fails('web_fetch', { url: 'example.org' }, /is not a URL/);
    await fails('web_fetch', { url: 'http://[::1]/' }, /this machine or a private network/);
    await fails('web_fetch', { url: 'http://2130706433/' }, /127\.0\.0\.1/);
  });

  it('files that are absent, no files, no text', async () => {
    await open();
    await fails('read', { file_path: path.join(out, 'none.txt') }, /^Error: cannot read ".*none\.txt": not found$/);
    await fails('read', { file_path: out }, /not a regular file$/);
    await fails('read', { file_path: path.join(out, 'b.bin') }, /^Error: cannot read ".*b\.bin": binary file$/);
    await fails('read_image', { file_path: path.join(out, 'a.txt') }, /^Error: cannot read ".*a\.txt": not a png, jpg, jpeg, webp or gif file$/);
    await fails('read_image', { file_path: path.join(out, 'p.png') }, /needs a model that takes pictures/);
    await fails('bash', { command: 'npm test', description: 'x', workdir: path.join(out, 'none') }, /no such directory/);
    await fails('edit', { file_path: path.join(out, 'none.txt'), old_string: 'a', new_string: 'b' }, /edit requires reading|not found/);
    assert.match(await asksAndRuns('read', { file_path: path.join(out, 'a.txt') }), /1: one/);
  });

  it('edits that can\'t be made: not read, not found, ambiguous, no difference', async () => {
    await open();
    const file = path.join(out, 'a.txt');
    await fails('edit', { file_path: file, old_string: 'one', new_string: 'ONE' }, /requires reading/);
    await fails('write', { file_path: file, content: 'x' }, /without reading it first/);
    await asksAndRuns('read', { file_path: file });
    await fails('edit', { file_path: file, old_string: 'three', new_string: 'x' }, /^Error: old_string was not found/);
    await fails('edit', { file_path: file, old_string: 'o', new_string: 'x' }, /matched 2 times/);
    await fails('edit', { file_path: file, old_string: 'one', new_string: 'one' }, /must differ$/);
    await fails('write', { file_path: path.join(file, 'below.txt'), content: 'x' }, /a parent of this path is a file/);
    await asksAndRuns('edit', { file_path: file, old_string: 'one', new_string: 'ONE' });
    assert.equal(await readFile(file, 'utf8'), 'ONE\ntwo\n');
  });

  it('G12.3 what can succeed asks once, with its reason as text and data, and writes nothing when it is rejected', async () => {
    await open();
    const file = path.join(out, 'n.txt');
    await asksAndRuns('write', { file_path: file, content: 'x\n' });
    runtime.ctx.on('approval/request', async () => 'rejected', { prepend: true });
    const { text } = await call('write', { file_path: file, content: 'y\n' });
    assert.match(text, /^Error: the user rejected tool "write": ".*n\.txt" is outside the workspace: /);
    assert.equal(await readFile(file, 'utf8'), 'x\n');
    const [first] = agent.session.events.filter((event) => event.type === 'approval/asked');
    assert.deepEqual(first?.data.why, { code: 'outside', given: file, realPath: file });
  });

  it('a definition that stands in front of ours is not spoken for', async () => {
    await open();
    let ran = 0;
    agent.ctx.tools.register({
      name: 'write', description: 'another', parameters: { type: 'object' }, output: { schema: { type: 'null' }, render: () => [] },
      execute: async () => { ran += 1; return null; },
    });
    runtime.ctx.on('approval/request', async () => 'rejected', { prepend: true });
    const { text } = await call('write', { file_path: path.join(out, 'n.txt'), content: 7 });
    assert.match(text, /^Error: the user rejected tool "write"$/);
    assert.equal(ran, 0);
  });
});
