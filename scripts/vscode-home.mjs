// node scripts/vscode-home.mjs [--no-browser]
// Installs a real VS Code that needs no desktop: code-server with the Node.js it wants, from the npm registry, into
// .vscode-home/ (or $DSH_VSCODE_HOME), and the Debian packages it needs. A home of these versions is left as it is.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './dependencies.mjs';
import { Plain, die, run, step } from './progress.mjs';

const CODE_SERVER = '4.139.1'; // VS Code 1.139.1
const NODE = '24.22.3'; // code-server's `engines` asks for Node 24
const STAMP = `code-server ${CODE_SERVER} node ${NODE}`;

/**
 * The native modules worth compiling: log files (an extension's output channels are log files) and the extension host's
 * watchdog. Terminals and file watching come compiled; the rest (proxy logins, the agent host's database, Windows) is
 * never loaded here. So code-server's own install scripts, which compile everything, don't run.
 */
const COMPILED = ['@vscode/spdlog', '@vscode/native-watchdog'];
const COMPILERS = { python3: 'python3', make: 'make', 'g++': 'g++' };
const BROWSER_PACKAGES = ['chromium', 'fonts-liberation', 'fonts-dejavu-core'];
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** @typedef {{ root: string, node: string, entry: string }} Home */

/** @returns {Home} where the home is, whether or not it is there */
export function home() {
  const root = path.resolve(process.env.DSH_VSCODE_HOME ?? path.join(ROOT, '.vscode-home'));
  return {
    root,
    node: path.join(root, `node_modules/node-linux-${process.arch}/bin/node`),
    entry: path.join(root, 'node_modules/code-server/out/node/entry.js'),
  };
}

/** @param {string} name @returns {string | undefined} the absolute path of a program on PATH */
export function which(name) {
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(dir, name);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      if (fs.statSync(file).isFile()) return file;
    } catch {
      // not here
    }
  }
  return undefined;
}

/** @returns {string | undefined} the Chromium (or Chrome) to drive: $CHROMIUM, else one on PATH */
export function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  return BROWSERS.map(which).find((file) => file !== undefined);
}

/**
 * Installs Debian packages; where that can't be, the error says what to run by hand.
 * @param {string[]} names
 */
async function installPackages(names) {
  const byHand = `apt-get install -y --no-install-recommends ${names.join(' ')}`;
  if (!which('apt-get')) throw new Plain(`Missing: ${names.join(', ')} (names as in Debian). Install them with your package manager, then try again.`);
  const asRoot = process.getuid?.() === 0 ? [] : which('sudo') ? ['sudo', ...(process.stdin.isTTY ? [] : ['-n'])] : undefined;
  if (asRoot === undefined) throw new Plain(`System packages are missing, and there is neither root nor sudo. Run as root:\n  ${byHand}`);
  const apt = (...args) => {
    const [command, ...rest] = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args];
    return run(command, rest);
  };
  try {
    // sudo asks for the password on the terminal, before the progress line is there
    if (asRoot.length === 1) spawnSync('sudo', ['-v'], { stdio: 'inherit' });
    await step(`installing system packages: ${names.join(' ')}`, async () => {
      await apt('update', '-qq').catch(() => undefined); // a dead third-party source need not stop us: install tells
      await apt('install', '-y', '-qq', '--no-install-recommends', ...names);
    });
  } catch (error) {
    throw new Plain(`System packages could not be installed. As root:\n  ${byHand}\n\n${error.message}`);
  }
}

/** Files no run of ours ever reads: other platforms' binaries, the built-in Copilot and its SDKs, build leftovers. */
function prune(root) {
  const vscode = path.join(root, 'node_modules/code-server/lib/vscode');
  const modules = path.join(vscode, 'node_modules');
  const drop = (dir) => fs.rmSync(dir, { recursive: true, force: true });
  const list = (dir) => (fs.existsSync(dir) ? fs.readdirSync(dir) : []);
  const ripgrep = path.join(modules, '@vscode/ripgrep-universal/bin');
  for (const name of list(ripgrep)) if (name !== `linux-${process.arch}`) drop(path.join(ripgrep, name));
  for (const name of list(path.join(modules, '@github'))) if (name.startsWith('copilot-sdk')) drop(path.join(modules, '@github', name));
  for (const name of list(path.join(modules, 'node-pty/prebuilds'))) {
    if (/^(darwin|win32)-/.test(name)) drop(path.join(modules, 'node-pty/prebuilds', name));
  }
  for (const dir of ['extensions/copilot', 'node_modules/@microsoft/mxc-sdk', 'node_modules/@devcontainers', 'node_modules/node-pty/third_party']) {
    drop(path.join(vscode, dir));
  }
  for (const name of COMPILED) drop(path.join(modules, name, 'build/Release/obj.target'));
}

