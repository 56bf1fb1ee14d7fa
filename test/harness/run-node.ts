// Runs the suite $DSH_TEST_SUITE (unit or e2e) in this process. Started by scripts/test.mjs, which documents the options.
import path from 'node:path';
import { findTests, runMocha } from './mocha.ts';

const test = path.resolve(import.meta.dirname, '..');
const suites = {
  unit: { dirs: ['unit', 'oracle'], endings: ['.test.ts', '.test.tsx'], timeoutMs: 20_000 },
  e2e: { dirs: ['e2e'], endings: ['.e2e.ts'], timeoutMs: 120_000 },
};
const suite = process.env['DSH_TEST_SUITE'] === 'e2e' ? suites.e2e : suites.unit;
const { stats } = await runMocha({
  files: suite.dirs.flatMap((dir) => findTests(path.join(test, dir), suite.endings, process.env['DSH_TEST_FILES'])),
  grep: process.env['DSH_TEST_GREP'],
  report: process.env['DSH_TEST_REPORT'],
  timeoutMs: suite.timeoutMs,
});
// a leaked handle must not hold the run: what a test leaves open is that test's affair to assert
process.exit(stats.failed > 0 ? 1 : 0);
