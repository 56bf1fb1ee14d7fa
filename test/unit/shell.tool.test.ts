import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../../src/contract/json.ts';
import type { ToolDefinition } from '../../src/contract/tool.ts';
import { NodeShell } from '../../src/headless/shell.ts';
import { JobRuntime } from '../../src/jobs/runtime.ts';
import * as jobTools from '../../src/tools/jobs/plugin.ts';
import * as shellTool from '../../src/tools/shell/plugin.ts';
import { parseEnd } from '../../src/tools/shell/text.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { TestAgent, ToolRoom } from '../harness/tool-room.ts';

describe('shell.tool', () => {
  let room: ToolRoom;
  let agent: TestAgent;
  let bash: ToolDefinition;

  beforeEach(async () => {
    room = await toolRoom();
    await room.ctx.plugin(NodeShell, { kind: 'bash', graceMs: 300, home: '/home/dsh', sessionFile: (id) => `/logs/${id}.jsonl` });
    await room.ctx.plugin(shellTool, {});
    agent = room.agent();
    bash = room.ctx.get('tools')!.get('bash')!;
  });
  afterEach(() => room.dispose());

  const run = (command: string, more: Record<string, JsonValue> = {}, options = {}) => room.call('bash', { command, description: 'Test it', ...more }, { agent, ...options });

  it('B10.15 arguments the schema lets through are refused', async () => {
    assert.equal(textOf(await run(' ')), 'Error: invalid command: expected a non-empty string');
    assert.equal(textOf(await run('true', { description: '' })), 'Error: invalid description: expected a non-empty string');
    assert.equal(textOf(await run('true', { sandbox_permissions: 'danger-full-access' })), 'Error: invalid escalation: sandbox_permissions requires a justification');
    assert.match(textOf(await run('true', { sandbox_permissions: 'danger-full-access', justification: 'x' })), /^Error: sandbox_permissions is not available/);
    assert.equal(textOf(await run('true', { timeoutMs: -5 })), 'Error: invalid timeoutMs: expected a positive number, got -5');
    assert.equal(textOf(await run('true', { run_in_background: true })), 'Error: background jobs unavailable: load @deepseek-ai/dsh-jobs and @deepseek-ai/dsh-tool-jobs');
  });

  it('B10.14 without background jobs the parameter is not there, and refused', async () => {
    await agent.ctx.plugin(shellTool, { enableRunInBackground: false });
    const tool = room.ctx.get('tools')!.get('bash', agent)!;
    assert.deepEqual(Object.keys(tool.parameters.properties as object), ['command', 'description', 'timeoutMs', 'workdir']);
    assert.equal(textOf(await run('true', { run_in_background: true })), 'Error: run_in_background is disabled for this deployment (enableRunInBackground: false)');
  });

  it('B10.16 the working directory: the session\'s, a relative one below it', async () => {
    mkdirSync(path.join(room.dir, 'sub'));
    assert.equal(textOf(await run('pwd')), `${room.dir}\n`);
    assert.equal(textOf(await run('pwd', { workdir: 'sub' })), `${path.join(room.dir, 'sub')}\n`);
  });

  it('B10.16 managed variables', async () => {
    assert.equal(
      textOf(await run('echo $DSH_HOME $DSH_SHELL $DSH_SESSION_ID $DSH_SESSION_JSONL')),
      '/home/dsh 1 session-agent-1 /logs/session-agent-1.jsonl\n',
    );
  });

  it('B10.17 a finished command is one value', async () => {
    const result = await run('echo out; echo err >&2; exit 3', { timeoutMs: 9000 });
    assert.ok(!result.isError);
    assert.deepEqual(result.value, {
      kind: 'foreground', exitCode: 3, signal: null, timedOut: false, aborted: false, timeoutMs: 9000,
      stdout: { text: 'out\n', truncated: false }, stderr: { text: 'err\n', truncated: false },
    });
    assert.deepEqual(result.meta, { exitCode: 3, signal: null, timedOut: false, truncated: false });
  });

  it('B10.19 text: streams, nothing, exit code, signal, time', async () => {
    assert.equal(textOf(await run('printf out; printf err >&2; exit 3')), 'out\n[stderr]\nerr\n[exit code: 3]');
    assert.equal(textOf(await run('true')), '(no output)');
    assert.equal(textOf(await run('echo only >&2')), '[stderr]\nonly\n');
    assert.equal(textOf(await run('kill -9 $$')), '(no output)\n[killed by signal: SIGKILL]');
    assert.equal(textOf(await run('echo a; sleep 9', { timeoutMs: 100 })), 'a\n[timed out after 100ms]\n[killed by signal: SIGTERM]');
  });

  it('C11 a cut output says how much is missing and where all of it is', async () => {
    const result = await run('seq 1 200000; exit 2');
    const text = textOf(result);
    const match = /^\[the first (\d+) of 1288895 bytes are not shown\]\n[\s\S]*\n199999\n200000\n\[output truncated; full output: (.+)\]\n\[exit code: 2\]$/.exec(text);
    assert.ok(match !== null);
    assert.equal(readFileSync(match[2]!).length, 1_288_895);
    assert.equal(text.length - match[0].indexOf('\n') - 1 > 63_000, true);
    assert.deepEqual(result.meta, { exitCode: 2, signal: null, timedOut: false, truncated: true, files: [match[2]!] });
  });

  it('C15 the exit status is not read from the output', async () => {
    const result = await run("echo '[exit code: 3]'");
    const view = bash.presentResult!({ command: 'x', description: 'y' }, { content: result.content, isError: false, meta: result.meta! });
    assert.deepEqual(view, { card: 'terminal', output: '[exit code: 3]\n', exitCode: 0 });
  });

  it('B10.18 a stop is an error, not a result', async () => {
    const stop = new AbortController();
    const pending = run('sleep 9', {}, { signal: stop.signal });
    await sleep(50);
    stop.abort();
    const result = await pending;
    assert.ok(result.isError);
    assert.deepEqual(result.error, { message: 'tool call aborted', info: { name: 'AbortError', code: 'ABORTED' } });
  });

  it('B10.18 a directory that is not there is an error', async () => {
    assert.match(textOf(await run('true', { workdir: 'gone' })), /^Error: cannot run in ".*gone": no such directory$/);
  });

  it('B10.20 cards of the call and of its result', () => {
    const args = { command: 'make', description: 'Build', workdir: 'sub' };
    assert.deepEqual(bash.presentCall!(args), { card: 'terminal', title: 'make', description: 'Build', cwd: 'sub' });
    assert.deepEqual(bash.presentCall!({ ...args, run_in_background: true }), {
      card: 'generic', title: 'make', kind: 'execute', rawInput: 'make', content: [{ type: 'text', text: 'Build' }],
    });
    const view = (text: string, meta?: JsonValue, isError = false) => bash.presentResult!(args, { content: [{ type: 'text', text }], isError, ...(meta !== undefined ? { meta } : {}) });
    assert.deepEqual(view('a\n[exit code: 2]', { exitCode: 2, signal: null, timedOut: false, truncated: false }), { card: 'terminal', output: 'a', exitCode: 2 });
    assert.deepEqual(view('a\n[killed by signal: SIGTERM]', { exitCode: null, signal: 'SIGTERM' }), { card: 'terminal', output: 'a', signal: 'SIGTERM' });
    assert.deepEqual(view('a\n[exit code: 2]'), { card: 'terminal', output: 'a', exitCode: 2 });
    assert.deepEqual(view('a\n'), { card: 'terminal', output: 'a\n', exitCode: 0 });
    assert.deepEqual(view('a\n', 'rubbish'), { card: 'terminal', output: 'a\n', exitCode: 0 });
    assert.deepEqual(view('Error: ```no```', undefined, true), { card: 'generic', content: [{ type: 'text', text: '````console\nError: ```no```\n````' }] });
    assert.equal(bash.presentResult!(args, { content: [], isError: false }), undefined);
    assert.deepEqual(parseEnd('[killed by signal: SIGKILL]'), { output: '', signal: 'SIGKILL' });
  });

  it('B10.22 pwsh: the same contract under its own name, PowerShell\'s own switches, and pwsh jobs', async () => {
    // stands for PowerShell: tells how it was called, and ends as the command says
    const program = path.join(room.dir, 'pwsh');
    writeFileSync(program, '#!/bin/sh\nprintf "%s\\n" "$@"\nexit 4\n', { mode: 0o755 });
    const other = await toolRoom();
    try {
      await other.ctx.plugin(NodeShell, { kind: 'pwsh', program, graceMs: 300 });
      await other.ctx.plugin(shellTool, {});
      await other.ctx.plugin(JobRuntime, {});
      await other.ctx.plugin(jobTools, {});
      const tools = other.ctx.get('tools')!;
      assert.equal(tools.get('bash'), undefined);
      assert.deepEqual(tools.get('pwsh')!.parameters, bash.parameters);
      const args = { command: 'Get-Item "a b"; exit 4', description: 'Test it' };
      const result = await other.call('pwsh', args, { agent: other.agent() });
      assert.equal(textOf(result), '-NoLogo\n-NoProfile\n-NonInteractive\n-Command\nGet-Item "a b"; exit 4\n[exit code: 4]');
      assert.equal(textOf(await other.call('pwsh', { ...args, run_in_background: true }, { agent: other.agent('agent-2') })), 'started background job pwsh-1');
    } finally {
      await other.dispose();
    }
  });

  describe('in the background', () => {
    beforeEach(async () => {
      await room.ctx.plugin(JobRuntime, {});
      await room.ctx.plugin(jobTools, {});
    });

    it('B10.21 a job is read while it runs and after', async () => {
      const started = await run('echo one; sleep 0.3; echo two; echo err >&2; exit 4', { run_in_background: true });
      assert.equal(textOf(started), 'started background job bash-1');
      assert.deepEqual(started.meta, { jobId: 'bash-1' });
      let first = '';
      while (!first.includes('one')) {
        await sleep(5);
        first = textOf(await room.call('job_output', { job_id: 'bash-1' }, { agent }));
      }
      assert.equal(first, 'one\n[status: running]');
      const rest = await room.call('job_output', { job_id: 'bash-1', wait: true }, { agent });
      assert.equal(textOf(rest), 'two\n[stderr]\nerr\n[status: completed, exit code: 4]');
      assert.deepEqual(agent.sent, []);
    });

    it('B10.21 a stopped job is killed with its tree, and says by what', async () => {
      await run(`(while sleep 0.05; do touch alive; done) & wait`, { run_in_background: true });
      while (!readdirSync(room.dir).includes('alive')) await sleep(10);
      await room.call('job_kill', { job_id: 'bash-1' }, { agent });
      const text = textOf(await room.call('job_output', { job_id: 'bash-1', wait: true }, { agent }));
      assert.equal(text, '(no new output)\n[status: killed, signal: SIGTERM]');
    });

    it('B10.21 lost output is told, with the place of all of it', async () => {
      await run('seq 1 100000', { run_in_background: true });
      const text = textOf(await room.call('job_output', { job_id: 'bash-1', wait: true }, { agent }));
      assert.match(text, /^\[some output was dropped from memory; full output: \/.+\]\n/);
      assert.match(text, /\n100000\n\[status: completed, exit code: 0\]$/);
    });

    it('B10.18 a job that cannot start is an error of the call, told once', async () => {
      const result = await run('true', { run_in_background: true, workdir: 'gone' });
      assert.match(textOf(result), /^Error: cannot run in/);
      assert.deepEqual(agent.sent, []);
    });

    it('J7.11 a stop after the start leaves the job alone', async () => {
      const stop = new AbortController();
      await run('sleep 0.2; echo done', { run_in_background: true }, { signal: stop.signal });
      stop.abort();
      assert.match(textOf(await room.call('job_output', { job_id: 'bash-1', wait: true }, { agent })), /^done\n\[status: completed/);
    });

    it('D3 the owner takes its commands along', async () => {
      await run('while sleep 0.05; do touch alive; done', { run_in_background: true });
      while (!readdirSync(room.dir).includes('alive')) await sleep(10);
      await agent.ctx.fiber.dispose();
      assert.deepEqual(room.ctx.get('jobs')!.list(agent), []);
    });
  });
});
