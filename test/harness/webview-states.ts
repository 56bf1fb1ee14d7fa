import type { CardView, ChatMeta, ChatState, DiffCardFile, ToolItem, TranscriptItem } from '../../src/protocol.ts';

/** Views of the chat for tests and screenshots, one for each thing that can be seen. */

const NOW = Date.now();
export const META: ChatMeta = {
  sessionId: 's1', title: 'Rename the parser', status: 'idle',
  model: { provider: 'deepseek', id: 'deepseek-chat', name: 'DeepSeek V3.2', offline: false },
  preset: { id: 'ask', label: 'Ask First' }, untrusted: false, todos: [], jobs: [], reviews: { files: 0, changes: 0, kind: 'staged' },
  tools: [
    { name: 'read', description: 'Read a file' }, { name: 'grep', description: 'Search file contents with a regular expression' },
    { name: 'glob', description: 'Find files by name' }, { name: 'bash', description: 'Run a shell command' }, { name: 'edit', description: 'Change a file' },
    { name: 'greet', description: 'Greet somebody by name' }, { name: 'web_fetch', description: 'Fetch a page' },
  ],
  usage: { used: 12_400, window: 64_000 },
  sessions: [
    { id: 's2', title: 'Why does the build fail on Windows?', time: NOW - 3_600_000 }, { id: 's3', title: 'Add a retry to the fetcher and write tests for every status code', time: NOW - 86_400_000 },
    { id: 's4', title: 'Explain the scheduler', time: NOW - 3 * 86_400_000, elsewhere: 'other-project' }, { id: 's5', title: 'Tidy imports', time: NOW - 9 * 86_400_000 },
    { id: 's6', title: 'Upgrade to TypeScript 5.9', time: NOW - 40 * 86_400_000 }, { id: 's7', title: 'Speed up the tests', time: NOW - 400 * 86_400_000 },
  ],
  queued: [],
};

export function state(items: readonly TranscriptItem[], meta: Partial<ChatMeta> = {}, earlier = 0): ChatState {
  return { meta: { ...META, ...meta }, items, earlier };
}
export function user(id: string, text: string): TranscriptItem {
  return { kind: 'user', id, turn: 1, text, time: NOW };
}
export function assistant(id: string, text: string, more: Partial<Extract<TranscriptItem, { kind: 'assistant' }>> = {}): TranscriptItem {
  return { kind: 'assistant', id, turn: 1, blocks: [{ type: 'text', text }], streaming: false, interrupted: false, ...more };
}
export function tool(id: string, name: string, view: CardView, more: Partial<ToolItem> = {}): ToolItem {
  return { kind: 'tool', id, turn: 1, name, status: 'completed', view, ...more };
}

export const MARKDOWN = `## What I found

The parser in \`src/parser/tokens.ts:42\` splits **on every** newline, so a \`\\r\\n\` file yields an *empty* token. Two ways to mend it:

1. Normalise line endings first
2. Teach the scanner about \`\\r\`
   - cheap
   - keeps offsets right

\`\`\`ts
export function scan(text: string, at = 0): Token[] {
  const out: Token[] = []; // every token, in order
  for (const match of text.matchAll(/[^\\r\\n]+/g)) out.push({ text: match[0], start: at + match.index });
  return out;
}
\`\`\`

| file | lines | state |
|---|---|---|
| tokens.ts | 120 | broken |
| index.ts | 48 | fine |

> It is only wrong for files from Windows.

See [the notes](docs/notes.md#L10) and https://example.com/spec. ![a picture](https://example.com/pixel.png)
`;

export const DIFF_FILE: DiffCardFile = {
  path: 'src/parser/tokens.ts', isNew: false, added: 4, removed: 2, truncated: false,
  hunks: [
    {
      id: 'h1', state: 'pending', rows: [
        { sign: ' ', text: 'export function scan(text: string): Token[] {', old: 41, new: 41 },
        { sign: '-', text: "  return text.split('\\n').map((line) => ({ text: line }));", old: 42 },
        { sign: '+', text: '  const out: Token[] = [];', new: 42 },
        { sign: '+', text: '  for (const match of text.matchAll(/[^\\r\\n]+/g)) out.push({ text: match[0] });', new: 43 },
        { sign: '+', text: '  return out;', new: 44 },
        { sign: ' ', text: '}', old: 43, new: 45 },
      ],
    },
    {
      id: 'h2', state: 'pending', rows: [
        { sign: ' ', text: '/** One token. */', old: 60, new: 62 },
        { sign: '-', text: 'interface Token { text: string }', old: 61 },
        { sign: '+', text: 'interface Token { readonly text: string }', new: 63 },
      ],
    },
  ],
};
const settled = (file: DiffCardFile): DiffCardFile => ({ ...file, hunks: file.hunks.map((hunk) => ({ id: hunk.id, rows: hunk.rows })) });

