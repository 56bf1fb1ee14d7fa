import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { SessionEvent } from '../../src/contract/event.ts';
import type { ToolDefinition } from '../../src/contract/tool.ts';
import type { TranscriptItem } from '../../src/protocol.ts';
import { parseLog } from '../../src/session/parse.ts';
import { ItemList } from '../../src/transcript/items.ts';
import { Transcript } from '../../src/transcript/transcript.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/transcripts');

type Presenters = Pick<ToolDefinition, 'presentCall' | 'presentResult'>;
const field = (value: unknown, key: string): unknown => (value as Record<string, unknown> | undefined)?.[key];

/** One tool a card kind, and some that misbehave. */
const TOOLS: Record<string, Presenters> = {
  greet: {
    presentCall: (args) => ({ card: 'generic', title: `Greet ${String(field(args, 'name'))}`, kind: 'other' }),
    presentResult: (_args, { content }) => ({ card: 'generic', content }),
  },
  generic: {
    presentCall: (args) => ({ card: 'generic', title: `Do the ${String(field(args, 'what'))}`, kind: 'edit', rawInput: args, locations: [{ path: 'a.txt', line: 3 }] }),
    presentResult: () => ({ card: 'generic', title: 'Did it' }),
  },
  terminal: {
    presentCall: (args) => ({ card: 'terminal', title: String(field(args, 'command')), description: 'Runs something', cwd: 'sub' }),
    presentResult: (_args, { isError, meta }) => (isError ? undefined : { card: 'terminal', output: 'out', exitCode: Number(field(meta, 'exitCode')) }),
  },
  diff: {
    presentCall: (args) => ({ card: 'diff', title: 'Edit a.txt', diffs: [{ path: 'a.txt', oldText: String(field(args, 'old') ?? ''), newText: String(field(args, 'new') ?? 'x') }], locations: [{ path: 'a.txt' }] }),
    presentResult: (args, { isError }) => (isError ? undefined : { card: 'diff', diffs: [
      { path: 'a.txt', oldText: String(field(args, 'old')), newText: String(field(args, 'new')) }, { path: 'a.txt', oldText: 'p\n', newText: 'q\n' },
    ] }),
  },
  newfile: {
    presentCall: (args) => ({ card: 'diff', title: 'Write b.txt', diffs: [{ path: 'b.txt', oldText: null, newText: String(field(args, 'text')) }] }),
    presentResult: (args) => ({ card: 'diff', diffs: [{ path: 'b.txt', oldText: null, newText: String(field(args, 'text')) }] }),
  },
  matches: { presentResult: (_args, { meta }) => ({ card: 'search', shape: 'matches', ...(meta as object) }) as never },
  paths: { presentResult: (_args, { meta }) => ({ card: 'search', shape: 'paths', ...(meta as object) }) as never },
  read: {
    presentCall: () => ({ card: 'generic', title: 'Read a.ts', kind: 'read', locations: [{ path: 'a.ts', line: 1 }] }),
    presentResult: (_args, { meta }) => ({ card: 'read', path: 'a.ts', offset: 1, lang: 'ts', ...(meta as object) }) as never,
  },
  websearch: { presentResult: (args, { meta }) => ({ card: 'web', kind: 'search', title: field(args, 'q'), truncated: false, ...(meta as object) }) as never },
  webfetch: { presentResult: (args, { meta }) => ({ card: 'web', kind: 'fetch', url: field(args, 'url'), truncated: true, ...(meta as object) }) as never },
  plain: {},
  hologram: { presentCall: () => ({ card: 'hologram', title: 'Look' }) as never, presentResult: () => ({ card: 'hologram', title: 'Looked' }) as never },
  thrower: { presentCall: () => { throw new Error('no'); }, presentResult: () => { throw new Error('no'); } },
  brokendiff: { presentCall: () => ({ card: 'diff', title: 'Edit', diffs: 'all' }) as never, presentResult: () => ({ card: 'diff', diffs: [{ path: 3 }] }) as never },
};
const tool = (name: string) => TOOLS[name] as ToolDefinition | undefined;

/** Feeds a log, and keeps what a view would have made of the patches. */
function play(events: readonly SessionEvent[]): { transcript: Transcript; view: ItemList } {
  const transcript = new Transcript({ tool });
  const view = new ItemList();
  for (const event of events) for (const patch of transcript.apply(event)) view.apply(JSON.parse(JSON.stringify(patch)) as typeof patch);
  return { transcript, view };
}

describe('transcript', () => {
  for (const file of readdirSync(FIXTURES).filter((name) => name.endsWith('.jsonl'))) {
    it(`L11.8 ${file.replace('.jsonl', '').replaceAll('-', ' ')} (golden)`, () => {
      const { events, bad } = parseLog(readFileSync(join(FIXTURES, file)), file, 'x');
      assert.equal(bad.length, 0);
      const { transcript, view } = play(events);
      const { title, todos, usage } = transcript;
      const got = JSON.parse(JSON.stringify({ title, todos, usage, items: transcript.items() })) as { items: TranscriptItem[] };
      assert.deepEqual(view.all(), got.items, 'the patches lead to what a replay shows');
      const golden = join(FIXTURES, file.replace('.jsonl', '.cards.json'));
      if (process.env['UPDATE_GOLDEN'] || !existsSync(golden)) writeFileSync(golden, `${JSON.stringify(got, null, 1)}\n`);
      assert.deepEqual(got, JSON.parse(readFileSync(golden, 'utf8')));
    });
  }

  it('L11.8 whatever comes in whatever order: no throw, and patches equal replay (property)', () => {
    const all = readdirSync(FIXTURES).filter((name) => name.endsWith('.jsonl'))
      .flatMap((file) => parseLog(readFileSync(join(FIXTURES, file)), file, 'x').events);
    fc.assert(fc.property(fc.array(fc.nat(all.length - 1), { maxLength: 60 }), (picks) => {
      const events = picks.map((pick, seq) => ({ ...all[pick]!, seq }));
      const { transcript, view } = play(events);
      assert.deepEqual(view.all(), JSON.parse(JSON.stringify(transcript.items())));
    }), { numRuns: 300 });
  });
});