/** Compiles what is worth it. Without a compiler VS Code still runs; only what extensions log stays invisible. */
async function compile(dir, env, log) {
  try {
    const missing = Object.entries(COMPILERS).filter(([program]) => !which(program));
    if (missing.length > 0) await installPackages(missing.map(([, name]) => name));
    await step('compiling native modules', () => run('npm', ['rebuild', '--foreground-scripts', ...COMPILED], { cwd: dir, env, log }));
  } catch (error) {
    console.error(`VS Code's log module could not be compiled, so output channels will stay empty:\n${error.message}`);
  }
}

async function install(where) {
  // beside its place, then moved: an interrupted install leaves no half-made home
  const root = `${where}.new-${process.pid}`;
  fs.rmSync(root, { recursive: true, force: true });
  fs.mkdirSync(root, { recursive: true });
  fs.writeFileSync(path.join(root, 'package.json'), '{ "name": "vscode-home", "private": true }\n');
  const log = `${where}.log`;
  fs.rmSync(log, { force: true });
  const nodePackage = `node-linux-${process.arch}`;
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts'];
  try {
    await step(`installing Node ${NODE} for code-server`, () => run('npm', ['install', ...flags, `${nodePackage}@${NODE}`], { cwd: root, log }));
    const nodeDir = path.join(root, 'node_modules', nodePackage);
    // native modules must be compiled by, and with the headers of, the Node that loads them
    const env = { ...process.env, PATH: `${path.join(nodeDir, 'bin')}${path.delimiter}${process.env.PATH}`, npm_config_nodedir: nodeDir, JOBS: 'max' };
    // npm run leaves these behind; the inner npm has to find its own
    for (const key of ['npm_node_execpath', 'NODE', 'npm_config_user_agent', 'npm_config_local_prefix', 'INIT_CWD']) delete env[key];
    const vscode = path.join(root, 'node_modules/code-server/lib/vscode');
    await step(`installing code-server ${CODE_SERVER}`, async () => {
      await run('npm', ['install', ...flags, `code-server@${CODE_SERVER}`], { cwd: root, env, log });
      // what code-server's own postinstall does: VS Code's modules, its extensions', the `code` of its terminals
      for (const dir of [vscode, path.join(vscode, 'extensions')]) await run('npm', ['install', '--omit=dev', ...flags], { cwd: dir, env, log });
      for (const [dir, link] of [['remote-cli', 'code-server'], ['helpers', 'browser.sh']]) {
        const name = dir === 'helpers' ? 'browser-linux.sh' : 'code-linux.sh';
        fs.rmSync(path.join(vscode, 'bin', dir, link), { force: true });
        fs.symlinkSync(name, path.join(vscode, 'bin', dir, link));
      }
    });
    await compile(vscode, env, log);
    prune(root);
    const entry = path.join(root, 'node_modules/code-server/out/node/entry.js');
    fs.writeFileSync(path.join(root, 'config.yaml'), '');
    await run(path.join(nodeDir, 'bin/node'), [entry, '--config', path.join(root, 'config.yaml'), '--version'], { env: { ...env, HOME: root } });
    fs.writeFileSync(path.join(root, '.stamp'), `${STAMP}\n`);
    fs.rmSync(where, { recursive: true, force: true });
    fs.renameSync(root, where);
    fs.rmSync(log, { force: true });
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

/**
 * The home, installed if it has to be.
 * @param {{ browser?: boolean }} [options] `browser`: also see to a Chromium that tests can drive
 * @returns {Promise<Home>}
 */
export async function ensureHome({ browser = false } = {}) {
  const found = home();
  let stamp = '';
  try {
    stamp = fs.readFileSync(path.join(found.root, '.stamp'), 'utf8').trim();
  } catch {
    // not installed
  }
  const ready = stamp === STAMP && fs.existsSync(found.entry);
  if (!ready && (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))) {
    throw new Plain(
      `A VS Code can be installed from npm on Linux only (this is ${process.platform}-${process.arch}). Install desktop VS Code and put \`code\` on PATH, or name it: DSH_VSCODE=/path/to/code.`,
    );
  }
  if (browser && findBrowser() === undefined) await installPackages(BROWSER_PACKAGES);
  if (browser && findBrowser() === undefined) throw new Plain('No Chromium or Chrome on PATH. Install one, or name it: CHROMIUM=/path/to/chromium.');
  if (!ready) await install(found.root);
  return found;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await ensureHome({ browser: !process.argv.includes('--no-browser') }).then((h) => console.log(`VS Code home: ${h.root}`), die);
}
