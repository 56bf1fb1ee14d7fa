import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { NodeRipgrep } from '../../src/headless/ripgrep.ts';
import * as search from '../../src/tools/search/plugin.ts';
import { toolRoom } from '../harness/tool-room.ts';
import { report } from './measure.ts';
import { Account } from './processor.ts';

/**
 * grep and glob through the registry, over 50,000 files, against the ripgrep they run: the same binary, the same arguments, its
 * output read and thrown away. BENCH_FILES and BENCH_ROUNDS change the size.
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

async function compare(name: string, ours: () => Promise<unknown>, plain: () => Promise<unknown>): Promise<void> {
  const best = { ours: Infinity, floor: Infinity };
  const processor = { ours: new Account(), floor: new Account() };
  await ours();
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc?.();
    best.ours = Math.min(best.ours, await processor.ours.during(() => clock(ours)));
    best.floor = Math.min(best.floor, await processor.floor.during(() => clock(plain)));
  }
  const ratio = (a: number, b: number): number => Number((a / b).toPrecision(4));
  report({ name, ...best, theirs: null, ratio: ratio(best.floor, best.ours), processorRatio: ratio(processor.floor.total, processor.ours.total), unit: 'us' });
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
  await compare('grep/rare', call('grep', { pattern: 'NEEDLE' }, Math.ceil((FILES - 7) / 10_000)), () => alone(rg, ['--no-config', '--json', '--regexp=NEEDLE']));
  await compare('grep/10000-matches', call('grep', { pattern: 'MARKER' }, FILES / 5), () => alone(rg, ['--no-config', '--json', '--regexp=MARKER']));
  await compare('glob/half-of-all', call('glob', { pattern: '*.ts' }, FILES / 2), () => alone(rg, [
    '--no-config', '--files', '--glob=*.ts', '--sort=modified', '--no-ignore', '--hidden', ...['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'].map((folder) => `--glob=!**/${folder}`),
  ]));
} finally {
  await room.dispose();
}
