// Builds the extension into a folder of its own, so that running it or packing it isn't disturbed by the next build.
import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from './dependencies.mjs';
import { run, step } from './progress.mjs';

const CARRIED = /^(package\.json|package\.nls.*\.json|README\.md|CHANGELOG\.md|LICENSE|\.vscodeignore|media|l10n)$/;
export const STAGES = path.join(ROOT, 'out');

/** Stages and test packages whose process is gone: a killed run can't clean up after itself. */
function sweep() {
  for (const name of fs.existsSync(STAGES) ? fs.readdirSync(STAGES) : []) {
    const pid = Number(/^(?:stage|test)-(?:\w+-)?(\d+)(?:\.vsix)?$/.exec(name)?.[1]);
    if (!pid || pid === process.pid) continue;
    try {
      process.kill(pid, 0);
    } catch {
      fs.rmSync(path.join(STAGES, name), { recursive: true, force: true });
    }
  }
}

/**
 * Builds into a new folder under out/.
 * @param {string} name what for, one word
 * @param {string[]} flags for esbuild.mjs
 * @returns {Promise<{ dir: string, remove: () => void }>}
 */
export async function stage(name, flags) {
  sweep();
  const dir = path.join(STAGES, `stage-${name}-${process.pid}`);
  fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(dir, { recursive: true });
  for (const file of fs.readdirSync(ROOT)) if (CARRIED.test(file)) fs.cpSync(path.join(ROOT, file), path.join(dir, file), { recursive: true });
  for (const page of fs.readdirSync(path.join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))) {
    fs.cpSync(path.join(ROOT, 'docs', page), path.join(dir, 'docs', page));
  }
  const remove = () => fs.rmSync(dir, { recursive: true, force: true });
  try {
    await step(`building (${name})`, () => run(process.execPath, [path.join(ROOT, 'esbuild.mjs'), '--stage', dir, ...flags], { cwd: ROOT, tail: 60 }));
  } catch (error) {
    remove();
    throw error;
  }
  return { dir, remove };
}
