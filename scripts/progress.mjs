// Words on the terminal while something slow runs. Node built-ins only: this runs before `npm ci` has.
import { spawn } from 'node:child_process';
import fs from 'node:fs';

/** An error whose message is all the user needs: printed without a stack. */
export class Plain extends Error {}

/** @param {number} since milliseconds as Date.now() gives them */
function seconds(since) {
  return `${Math.round((Date.now() - since) / 1000)} s`;
}

/**
 * Says what goes on while `work` runs: a counting line on a terminal, a line every 15 seconds elsewhere.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const started = Date.now();
  const live = process.stderr.isTTY;
  if (live) process.stderr.write(`… ${title}`);
  else process.stderr.write(`… ${title}\n`);
  const timer = setInterval(
    () => process.stderr.write(live ? `\r… ${title} (${seconds(started)})` : `  still at it: ${title} (${seconds(started)})\n`),
    live ? 1000 : 15_000,
  );
  try {
    const result = await work();
    process.stderr.write(`${live ? '\r\x1b[K' : ''}✓ ${title} (${seconds(started)})\n`);
    return result;
  } catch (error) {
    process.stderr.write(`${live ? '\r\x1b[K' : ''}✗ ${title} (${seconds(started)})\n`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Runs a command and collects what it prints; a failure carries the end of that.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, log?: string, tail?: number }} [options] `log`: also write the output there
 * @returns {Promise<string>} all output
 */
export function run(command, args, { cwd, env = process.env, log, tail = 30 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' });
    const file = log === undefined ? undefined : fs.createWriteStream(log, { flags: 'a' });
    let text = '';
    const on = (chunk) => {
      text += chunk;
      file?.write(chunk);
    };
    child.stdout.on('data', on);
    child.stderr.on('data', on);
    child.on('error', (error) => reject(new Plain(`${command} could not be run: ${error.message}`)));
    child.on('close', (code, signal) => {
      file?.end();
      if (code === 0) return resolve(text);
      const end = text.trimEnd().split('\n').slice(-tail).join('\n');
      reject(new Plain(`\`${[command, ...args].join(' ')}\` ended with ${signal ?? `exit code ${code}`}:\n${end}${log ? `\n(all of it: ${log})` : ''}`));
    });
  });
}

/**
 * Calls `end` once: at Ctrl+C, at termination, or when npm, which runs us through a shell that passes no signal on, is gone.
 * @param {() => Promise<unknown>} end takes a few seconds at most: nothing hurries it
 * @param {number} exitCode of this process afterwards
 */
export function onStop(end, exitCode) {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void end().then(
      () => process.exit(exitCode),
      () => process.exit(1),
    );
  };
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop);
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, 500).unref();
}

/**
 * The last stop of a script: a Plain error is one message, anything else keeps its stack. Exits 1.
 * @param {unknown} error
 */
export function die(error) {
  console.error(error instanceof Plain ? `\n${error.message}` : error);
  process.exit(1);
}
