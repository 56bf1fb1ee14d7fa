import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolResultBlock } from '../../src/contract/content.ts';
import type { SessionEvent } from '../../src/contract/event.ts';
import { begin, contentOf, FILES, numberOf, openScene, sceneScript, SESSION, versionOf } from '../fixtures/kill-scene.ts';
import type { Scene } from '../fixtures/kill-scene.ts';

/** How many turns are ended at a random moment; KILL_POINTS=500 for the whole exercise. */
const POINTS = Number(process.env.KILL_POINTS ?? 24);
/** How many hosts are killed. */
const HOSTS = Number(process.env.KILL_HOSTS ?? Math.ceil(POINTS / 8));

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
/** How commands end: most of them soon, so that writes come and go around them. */
const ENDS = ['wait', 'S', 'sleep 0.05', 'true', 'true', 'exit 3', 'sleep 0.01'];
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;

function tree(mark: string): string {
  const ways = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, () => pick(WAYS)).join('\n');
  return `${ways}\n${pick(ENDS)}`.replaceAll('S0', 'sleep 0.3').replaceAll(/\bS\b/g, `sleep ${mark}`);
}

interface Known { readonly name: string; readonly path: string | undefined; readonly outcome: 'done' | 'failed' | 'unknown' | 'not started' }

function outcomeOf(code: string | undefined, block: ToolResultBlock): Known['outcome'] {
  if (block.isError !== true) return 'done';
  const [said] = block.content;
  if (said?.type === 'text' && / had been (?:created|changed) by then$/.test(said.text)) return 'done';
  if (code === 'TOOL_NOT_STARTED' || code === 'ABORTED_BEFORE_DISPATCH') return 'not started';
  // stopped in the last moment, when the body was over already (P4.32)
  return code === 'TOOL_OUTCOME_UNKNOWN' || code === 'ABORTED' ? 'unknown' : 'failed';
}

/** What a log says of each call, by its number. Every call must have its one result. */
function knownOf(events: readonly SessionEvent[]): Map<number, Known> {
  const known = new Map<number, Known>();
  const calls = new Map<string, { name: string; path: string | undefined }>();
  for (const event of events) {
    if (event.type === 'tool/call') {
      const { file_path: file } = JSON.parse(event.data.arguments) as { file_path?: string };
      calls.set(event.data.callId, { name: event.data.name, path: file });
    }
    if (event.type !== 'tool/result') continue;
    const { callId } = event.data.message.source;
    const call = calls.get(callId);
    assert.ok(call !== undefined && !known.has(numberOf(callId)), `one call, one result: ${callId}`);
    const code = event.data.error?.code;
    known.set(numberOf(callId), { ...call, outcome: outcomeOf(code, event.data.message.content[0]) });
  }
  assert.equal(known.size, calls.size, 'every call has a result');
  return known;
}

const text = (file: string): string => readFileSync(file, 'utf8');
const list = (dir: string): string[] => (existsSync(dir) ? readdirSync(dir) : []);

