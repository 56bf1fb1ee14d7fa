import assert from 'node:assert/strict';
import type { ToolSchema } from '../../src/contract/content.ts';
import { createAssistantMessage, createToolResultMessage, createUserMessage, type Message } from '../../src/contract/message.ts';
import type { StreamChunk } from '../../src/contract/event.ts';
import { OfflineAdapter } from '../../src/model/offline/adapter.ts';
import { planReply } from '../../src/model/offline/plan.ts';

function tool(name: string, description: string, properties: Record<string, unknown>, required: string[] = []): ToolSchema {
  return { name, description, parameters: { type: 'object', properties, required } };
}
const string = (description: string): unknown => ({ type: 'string', description });

const TOOLS: ToolSchema[] = [
  tool('greet', 'Greet somebody by name.', { name: string('Who to greet') }, ['name']),
  tool('read', 'Reads a text file with numbered lines.', { file_path: string('Path of the file'), offset: { type: 'number' }, limit: { type: 'number' } }, ['file_path']),
  tool('write', 'Creates or replaces a text file.', { file_path: string('Path'), content: string('The new text') }, ['file_path', 'content']),
  tool('edit', 'Replaces one piece of text in a file.', {
    file_path: string('Path'), old_string: string('Text to replace'), new_string: string('Its replacement'), replace_all: { type: 'boolean' },
  }, ['file_path', 'old_string', 'new_string']),
  tool('bash', 'Runs a shell command.', {
    command: string('The command'), description: string('Shown to the user'), timeoutMs: { type: 'number' }, workdir: string('Where'), run_in_background: { type: 'boolean' },
  }, ['command', 'description']),
  tool('grep', 'Searches file contents with a regular expression.', { pattern: string('Expression'), path: string('File or folder'), include: string('Glob') }, ['pattern']),
  tool('glob', 'Finds files by name pattern.', { pattern: string('Glob'), path: string('Folder') }, ['pattern']),
  tool('web_fetch', 'Downloads a web page.', { url: string('Address') }, ['url']),
  tool('set_light', 'Switches a lamp.', { room: string('Which room'), state: { type: 'string', enum: ['on', 'off'] }, level: { type: 'integer' } }, ['room', 'state', 'level']),
  tool('sum', 'Adds numbers.', { numbers: { type: 'array', items: { type: 'number' } } }, ['numbers']),
  tool('job_list', 'Lists background jobs.', {}),
];

const said = (text: string): Message => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } });
const replied = (text: string): Message => createAssistantMessage([{ type: 'text', text }], { provider: 'offline', model: 'matcher' });

function call(text: string): [string, unknown] {
  const plan = planReply([said(text)], TOOLS);
  assert.equal(plan.kind, 'call', `${text} → ${JSON.stringify(plan)}`);
  assert.ok(plan.kind === 'call');
  return [plan.tool.name, plan.args];
}

async function answer(messages: Message[], tools = TOOLS): Promise<{ text: string; chunks: StreamChunk[] }> {
  const chunks: StreamChunk[] = [];
  for await (const chunk of new OfflineAdapter().stream({ provider: 'offline', model: 'matcher', messages, tools })) chunks.push(chunk);
  return { text: chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.text : '')).join(''), chunks };
}

