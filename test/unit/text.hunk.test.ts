import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyHunks, diffLines, splicesBetween, unifiedHunks, unifiedLfHunks, unifiedSpliceHunks } from '../../src/text/hunk.ts';
import { applySplices } from '../../src/text/splice.ts';

const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\r\n', 'd\n', 'x', '\r', '\n'), { maxLength: 25 }).map((parts) => parts.join(''));

describe('text hunks', () => {
  it('all hunks give the text after, none the text before, byte for byte', () => {
    fc.assert(fc.property(text, text, (before, after) => {
      const hunks = diffLines(before, after);
      assert.equal(applyHunks(before, hunks, () => true), after);
      assert.equal(applyHunks(before, hunks, () => false), before);
      assert.equal(applySplices(before, splicesBetween(before, after)), after);
      if (before === after) assert.deepEqual(hunks, []);
    }), { numRuns: 2000 });
  });

  it('a kept subset and the rest lead to the same end', () => {
    fc.assert(fc.property(text, text, fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), (before, after, keep) => {
      const hunks = diffLines(before, after);
      const half = applyHunks(before, hunks, (_, i) => keep[i] === true);
      const rest = diffLines(after, half);
      assert.equal(applyHunks(after, rest, () => true), half);
    }), { numRuns: 500 });
  });

  it('an insertion stands before its line; line numbers are 1-based on both sides', () => {
    assert.deepEqual(diffLines('a\nb\n', 'a\nnew\nb\n'), [{ oldStart: 2, oldLines: [], newStart: 2, newLines: ['new\n'] }]);
    assert.deepEqual(diffLines('a\nb\nc\n', 'a\nc\n'), [{ oldStart: 2, oldLines: ['b\n'], newStart: 2, newLines: [] }]);
    assert.deepEqual(diffLines('', 'a'), [{ oldStart: 1, oldLines: [], newStart: 1, newLines: ['a'] }]);
  });

  it('A1 a changed ending is a change of that line only', () => {
    assert.deepEqual(diffLines('a\r\nb\r\nc', 'a\r\nb\nc'), [{ oldStart: 2, oldLines: ['b\r\n'], newStart: 2, newLines: ['b\n'] }]);
  });

  it('a hunk of more lines than a call takes arguments is applied like another', () => {
    const newLines = Array.from({ length: 500_000 }, () => 'x\n');
    assert.equal(applyHunks('a\n', [{ oldStart: 2, oldLines: [], newStart: 2, newLines }], () => true), `a\n${'x\n'.repeat(500_000)}`);
  });

  it('a hunk that does not fit is refused', () => {
    assert.throws(() => applyHunks('a\n', [{ oldStart: 1, oldLines: ['z\n'], newStart: 1, newLines: [] }], () => true), /does not fit/);
  });

  it('B10.9 unified hunks carry three lines of context, LF only, and merge when close', () => {
    const before = Array.from({ length: 30 }, (_, i) => `${i + 1}`).join('\r\n');
    const after = before.replace('\r\n10\r\n', '\r\nten\r\n').replace('\r\n14\r\n', '\r\nfourteen\r\n').replace('\r\n28', '');
    const hunks = unifiedHunks(before, after);
    assert.deepEqual(hunks.map(({ oldCount, newCount }) => [oldCount, newCount]), [[11, 11], [6, 5]]);
    assert.equal(hunks[0]?.oldText, '7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17');
    assert.equal(hunks[0]?.newText, '7\n8\n9\nten\n11\n12\n13\nfourteen\n15\n16\n17');
    assert.equal(hunks[1]?.newText, '25\n26\n27\n29\n30');
  });

  it('unified hunks: only the final newline differs', () => {
    assert.deepEqual(unifiedHunks('a', 'a\n').map(({ oldText, newText }) => [oldText, newText]), [['a', 'a\n']]);
    assert.deepEqual(unifiedHunks('a\r\n', 'a\n'), []);
  });

  it('unified hunks are what the whole texts give, however the window was cut', () => {
    fc.assert(fc.property(text, text, (before, after) => {
      for (const hunk of unifiedHunks(before, after)) {
        const lines = before.replaceAll('\r\n', '\n').includes('\n') || !before.includes('\r') ? before.replaceAll('\r\n', '\n') : before.replaceAll('\r', '\n');
        assert.ok(lines.includes(hunk.oldText));
      }
    }), { numRuns: 500 });
  });

  it('unified hunks of splices are those of the whole texts', () => {
    const lf = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n', 'e\n', '\n', 'x'), { maxLength: 40 }).map((parts) => parts.join(''));
    fc.assert(fc.property(lf, fc.array(fc.tuple(fc.nat(80), fc.nat(6), fc.constantFrom('', 'new', 'a\n', '1\n2\n')), { maxLength: 4 }), (before, edits) => {
      const splices: { start: number; end: number; text: string }[] = [];
      let from = 0;
      for (const [gap, length, inserted] of edits) {
        const start = from + gap;
        const end = start + length;
        if (end > before.length) break;
        splices.push({ start, end, text: inserted });
        from = end;
      }
      const after = applySplices(before, splices);
      const apply = (hunks: readonly { oldText: string; newText: string }[]): string => JSON.stringify(hunks.map(({ oldText, newText }) => [oldText, newText]));
      const local = unifiedSpliceHunks(before, splices);
      // where lines repeat, two alignments may be right: then both must say the same change in as many lines
      if (apply(local) !== apply(unifiedLfHunks(before, after))) {
        const size = (hunks: readonly { oldCount: number; newCount: number }[]): number => hunks.reduce((sum, hunk) => sum + hunk.newCount - hunk.oldCount, 0);
        assert.equal(size(local), size(unifiedLfHunks(before, after)));
      }
    }), { numRuns: 2000 });
    const numbers = Array.from({ length: 40 }, (_, i) => `${i}\n`).join('');
    const at = (line: number) => numbers.indexOf(`\n${line}\n`) + 1;
    for (const lines of [[0, 39], [5, 12], [5, 11], [20], [0], [39], [3, 4, 5]]) {
      const splices = lines.map((line) => ({ start: line === 0 ? 0 : at(line), end: (line === 0 ? 0 : at(line)) + 1, text: 'X' }));
      assert.deepEqual(unifiedSpliceHunks(numbers, splices), unifiedHunks(numbers, applySplices(numbers, splices)), lines.join());
    }
  });

  it('big and very different texts stay quick and right', () => {
    const before = Array.from({ length: 60_000 }, (_, i) => `line ${i}\n`).join('');
    const shuffled = Array.from({ length: 50_000 }, (_, i) => `other ${i * 7919 % 50_000}\n`).join('');
    assert.equal(applyHunks(before, diffLines(before, shuffled), () => true), shuffled);
    const everywhere = before.replaceAll('line', 'LINE');
    const hunks = diffLines(before, everywhere);
    assert.equal(applyHunks(before, hunks, () => true), everywhere);
  });
});
