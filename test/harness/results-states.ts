import type { ResultsPage } from '../../src/protocol.ts';
import { MARKDOWN, MATCHES } from './webview-states.ts';

const matches = MATCHES.view;
if (matches.card !== 'search' || matches.shape !== 'matches') throw new Error('the fixture is a list of matches');

/** Pages of the results view, one for each thing that can be seen. */
export const RESULTS: Record<string, ResultsPage> = {
  empty: { kind: 'empty' },
  matches: { kind: 'matches', callId: 'c1', title: 'Search for split\\(', pattern: 'split\\(', files: matches.files, truncated: true, total: 10_000, raw: 'all of it' },
  none: { kind: 'matches', callId: 'c1', title: 'Search for nothing', pattern: 'nothing', files: [], truncated: false, total: 0 },
  paths: { kind: 'paths', callId: 'c2', title: 'Find **/*.ts', paths: ['src/a.ts', 'src/parser/tokens.ts', 'src/parser/index.ts', 'test/a b/#x?.ts', 'README.md'], truncated: false, total: 5 },
  web: {
    kind: 'web-search', callId: 'c3', title: 'Search the web for CRLF in JavaScript', truncated: false, answer: 'JavaScript regular expressions treat `\\r\\n` as **two** line terminators.',
    sources: [
      { url: 'https://example.com/regexp', title: 'Regular expressions and line terminators', snippet: 'How ^ and $ see the two characters of a Windows line ending, and what the m flag changes about it.', publishedAt: '2026-03-04' },
      { url: 'https://docs.example.org/a/very/long/address/that/goes/on/and/on/until/it/does/not/fit?with=parameters&and=more', title: 'Line endings', snippet: 'A short history.' },
      { url: 'https://example.net/untitled' },
    ],
  },
  one: { kind: 'matches', callId: 'c1', title: 'Grep TODO', pattern: 'TODO', files: [{ path: 'docs/notes.md', matches: [{ lineNumber: 3, line: 'TODO: write them.' }] }], truncated: false, total: 1, raw: 'all of it' },
  long: {
    kind: 'matches', callId: 'c1', title: `Grep ${'a-very-long-pattern|'.repeat(6)} in packages/a/very/long/way/down (**/*.{ts,tsx,js,jsx})`, pattern: '長い|long', truncated: false, total: 4,
    files: [
      { path: 'packages/a/very/long/way/down/the/tree/of/folders/that/nobody/wants/to/read/a-file-with-a-name-that-is-as-long-as-its-path.test.ts', matches: [{ lineNumber: 123456, line: `${'\t'.repeat(4)}const long = '${'long '.repeat(90)}';` }, { lineNumber: 123457, line: '        // 日本語のとても長いコメントで、行の終わりまで続きます' }] },
      { path: 'src/多语言/解析器入口文件.ts', matches: [{ lineNumber: 1, line: '長い' }, { lineNumber: 2, line: 'long' }] },
    ],
  },
  'paths-none': { kind: 'paths', callId: 'c2', title: 'Glob **/*.rs', paths: [], truncated: false, total: 0 },
  'paths-truncated': { kind: 'paths', callId: 'c2', title: 'Glob **/*', paths: Array.from({ length: 100 }, (_, at) => `packages/${at % 7}/src/deep/er/file-${at}.ts`), truncated: true, total: 10_000, raw: 'all' },
  'web-none': { kind: 'web-search', callId: 'c3', title: 'xyzzy plugh', truncated: false, sources: [] },
  'web-truncated': { kind: 'web-search', callId: 'c3', title: 'line endings', truncated: true, sources: Array.from({ length: 8 }, (_, at) => ({ url: `https://example${at}.com/articles/${at}`, title: at === 1 ? '改行コードと正規表現について知っておくべきこと' : `Line endings, part ${at}`, snippet: 'What they are.' })) },
  'fetch-gone': { kind: 'web-fetch', callId: 'c4', title: 'Fetch https://example.com/gone', url: 'https://example.com/gone', statusCode: 404, truncated: false, text: 'Not found' },
  'fetch-empty': { kind: 'web-fetch', callId: 'c4', title: 'Fetch https://example.com/empty', url: 'https://example.com/empty', statusCode: 204, truncated: false, text: '' },
  fetch: { kind: 'web-fetch', callId: 'c4', title: 'Fetch https://example.com/regexp', url: 'https://example.com/regexp', statusCode: 200, truncated: true, text: MARKDOWN },
};
