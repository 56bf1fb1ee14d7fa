// Texts of the licences of everything in the bundles: most of them ask to travel with copies of the code.
import fs from 'node:fs';
import path from 'node:path';

const LICENCE = /^(?:licen[cs]e|copying|notice)(?:[-.].*)?$/i;

/** The package a path of an input or a copied file belongs to: its folder, relative to the repository. */
function packageOf(file) {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll('\\', '/'))?.[1];
}

/**
 * @param {string} root of the repository
 * @param {{ outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }[]} metafiles of the bundles that are shipped
 * @param {readonly string[]} copied files that are shipped as they are
 * @returns {string}
 */
export function notices(root, metafiles, copied) {
  const folders = new Set(copied.map(packageOf));
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [file, { bytesInOutput }] of Object.entries(inputs)) if (bytesInOutput > 0) folders.add(packageOf(file));
    }
  }
  folders.delete(undefined);
  const parts = [...folders].map((folder) => {
    const dir = path.resolve(root, folder);
    const { name, version, license, author } = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
    const texts = fs.readdirSync(dir).filter((file) => LICENCE.test(file) && fs.statSync(path.join(dir, file)).isFile()).sort();
    const by = typeof author === 'string' ? author : author?.name;
    const text = texts.map((file) => fs.readFileSync(path.join(dir, file), 'utf8').trim()).join('\n\n') || `Licence: ${license}${by ? `\nAuthor: ${by}` : ''}`;
    return [`${name} ${version} (${license})`, text];
  });
  parts.sort(([a], [b]) => (a < b ? -1 : 1));
  const rule = '-'.repeat(80);
  return `DSH Host contains code of these packages.\n\n${parts.map(([title, text]) => `${rule}\n${title}\n${rule}\n\n${text}\n`).join('\n')}`;
}
