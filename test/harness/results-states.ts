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
  fetch: { kind: 'web-fetch', callId: 'c4', title: 'Fetch https://example.com/regexp', url: 'https://example.com/regexp', statusCode: 200, truncated: true, text: MARKDOWN },
};
