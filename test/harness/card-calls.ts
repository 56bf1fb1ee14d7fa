import type { WebFetchResult, WebSearchProvider, WebSearchResult } from '../../src/seams/web.ts';
import type { GalleryCall } from './card-gallery.ts';

const SCANNER = `/** Splits a text into tokens. */
export function scan(text: string): Token[] {
  return text.split('\\n').map((line) => ({ text: line }));
}

interface Token { text: string }
`;
const LONG = Array.from({ length: 900 }, (_, at) => `export const value${at} = compute(${at}, { retries: ${at % 7}, label: 'number ${at}' });`).join('\n');

/** The workspace the calls are made in. */
export const FILES: Readonly<Record<string, string>> = {
  'src/parser/tokens.ts': SCANNER,
  'src/parser/written.ts': SCANNER,
  'src/parser/auto.ts': SCANNER,
  'src/values.ts': `${LONG}\n`,
  'src/empty.ts': '',
  'src/多语言/解析器入口文件.ts': "export const 名前 = '値'; // 日本語のとても長いコメントで、行の終わりまで続きます\n",
  'packages/a/very/long/way/down/the/tree/of/folders/that/nobody/wants/to/read/index.ts': "const parts = name.split('/');\n",
  'docs/notes.md': '# Notes\n\nTODO: write them.\n',
  'logo.png': 'iVBOR',
};

const SOURCES = Array.from({ length: 12 }, (_, at) => ({
  url: at === 1 ? 'https://docs.example.org/a/very/long/address/that/goes/on/and/on/until/it/does/not/fit?with=parameters&and=more' : `https://example${at}.com/articles/${at}`,
  title: at === 0 ? 'Regular expressions and line terminators' : at === 2 ? '改行コードと正規表現について知っておくべきこと' : `Line endings, part ${at}`,
  ...(at % 2 === 0 ? { snippet: 'How ^ and $ see the two characters of a Windows line ending, and what the m flag changes about it.' } : {}),
  ...(at % 3 === 0 ? { publishedAt: '2026-03-04' } : {}),
}));

const SEARCHES: Readonly<Record<string, WebSearchResult>> = {
  'CRLF in JavaScript': { sources: SOURCES.slice(0, 3), truncated: false, content: 'JavaScript regular expressions treat \\r\\n as two line terminators.' },
  'line endings': { sources: SOURCES, truncated: true },
  'xyzzy plugh': { sources: [], truncated: false },
};
async function search({ query }: { readonly query: string }): Promise<WebSearchResult> {
  const found = SEARCHES[query];
  if (found === undefined) throw new Error('the search service answered 429: too many requests, try again in 30 s');
  return found;
}
const PAGES: Readonly<Record<string, WebFetchResult>> = {
  'https://example.com/regexp': { url: 'https://example.com/regexp', statusCode: 200, body: { kind: 'text', content: 'Regular expressions and line terminators.' }, truncated: false },
  'https://example.com/long': { url: 'https://example.com/long', statusCode: 200, body: { kind: 'text', content: 'word '.repeat(40_000) }, truncated: true },
  'https://example.com/gone': { url: 'https://example.com/gone', statusCode: 404, body: { kind: 'text', content: 'Not found' }, truncated: false },
  'https://example.com/empty': { url: 'https://example.com/empty', statusCode: 204, body: { kind: 'text', content: '' }, truncated: false },
};
async function fetchPage({ url }: { readonly url: string }): Promise<WebFetchResult> {
  const page = PAGES[url];
  if (page === undefined) throw new Error(`"${url}" was refused: it is an address of this machine or of a private network`);
  return page;
}

/** The network, as far as the calls need one. */
export const WEB: { readonly search: WebSearchProvider; readonly fetch: typeof fetchPage } = { search: { id: 'gallery', available: () => true, search }, fetch: fetchPage };

