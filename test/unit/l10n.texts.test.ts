import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const LANGUAGES = ['zh-cn', 'ja', 'ko'];
/** Texts that are the same in some languages: keys, names, numbers. */
const SAME = new Set(['Alt+', '{0}: {1}']);

function texts(file: string): Record<string, string> {
  const read = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, string | { message: string }>;
  return Object.fromEntries(Object.entries(read).map(([key, value]) => [key, typeof value === 'string' ? value : value.message]));
}

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
const links = (text: string) => (text.match(/\(command:[\w.]+\)|`[^`]+`/g) ?? []).sort();

describe('texts in other languages', () => {
  it('O3 the English bundle holds every text of the code, the manifest names only texts that exist', () => {
    const run = spawnSync(process.execPath, ['scripts/l10n.mjs', '--check'], { cwd: root, encoding: 'utf8' });
    assert.equal(run.stderr, '', `run npm run l10n, then translate what is missing:\n${run.stderr}`);
    assert.equal(run.status, 0);
  });

  for (const [english, translated] of [
    ['l10n/bundle.l10n.json', (language: string) => `l10n/bundle.l10n.${language}.json`],
    ['package.nls.json', (language: string) => `package.nls.${language}.json`],
  ] as const) {
    for (const language of LANGUAGES) {
      const file = translated(language);
      it(`O3 ${file} says all of ${english}, with the same placeholders, links and code`, () => {
        assert.ok(existsSync(path.join(root, file)), `${file} is missing`);
        const wanted = texts(english);
        const has = texts(file);
        assert.deepEqual(Object.keys(wanted).filter((key) => !has[key]?.trim()), [], 'not translated');
        assert.deepEqual(Object.keys(has).filter((key) => !(key in wanted)), [], 'nothing asks for these');
        const differs = (read: (text: string) => string[]) => Object.keys(wanted).filter((key) => read(wanted[key]!).join() !== read(has[key]!).join());
        assert.deepEqual(differs(placeholders), [], 'other placeholders');
        assert.deepEqual(differs(links), [], 'other links or code');
        const untranslated = Object.keys(wanted).filter((key) => has[key] === wanted[key] && !SAME.has(wanted[key]!));
        assert.deepEqual(untranslated, [], 'still English');
      });
    }
  }

  it('O3 a text that names a command of ours uses that command\'s own title', () => {
    for (const language of ['', ...LANGUAGES.map((name) => `.${name}`)]) {
      const bundle = texts(`l10n/bundle.l10n${language}.json`);
      const manifest = texts(`package.nls${language}.json`);
      const key = Object.keys(bundle).find((text) => text.includes('DSH: Show Log'));
      if (key !== undefined) assert.ok(bundle[key]!.includes(`DSH: ${manifest['command.showLog']}`), `${language}: ${bundle[key]}`);
      assert.ok(manifest['setting.model']!.includes(`DSH: ${manifest['command.selectModel']}`), `${language}: ${manifest['setting.model']}`);
    }
  });
});