describe('offline model', () => {
  const sentences: [string, string, unknown][] = [
    ['Use the greet tool to greet Ada.', 'greet', { name: 'Ada' }],
    ['use greet with name=Ada', 'greet', { name: 'Ada' }],
    ['Greet Ada Lovelace', 'greet', { name: 'Ada Lovelace' }],
    ['Please use the `greet` tool for "Grace Hopper".', 'greet', { name: 'Grace Hopper' }],
    ['Say hello to Ada with the greet tool', 'greet', { name: 'Ada' }],
    ['call greet {"name":"Ada"}', 'greet', { name: 'Ada' }],
    ['Read hello.txt', 'read', { file_path: 'hello.txt' }],
    ['Can you read src/a b/../main.ts, please?', 'read', { file_path: 'src/a' }],
    ['read the file "notes for me.md"', 'read', { file_path: 'notes for me.md' }],
    ['Use the read tool on README.md with limit 10.', 'read', { file_path: 'README.md', limit: 10 }],
    ['Use grep to find TODO in src', 'grep', { pattern: 'TODO', path: 'src' }],
    ['grep "a.b" in the src folder', 'grep', { pattern: 'a.b', path: 'src' }],
    ['Search file contents for needle', 'grep', { pattern: 'needle' }],
    ['Use the edit tool on a.txt to replace "foo" with "bar"', 'edit', { file_path: 'a.txt', old_string: 'foo', new_string: 'bar' }],
    ['edit a.txt: replace all "x.y" by "z"', 'edit', { file_path: 'a.txt', old_string: 'x.y', new_string: 'z', replace_all: true }],
    ['Write "hi there" to out/n.txt', 'write', { file_path: 'out/n.txt', content: 'hi there' }],
    ['Use bash to run `ls -la src`', 'bash', { command: 'ls -la src', description: 'Use bash to run `ls -la src`' }],
    ['Run this with the bash tool: exit 7', 'bash', { command: 'exit 7', description: 'Run this with the bash tool: exit 7' }],
    ['Fetch https://example.org/a?b=c. with web_fetch', 'web_fetch', { url: 'https://example.org/a?b=c' }],
    ['Use set_light for room=kitchen, off, level 3', 'set_light', { room: 'kitchen', state: 'off', level: 3 }],
    ['Use sum with numbers=[1,2,3]', 'sum', { numbers: [1, 2, 3] }],
    ['Use the sum tool on 1, 2 and 4', 'sum', { numbers: [1, 2, 4] }],
    ['Use the job list tool', 'job_list', {}],
  ];
  for (const [text, name, args] of sentences) {
    it(`understands: ${text}`, () => assert.deepEqual(call(text), [name, args]));
  }

  const commands: [string, string, unknown][] = [
    ['/greet Ada', 'greet', { name: 'Ada' }],
    ['/GREET Ada Lovelace', 'greet', { name: 'Ada Lovelace' }],
    ['/grep TODO src', 'grep', { pattern: 'TODO', path: 'src' }],
    ['/grep "two words" path=src --include "*.ts"', 'grep', { pattern: 'two words', path: 'src', include: '*.ts' }],
    ['/bash exit 7', 'bash', { command: 'exit 7', description: 'exit 7' }],
    ['/bash FOO=1 sh -c "echo \'a b\'"', 'bash', { command: 'FOO=1 sh -c "echo \'a b\'"', description: 'FOO=1 sh -c "echo \'a b\'"' }],
    ['/bash timeoutMs=500 sleep 1', 'bash', { timeoutMs: 500, command: 'sleep 1', description: 'timeoutMs=500 sleep 1' }],
    ['/edit a.txt foo bar --replace-all', 'edit', { file_path: 'a.txt', old_string: 'foo', new_string: 'bar', replace_all: true }],
    ['/read {"file_path":"a.txt","limit":3}', 'read', { file_path: 'a.txt', limit: 3 }],
    ['/read a.txt 3 9', 'read', { file_path: 'a.txt', offset: 3, limit: 9 }],
    ['/sum 1 2 3', 'sum', { numbers: [1, 2, 3] }],
    ['/set_light kitchen on 2', 'set_light', { room: 'kitchen', state: 'on', level: 2 }],
    ['/job_list', 'job_list', {}],
  ];
  for (const [text, name, args] of commands) {
    it(`takes the command: ${text}`, () => assert.deepEqual(call(text), [name, args]));
  }

  it('is a real adapter: streams words, one tool call, usage and finish', async () => {
    const { text, chunks } = await answer([said('Use the greet tool to greet Ada.')]);
    assert.match(text, /No language model is connected/);
    assert.ok(chunks.filter((chunk) => chunk.type === 'text-delta').length > 3);
    const block = chunks.find((chunk) => chunk.type === 'block-end' && chunk.block.type === 'tool-call');
    assert.ok(block?.type === 'block-end' && block.block.type === 'tool-call');
    assert.deepEqual(JSON.parse(block.block.arguments), { name: 'Ada' });
    assert.deepEqual(chunks.at(-1), { type: 'finish', reason: { kind: 'tool-calls' } });
  });

  it('reports a result, and an error, and stops', async () => {
    const turn = [said('/greet Ada'), createAssistantMessage([{ type: 'tool-call', id: 'c', name: 'greet', arguments: '{}' }], { provider: 'offline', model: 'matcher' })];
    const good = await answer([...turn, createToolResultMessage('c', [{ type: 'text', text: 'Hello, Ada!' }], false)]);
    assert.match(good.text, /Hello, Ada!/);
    assert.deepEqual(good.chunks.at(-1), { type: 'finish', reason: { kind: 'stop' } });
    const bad = await answer([...turn, createToolResultMessage('c', [{ type: 'text', text: 'Error: no such person' }], true)]);
    assert.match(bad.text, /`greet` tool failed: no such person/);
  });

  it('a plugin\'s notice after the results does not hide them, a new message does', () => {
    const turn = [said('/greet Ada'), createAssistantMessage([{ type: 'tool-call', id: 'c', name: 'greet', arguments: '{}' }], { provider: 'offline', model: 'matcher' }),
      createToolResultMessage('c', [{ type: 'text', text: 'Hello' }], false)];
    const notice = createUserMessage({ content: [{ type: 'text', text: 'note' }], source: { kind: 'plugin', plugin: 'x' } });
    assert.equal(planReply([...turn, notice], TOOLS).kind, 'report');
    assert.equal(planReply([...turn, said('/greet Bob')], TOOLS).kind, 'call');
  });

  it('asks for what is missing and takes the next message as the answer, several times', async () => {
    const first = await answer([said('/set_light kitchen')]);
    assert.match(first.text, /^The `set_light` tool needs `state` \(and then `level`\)/);
    const second = await answer([said('/set_light kitchen'), replied(first.text), said('off')]);
    assert.match(second.text, /^The `set_light` tool needs `level`/);
    const talk = [said('/set_light kitchen'), replied(first.text), said('off'), replied(second.text)];
    const plan = planReply([...talk, said('3')], TOOLS);
    assert.ok(plan.kind === 'call');
    assert.deepEqual(plan.args, { room: 'kitchen', state: 'off', level: 3 });
    assert.equal(planReply([...talk, said('lots')], TOOLS).kind, 'problem');
    assert.equal(planReply([...talk, said('/greet Ada')], TOOLS).kind, 'call', 'a new command leaves the question');
  });

  it('says plainly what it is and lists the tools when nothing fits', async () => {
    const { text, chunks } = await answer([said('What is the meaning of life?')]);
    assert.match(text, /no language model/i);
    assert.match(text, /`\/greet <name>`/);
    assert.deepEqual(chunks.at(-1), { type: 'finish', reason: { kind: 'stop' } });
    assert.match((await answer([said('/nope x')])).text, /no tool `nope`/);
    assert.match((await answer([said('hi')], [])).text, /No tools are loaded/);
  });

  it('explains input that can\'t be right', async () => {
    assert.match((await answer([said('/read {"file_path":')])).text, /not a JSON object/);
    assert.match((await answer([said('/set_light kitchen maybe 2')])).text, /"maybe" can't be `state`, which is one of "on", "off"/);
  });

  it('knows no tool by heart: a tool it has never seen is used by its schema', () => {
    const odd = tool('frobnicate', 'Frobnicates a widget.', { widget: string('Its name'), times: { type: 'integer' } }, ['widget', 'times']);
    const plan = planReply([said('Use frobnicate on widget "W-7" 3 times')], [...TOOLS, odd]);
    assert.ok(plan.kind === 'call', JSON.stringify(plan));
    assert.deepEqual(plan.args, { widget: 'W-7', times: 3 });
  });

  it('passes on what a plugin told while nobody spoke, and runs nothing again', () => {
    const notice = createUserMessage({ content: [{ type: 'text', text: 'background job bash-1 finished' }], source: { kind: 'plugin', plugin: 'tool-jobs', form: 'notice', summary: 'over' } });
    const before = [said('/grep TODO'), replied('The `grep` tool answered: none')];
    assert.deepEqual(planReply([...before, notice], TOOLS), { kind: 'told', texts: ['background job bash-1 finished'] });
    assert.equal(planReply([notice, said('/job_list')], TOOLS).kind, 'call');
    assert.equal(planReply([...before, notice, said('/job_list')], TOOLS).kind, 'call');
  });
});
