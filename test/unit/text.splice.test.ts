import assert from 'node:assert/strict';
import fc from 'fast-check';
import { splicesBetween } from '../../src/text/hunk.ts';
import { applySplices, assertSplices, lighterSplices } from '../../src/text/splice.ts';

const breaks = (text: string) => text.match(/\r\n|\r|\n/g)?.length ?? 0;

describe('splices for an editor', () => {
  const line = fc.constantFrom('', 'a', 'ab', 'b', '\u{1f600}', '\u{1f601}x', 'value');
  const text = fc.tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', '\r\n')).map(([lines, ending]) => lines.join(ending));

  it('lead to the same text, whatever the limit, and never cut a character or a line break in two', () => {
    fc.assert(fc.property(text, text, fc.integer({ min: 1, max: 5 }), (before, after, limit) => {
      const lighter = lighterSplices(before, splicesBetween(before, after), limit);
      assertSplices(lighter, before.length);
      assert.equal(applySplices(before, lighter), after);
      for (const { start, end } of lighter) {
        for (const at of [start, end]) {
          assert.ok(!(before[at - 1] === '\r' && before[at] === '\n'), `cuts a line break at ${at}`);
          assert.ok(!/[\ud800-\udbff]/.test(before[at - 1] ?? '') || !/[\udc00-\udfff]/.test(before[at] ?? ''), `cuts a character at ${at}`);
        }
      }
    }), { numRuns: 2_000 });
  });

  it('a line that is changed leaves its line break alone', () => {
    const before = 'const a = 1;\r\nconst b = 2;\r\n';
    assert.deepEqual(lighterSplices(before, splicesBetween(before, before.replace('b', 'c'))), [{ start: 20, end: 21, text: 'c' }]);
  });

  it('500 hunks of more or fewer lines are at most 64 of them; lines that only change stay by themselves', () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `line ${i}\n`);
    const before = lines.join('');
    const after = lines.map((text, i) => (i % 200 === 50 ? text.repeat(2) : i % 200 === 51 ? '' : i % 200 === 150 ? 'changed\n' : text)).join('');
    const lighter = lighterSplices(before, splicesBetween(before, after));
    assert.equal(applySplices(before, lighter), after);
    const costly = lighter.filter((splice) => breaks(splice.text) > 0 || breaks(before.slice(splice.start, splice.end)) > 0);
    assert.ok(costly.length <= 64, `${costly.length}`);
    const changedOnly = lines.map((text, i) => (i % 100 === 50 ? text.replace('line', 'changed') : text)).join('');
    assert.equal(lighterSplices(before, splicesBetween(before, changedOnly)).length, 500);
  });
});
