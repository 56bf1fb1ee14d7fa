// Runs the bundled host tests inside the extension host of a real VS Code. Started by scripts/test.mjs, which builds the
// bundles and documents the options. $DSH_TEST_STAGE: where dist/ and test/ are. Exit: 0 passed, 1 failed, 98 the page
// crashed, 99 no answer in time.
import fs from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import { startServer, workbenchUrl } from '../../scripts/code-server.mjs';
import { launchBrowser, remoteUri, testProfile } from './vscode.ts';

const LIMIT_MS = 10 * 60_000;
const root = path.resolve(import.meta.dirname, '../..');
const stage = process.env['DSH_TEST_STAGE'] ?? root;
const tests = path.join(stage, process.env['DSH_TEST_STAGE'] ? 'test' : 'out/test', 'harness/mocha-index.cjs');

const profile = testProfile();
const output = path.join(profile.dir, 'output.txt');
fs.writeFileSync(output, '');
const closers: (() => Promise<unknown>)[] = [];
let interrupted = false;

async function close(): Promise<void> {
  for (const closer of closers.splice(0).reverse()) await closer().catch(() => undefined);
  if (!process.env['DSH_TEST_KEEP']) fs.rmSync(profile.dir, { recursive: true, force: true, maxRetries: 3 });
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void close().then(() => process.exit(130));
  });
}

/** Copies what the tests print, as they print it. */
function follow(file: string): () => void {
  const fd = fs.openSync(file, 'r');
  const buffer = Buffer.alloc(64 * 1024);
  const drain = (): void => {
    for (let n = fs.readSync(fd, buffer); n > 0; n = fs.readSync(fd, buffer)) process.stdout.write(buffer.subarray(0, n));
  };
  const timer = setInterval(drain, 100);
  return () => {
    clearInterval(timer);
    drain();
    fs.closeSync(fd);
  };
}

async function main(): Promise<number> {
  const pass = ['DSH_TEST_FILES', 'DSH_TEST_GREP', 'DSH_TEST_REPORT', 'NODE_V8_COVERAGE', 'CI'];
  const server = await startServer(profile, {
    smokeDriver: true,
    trust: false,
    env: { DSH_TEST_OUTPUT: output, ...Object.fromEntries(pass.map((key) => [key, process.env[key]])) },
  });
  closers.push(server.stop);
  const { browser, page } = await launchBrowser();
  closers.push(() => browser.close());
  // VS Code's own hooks for its integration tests in a browser: they must be there before its scripts run
  let finish: (code: number) => void = () => undefined;
  const finished = new Promise<number>((resolve) => (finish = resolve));
  await page.exposeFunction('codeAutomationExit', (code: number) => finish(code));
  await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => process.stderr.write(`${format(...args)}\n`));
  page.on('crash', () => finish(98));
  setTimeout(() => finish(99), LIMIT_MS).unref();
  page.on('pageerror', (error) => console.error(`[workbench] ${error.message}`));
  const stopFollowing = follow(output);
  await page.goto(
    workbenchUrl(server, profile.workspace, [
      ['extensionDevelopmentPath', remoteUri(server, stage)],
      ['extensionTestsPath', remoteUri(server, tests)],
      ['skipWelcome', 'true'],
      ['logLevel', process.env['DSH_VERBOSE'] ? 'info' : 'error'],
    ]),
  );
  const code = await finished;
  if (code === 99) console.error(`the extension host gave no answer within ${LIMIT_MS / 60_000} minutes`);
  if (code === 98) console.error('the workbench page crashed');
  if (code !== 0) {
    const shot = path.join(root, '.shots/host-failed.png');
    fs.mkdirSync(path.dirname(shot), { recursive: true });
    await page.screenshot({ path: shot, timeout: 5000 }).catch(() => undefined);
  }
  stopFollowing();
  return code;
}

try {
  const code = await main();
  if (!interrupted) {
    await close();
    process.exit(code);
  }
} catch (error) {
  await close();
  if (!interrupted) {
    console.error(error);
    process.exit(1);
  }
}
