// A private code-server: profile, environment, start and stop. Node built-ins only: `npm start` uses it too.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Plain } from './progress.mjs';
import { home } from './vscode-home.mjs';

/** @typedef {{ dir: string, userData: string, extensions: string }} Profile */
/** @typedef {{ url: string, host: string, pid: number, startMs: number, exited: Promise<void>, stop: () => Promise<void>, log: () => string }} Server */

/** Settings no user would miss in a first look: nothing that phones home, nothing that opens by itself. */
export const QUIET = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'chat.disableAIFeatures': true,
  'git.openRepositoryInParentFolders': 'never',
};

/**
 * Folders for one VS Code. `user/User/settings.json` is written when it isn't there yet.
 * @param {string} dir
 * @param {Record<string, unknown>} [settings]
 * @returns {Profile}
 */
export function profileIn(dir, settings = {}) {
  const profile = { dir, userData: path.join(dir, 'user'), extensions: path.join(dir, 'ext') };
  fs.mkdirSync(path.join(profile.userData, 'User'), { recursive: true });
  fs.mkdirSync(profile.extensions, { recursive: true });
  const file = path.join(profile.userData, 'User/settings.json');
  if (!fs.existsSync(file)) fs.writeFileSync(file, JSON.stringify({ ...QUIET, ...settings }, null, 2));
  fs.writeFileSync(path.join(dir, 'config.yaml'), '');
  return profile;
}

function commandLine(profile) {
  return ['--config', path.join(profile.dir, 'config.yaml'), '--user-data-dir', profile.userData, '--extensions-dir', profile.extensions];
}

/** Our environment without what an outer VS Code, code-server or npm left in it. */
function environment(profile, extra) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^(VSCODE_|ELECTRON_|CODE_SERVER_|npm_)/.test(key) && !['PORT', 'HOST', 'PASSWORD', 'INIT_CWD'].includes(key)),
  );
  env.XDG_CONFIG_HOME = path.join(profile.dir, 'cfg');
  env.XDG_DATA_HOME = path.join(profile.dir, 'data');
  // no gallery: nothing is looked up, so nothing waits for a closed network
  env.EXTENSIONS_GALLERY = JSON.stringify({ serviceUrl: '', itemUrl: '', resourceUrlTemplate: '', controlUrl: '', recommendationsUrl: '' });
  for (const [key, value] of Object.entries(extra)) if (value !== undefined) env[key] = value;
  return env;
}

/**
 * Installs a packaged extension into a profile.
 * @param {Profile} profile
 * @param {string} vsix absolute path
 * @returns {Promise<void>}
 */
export function installVsix(profile, vsix) {
  const { node, entry } = home();
  return new Promise((resolve, reject) => {
    const child = spawn(node, [entry, ...commandLine(profile), '--install-extension', vsix, '--force'], {
      env: environment(profile, {}),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (text += chunk));
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Plain(`VS Code refused ${vsix} (exit code ${code}):\n${text}`))));
  });
}

/** Ends a process and everything in its group: extension and terminal hosts outlive a closed browser for hours. */
async function stopGroup(pid) {
  const alive = () => {
    try {
      process.kill(-pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGKILL'])) {
    if (!alive()) return;
    try {
      process.kill(-pid, signal);
    } catch {
      return;
    }
    for (let i = 0; i < 40 && alive(); i++) await new Promise((resolve) => setTimeout(resolve, 75));
  }
}

/**
 * Starts code-server and waits until it listens.
 * @param {Profile} profile
 * @param {{ host?: string, port?: number, env?: Record<string, string | undefined>, password?: string, trust?: boolean,
 *   smokeDriver?: boolean, locale?: string, verbose?: boolean }} [options]
 *   `env`: also reaches the extension host; `trust`: false turns the workspace trust question off (every folder is
 *   trusted); `smokeDriver`: lets a page name an extension under development; `password`: asks for it, otherwise no login
 * @returns {Promise<Server>}
 */
export async function startServer(profile, options = {}) {
  const { host = '127.0.0.1', port = 0, env = {}, password, trust = true, smokeDriver = false, locale, verbose = !!process.env.DSH_VERBOSE } = options;
  const { node, entry } = home();
  // VS Code's unix sockets: a short path, because about 100 characters are allowed
  const sockets = fs.mkdtempSync(path.join(os.tmpdir(), 'dsh-s-'));
  process.once('exit', () => fs.rmSync(sockets, { recursive: true, force: true }));
  const started = Date.now();
  const child = spawn(
    process.execPath,
    [
      ...[path.join(import.meta.dirname, 'guard.mjs'), node, entry, ...commandLine(profile)],
      ...['--session-socket', path.join(sockets, 'session.sock')],
      ...['--auth', password === undefined ? 'none' : 'password', '--bind-addr', `${host.includes(':') ? `[${host}]` : host}:${port}`],
      ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override', '--ignore-last-opened'],
      ...(trust ? [] : ['--disable-workspace-trust']),
      ...(smokeDriver ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
      ...(locale === undefined ? [] : ['--locale', locale]),
    ],
    { env: environment(profile, { XDG_RUNTIME_DIR: sockets, ...env, PASSWORD: password }), stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  );
  let text = '';
  const exited = new Promise((resolve) => child.once('exit', () => resolve(undefined)));
  const stop = async () => {
    if (child.pid !== undefined) await stopGroup(child.pid);
    fs.rmSync(sockets, { recursive: true, force: true });
  };
  const url = await new Promise((resolve, reject) => {
    const on = (chunk) => {
      text = (text + chunk).slice(-200_000);
      if (verbose) process.stderr.write(chunk);
      const found = /HTTPS? server listening on (https?:\/\/\S+?)\/?\s/.exec(text);
      if (found) resolve(found[1]);
    };
    child.stdout.on('data', on);
    child.stderr.on('data', on);
    child.once('error', (error) => reject(new Plain(`code-server could not be run: ${error.message}`)));
    child.once('exit', (code) => {
      const busy = /EADDRINUSE/.test(text);
      reject(Object.assign(new Plain(busy ? `Port ${port} on ${host} is taken.` : `code-server ended at once (exit code ${code}):\n${text}`), { busy }));
    });
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url, host: new URL(url).host, pid: child.pid ?? 0, startMs: Date.now() - started, exited, stop, log: () => text };
}

/**
 * The address of a workbench that has a folder open.
 * @param {{ url: string }} server
 * @param {string | undefined} folder absolute path; undefined: a window without one
 * @param {[string, string][]} [payload] VS Code's own debug entries; they need `smokeDriver`
 * @returns {string}
 */
export function workbenchUrl(server, folder, payload = []) {
  const query = new URLSearchParams(folder === undefined ? { ew: 'true' } : { folder });
  if (payload.length > 0) query.set('payload', JSON.stringify(payload));
  return `${server.url}/?${query}`;
}
