import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyHunks, diffLines } from '../../src/text/hunk.ts';

/** Two different lines with the same pair of hashes, as somebody would make them to fool the diff. */
function collidingLines(): [string, string] {
  const seen = new Map<number, string>();
  for (let n = 0; n < 2_000_000; n++) {
    // `Aa` and `BB` count the same in the second hash, so only the first one must meet
    let line = '';
    for (let bit = 0; bit < 21; bit++) line += (n >> bit) & 1 ? 'Aa' : 'BB';
    let hash = 0x811c9dc5 | 0;
    for (let i = 0; i < line.length; i++) hash = Math.imul(hash ^ line.charCodeAt(i), 0x01000193);
    const other = seen.get(hash);
    if (other !== undefined) return [other, line];
    seen.set(hash, line);
  }
  throw new Error('no two lines meet');
}

describe('line differences', () => {
  it('lines made to have the same hashes are still told apart', () => {
    const [one, other] = collidingLines();
    assert.notEqual(one, other);
    const [before, after] = [`a\n${one}\nb\n${one}\nc\n`, `a\n${other}\nb\n${one}\nx\n`];
    const hunks = diffLines(before, after);
    assert.equal(applyHunks(before, hunks, () => true), after);
    assert.deepEqual(hunks.map((hunk) => [hunk.oldStart, hunk.oldLines.length]), [[2, 1], [5, 1]]);
  });

  it('many changes in a big file are many hunks, not one', () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i % 500} ${i % 7 === 0 ? i : ''}\n`);
    const after = lines.flatMap((line, i) => (i % 20 === 3 ? [] : i % 20 === 9 ? [line, 'new\n'] : i % 20 === 15 ? [`changed ${i}\n`] : [line]));
    const hunks = diffLines(lines.join(''), after.join(''));
    assert.equal(applyHunks(lines.join(''), hunks, () => true), after.join(''));
    assert.ok(hunks.length > 2_900, `${hunks.length} hunks`);
  });

  it('few edits are the fewest there can be', () => {
    fc.assert(fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }), fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }), (a, b) => {
      const text = (parts: string[]) => parts.map((part) => `${part}\n`).join('');
      const cost = diffLines(text(a), text(b)).reduce((sum, hunk) => sum + hunk.oldLines.length + hunk.newLines.length, 0);
      const common = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
      for (let i = a.length - 1; i >= 0; i--) {
        for (let j = b.length - 1; j >= 0; j--) common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
      }
      assert.equal(cost, a.length + b.length - 2 * common[0]![0]!);
    }), { numRuns: 2_000 });
  });
});
