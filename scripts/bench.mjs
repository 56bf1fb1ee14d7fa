// npm run bench [-- NAME …] [--json]: runs test/bench/NAME.bench.ts, or all of them, one after another.
// A bench prints one line a measure; with --json it is { name, ours, theirs?, floor?, ratio?, unit }.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, ensureDependencies } from './dependencies.mjs';
import { Plain, die } from './progress.mjs';

const DIR = path.join(ROOT, 'test/bench');
const ENDING = '.bench.ts';

/** Benches of mere computation run as the product does, bundled: a TypeScript loader adds work to every function it makes. */
const BUNDLED = new Set(['contract', 'registry']);

async function bundle(name, file) {
  const { build } = await import('esbuild');
  const outfile = path.join(ROOT, 'out/bench', `${name}-${process.pid}.mjs`);
  await build({ entryPoints: [file], outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' });
  return outfile;
}

async function run(name, flags) {
  const source = path.join(DIR, name + ENDING);
  if (!BUNDLED.has(name)) return spawned(['--import', 'tsx', source, ...flags]);
  const file = await bundle(name, source);
  try {
    return await spawned([file, ...flags]);
  } finally {
    fs.rmSync(file, { force: true });
  }
}

function spawned(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', ...args], { cwd: ROOT, stdio: 'inherit' });
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
    const code = await run(name, args.filter((arg) => arg.startsWith('-')));
    if (code === 0) continue;
    failed++;
    console.error(`bench ${name} ended with ${code}`);
  }
  process.exitCode = failed > 0 ? 1 : 0;
}

await main().catch(die);
