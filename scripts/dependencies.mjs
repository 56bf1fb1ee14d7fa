// Makes node_modules what package-lock.json says. Node built-ins only.
import fs from 'node:fs';
import path from 'node:path';
import { Plain, run, step } from './progress.mjs';

export const ROOT = path.resolve(import.meta.dirname, '..');
const OLDEST_NODE = [20, 19];

/** Throws a plain error when this Node is too old to run the scripts. */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new Plain(`Node ${OLDEST_NODE.join('.')} or newer is needed; this is ${process.versions.node}.`);
}

/** The first package that node_modules lacks or has in another version, or undefined when all is in place. */
function firstStale() {
  const read = (file) => JSON.parse(fs.readFileSync(path.join(ROOT, file), 'utf8')).packages;
  let installed;
  try {
    installed = read('node_modules/.package-lock.json');
  } catch {
    return 'node_modules';
  }
  for (const [where, wanted] of Object.entries(read('package-lock.json'))) {
    if (where === '' || wanted.optional || wanted.devOptional || wanted.link) continue;
    if (installed[where]?.version !== wanted.version) return where;
    if (!fs.existsSync(path.join(ROOT, where, 'package.json'))) return where;
  }
  return undefined;
}

/** Runs `npm ci` unless node_modules already holds what the lock file names. */
export async function ensureDependencies() {
  checkNode();
  if (firstStale() === undefined) return;
  // npm names itself when it runs us; npm on PATH otherwise
  const cli = process.env.npm_execpath;
  const [command, args] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  await step('installing dependencies (npm ci)', () => run(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: ROOT }));
}
