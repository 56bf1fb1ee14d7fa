// npm run bench [-- NAME …] [--json]: runs test/bench/NAME.bench.ts, or all of them, one after another.
// A bench prints one line a measure; with --json it is { name, ours, theirs?, floor?, ratio?, unit }.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, ensureDependencies } from './dependencies.mjs';
import { Plain, die } from './progress.mjs';

const DIR = path.join(ROOT, 'test/bench');
const ENDING = '.bench.ts';

function run(file, flags) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', file, ...flags], { cwd: ROOT, stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
}

async function main() {
  await ensureDependencies();
  const args = process.argv.slice(2);
  const names = args.filter((arg) => !arg.startsWith('-'));
  const all = fs.readdirSync(DIR).filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length)).sort();
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Plain(`There is no bench ${unknown.join(', ')}. Benches: ${all.join(', ')}.`);
  let failed = 0;
  for (const name of names.length > 0 ? names : all) {
    const code = await run(path.join(DIR, name + ENDING), args.filter((arg) => arg.startsWith('-')));
    if (code === 0) continue;
    failed++;
    console.error(`bench ${name} ended with ${code}`);
  }
  process.exitCode = failed > 0 ? 1 : 0;
}

await main().catch(die);