describe('shell.kill', () => {
  let dir: string;
  let ws: string;
  let logFile: string;
  beforeEach(() => { dir = mkdtempSync(path.join(os.tmpdir(), 'dsh-test-')); });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function fresh(name: string): string {
    const at = path.join(dir, name);
    ws = path.join(at, 'ws');
    logFile = path.join(at, 'sessions', `${SESSION}.jsonl`);
    mkdirSync(ws, { recursive: true });
    for (const file of Object.keys(FILES)) writeFileSync(path.join(ws, file), contentOf(file, 0));
    return at;
  }

  /** Every file is wholly what one call made of it, and the log names that call: as done, or as of unknown outcome. */
  function judgeFiles(known: ReadonlyMap<number, Known>): void {
    for (const file of Object.keys(FILES)) {
      const version = versionOf(file, text(path.join(ws, file)));
      assert.notEqual(version, undefined, `${file} is half-written`);
      const calls = [...known].filter(([, call]) => call.path === file && call.name !== 'read');
      const last = calls.findLast(([, call]) => call.outcome === 'done')?.[0] ?? 0;
      const possible = [last, ...calls.filter(([number, call]) => number > last && call.outcome === 'unknown').map(([number]) => number)];
      assert.ok(possible.includes(version!), `${file} is of call ${version}, the log says ${possible.join(' or ')}`);
    }
    const made = new Set(list(path.join(ws, 'new')).filter((name) => !name.startsWith('.')));
    for (const name of made) {
      assert.equal(text(path.join(ws, 'new', name)), contentOf('new', Number.parseInt(name, 10)), `${name} is half-written`);
      assert.ok(['done', 'unknown'].includes(known.get(Number.parseInt(name, 10))?.outcome ?? 'not logged'), `the log knows of ${name}`);
    }
    for (const [number, call] of known) if (call.path?.startsWith('new/') && call.outcome === 'done') assert.ok(made.has(`${number}.txt`), `${call.path} is there`);
    const ran = existsSync(path.join(ws, 'ran.log')) ? text(path.join(ws, 'ran.log')).split('\n').filter((line) => line !== '') : [];
    for (const number of ran) assert.notEqual(known.get(Number(number))?.outcome ?? 'not started', 'not started', `the log knows that command ${number} ran`);
  }

  /** Opens what is left, as the next window does, and compares what the log says with what there is. */
  async function judge(at: string): Promise<void> {
    const left = existsSync(logFile) ? text(logFile).split('\n') : [''];
    left.pop(); // torn, or empty after the last newline
    const rows = left.map((line) => JSON.parse(line) as { type: string; seq?: number });
    if (rows.length === 0) return judgeFiles(new Map());
    const scene = await openScene(at, { user: ['go'], model: [
      { toolCalls: [{ name: 'write', id: 'call-1001', arguments: { file_path: 'after.txt', content: 'x' } }, { name: 'write', id: 'call-1002', arguments: { file_path: 'new/1002.txt', content: contentOf('new', 1002) } }] },
      { text: 'Done.' },
    ] }, true);
    try {
      const { session } = scene.handle.agent;
      for (const row of rows) if (row.seq !== undefined) assert.deepEqual(session.events[row.seq], row, 'no whole line is lost');
      assert.equal(list(path.join(at, 'sessions')).some((name) => name.endsWith('.bad')), false, 'no line but the last was torn');
      const turns = session.events.filter((event) => event.type === 'turn/start' || event.type === 'turn/end').map((event) => event.type);
      assert.deepEqual(turns, turns.map((_, place) => (place % 2 === 0 ? 'turn/start' : 'turn/end')), 'the turn is closed');
      judgeFiles(knownOf(session.events));
      begin(scene);
      await scene.handle.agent.whenIdle();
      judgeFiles(knownOf(session.events));
      for (const folder of [ws, path.join(ws, 'new')]) assert.deepEqual(list(folder).filter((name) => name.startsWith('.')), [], 'what a killed write left is gone with the next');
    } finally {
      await scene.runtime.dispose();
    }
  }

  it(`D1 D3 ${POINTS} turns stopped, timed out or unloaded at random moments leave no process, whole files and a true log`, async () => {
    for (let point = 0; point < POINTS; point++) {
      const mark = `${40_000 + point}.${process.pid}`;
      const commands = Array.from({ length: 3 }, () => tree(mark));
      const way = pick(['stop', 'timeout', 'unload'] as const);
      const moment = Math.random() * 400;
      const at = fresh(`point-${point}`);
      const scene: Scene = await openScene(at, sceneScript(commands, way === 'timeout' ? 1 + moment / 4 : undefined));
      begin(scene);
      if (way !== 'timeout') await sleep(moment);
      if (way === 'stop') scene.handle.agent.cancel({ kind: 'user' });
      if (way === 'unload') await scene.runtime.dispose();
      else await scene.handle.agent.whenIdle();
      const what = `${way} after ${moment} ms:\n${commands.join('\n--\n')}`;
      assert.deepEqual(carrying(mark), [], what);
      await scene.runtime.dispose();
      await judge(at).catch((error: unknown) => { throw new Error(what, { cause: error }); });
      rmSync(at, { recursive: true });
    }
  }).timeout(60_000 + POINTS * 5_000);

  it(`D3 ${HOSTS} hosts killed at random moments leave no process, no folder, whole files and a true log`, async () => {
    for (let host = 0; host < HOSTS; host++) {
      const mark = `${50_000 + host}.${process.pid}`;
      const commands = Array.from({ length: 12 }, () => tree(mark));
      const at = fresh(`host-${host}`);
      const child = spawn(process.execPath, ['--import', 'tsx', path.join(import.meta.dirname, '../fixtures/kill-host.ts'), at, JSON.stringify(commands)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const folder = String((await child.stdout[Symbol.asyncIterator]().next()).value).trim();
      assert.match(folder, /dsh-shell-/, 'the host has started');
      const moment = Math.random() * 1_500;
      await sleep(moment);
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      const end = Date.now() + 15_000;
      while ((carrying(mark).length > 0 || existsSync(folder)) && Date.now() < end) await sleep(50);
      const what = `killed after ${moment} ms:\n${commands.join('\n--\n')}`;
      assert.deepEqual(carrying(mark), [], what);
      assert.equal(existsSync(folder), false, what);
      await judge(at).catch((error: unknown) => { throw new Error(what, { cause: error }); });
      rmSync(at, { recursive: true });
    }
  }).timeout(60_000 + HOSTS * 30_000);
});
