import assert from 'node:assert/strict';
import fc from 'fast-check';
import { callView, resultView } from '../../src/contract/card.ts';
import type { ToolCallView, ToolResultView } from '../../src/contract/presentation.ts';
import { anyValue } from '../fixtures/contract-arbitraries.ts';

const text = (value: string) => ({ type: 'text' as const, text: value });
const content = [text('raw')];
const call = (view: unknown, args: unknown = { a: 1 }): ToolCallView => callView({ presentCall: () => view as ToolCallView }, 'probe', args);
const result = (view: unknown): ToolResultView => resultView({ presentResult: () => view as ToolResultView }, {}, { content, isError: false });
const fail = (): never => { throw new Error('boom'); };

describe('contract cards', () => {
  const image = { type: 'image' as const, attachment: { attachmentId: 'i', mediaType: 'image/png', bytes: 1, width: 1, height: 1 } };
  const calls: ToolCallView[] = [
    { card: 'generic', title: 't' }, { card: 'generic', title: '', kind: 'search', rawInput: { q: [1] }, content: [text('x'), image], locations: [{ path: 'a', line: 3 }, { path: 'b' }] },
    { card: 'terminal', title: 'ls', description: 'List', cwd: 'src' }, { card: 'diff', title: 'Edit a', diffs: [{ path: 'a', oldText: null, newText: 'x' }, { path: 'b', oldText: 'x', newText: '' }], locations: [] },
  ];
  const results: ToolResultView[] = [
    { card: 'generic' }, { card: 'generic', title: 't', content: [text('x')] }, { card: 'terminal', title: 'ls', output: 'a\n', exitCode: 0 }, { card: 'terminal', signal: 'SIGKILL' },
    { card: 'diff', diffs: [] }, { card: 'search', shape: 'paths', title: 't', paths: ['a', 'b'], truncated: true, total: 9 }, { card: 'search', shape: 'matches', files: [], truncated: false, total: 0 },
    { card: 'search', shape: 'matches', files: [{ path: 'a', matches: [{ lineNumber: 1, line: '' }] }], truncated: false, total: 1 },
    { card: 'read', title: 't', path: 'a', offset: 2, lines: [{ number: 2, text: 'x' }], totalLines: 2, lang: 'ts', content: [text('x')] }, { card: 'read', path: 'a', offset: 1, lines: [], totalLines: 0 },
    { card: 'web', kind: 'search', title: 't', sources: [{ url: 'https://a', title: 'A', snippet: 's', publishedAt: 'now' }, { url: 'https://b' }], answer: 'x', truncated: false },
    { card: 'web', kind: 'fetch', url: 'https://a', statusCode: 404, truncated: true },
  ];
  it('V9.1 every well-formed view passes unchanged', () => {
    for (const view of calls) assert.deepEqual(call(view), view);
    for (const view of results) assert.deepEqual(result(view), view);
  });

  it('V9.1 a process ends by a signal or with a code', () => {
    assert.deepEqual(result({ card: 'terminal', exitCode: 1, signal: 'SIGTERM' }), { card: 'terminal', signal: 'SIGTERM' });
  });

  it('V9.2 without a call view: the tool\'s name and the arguments', () => {
    for (const tool of [undefined, {}, { presentCall: () => undefined }]) assert.deepEqual(callView(tool, 'probe', { a: [1] }), { card: 'generic', title: 'probe', rawInput: { a: [1] } });
    assert.deepEqual(callView(undefined, 'probe', '{not json'), { card: 'generic', title: 'probe', rawInput: '{not json' });
    assert.deepEqual(callView(undefined, 'probe', { a: undefined }), { card: 'generic', title: 'probe' });
  });

  it('V9.2 without a result view: no title of its own, and the raw content', () => {
    for (const tool of [undefined, {}, { presentResult: () => undefined }]) assert.deepEqual(resultView(tool, {}, { content, isError: true }), { card: 'generic', content });
    assert.deepEqual(resultView(undefined, {}, { content: [text('a'), null, { type: 'text' }, { type: 'later', x: 1 }] as never, isError: false }), { card: 'generic', content: [text('a'), { type: 'later', x: 1 }] });
    assert.deepEqual(resultView(undefined, {}, { content: null as never, isError: false }), { card: 'generic' });
  });

  it('V9.2 an unknown card, shape or kind and malformed lists fall back to generic', () => {
    const diff = { path: 'a', oldText: null, newText: 'x' };
    for (const view of [
      { card: 'hologram', title: 't' }, { title: 't' }, { card: 'diff', title: 't' }, { card: 'diff', title: 't', diffs: 'x' }, { card: 'diff', title: 't', diffs: [diff, { ...diff, newText: 1 }] },
      { card: 'diff', title: 't', diffs: [{ ...diff, oldText: undefined }] }, { card: 'diff', title: 't', diffs: [null] }, { card: 'diff', title: 't', diffs: [, diff] },
    ]) assert.deepEqual(call(view), { card: 'generic', title: 't', rawInput: { a: 1 } });
    for (const view of [null, 1, 'x', [], Promise.resolve({ card: 'generic', title: 't' }), { card: 'generic' }, { card: 'terminal', title: 1 }]) assert.deepEqual(call(view), { card: 'generic', title: 'probe', rawInput: { a: 1 } });
    const search = { card: 'search', title: 't', truncated: false, total: 1 };
    for (const view of [
      { card: 'hologram', title: 't' }, { ...search, shape: 'tree', paths: [] }, { ...search, shape: 'paths' }, { ...search, shape: 'paths', paths: [1] }, { ...search, shape: 'paths', paths: [], total: -1 },
      { ...search, shape: 'paths', paths: [], truncated: 'no' }, { ...search, shape: 'matches', files: [{ path: 'a' }] }, { ...search, shape: 'matches', files: [{ path: 'a', matches: [{ lineNumber: 0, line: '' }] }] },
      { ...search, shape: 'matches', files: [{ matches: [] }] }, { card: 'read', title: 't', path: 'a', offset: 0, lines: [], totalLines: 0 }, { card: 'read', title: 't', path: 'a', offset: 1, lines: [{ number: 1 }], totalLines: 1 },
      { card: 'web', title: 't', kind: 'crawl', truncated: false }, { card: 'web', title: 't', kind: 'search', sources: [{}], truncated: false }, { card: 'web', title: 't', kind: 'fetch', url: 1, statusCode: 200, truncated: false },
      { card: 'web', title: 't', kind: 'search', sources: [] }, { card: 'diff', title: 't', diffs: {} },
    ]) assert.deepEqual(result(view), { card: 'generic', title: 't', content }, JSON.stringify(view));
  });

  it('V9.2 an optional field that is wrong is left out', () => {
    assert.deepEqual(call({ card: 'generic', title: 't', kind: 'dance', rawInput: () => 1, content: 'x', locations: [{ path: 1 }] }), { card: 'generic', title: 't' });
    assert.deepEqual(call({ card: 'terminal', title: 't', cwd: 1, description: undefined, extra: 1 }), { card: 'terminal', title: 't' });
    assert.deepEqual(call({ card: 'generic', title: 't', locations: [{ path: 'a', line: 0 }, { path: 'b', line: '1' }] }), { card: 'generic', title: 't', locations: [{ path: 'a' }, { path: 'b' }] });
    assert.deepEqual(result({ card: 'terminal', title: 5, output: null, exitCode: 1.5 }), { card: 'terminal' });
  });

  it('T2.6 V9.2 a presenter that throws counts as none, and views that throw on being read as well', () => {
    assert.deepEqual(callView({ presentCall: fail }, 'probe', 1), { card: 'generic', title: 'probe', rawInput: 1 });
    assert.deepEqual(resultView({ presentResult: fail }, {}, { content, isError: false }), { card: 'generic', content });
    const tool = { get presentCall() { return fail(); }, get presentResult() { return fail(); } };
    assert.equal(callView(tool, 'probe', {}).title, 'probe');
    assert.deepEqual(resultView(tool, {}, { content, isError: false }), { card: 'generic', content });
    for (const view of [{ card: 'diff', title: 't', get diffs() { return fail(); } }, new Proxy({}, { ownKeys: fail }), { card: 'diff', title: 't', diffs: new Proxy([], { get: fail }) }]) {
      assert.equal(call(view).card, 'generic');
      assert.equal(result(view).card, 'generic');
    }
    assert.equal(call({ card: 'diff', title: 't', diffs: new Proxy([], { get: (_list, key) => (key === 'length' ? 2 ** 52 : { path: 'a', oldText: null, newText: '' }) }) }).card, 'generic');
    assert.equal(resultView(undefined, {}, new Proxy({} as never, { get: fail })).card, 'generic');
  });

  it('V9.2 V9.6 what comes out is detached data, whatever went in', () => {
    fc.assert(fc.property(fc.constantFrom('generic', 'terminal', 'diff', 'search', 'read', 'web'), anyValue, anyValue, anyValue, (card, a, b, c) => {
      const view = { card, title: 't', shape: 'paths', kind: 'search', paths: a.make(), diffs: b.make(), sources: c.make(), lines: a.make(), content: b.make(), rawInput: c.make(), locations: a.make(), truncated: false, total: 1 };
      for (const shown of [call(view, a.make()), result(view)]) assert.deepEqual(structuredClone(shown), shown);
    }), { numRuns: 1_000 });
  });

  it('V9.6 presenters get the arguments and the result, and nothing else', () => {
    const seen: unknown[][] = [];
    const outcome = { content, isError: true, meta: { a: 1 } };
    callView({ presentCall(...given: unknown[]) { seen.push(given); return undefined; } }, 'probe', { a: 1 });
    resultView({ presentResult(...given: unknown[]) { seen.push(given); return undefined; } }, { a: 1 }, outcome);
    assert.deepEqual(seen, [[{ a: 1 }], [{ a: 1 }, outcome]]);
  });
});
