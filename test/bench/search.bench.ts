import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { NodeRipgrep } from '../../src/headless/ripgrep.ts';
import * as search from '../../src/tools/search/plugin.ts';
import { toolRoom } from '../harness/tool-room.ts';
import { median, report } from './measure.ts';
import { Account } from './processor.ts';

/**
 * grep and glob through the registry, over 50,000 files, against ripgrep alone: the same binary, its output read and thrown
 * away; with the same arguments, and as one would type it. BENCH_FILES and BENCH_ROUNDS change the size.
 */

const FILES = Number(process.env.BENCH_FILES ?? 50_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const room = await toolRoom();

async function plant(): Promise<void> {
  const filler = Array.from({ length: 30 }, (_, i) => `const value${i} = compute(${i});\n`).join('');
  for (let start = 0; start < FILES; start += 500) {
    const dir = path.join(room.dir, `pkg${Math.floor(start / 5_000)}`, `dir${start / 500}`);
    await fs.mkdir(dir, { recursive: true });
    await Promise.all(Array.from({ length: Math.min(500, FILES - start) }, (_, i) => {
      const n = start + i;
      return fs.writeFile(path.join(dir, `file${n}.${n % 2 === 0 ? 'ts' : 'md'}`), `${filler}${n % 5 === 0 ? `// MARKER ${n}\n` : ''}${n % 10_000 === 7 ? '// NEEDLE\n' : ''}`);
    }));
  }
}

function alone(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: room.dir, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.resume();
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

async function clock(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round((performance.now() - start) * 1000);
}

/** The best and the median of several rounds by the clock, everybody in turns, and the processor time of all rounds. */
async function compare(name: string, ours: () => Promise<unknown>, opponents: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const entries = Object.entries({ ours, ...opponents }).map(([who, work]) => ({ who, work, times: [] as number[], processor: new Account() }));
  for (const { work } of entries) await work();
  for (let round = 0; round < ROUNDS; round++) {
    for (const entry of entries) {
      globalThis.gc?.();
      entry.times.push(await entry.processor.during(() => clock(entry.work)));
    }
  }
  const [own, ...others] = entries;
  const best = (entry: { times: number[] }): number => Math.min(...entry.times);
  const ratio = (a: number, b: number): number => Number((a / b).toPrecision(4));
  for (const other of others) {
    report({
      name: `${name} against ${other.who}`, ours: best(own!), theirs: null, floor: best(other), ratio: ratio(best(other), best(own!)),
      times: ratio(best(own!), best(other)), medianTimes: ratio(median(own!.times), median(other.times)), processorTimes: ratio(own!.processor.total, other.processor.total), unit: 'us',
    });
  }
}

try {
  await room.ctx.plugin(NodeRipgrep, {});
  await room.ctx.plugin(search, { sampleOverCapGlobResults: false });
  const rg = await room.ctx.get('ripgrep')!.locate();
  const agent = room.agent();
  await plant();
  const call = (name: string, args: unknown, count: number) => async (): Promise<void> => {
    const result = await room.call(name, args, { agent });
    const value = result.isError ? undefined : (result.value as { matches?: unknown[]; paths?: unknown[] });
    const found = (value?.matches ?? value?.paths)?.length;
    if (found !== count) throw new Error(`${name} found ${found}, not ${count}: ${JSON.stringify(result.content).slice(0, 300)}`);
  };
  const plain = ['--no-config', '--null', '--with-filename', '--line-number', '--no-heading', '--color=never'];
  for (const [name, pattern, count] of [['grep/nothing', 'NOWHERE', 0], ['grep/rare', 'NEEDLE', Math.ceil((FILES - 7) / 10_000)], ['grep/10000-matches', 'MARKER', FILES / 5]] as const) {
    await compare(name, call('grep', { pattern }, count), {
      'rg with our arguments': () => alone(rg, [...plain, `--regexp=${pattern}`]),
      'rg PATTERN': () => alone(rg, [pattern]),
      'rg --json PATTERN': () => alone(rg, ['--json', pattern]),
    });
  }
  const prune = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'].map((folder) => `--glob=!**/${folder}`);
  await compare('glob/half-of-all', call('glob', { pattern: '*.ts' }, FILES / 2), {
    'rg --files with our arguments': () => alone(rg, ['--no-config', '--files', '--null', '--glob=*.ts', '--sort=modified', '--no-ignore', '--hidden', ...prune]),
    'rg --files, unsorted': () => alone(rg, ['--files', '--glob=*.ts']),
  });
} finally {
  await room.dispose();
}
