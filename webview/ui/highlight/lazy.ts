import { signal } from '@preact/signals';
import type { Token } from './tokens.ts';

/** Lines of coloured tokens, or undefined when the language is not known. */
export type Highlighter = (code: string, lang: string) => Token[][] | undefined;

/** Code longer than this stays plain, characters. */
const LIMIT = 100_000;

const loaded = signal<Highlighter | undefined>(undefined);
let asked = false;
// read while this script runs: later there is no current script to ask
const self = document.currentScript instanceof HTMLScriptElement ? document.currentScript : document.querySelector<HTMLScriptElement>('script[src]');

/** Fetches the highlighter, once, when the page has nothing better to do. */
function load(): void {
  if (asked || self === null) return;
  asked = true;
  (globalThis as { dshHighlight?: (highlighter: Highlighter) => void }).dshHighlight = (highlighter) => {
    loaded.value = highlighter;
  };
  requestIdleCallback(() => {
    const script = document.createElement('script');
    script.nonce = self.nonce;
    script.src = new URL('highlight.js', self.src).href;
    // plain code is what remains when it can't be had
    document.head.append(script);
  }, { timeout: 500 });
}

const cache = new Map<string, Token[][] | undefined>();

/** Lines of tokens, or undefined while the highlighter is not there or does not know the language. Reads a signal: the caller is drawn again when it has come. */
export function highlight(code: string, lang: string | undefined): Token[][] | undefined {
  if (lang === undefined || lang === '' || code.length > LIMIT) return undefined;
  const run = loaded.value;
  if (run === undefined) {
    load();
    return undefined;
  }
  const key = `${lang}\n${code}`;
  if (!cache.has(key)) {
    if (cache.size >= 200) cache.delete(cache.keys().next().value ?? '');
    cache.set(key, run(code, lang.toLowerCase()));
  }
  return cache.get(key);
}

const BY_EXTENSION: Record<string, string> = {
  ts: 'typescript', tsx: 'typescript', mts: 'typescript', cts: 'typescript', js: 'javascript', jsx: 'javascript', mjs: 'javascript', cjs: 'javascript', py: 'python',
  rb: 'ruby', rs: 'rust', go: 'go', java: 'java', kt: 'kotlin', kts: 'kotlin', swift: 'swift', c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hpp: 'cpp',
  cs: 'csharp', php: 'php', lua: 'lua', sh: 'bash', bash: 'bash', zsh: 'bash', ps1: 'powershell', json: 'json', jsonc: 'json', yaml: 'yaml', yml: 'yaml', toml: 'ini',
  ini: 'ini', css: 'css', scss: 'scss', html: 'xml', htm: 'xml', xml: 'xml', svg: 'xml', vue: 'xml', md: 'markdown', sql: 'sql', diff: 'diff', patch: 'diff',
};

/** The language of a file by its name. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase();
  if (name === 'dockerfile') return 'dockerfile';
  if (name === 'makefile') return 'makefile';
  return BY_EXTENSION[name.slice(name.lastIndexOf('.') + 1)];
}
