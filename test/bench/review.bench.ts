import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pendingHunks } from '../../src/review/change.ts';
import { median, report } from './measure.ts';

/**
 * The hunks of a review of a 50,000-line file, ids included, against `git diff --no-index` of the same two files: its
 * process, its reading and its output. Wall time in the same run, alternating; the median of the rounds counts. No
 * collection is forced in between: it would throw the compiled code away as well.
 */

const LINES = Number(process.env['BENCH_LINES'] ?? 50_000);
const CHANGES = Number(process.env['BENCH_CHANGES'] ?? 1_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 15);

const WORDS = ['const', 'let', 'value', 'result', 'return', 'await', 'index', 'offset', 'line', 'text'];

/** Lines as source has them: many unlike, many alike, blank ones and lone brackets among them. */
function line(n: number): string {
  if (n % 11 === 0) return '\n';
  if (n % 7 === 0) return '  }\n';
  return `  ${WORDS[n % 10]} ${WORDS[(n * 7) % 10]} = ${WORDS[(n * 3) % 10]}(${n % 997}, ${(n * 31) % 4001});\n`;
}

const before = Array.from({ length: LINES }, (_, n) => line(n));
const cases: Record<string, (n: number) => string[]> = {
  changed: (n) => [`  changed(${n});\n`],
  'changed-inserted-deleted': (n) => [[`  changed(${n});\n`], [before[n]!, `  inserted(${n});\n`, '\n'], []][Math.floor(n / (LINES / CHANGES)) % 3]!,
};

function git(folder: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['-c', 'core.pager=cat', 'diff', '--no-index', '--no-color', 'before.txt', 'after.txt'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    let hunks = 0;
    child.stdout.setEncoding('utf8').on('data', (text: string) => { hunks += text.split('\n@@').length - 1; });
    child.once('error', reject);
    child.once('close', () => resolve(hunks));
  });
}

async function clock(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1000;
}

const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'review-bench-'));
try {
  for (const [name, change] of Object.entries(cases)) {
    const every = Math.floor(LINES / CHANGES);
    const old = before.join('');
    const next = before.flatMap((text, n) => (n % every === 3 ? change(n) : [text])).join('');
    await fs.writeFile(path.join(folder, 'before.txt'), old);
    await fs.writeFile(path.join(folder, 'after.txt'), next);
    const found = pendingHunks(old, next).length;
    if (found < CHANGES * 0.9) throw new Error(`${name}: only ${found} hunks of ${CHANGES} changes`);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // as the host has them: two strings that were never looked at
      const [a, b] = [Buffer.from(old).toString(), Buffer.from(next).toString()];
      ours.push(await clock(() => pendingHunks(a, b)));
      theirs.push(await clock(() => git(folder)));
    }
    const [mine, gits] = [median(ours), median(theirs)];
    report({ name: `hunks/${LINES}-lines-${CHANGES}-${name}`, ours: Math.round(mine), theirs: Math.round(gits), floor: null, ratio: Number((gits / mine).toPrecision(4)), unit: 'us' });
  }
} finally {
  await fs.rm(folder, { recursive: true, force: true });
}
