import assert from 'node:assert/strict';
import { hunkLines, hunkOn, nearestOf, neighbour } from '../../src/host/review/hunks.ts';
import type { ReviewFile, ReviewHunk } from '../../src/seams/review.ts';

const hunk = (id: string, newStart: number, added: number, removed = 1): ReviewHunk => ({
  id, state: 'pending', oldStart: newStart, oldLines: Array.from({ length: removed }, () => 'old\n'), newStart, newLines: Array.from({ length: added }, () => 'new\n'),
});
const FILE = { hunks: [hunk('a', 5, 3), hunk('gone', 20, 0, 2), hunk('b', 300, 1)] } as unknown as ReviewFile;

describe('which hunk a gesture is about', () => {
  it('a hunk covers its new lines, a deletion the line it is drawn on', () => {
    assert.deepEqual(FILE.hunks.map(hunkLines), [{ first: 5, last: 7 }, { first: 20, last: 20 }, { first: 300, last: 300 }]);
  });

  it('a menu on a line is about the hunk on it, and about none elsewhere', () => {
    const at = (line: number) => hunkOn(FILE, { first: line, last: line })?.id;
    assert.deepEqual([4, 5, 7, 8, 19, 20, 21, 22, 299, 300].map(at), [undefined, 'a', 'a', undefined, 'gone', 'gone', 'gone', undefined, undefined, 'b']);
    assert.equal(hunkOn(FILE, { first: 1, last: 6 })?.id, 'a');
  });

  it('a key is about the hunk nearest to the cursor that can be seen', () => {
    const seen = [{ first: 1, last: 40 }];
    assert.deepEqual([1, 6, 12, 15, 40].map((line) => nearestOf(FILE, line, seen)?.id), ['a', 'a', 'a', 'gone', 'gone']);
    assert.equal(nearestOf(FILE, 150, [{ first: 140, last: 180 }]), undefined);
    assert.equal(nearestOf(FILE, 150, [{ first: 1, last: 6 }, { first: 140, last: 180 }])?.id, 'a');
    assert.equal(nearestOf(FILE, 299, [])?.id, 'b');
  });

  it('next and previous go on from the cursor and end', () => {
    assert.deepEqual([1, 5, 20, 300].map((line) => neighbour(FILE, line, 1)?.id), ['a', 'gone', 'b', undefined]);
    assert.deepEqual([1, 7, 8, 300].map((line) => neighbour(FILE, line, -1)?.id), [undefined, undefined, 'a', 'gone']);
  });
});
