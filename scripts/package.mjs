// npm run package [-- --out FILE]: makes the VSIX, prints its size, and fails when it grows past the limit.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ROOT, ensureDependencies } from './dependencies.mjs';
import { Plain, die, run, step } from './progress.mjs';
import { stage } from './stage.mjs';

const LIMIT_BYTES = 5 * 1024 * 1024;

/**
 * Packs a folder that is an extension as it stands.
 * @param {string} folder absolute path
 * @param {string} out absolute path of the .vsix to make
 * @param {readonly string[]} more arguments for vsce
 * @returns {Promise<string>} the list of its files
 */
export function packFolder(folder, out, more = []) {
  const vsce = path.join(ROOT, 'node_modules/@vscode/vsce/vsce');
  // everything is bundled, so no dependencies travel; README pictures live in the repository, not in the package
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', ...more, '--out', out];
  return run(process.execPath, [vsce, ...args], { cwd: folder });
}

/**
 * @param {string} out absolute path of the .vsix to make
 * @returns {Promise<{ file: string, bytes: number, listing: string }>}
 */
export async function makeVsix(out) {
  const staged = await stage('vsix', ['--production']);
  try {
    const made = path.join(staged.dir, 'made.vsix');
    const listing = await step('packing the VSIX', () => packFolder(staged.dir, made));
    fs.mkdirSync(path.dirname(out), { recursive: true });
    const beside = `${out}.${process.pid}`;
    fs.copyFileSync(made, beside);
    fs.renameSync(beside, out);
    return { file: out, bytes: fs.statSync(out).size, listing };
  } finally {
    staged.remove();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    const { values } = parseArgs({ options: { out: { type: 'string', default: 'dsh-host.vsix' } } });
    await ensureDependencies();
    const { file, bytes, listing } = await makeVsix(path.resolve(values.out));
    console.log(listing.trim());
    console.log(`\n${path.relative(process.cwd(), file)}: ${(bytes / 1024 / 1024).toFixed(2)} MB (${bytes} bytes)`);
    if (bytes > LIMIT_BYTES) throw new Plain(`The VSIX is larger than ${LIMIT_BYTES / 1024 / 1024} MB: \`node esbuild.mjs --production --metafile\` tells what grew.`);
  } catch (error) {
    die(error);
  }
}
