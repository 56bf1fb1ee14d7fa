import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@deepseek-ai/cordis';
import { NodeShell } from '../../src/headless/shell.ts';

/** How many commands are ended at a random moment; KILL_POINTS=500 for the whole exercise. */
const POINTS = Number(process.env.KILL_POINTS ?? 24);
/** How many hosts are killed. */
const HOSTS = Number(process.env.KILL_HOSTS ?? Math.ceil(POINTS / 24));

function carrying(mark: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      return line.includes(mark) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1')) ? [`${pid} ${line}`] : [];
    } catch {
      return [];
    }
  });
}

/** Ways of a command to start something that might outlive it; `S` stands for a sleep that can be recognised. */
const WAYS = [
  'S &', 'setsid S &', '(setsid S &)', 'nohup S > /dev/null 2>&1 &', 'env -i setsid S &', '(env -i setsid S &)', '(setsid env -i S > /dev/null 2>&1 &)',
  "(trap '' TERM; S; S) &", "(trap '' TERM INT HUP; setsid S & S) &", 'S | S | S &', '(while :; do S0 & sleep 0.02; done) &', 'set -m; S & set +m',
  'bash -c "bash -c \\"S & S\\" & S" &', '(S & disown) &', 'kill -STOP $BASHPID & S &',
];
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;

function tree(mark: string): string {
  const ways = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, () => pick(WAYS)).join('\n');
  return `${ways}\n${pick(['wait', 'S', 'sleep 0.05', 'S; wait', 'exit 3'])}`.replaceAll('S0', 'sleep 0.3').replaceAll(/\bS\b/g, `sleep ${mark}`);
}

describe('shell.kill', () => {
  let dir: string;
  beforeEach(() => { dir = mkdtempSync(path.join(os.tmpdir(), 'dsh-test-')); });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it(`D1 D3 ${POINTS} commands stopped, timed out or unloaded at random moments leave no process`, async () => {
    for (let point = 0; point < POINTS; point++) {
      const mark = `${40_000 + point}.${process.pid}`;
      const command = tree(mark);
      const ctx = new Context();
      const fiber = await ctx.plugin(NodeShell, { kind: 'bash', graceMs: 50 });
      const stop = new AbortController();
      const way = pick(['stop', 'timeout', 'unload'] as const);
      const moment = Math.random() * 120;
      const running = await ctx.get('shell')!.start({ command, cwd: dir, signal: stop.signal, ...(way === 'timeout' ? { timeoutMs: 1 + moment } : {}) });
      if (way !== 'timeout') await sleep(moment);
      if (way === 'stop') stop.abort();
      if (way === 'unload') await fiber.dispose();
      await running.done;
      assert.deepEqual(carrying(mark), [], `${way} after ${moment} ms:\n${command}`);
      await fiber.dispose();
    }
  }).timeout(60_000 + POINTS * 2_000);

  it('D3 hosts killed at random moments leave no process and no folder', async () => {
    for (let host = 0; host < HOSTS; host++) {
      const mark = `${50_000 + host}.${process.pid}`;
      const commands = Array.from({ length: 12 }, () => tree(mark));
      const child = spawn(process.execPath, ['--import', 'tsx', path.join(import.meta.dirname, '../fixtures/kill-host.ts'), dir, JSON.stringify(commands)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const folder = String((await child.stdout[Symbol.asyncIterator]().next()).value).trim();
      await sleep(Math.random() * 400);
      child.kill('SIGKILL');
      const end = Date.now() + 15_000;
      while ((carrying(mark).length > 0 || existsSync(folder)) && Date.now() < end) await sleep(50);
      assert.deepEqual(carrying(mark), [], commands.join('\n--\n'));
      assert.equal(existsSync(folder), false);
    }
  }).timeout(60_000 + POINTS * 2_000);
});