const text = { schema: { type: 'string' }, render: (_args: unknown, value: unknown) => [{ type: 'text', text: String(value) }] };
const LOOSE = { type: 'object', additionalProperties: true, properties: {} };

/** Tools as a workspace's plugins bring them, well-behaved and not. */
export const PLUGINS: readonly object[] = [
  { name: 'greet', description: 'Greet somebody', parameters: { name: { type: 'string', required: true } }, output: text, execute: async ({ name }: { name: string }) => `Hello, ${name}!` },
  { name: 'inventory', description: 'Count things', parameters: { filter: LOOSE }, output: text, execute: async () => Array.from({ length: 60 }, (_, at) => `${at + 1}\tthing number ${at + 1}`).join('\n') },
  { name: 'quiet', description: 'Says nothing', parameters: {}, output: text, execute: async () => '' },
  {
    name: 'faulty', description: 'Throws', parameters: { city: { type: 'string' } }, output: text,
    execute: async () => {
      throw new TypeError("Cannot read properties of undefined (reading 'temperature')");
    },
  },
  {
    name: 'crooked', description: 'Its card is broken', parameters: {}, output: text, execute: async () => 'the result is whole, only the card is not',
    presentResult: () => {
      throw new Error('no card');
    },
  },
  { name: 'wrong', description: 'Answers with the wrong type', parameters: {}, output: text, execute: async () => ({ not: 'text' }) },
  { name: 'deploy', description: 'Asks first', parameters: { to: { type: 'string', required: true } }, output: text, presentCall: ({ to }: { to: string }) => ({ card: 'generic', title: `Deploy to ${to}`, kind: 'execute', rawInput: { to, dryRun: false } }), execute: async () => 'deployed' },
];

