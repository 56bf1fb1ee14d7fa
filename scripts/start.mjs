// npm start: opens examples/workspace in a real VS Code with DSH Host loaded, installing whatever that takes.
//   DSH_VSCODE=PATH   this desktop VS Code instead of the `code` on PATH; DSH_VSCODE=code-server: the browser one
//   PORT, HOST        where code-server listens (else 127.0.0.1 and a free port)
// Node built-ins only until the dependencies are there. Ctrl+C ends VS Code and everything it started.
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ROOT, ensureDependencies } from './dependencies.mjs';
import { Plain, die, onStop, run, step } from './progress.mjs';
import { installVsix, profileIn, startServer, workbenchUrl } from './code-server.mjs';
import { ensureHome, which } from './vscode-home.mjs';

const WORKSPACE = path.join(ROOT, 'examples/workspace');
/** Tried first, so that what the browser stores for this address is there the next time. */
const USUAL_PORT = 8420;

/** VS Code asks for trust only when this says so, and the example's tools need a trusted workspace. */
const ASK_TRUST = { 'security.workspace.trust.startupPrompt': 'once' };

const TRY = `
Then, in the chat of DSH Host, say:

    Use the greet tool to greet Ada.

It needs no key and no network. The tool is examples/workspace's own: change it, save, and greet again.`;

/** The desktop VS Code to use, or undefined for code-server. A `code` that talks to an outer window is none. */
function desktop() {
  const named = process.env.DSH_VSCODE;
  if (named === 'code-server') return undefined;
  if (named) {
    const file = named.includes(path.sep) ? path.resolve(named) : which(named);
    if (file === undefined || !fs.existsSync(file)) throw new Plain(`DSH_VSCODE names ${named}, which is not there.`);
    return file;
  }
  const found = process.platform === 'win32' ? which('code.cmd') : which('code');
  if (found === undefined) return undefined;
  const real = fs.realpathSync(found);
  return /remote-cli|code-server|\.vscode-server/.test(real) ? undefined : found;
}

/** The profile `npm start` keeps between runs. */
function keptProfile(name, settings) {
  return profileIn(path.join(process.env.DSH_START_PROFILE ?? path.join(ROOT, '.vscode-home-profile'), name), settings);
}

/** Processes whose command line holds `mark`: a desktop VS Code leaves its launcher's process group. */
function killMarked(mark) {
  if (process.platform === 'win32') return;
  return new Promise((resolve) => {
    const ps = spawn('ps', ['-eo', 'pid=,args='], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    ps.stdout.on('data', (chunk) => (text += chunk));
    ps.on('error', () => resolve(undefined));
    ps.on('close', () => {
      for (const line of text.split('\n')) {
        const pid = Number.parseInt(line, 10);
        if (!line.includes(mark) || !pid || pid === process.pid) continue;
        try {
          process.kill(pid, 'SIGTERM');
        } catch {
          // already gone
        }
      }
      resolve(undefined);
    });
  });
}

async function startDesktop(code) {
  await step('building the extension', () => run(process.execPath, [path.join(ROOT, 'esbuild.mjs')], { cwd: ROOT }));
  const profile = keptProfile('desktop', ASK_TRUST);
  const args = [`--extensionDevelopmentPath=${ROOT}`, `--user-data-dir=${profile.userData}`, `--extensions-dir=${profile.extensions}`];
  if (process.platform === 'linux' && process.getuid?.() === 0) args.push('--no-sandbox');
  const child = spawn(code, [...args, '--new-window', '--wait', WORKSPACE], { stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' });
  child.on('error', (error) => die(new Plain(`${code} could not be run: ${error.message}`)));
  onStop(async () => {
    child.kill();
    await killMarked(profile.userData);
  }, 0);
  console.log(`\nOpening examples/workspace in ${code}. Trust the workspace when VS Code asks.${TRY}\n\nClose the window or press Ctrl+C to stop.`);
  child.on('exit', (exit) => process.exit(exit ?? 0));
}

function isFree(port, host) {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

async function startInBrowser() {
  await ensureHome();
  const { makeVsix } = await import('./package.mjs');
  const { file } = await makeVsix(path.join(ROOT, 'out/dsh-host.vsix'));
  const profile = keptProfile('browser', ASK_TRUST);
  await step('installing the extension', () => installVsix(profile, file));

  const host = process.env.HOST || '127.0.0.1';
  const asked = process.env.PORT;
  if (asked && !/^\d{1,5}$/.test(asked)) throw new Plain(`PORT must be a number, not ${JSON.stringify(asked)}.`);
  const loopback = ['127.0.0.1', '::1', 'localhost'].includes(host);
  // whoever reaches VS Code can run commands: beyond this machine, only with a password
  const password = loopback ? undefined : (process.env.PASSWORD ?? crypto.randomBytes(9).toString('base64url'));
  const open = (port) => startServer(profile, { host, port, password });
  const server = await step('starting VS Code', async () => {
    if (asked) return open(Number(asked));
    const usual = await isFree(USUAL_PORT, host);
    return open(usual ? USUAL_PORT : 0).catch((error) => {
      if (error?.busy) return open(0);
      throw error;
    });
  });
  onStop(async () => {
    process.stderr.write('\nstopping VS Code …\n');
    await server.stop();
  }, 0);
  void server.exited.then(() => {
    // also reached while stopping, where onStop's own exit follows
    setTimeout(() => {
      console.error(`code-server ended by itself:\n${server.log().slice(-2000)}`);
      process.exit(1);
    }, 4000).unref();
    return server.stop();
  });

  const port = new URL(server.url).port;
  const shown = host === '0.0.0.0' || host === '::' ? os.hostname() : host;
  const url = workbenchUrl({ url: `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}` }, WORKSPACE);
  console.log(`\nVS Code is running. Open this in a browser:\n\n    ${url}\n\nTrust the workspace when VS Code asks.${TRY}`);
  if (password !== undefined) {
    console.log(`\nPassword: ${password}`);
    console.log(`Browsers run VS Code's views on https or localhost only. From another machine: ssh -L ${port}:127.0.0.1:${port} …, then http://127.0.0.1:${port}/`);
  }
  console.log('\nCtrl+C stops it.');
}

try {
  await ensureDependencies();
  if (!fs.existsSync(WORKSPACE)) throw new Plain(`${WORKSPACE} is missing from this checkout.`);
  const code = desktop();
  await (code === undefined ? startInBrowser() : startDesktop(code));
} catch (error) {
  die(error);
}