const OUTPUT = '\u001b[32m✓\u001b[39m parses an empty file\n\u001b[32m✓\u001b[39m parses one line\n\u001b[31m✗\u001b[39m parses CRLF\n\n  AssertionError: expected 2 to equal 1\n    at test/parser.test.ts:18:12\n';

export const GREET = tool('greet', 'greet', { card: 'generic', title: 'Greet Ada', kind: 'other', input: '{"name":"Ada"}', content: 'Hello, Ada!', locations: [] }, { resultText: 'Hello, Ada!' });
export const APPROVAL = tool('ap', 'bash', { card: 'terminal', title: 'npm install --save-dev typescript@5.9.3', description: 'Install the compiler' }, {
  status: 'asking', ask: { kind: 'approval', id: 'a1', reason: 'This command reaches the network and changes files.', remember: { label: 'npm install …' } },
});
export const REVIEW = tool('rv', 'edit', { card: 'diff', title: 'Edit src/parser/tokens.ts', files: [DIFF_FILE], locations: [] }, { status: 'asking', ask: { kind: 'review', fileId: 'f1' } });
export const QUESTION = tool('qu', 'ask_user_question', { card: 'generic', title: 'Two questions', kind: 'other', locations: [] }, {
  status: 'asking',
  ask: {
    kind: 'question', questions: [
      { id: 'q1', header: 'Scope', question: 'Which files should I change?', multiSelect: false, options: [{ label: 'Only the scanner', description: 'The smallest change' }, { label: 'Scanner and tests' }] },
      { id: 'q2', question: 'What else should be checked?', multiSelect: true, options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Benchmarks', description: 'Takes five minutes' }] },
    ],
  },
});
export const MATCHES = tool('se', 'grep', {
  card: 'search', shape: 'matches', title: 'Search for split\\(', truncated: true, total: 10_000,
  files: [
    { path: 'src/parser/tokens.ts', matches: [{ lineNumber: 42, line: "  return text.split('\\n').map((line) => ({ text: line }));" }, { lineNumber: 77, line: "    const parts = name.split('/');" }] },
    { path: 'packages/a/very/long/way/down/the/tree/of/folders/index.ts', matches: Array.from({ length: 200 }, (_, at) => ({ lineNumber: at * 3 + 1, line: `const value${at} = input.split(',')[${at}];` })) },
    { path: 'test/parser.test.ts', matches: Array.from({ length: 48 }, (_, at) => ({ lineNumber: at + 5, line: `  assert.deepEqual(scan('a\\nb'), expected.split(' ')); // ${at}` })) },
  ],
});

/** Every kind of card, done. */
export const CARDS: readonly TranscriptItem[] = [
  user('u1', 'Make the parser work with Windows line endings, and run the tests.'),
  assistant('r1', 'I will look at the scanner first.', { blocks: [{ type: 'reasoning', text: 'The user wants CRLF support.\nI should read the scanner.' }, { type: 'text', text: 'I will look at the scanner first.' }] }),
  tool('rd', 'read', {
    card: 'read', title: 'Read src/parser/tokens.ts', path: 'src/parser/tokens.ts', offset: 40, totalLines: 120, lang: 'typescript',
    lines: ['', 'export function scan(text: string): Token[] {', "  return text.split('\\n').map((line) => ({ text: line }));", '}', ''].map((text, at) => ({ number: 40 + at, text })),
  }),
  MATCHES,
  tool('gl', 'glob', { card: 'search', shape: 'paths', title: 'Find **/*.test.ts', truncated: false, total: 3, paths: ['test/parser.test.ts', 'test/scanner.test.ts', 'packages/core/test/a b/#x?.test.ts'] }),
  tool('df', 'edit', { card: 'diff', title: 'Edit src/parser/tokens.ts', files: [settled(DIFF_FILE)], locations: [{ path: 'src/parser/tokens.ts', line: 42 }] }),
  tool('te', 'bash', { card: 'terminal', title: 'npm test -- --grep CRLF', description: 'Run the tests about line endings', cwd: 'packages/parser', output: OUTPUT, exitCode: 7 }),
  tool('to', 'bash', { card: 'terminal', title: 'git status --short', output: ' M src/parser/tokens.ts\n', exitCode: 0 }),
  GREET,
  tool('ws', 'web_search', {
    card: 'web', kind: 'search', title: 'Search the web for CRLF in JavaScript', truncated: false, answer: 'JavaScript regular expressions treat \\r\\n as two line terminators.',
    sources: [
      { url: 'https://example.com/regexp', title: 'Regular expressions and line terminators', snippet: 'How ^ and $ see \\r\\n', publishedAt: '2026-03-04' },
      { url: 'https://docs.example.org/a/very/long/address/that/goes/on/and/on?with=parameters&and=more', title: 'Line endings' },
    ],
  }),
  tool('wf', 'web_fetch', { card: 'web', kind: 'fetch', title: 'Fetch https://example.com/regexp', url: 'https://example.com/regexp', statusCode: 200, truncated: true }),
  assistant('r2', MARKDOWN),
];

/** Every status a call can be in. */
export const STATUSES: readonly TranscriptItem[] = [
  user('u1', 'Show me every state.'),
  tool('s1', 'write', { card: 'generic', title: 'write', kind: 'edit', locations: [] }, { status: 'streaming' }),
  tool('s2', 'read', { card: 'generic', title: 'Read src/index.ts', kind: 'read', locations: [{ path: 'src/index.ts' }] }, { status: 'pending' }),
  tool('s3', 'bash', { card: 'terminal', title: 'npm test', description: 'Run all tests' }, { status: 'running' }),
  tool('s4', 'greet', { card: 'generic', title: 'Greet Ada', kind: 'other', content: 'Hello, Ada!', locations: [] }),
  tool('s5', 'read', { card: 'generic', title: 'Read src/missing.ts', kind: 'read', locations: [{ path: 'src/missing.ts' }] }, { status: 'failed', error: 'There is no file src/missing.ts. Did you mean src/mission.ts?', resultText: 'ENOENT: src/missing.ts' }),
  tool('s6', 'bash', { card: 'terminal', title: 'sleep 60', output: 'started\n', signal: 'SIGTERM' }, { status: 'stopped' }),
  { kind: 'notice', id: 'n1', turn: 1, level: 'info', text: 'AGENTS.md was read.', detail: 'Use two spaces.\nNo default exports.' },
  { kind: 'notice', id: 'n2', turn: 1, level: 'warning', text: 'The model is slow to answer, trying again in 4 s.' },
  { kind: 'notice', id: 'n3', turn: 1, level: 'error', text: 'The request failed: 401, the key is not valid.', action: { title: 'Set API Key', message: { type: 'command', id: 'setApiKey' } } },
  assistant('i1', 'I was about to', { interrupted: true }),
];

/** What is said, by whom, and what the host has to say. */
export const MESSAGES: readonly TranscriptItem[] = [
  user('m1', 'Short.'),
  assistant('m2', 'Yes.', { blocks: [{ type: 'reasoning', text: 'The user wants CRLF support.\nI should read the scanner.', durationMs: 12_300 }, { type: 'text', text: 'Yes.' }] }),
  user('m3', `A message with a-very-long-word-${'without-a-break-'.repeat(8)} in it\n\n  and an indented line, と日本語の長い文章で、行の終わりで折り返されるはずです。`),
  assistant('m4', 'Cut off in the mid', { interrupted: true }),
  user('m5', Array.from({ length: 20 }, (_, at) => `line ${at + 1} of a log that was pasted`).join('\n')),
  { kind: 'notice', id: 'n1', turn: 1, level: 'info', text: 'AGENTS.md was read.', detail: 'Use two spaces.\nNo default exports.' },
  { kind: 'notice', id: 'n2', turn: 1, level: 'info', text: 'Stopped.' },
  { kind: 'notice', id: 'n3', turn: 1, level: 'warning', text: 'The request failed (503: the server is overloaded, please try again later). Try 3 in 4 s.' },
  { kind: 'notice', id: 'n4', turn: 1, level: 'warning', text: 'The answer reached the length limit.', action: { title: 'Go On', message: { type: 'send', text: 'Continue.', mode: 'queue' } } },
  { kind: 'notice', id: 'n5', turn: 1, level: 'error', text: 'The request failed: 401, the key is not valid.', detail: 'AUTH · HTTP 401 · req_0123456789abcdef', action: { title: 'Set API Key', message: { type: 'command', id: 'setApiKey' } } },
];

export const BUSY: Partial<ChatMeta> = {
  status: 'running', reviews: { files: 2, changes: 3, kind: 'staged' }, queued: ['Then update the changelog, please.'],
  todos: [{ content: 'Read the scanner', status: 'completed' }, { content: 'Mend the scanner', status: 'in_progress' }, { content: 'Run the tests', status: 'pending' }],
  jobs: [
    { id: 'bash-1', kind: 'bash', label: 'npm run watch', status: 'running', startedAt: NOW, callId: 'j1', tail: 'building…\n\x1b[32mbuilt in 212 ms\x1b[0m\nwaiting for changes\n' },
    { id: 'bash-2', kind: 'bash', label: 'npm run docs', status: 'completed', detail: 'exit code: 0', startedAt: NOW, callId: 'j2' },
  ],
};
