// npm test [-- unit|host|e2e ...] [--grep RE] [--files RE] [--report FILE.json] [--keep]
// Does all the set-up a fresh clone needs, runs the suites, and ends with one line: `N passed, N failed`.
//   --grep    only tests whose full title matches      --files  only files whose path matches
//   --report  all results as one JSON file             --keep   leave profiles and staged builds where they are
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, ensureDependencies } from './dependencies.mjs';
import { Plain, die, onStop } from './progress.mjs';
import { makeVsix } from './package.mjs';
import { stage } from './stage.mjs';
import { ensureHome } from './vscode-home.mjs';

const SUITES = ['unit', 'host', 'e2e'];
const RUNNERS = { unit: 'test/harness/run-node.ts', host: 'test/harness/run-host.ts', e2e: 'test/harness/run-node.ts' };

const children = new Set();
// runners take their own VS Code and browser down
onStop(async () => {
  const ended = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)));
  for (const child of children) child.kill('SIGTERM');
  await Promise.race([Promise.all(ended), new Promise((resolve) => setTimeout(resolve, 8000))]);
}, 130);

function runner(suite, env) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--import', 'tsx', path.join(ROOT, RUNNERS[suite])], { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
    children.add(child);
    child.on('close', (code, signal) => {
      children.delete(child);
      resolve(signal ?? code);
    });
  });
}

/** @typedef {{ suite: string, passed: number, failed: number, skipped: number, ms: number, tests: object[], note?: string }} Outcome */

/** @returns {Promise<Outcome>} */
async function runSuite(suite, options, vsix) {
  const started = Date.now();
  console.log(`\n── ${suite} ──`);
  const report = path.join(ROOT, `out/reports/${suite}-${process.pid}.json`);
  fs.mkdirSync(path.dirname(report), { recursive: true });
  fs.rmSync(report, { force: true });
  const failed = (note) => ({ suite, passed: 0, failed: 1, skipped: 0, ms: Date.now() - started, tests: [], note });
  let staged;
  try {
    const env = { ...process.env, DSH_TEST_SUITE: suite, DSH_TEST_REPORT: report };
    if (options.grep !== undefined) env.DSH_TEST_GREP = options.grep;
    if (options.files !== undefined) env.DSH_TEST_FILES = options.files;
    if (options.keep) env.DSH_TEST_KEEP = '1';
    if (suite !== 'unit') await ensureHome({ browser: true });
    if (suite === 'host') {
      staged = await stage('host', ['--tests']);
      env.DSH_TEST_STAGE = staged.dir;
    }
    if (suite === 'e2e') env.DSH_TEST_VSIX = await vsix();
    const code = await runner(suite, env);
    if (!fs.existsSync(report)) return failed(`the ${suite} runner ended (${code}) without a report`);
    const { stats, tests } = JSON.parse(fs.readFileSync(report, 'utf8'));
    const outcome = { suite, passed: stats.passed, failed: stats.failed, skipped: stats.skipped, ms: Date.now() - started, tests };
    if (code !== 0 && stats.failed === 0) return { ...outcome, failed: 1, note: `the ${suite} runner ended with ${code} though no test failed` };
    if (tests.length === 0 && options.grep === undefined && options.files === undefined) return failed(`no ${suite} tests were found`);
    return outcome;
  } catch (error) {
    return failed(error instanceof Plain ? error.message : error.stack);
  } finally {
    if (!options.keep) staged?.remove();
    fs.rmSync(report, { force: true });
  }
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { grep: { type: 'string' }, files: { type: 'string' }, report: { type: 'string' }, keep: { type: 'boolean', default: false } },
  });
  const unknown = positionals.filter((name) => !SUITES.includes(name));
  if (unknown.length > 0) throw new Plain(`There is no suite ${unknown.join(', ')}. Suites: ${SUITES.join(', ')}.`);
  const suites = positionals.length > 0 ? SUITES.filter((name) => positionals.includes(name)) : SUITES;
  await ensureDependencies();

  let made;
  const vsix = () => (made ??= makeVsix(path.join(ROOT, `out/test-${process.pid}.vsix`)).then((m) => m.file));
  /** @type {Outcome[]} */
  const outcomes = [];
  for (const suite of suites) outcomes.push(await runSuite(suite, values, vsix));
  if (made && !values.keep) fs.rmSync(await made.catch(() => ''), { force: true });

  console.log('');
  for (const { suite, passed, failed, skipped, ms, tests, note } of outcomes) {
    console.log(`${suite}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''} in ${(ms / 1000).toFixed(1)} s`);
    for (const test of tests) if (test.state === 'failed') console.log(`  ✗ ${test.title}`);
    if (note) console.log(`  ✗ ${note}`);
  }
  const sum = (key) => outcomes.reduce((n, o) => n + o[key], 0);
  if (values.report) fs.writeFileSync(path.resolve(values.report), `${JSON.stringify({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), suites: outcomes }, null, 1)}\n`);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
}

await main().catch(die);
