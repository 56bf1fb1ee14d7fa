// npm run test:desktop: the host suite in a desktop VS Code (@vscode/test-electron).
//   DSH_VSCODE=PATH  use that VS Code instead of downloading one     --version V  which to download (stable)
// Exits 2 when no desktop VS Code can be had here, which is not a failed test.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, ensureDependencies } from './dependencies.mjs';
import { die, step } from './progress.mjs';
import { stage } from './stage.mjs';
import { which } from './vscode-home.mjs';

async function executable(version) {
  if (process.env.DSH_VSCODE) return process.env.DSH_VSCODE;
  const { downloadAndUnzipVSCode } = await import('@vscode/test-electron');
  return step(`downloading desktop VS Code (${version})`, () =>
    downloadAndUnzipVSCode({ version, cachePath: path.join(ROOT, '.vscode-home-desktop'), timeout: 30_000, reporter: { report() {}, error() {} } }),
  );
}

async function main() {
  const { values } = parseArgs({
    options: { version: { type: 'string', default: 'stable' }, grep: { type: 'string' }, files: { type: 'string' } },
  });
  await ensureDependencies();
  let code;
  try {
    code = await executable(values.version);
  } catch (error) {
    console.error(`No desktop VS Code can be had here: ${error.message}\nSet DSH_VSCODE to one that is installed. \`npm run test:host\` runs the same suite in code-server.`);
    return 2;
  }
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
    console.error(`A desktop VS Code needs a display: run this under xvfb-run${which('xvfb-run') ? '' : ' (package xvfb)'}.`);
    return 2;
  }
  const { runTests } = await import('@vscode/test-electron');
  const staged = await stage('desktop', ['--tests']);
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'dsh-'));
  const report = path.join(dir, 'report.json');
  fs.mkdirSync(path.join(dir, 'ws'));
  try {
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    await runTests({
      vscodeExecutablePath: code,
      extensionDevelopmentPath: staged.dir,
      extensionTestsPath: path.join(staged.dir, 'test/harness/mocha-index.cjs'),
      launchArgs: [path.join(dir, 'ws'), '--disable-workspace-trust', '--disable-extensions', '--user-data-dir', path.join(dir, 'user'), ...root],
      extensionTestsEnv: { DSH_TEST_REPORT: report, DSH_TEST_GREP: values.grep, DSH_TEST_FILES: values.files },
    }).catch((error) => console.error(error.message));
    if (!fs.existsSync(report)) {
      console.error('VS Code ended without a report.');
      return 1;
    }
    const { stats } = JSON.parse(fs.readFileSync(report, 'utf8'));
    console.log(`${stats.passed} passed, ${stats.failed} failed`);
    return stats.failed > 0 ? 1 : 0;
  } finally {
    staged.remove();
    fs.rmSync(dir, { recursive: true, force: true });
  }
}

await main().then((code) => process.exit(code), die);
