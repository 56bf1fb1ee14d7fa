import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { notices } from '../../scripts/notices.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const json = <T>(file: string) => JSON.parse(read(file)) as T;

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly contributes: { readonly configuration: { readonly properties: Readonly<Record<string, { type: string; default: unknown; enum?: readonly string[]; scope?: string; markdownDescription: string }>> } };
}
const manifest = json<Manifest>('package.json');
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];

/** Rows of every table of a page, cells trimmed. */
function rows(markdown: string): string[][] {
  return [...markdown.matchAll(/^\|(.*)\|\s*$/gm)].map((match) => match[1]!.split('|').map((cell) => cell.trim())).filter(([first]) => !/^:?-+:?$/.test(first ?? ''));
}
const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

describe('pages', () => {
  it('every dependency is on the page of dependencies with its licence, and nothing else is', () => {
    const listed = new Map(rows(read('docs/dependencies.md')).flatMap(([names = '', , licence = '']) => codes(names).map((name) => [name, licence] as const)));
    assert.deepEqual([...listed.keys()].sort(), Object.keys(manifest.devDependencies).sort());
    const said = (name: string) => json<{ license: string }>(`node_modules/${name}/package.json`).license.replace(/[()]/g, '');
    assert.deepEqual([...listed].filter(([name, licence]) => said(name) !== licence).map(([name, licence]) => `${name}: ${licence}, says ${said(name)}`), []);
    for (const [name, version] of Object.entries(manifest.devDependencies)) assert.match(version, /^\d+\.\d+\.\d+/, `${name} is pinned`);
  });

  it('what comes along with a dependency may be shipped', () => {
    const free = /^(?:MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|CC-BY-4\.0|\(?MPL-2\.0 OR Apache-2\.0\)?|BlueOak-1\.0\.0|Unlicense|Python-2\.0)$/;
    const [shipped] = read('docs/dependencies.md').split('## For building');
    const open = rows(shipped!).flatMap(([names = '']) => codes(names)).filter((name) => name in manifest.devDependencies);
    const seen = new Set<string>();
    const unfit: string[] = [];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (seen.has(name) || !existsSync(path.join(root, 'node_modules', name))) continue;
      seen.add(name);
      const { license, dependencies = {} } = json<{ license?: unknown; dependencies?: Record<string, string> }>(`node_modules/${name}/package.json`);
      if (typeof license !== 'string' || !free.test(license)) unfit.push(`${name}: ${String(license)}`);
      open.push(...Object.keys(dependencies));
    }
    assert.deepEqual(unfit, []);
  });

  it('the package carries the licence text of what is in its bundles, and of nothing else', () => {
    const input = (bytesInOutput: number) => ({ bytesInOutput });
    const text = notices(root, [{ outputs: { 'a.js': { inputs: { 'src/extension.ts': input(9), 'node_modules/yaml/dist/index.js': input(9), 'node_modules/diff/lib/index.mjs': input(0) } } } }], ['node_modules/@vscode/codicons/dist/codicon.ttf']);
    assert.deepEqual([...text.matchAll(/^-+\n(\S+) \d+\.\d+\.\d+ \((.*)\)$/gm)].map((match) => match.slice(1)), [['@vscode/codicons', 'CC-BY-4.0'], ['yaml', 'ISC']]);
    assert.ok(text.includes(read('node_modules/yaml/LICENSE').trim()));
  });

  it('every setting is on the page of settings with its default and values, and nothing else is', () => {
    const listed = rows(read('docs/settings.md')).filter(([name]) => /^`dshHost\./.test(name ?? '')).map(([name = '', type = '', fallback = '']) => [codes(name)[0], type, fallback]);
    const wanted = Object.entries(manifest.contributes.configuration.properties).map(([name, { type, default: value, enum: values }]) =>
      [name, values ? values.map((item) => (item === '' ? 'empty' : `\`${item}\``)).join(', ') : type, value === '' ? 'empty' : `\`${JSON.stringify(value).replace(/^"|"$/g, '')}\``]);
    assert.deepEqual(listed.sort(), wanted.sort());
  });

  it('links lead somewhere, pictures are there and small', () => {
    for (const page of pages) {
      const dir = path.dirname(path.join(root, page));
      for (const match of read(page).matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)) {
        const [target = '', fragment] = (match[1] ?? match[2]!).split('#');
        if (/^(?:https?|command|mailto):/.test(match[1] ?? match[2]!)) continue;
        const file = target === '' ? path.join(root, page) : path.resolve(dir, target);
        assert.ok(existsSync(file), `${page}: ${target} is missing`);
        if (/\.(?:png|gif|jpe?g)$/.test(target)) assert.ok(statSync(file).size <= 250 * 1024, `${page}: ${target} is ${Math.ceil(statSync(file).size / 1024)} KB`);
        if (fragment === undefined || !file.endsWith('.md')) continue;
        const anchors = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map((heading) => heading[1]!.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
        assert.ok(anchors.includes(fragment), `${page}: ${target}#${fragment} is no heading`);
      }
    }
  });

  it('npm commands that pages name exist', () => {
    for (const page of pages) {
      for (const match of read(page).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)) {
        const name = match[1] ?? match[2]!;
        assert.ok(name in manifest.scripts, `${page}: npm run ${name}`);
      }
    }
  });

  it('every room has a README of half a page at most', () => {
    const rooms = readdirSync(path.join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => `src/${entry.name}`);
    for (const room of [...rooms, 'webview', 'test']) {
      assert.ok(existsSync(path.join(root, room, 'README.md')), `${room}/README.md is missing`);
      const words = read(`${room}/README.md`).split(/\s+/).length;
      assert.ok(words <= 400, `${room}/README.md has ${words} words`);
    }
  });
});
