// VS Code calls run() inside the extension host: `extensionTestsPath` names this file's bundle.
import fs from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import { findTests, runMocha } from './mocha.ts';

/** Runs the bundled host tests; rejects when one failed, which VS Code turns into exit code 1. */
export async function run(): Promise<void> {
  const output = process.env['DSH_TEST_OUTPUT'];
  let print: ((...args: unknown[]) => void) | undefined;
  if (output) {
    // VS Code mixes its own log into the console, so lines go to a file that the driver follows. The host's console
    // methods are accessors that ignore assignment; the global itself can be replaced.
    print = (...args) => fs.appendFileSync(output, `${format(...args)}\n`);
    const methods = ['log', 'info', 'warn', 'error'].map((name) => [name, { value: print, writable: true, configurable: true }]);
    globalThis.console = Object.create(console, Object.fromEntries(methods)) as Console;
  }
  const { stats } = await runMocha({
    files: findTests(path.resolve(import.meta.dirname, '../host'), ['.test.cjs'], process.env['DSH_TEST_FILES']),
    grep: process.env['DSH_TEST_GREP'],
    report: process.env['DSH_TEST_REPORT'],
    timeoutMs: 60_000,
    print,
  });
  if (stats.failed > 0) throw new Error(`${stats.failed} of the tests failed`);
}
