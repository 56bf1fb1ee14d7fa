import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@deepseek-ai/cordis';
import { NodeShell, scrubEnvironment } from '../../src/headless/shell.ts';
import type { ShellRequest, ShellResult, ShellService } from '../../src/seams/shell.ts';

/** Ids of processes whose command line has `mark` in it. */
function carrying(mark: string): number[] {
  return readdirSync('/proc').map(Number).filter((pid) => {
    if (!Number.isInteger(pid) || pid === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
    } catch {
      return false;
    }
  });
}

/** A number of seconds no other test sleeps, to be found by. */
let next = 0;
function mark(): string {
  next++;
  return `${30_000 + (process.pid % 20_000)}.${String(next).padStart(3, '0')}`;
}

describe('shell.command', () => {
  let ctx: Context;
  let fiber: { dispose(): Promise<void> };
  let shell: ShellService;
  let dir: string;

  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'dsh-test-'));
    ctx = new Context();
    fiber = await ctx.plugin(NodeShell, { kind: 'bash', graceMs: 300 });
    shell = ctx.get('shell')!;
  });
  afterEach(async () => {
    await fiber.dispose();
    rmSync(dir, { recursive: true, force: true });
  });

  async function run(command: string, options: Partial<ShellRequest> = {}): Promise<ShellResult> {
    return (await shell.start({ command, cwd: dir, ...options })).done;
  }

  it('C1 the exit code is the command\'s', async () => {
    assert.equal((await run("sh -c 'exit 7'")).exitCode, 7);
  });

  it('C3 nothing is missing from the output, also without a newline', async () => {
    assert.equal((await run('printf abc')).stdout.text, 'abc');
  });

  it('C5 a sequence prints all of it', async () => {
    assert.equal((await run('(echo a; sleep 0.3); echo b')).stdout.text, 'a\nb\n');
  });

  it('C7 the result waits for the command', async () => {
    assert.equal((await run('sleep 0.5; echo done')).stdout.text, 'done\n');
  });

  it('C9 GBK bytes split over two writes decode as one character each', async () => {
    const result = await run(String.raw`printf '\xC4\xE3'; sleep 0.1; printf '\xBA\xC3\n'; printf 'h\xC3'; sleep 0.1; printf '\xA9\n'`);
    assert.equal(result.stdout.text, '你好\nhé\n');
  });

  it('C11 a long output keeps its end in memory and all of it in a file', async () => {
    const { stdout } = await run('seq 1 200000');
    assert.equal(stdout.truncated, true);
    assert.ok(Buffer.byteLength(stdout.text) <= 64_000);
    assert.ok(stdout.text.endsWith('\n199999\n200000\n'));
    assert.equal(stdout.totalBytes, 1_288_895);
    const file = readFileSync(stdout.spillPath!, 'utf8');
    assert.equal(file.length, 1_288_895);
    assert.ok(file.startsWith('1\n2\n3\n'));
  });

  it('C13 a broken quote is the shell\'s own error', async () => {
    const result = await run(String.raw`ls "C:\x\"`);
    assert.equal(result.exitCode, 2);
    assert.match(result.stderr.text, /unexpected EOF while looking for matching/);
  });

  it('B10.16 the streams are real pipes: /dev/stdout and /dev/stderr can be opened', async () => {
    const result = await run('echo one > /dev/stdout; echo two | tee /dev/stderr');
    assert.equal(result.stdout.text, 'one\ntwo\n');
    assert.equal(result.stderr.text, 'two\n');
  });

  it('B10.16 stdin is empty, so a command that reads it ends', async () => {
    assert.equal((await run('cat; echo end')).stdout.text, 'end\n');
  });

  it('B10.16 credentials, DSH_* and the editor\'s own variables are scrubbed, managed ones are set', () => {
    const env = scrubEnvironment({ PATH: '/bin', OPENAI_API_KEY: 'k', my_password: 'p', GH_TOKEN: 't', DSH_HOME: 'h', VSCODE_PID: '1', ELECTRON_RUN_AS_NODE: '1' });
    assert.deepEqual(env, { PATH: '/bin', NO_COLOR: '1', TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat' });
  });

  it('B10.16 a spill file ends at 64 MiB while memory keeps the end of the stream', async () => {
    const { stdout } = await run('head -c 70000000 /dev/zero | tr "\\0" x; echo; echo END');
    assert.equal(stdout.totalBytes, 70_000_005);
    assert.equal(statSync(stdout.spillPath!).size, 64 * 1024 * 1024);
    assert.ok(stdout.text.endsWith('x\nEND\n'));
  });

  it('B10.18 a signal death is reported as such', async () => {
    const result = await run('kill -9 $$');
    assert.deepEqual([result.exitCode, result.signal], [null, 'SIGKILL']);
  });

  it('B10.16 a command past its time is ended, with what it printed', async () => {
    const result = await run('echo early; sleep 60', { timeoutMs: 200 });
    assert.equal(result.timedOut, true);
    assert.equal(result.signal, 'SIGTERM');
    assert.equal(result.stdout.text, 'early\n');
  });

  it('B10.16 a command that ignores the polite signal is ended by force', async () => {
    const result = await run('trap "" TERM; sleep 60 & wait; sleep 60', { timeoutMs: 100 });
    assert.equal(result.signal, 'SIGKILL');
  });

  it('a directory that is not there is named', async () => {
    await assert.rejects(run('true', { cwd: path.join(dir, 'gone') }), { code: 'SHELL_START_FAILED', message: /gone": no such directory/ });
  });

  it('a program that is not there is named', async () => {
    const other = new Context();
    const fork = await other.plugin(NodeShell, { kind: 'bash', program: '/nowhere/bash' });
    const result = await (await other.get('shell')!.start({ command: 'true', cwd: dir })).done;
    assert.equal(result.exitCode, 127);
    assert.match(result.stderr.text, /nowhere/);
    await fork.dispose();
  });

  it('D1 a stopped command does nothing any more', async () => {
    const stop = new AbortController();
    const running = await shell.start({ command: "bash -c 'for i in 1 2 3; do sleep 0.4; touch t$i; done'", cwd: dir, signal: stop.signal });
    await sleep(100);
    stop.abort();
    assert.equal((await running.done).aborted, true);
    await sleep(1500);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('D1 the tree is gone when the stop is reported: other groups, other sessions, an emptied environment', async () => {
    const seconds = mark();
    const stop = new AbortController();
    const running = await shell.start({
      command: `setsid sleep ${seconds} & env -i setsid sleep ${seconds} & set -m; sleep ${seconds} & (trap '' TERM; sleep ${seconds}; sleep ${seconds}) & wait`,
      cwd: dir, signal: stop.signal,
    });
    while (carrying(`sleep\0${seconds}`).length < 4) await sleep(10);
    stop.abort();
    await running.done;
    assert.deepEqual(carrying(seconds), []);
  });

  it('D1 a daemon that left the tree is found by its token', async () => {
    const seconds = mark();
    const running = await shell.start({ command: `(setsid sleep ${seconds} > /dev/null 2>&1 &); sleep 0.2; echo out`, cwd: dir });
    assert.equal((await running.done).stdout.text, 'out\n');
    assert.deepEqual(carrying(seconds), []);
  });

  (process.platform === 'linux' ? it : it.skip)('D1 a process that leaves group, session, environment and mark behind was seen before, and what it left, too', async () => {
    const seconds = mark();
    const going = path.join(dir, 'going');
    // the shell ends once everybody is where it wants to be, and was there for some looks
    const leaver = `exec 9>&-; (trap "" TERM; sleep ${seconds}; sleep ${seconds}) & (sleep ${seconds} &); touch ${going}; sleep ${seconds}; sleep 1`;
    const running = await shell.start({ command: `setsid env -i bash -c '${leaver}' > /dev/null 2>&1 & until [ -e ${going} ]; do sleep 0.1; done; sleep 1; echo out`, cwd: dir });
    assert.equal((await running.done).stdout.text, 'out\n');
    assert.deepEqual(carrying(seconds), []);
  });

  it('D3 what a command left in the background ends with it', async () => {
    const seconds = mark();
    const result = await run(`sleep ${seconds} & echo hi`);
    assert.equal(result.stdout.text, 'hi\n');
    assert.deepEqual(carrying(seconds), []);
  });

  it('D3 output of a process substitution that outlives the shell for a moment is kept', async () => {
    assert.equal((await run('echo hi > >(sleep 0.2; cat)')).stdout.text, 'hi\n');
  });

  it('D3 disposing the shell ends every command and leaves no file', async () => {
    const seconds = mark();
    const running = await shell.start({ command: `sleep ${seconds} & sleep ${seconds}`, cwd: dir });
    while (carrying(`sleep\0${seconds}`).length < 2) await sleep(10);
    await fiber.dispose();
    assert.deepEqual(carrying(seconds), []);
    assert.equal((await running.done).signal, 'SIGTERM');
    await assert.rejects(shell.start({ command: 'true', cwd: dir }), { code: 'SHELL_CLOSED' });
  });

  it('D3 a host that is killed leaves no process and no folder behind', async () => {
    const seconds = mark();
    const host = spawn(process.execPath, ['--import', 'tsx', path.join(import.meta.dirname, '../fixtures/shell-host.ts'), dir, `${seconds}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    const folders = String((await host.stdout[Symbol.asyncIterator]().next()).value).trim();
    while (carrying(`sleep\0${seconds}`).length < 3) await sleep(10);
    host.kill('SIGKILL');
    while (carrying(seconds).length > 0 || existsSync(folders)) await sleep(50);
  });

  it('shell events mirror the exact bytes of a call', async () => {
    const seen: unknown[] = [];
    const bytes: Buffer[] = [];
    ctx.on('shell/started', ({ callId, command }) => void seen.push([callId, command]));
    ctx.on('shell/output', ({ stream, chunk }) => void (stream === 'stdout' && bytes.push(Buffer.from(chunk))));
    ctx.on('shell/ended', ({ callId, exitCode }) => void seen.push([callId, exitCode]));
    await run(String.raw`printf 'a\x1b[31mb\xff'; exit 3`, { callId: 'c1' });
    assert.deepEqual(seen, [['c1', String.raw`printf 'a\x1b[31mb\xff'; exit 3`], ['c1', 3]]);
    assert.deepEqual(Buffer.concat(bytes), Buffer.from('a\x1b[31mb\xff', 'latin1'));
  });

  it('B10.21 new output is handed over once, with a notice of what was lost', async () => {
    const running = await shell.start({ command: 'echo one; sleep 0.3; seq 1 100000; echo two >&2', cwd: dir });
    let first = '';
    while (first === '') {
      first = running.readNew().stdout;
      await sleep(10);
    }
    assert.equal(first, 'one\n');
    await running.done;
    const rest = running.readNew();
    assert.equal(rest.dropped, true);
    assert.ok(rest.stdout.endsWith('\n100000\n'));
    assert.equal(rest.stderr, 'two\n');
    assert.ok(statSync(rest.spillPath!).size > 500_000);
    assert.deepEqual(running.readNew(), { stdout: '', stderr: '', dropped: false });
  });
});