const read = (file: string): { name: string; args: unknown } => ({ name: 'read', args: { file_path: file } });
const bash = (command: string, description: string): { name: 'bash'; args: unknown } => ({ name: 'bash', args: { command, description } });
const bigger = SCANNER.replace("return text.split('\\n').map((line) => ({ text: line }));", "const out: Token[] = [];\n  for (const match of text.matchAll(/[^\\r\\n]+/g)) out.push({ text: match[0], start: match.index });\n  return out;");
const QUESTIONS = {
  questions: [
    { id: 'q1', header: 'Scope', question: 'Which files should I change?', options: [{ label: 'Only the scanner', description: 'The smallest change' }, { label: 'Scanner and tests', description: 'Also covers the cases that were never tested, which takes a while longer than the change itself' }] },
    { id: 'q2', question: 'What else should be checked?', multi_select: true, options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Benchmarks', description: 'Takes five minutes' }] },
  ],
};
const OUTPUT = "printf '\\033[32m✓\\033[39m parses an empty file\\n\\033[32m✓\\033[39m parses one line\\n\\033[31m✗\\033[39m parses CRLF\\n\\n  AssertionError: expected 2 to equal 1\\n    at test/parser.test.ts:18:12\\n'; exit 7";
const LONG_COMMAND = "cd packages/parser && npm install --save-dev typescript@5.9.3 && \\\n  for file in src/*.ts; do\n    npx tsc --noEmit --strict \"$file\" || echo \"averyveryverylongwordwithoutanybreakthatmustnotpushtheviewwider-$file\"\n  done";

/** What is called for the pictures. */
export const CALLS: readonly GalleryCall[] = [
  { kind: 'read', state: 'done', name: 'read', args: { file_path: 'src/parser/tokens.ts' } },
  { kind: 'read', state: 'truncated', name: 'read', args: { file_path: 'src/values.ts', offset: 120, limit: 40 } },
  { kind: 'read', state: 'empty', name: 'read', args: { file_path: 'src/empty.ts' } },
  { kind: 'read', state: 'CJK', name: 'read', args: { file_path: 'src/多语言/解析器入口文件.ts' } },
  { kind: 'read', state: 'long path', name: 'read', args: { file_path: 'packages/a/very/long/way/down/the/tree/of/folders/that/nobody/wants/to/read/index.ts' } },
  { kind: 'read', state: 'failed', name: 'read', args: { file_path: 'src/parser/tokns.ts' } },
  { kind: 'read', state: 'asking', name: 'read', args: { file_path: '/etc/hostname' }, answer: 'wait' },
  { kind: 'read', state: 'denied', name: 'read', args: { file_path: '/etc/hostname' }, answer: 'no' },
  { kind: 'read', state: 'stopped', name: 'read', args: { file_path: 'src/values.ts' }, stop: 'at once' },

  { kind: 'edit', state: 'done', name: 'edit', args: { file_path: 'src/parser/tokens.ts', old_string: 'interface Token { text: string }', new_string: 'interface Token { readonly text: string }' }, first: [read('src/parser/tokens.ts')] },
  { kind: 'edit', state: 'asking', name: 'edit', args: { file_path: 'src/parser/tokens.ts', old_string: "  return text.split('\\n').map((line) => ({ text: line }));", new_string: '  const out: Token[] = [];\n  for (const match of text.matchAll(/[^\\r\\n]+/g)) out.push({ text: match[0], start: match.index });\n  return out;' }, first: [read('src/parser/tokens.ts')], answer: 'wait' },
  { kind: 'edit', state: 'kept open', name: 'edit', args: { file_path: 'src/parser/auto.ts', old_string: 'Splits a text into tokens.', new_string: 'Splits a text into its tokens.' }, first: [read('src/parser/auto.ts')], preset: 'auto-edit' },
  { kind: 'edit', state: 'failed', name: 'edit', args: { file_path: 'src/parser/tokens.ts', old_string: 'return tokens;', new_string: 'return [];' }, first: [read('src/parser/tokens.ts')] },
  { kind: 'edit', state: 'not read', name: 'edit', args: { file_path: 'src/values.ts', old_string: 'value1 ', new_string: 'first ' } },
  { kind: 'edit', state: 'denied', name: 'edit', args: { file_path: 'src/parser/tokens.ts', old_string: 'scan(', new_string: 'tokenize(' }, first: [read('src/parser/tokens.ts')], answer: 'no' },
  { kind: 'edit', state: 'stopped', name: 'edit', args: { file_path: 'src/parser/tokens.ts', old_string: 'scan(', new_string: 'tokenize(' }, first: [read('src/parser/tokens.ts')], stop: 'at once' },

  { kind: 'write', state: 'done', name: 'write', args: { file_path: 'src/parser/index.ts', content: "export { scan } from './tokens.ts';\nexport type { Token } from './tokens.ts';\n" } },
  { kind: 'write', state: 'over', name: 'write', args: { file_path: 'src/parser/written.ts', content: bigger }, first: [read('src/parser/written.ts')] },
  { kind: 'write', state: 'truncated', name: 'write', args: { file_path: 'src/generated.ts', content: LONG } },
  { kind: 'write', state: 'empty', name: 'write', args: { file_path: 'src/nothing.ts', content: '' } },
  { kind: 'write', state: 'asking', name: 'write', args: { file_path: 'src/多语言/新しいファイルのとても長い名前.ts', content: "export const greeting = '你好，世界';\n" }, answer: 'wait' },
  { kind: 'write', state: 'failed', name: 'write', args: { file_path: 'src/parser', content: 'x' } },
  { kind: 'write', state: 'read-only', name: 'write', args: { file_path: 'src/x.ts', content: 'x' }, preset: 'read-only' },

  { kind: 'terminal', state: 'done', ...bash('git status --short; echo " M src/parser/tokens.ts"', 'Show what changed'), live: 'running 12 files\n\u001b[32m✓\u001b[39m one\n\u001b[32m✓\u001b[39m two\n' },
  { kind: 'terminal', state: 'exit code', ...bash(OUTPUT, 'Run the tests about line endings') },
  { kind: 'terminal', state: 'signal', ...bash('echo started; kill -TERM $$', 'End itself') },
  { kind: 'terminal', state: 'empty', ...bash('true', 'Do nothing') },
  { kind: 'terminal', state: 'truncated', ...bash('seq 1 60000', 'Count') },
  { kind: 'terminal', state: 'wide', name: 'bash', args: { command: LONG_COMMAND, description: 'Install the compiler and check every file of the package, one after the other', workdir: 'packages' } },
  { kind: 'terminal', state: 'timeout', name: 'bash', args: { command: 'echo waiting; sleep 30', description: 'Wait for the server', timeoutMs: 300 } },
  { kind: 'terminal', state: 'stopped', ...bash('echo waiting; sleep 30', 'Wait for the server'), stop: 'printed' },

  { kind: 'approval', state: 'asking', name: 'bash', args: { command: 'npm install --save-dev typescript@5.9.3', description: 'Install the compiler' }, answer: 'wait' },
  { kind: 'approval', state: 'asking, long', name: 'bash', args: { command: LONG_COMMAND, description: 'Install the compiler and check every file of the package' }, answer: 'wait' },
  { kind: 'approval', state: 'asking, CJK', ...bash("echo '依存関係をインストールしてから、すべてのテストを実行します'; rm -r 出力", '依存関係をインストールしてから、すべてのテストを実行し、結果をまとめて表示します'), answer: 'wait' },
  { kind: 'approval', state: 'denied', ...bash('rm -r dist', 'Remove the build'), answer: 'no' },
  { kind: 'approval', state: 'refused', ...bash('rm -r dist', 'Remove the build'), preset: 'read-only' },

  { kind: 'matches', state: 'done', name: 'grep', args: { pattern: 'split\\(', path: 'src/parser' } },
  { kind: 'matches', state: 'truncated', name: 'grep', args: { pattern: 'value\\d+', include: '*.ts' } },
  { kind: 'matches', state: 'one', name: 'grep', args: { pattern: 'TODO' } },
  { kind: 'matches', state: 'CJK', name: 'grep', args: { pattern: '名前|parts' } },
  { kind: 'matches', state: 'empty', name: 'grep', args: { pattern: 'nowhere' } },
  { kind: 'matches', state: 'failed', name: 'grep', args: { pattern: 'split(' } },
  { kind: 'matches', state: 'stopped', name: 'grep', args: { pattern: 'e' }, stop: 'at once' },

  { kind: 'paths', state: 'done', name: 'glob', args: { pattern: '**/*.ts' } },
  { kind: 'paths', state: 'one', name: 'glob', args: { pattern: '*.png' } },
  { kind: 'paths', state: 'empty', name: 'glob', args: { pattern: '**/*.rs' } },
  { kind: 'paths', state: 'failed', name: 'glob', args: { pattern: '**/*.ts', path: 'missing' } },

  { kind: 'web-search', state: 'done', name: 'web_search', args: { queries: ['CRLF in JavaScript'] } },
  { kind: 'web-search', state: 'truncated', name: 'web_search', args: { queries: ['line endings'] } },
  { kind: 'web-search', state: 'empty', name: 'web_search', args: { queries: ['xyzzy plugh'] } },
  { kind: 'web-search', state: 'failed', name: 'web_search', args: { queries: ['too', 'many'] } },
  { kind: 'web-search', state: 'asking', name: 'web_search', args: { queries: ['CRLF in JavaScript', 'line terminators of regular expressions'] }, answer: 'wait' },
  { kind: 'web-search', state: 'denied', name: 'web_search', args: { queries: ['CRLF in JavaScript'] }, answer: 'no' },

  { kind: 'web-fetch', state: 'done', name: 'web_fetch', args: { url: 'https://example.com/regexp' } },
  { kind: 'web-fetch', state: 'truncated', name: 'web_fetch', args: { url: 'https://example.com/long' } },
  { kind: 'web-fetch', state: 'not found', name: 'web_fetch', args: { url: 'https://example.com/gone' } },
  { kind: 'web-fetch', state: 'empty', name: 'web_fetch', args: { url: 'https://example.com/empty' } },
  { kind: 'web-fetch', state: 'failed', name: 'web_fetch', args: { url: 'http://10.0.0.1/admin' } },
  { kind: 'web-fetch', state: 'asking', name: 'web_fetch', args: { url: 'https://docs.example.org/a/very/long/address/that/goes/on/and/on/until/it/does/not/fit?with=parameters&and=more' }, answer: 'wait' },

  { kind: 'todo', state: 'done', name: 'todo_write', args: { todos: [{ content: 'Read the scanner', status: 'completed' }, { content: 'Mend the scanner', status: 'in_progress' }, { content: 'Run the tests', status: 'pending' }] } },
  { kind: 'todo', state: 'failed', name: 'todo_write', args: { todos: [{ content: 'One', status: 'in_progress' }, { content: 'Two', status: 'in_progress' }] } },

  { kind: 'question', state: 'done', name: 'ask_user_question', args: { questions: [{ id: 'q', question: 'Which files should I change?' }] } },
  { kind: 'question', state: 'asking', name: 'ask_user_question', args: QUESTIONS, answer: 'wait' },
  { kind: 'question', state: 'asking, own words', name: 'ask_user_question', args: { questions: [{ id: 'q', header: '範囲', question: 'どのファイルを変更しますか？ とても長い質問なので、狭い場所では何行かに分かれるはずです。' }] }, answer: 'wait' },
  { kind: 'question', state: 'not answered', name: 'ask_user_question', args: QUESTIONS, answer: 'no' },

  { kind: 'jobs', state: 'done', name: 'bash', args: { command: 'sleep 3; npm run watch', description: 'Rebuild when files change', run_in_background: true } },
  { kind: 'jobs', state: 'list, empty', name: 'job_list', args: {} },
  { kind: 'jobs', state: 'list', name: 'job_list', args: {}, first: [{ name: 'bash', args: { command: 'sleep 3', description: 'Wait', run_in_background: true } }] },
  { kind: 'jobs', state: 'output', name: 'job_output', args: { job_id: 'bash-3' }, first: [{ name: 'bash', args: { command: 'echo built; sleep 3', description: 'Build', run_in_background: true } }] },
  { kind: 'jobs', state: 'kill', name: 'job_kill', args: { job_id: 'bash-4' }, first: [{ name: 'bash', args: { command: 'sleep 30', description: 'Wait', run_in_background: true } }] },
  { kind: 'jobs', state: 'failed', name: 'job_output', args: { job_id: 'bash-99' } },

  { kind: 'plain', state: 'done', name: 'greet', args: { name: 'Ada' } },
  { kind: 'plain', state: 'truncated', name: 'inventory', args: { filter: { shelves: [1, 2, 3], tags: ['metal', 'wood'], note: 'everything that is taller than a person and lighter than a chair' } } },
  { kind: 'plain', state: 'empty', name: 'quiet', args: {} },
  { kind: 'plain', state: 'asking', name: 'deploy', args: { to: 'production' }, answer: 'wait' },
  { kind: 'plain', state: 'denied', name: 'deploy', args: { to: 'production' }, answer: 'no' },

  { kind: 'fault', state: 'thrown', name: 'faulty', args: { city: 'Zürich' } },
  { kind: 'fault', state: 'card broken', name: 'crooked', args: {} },
  { kind: 'fault', state: 'wrong type', name: 'wrong', args: {} },
  { kind: 'fault', state: 'unknown tool', name: 'teleport', args: { to: 'Mars' } },
  { kind: 'fault', state: 'not JSON', name: 'read', args: '{"file_path": "src/par' },
  { kind: 'fault', state: 'wrong arguments', name: 'read', args: { path: 'src/parser/tokens.ts' } },
];
