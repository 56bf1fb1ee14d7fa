import assert from 'node:assert/strict';
import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { unifiedPatch } from '../../src/text/patch.ts';

/** Applies a unified diff to an LF text. */
function apply(before: string, patch: string): string {
  const lines = before.split(/(?<=\n)/).filter((line) => line !== '');
  const out: string[] = [];
  let at = 0;
  const rows = patch === '' ? [] : patch.split('\n');
  rows.forEach((row, i) => {
    const header = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(row);
    const text = row.slice(1) + (rows[i + 1]?.startsWith('\\') ? '' : '\n');
    if (header !== null) {
      const start = Number(header[1]) - (header[2] === '0' ? 0 : 1);
      for (; at < start; at++) out.push(lines[at]!);
      assert.equal(out.length, Number(header[3]) - (header[4] === '0' ? 0 : 1), 'the new side starts where it says');
    } else if (row.startsWith(' ') || row.startsWith('-')) {
      assert.equal(lines[at], text);
      if (row.startsWith(' ')) out.push(text);
      at += 1;
    } else if (row.startsWith('+')) {
      out.push(text);
    }
  });
  return [...out, ...lines.slice(at)].join('');
}

describe('unified patches', () => {
  const text = fc.tuple(fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd'), { maxLength: 25 }), fc.boolean()).map(([lines, end]) => lines.join('\n') + (end && lines.length > 0 ? '\n' : ''));

  it('lead from one text to the other, with the line numbers of both', () => {
    fc.assert(fc.property(text, text, fc.integer({ min: 0, max: 3 }), (before, after, context) => {
      const patch = unifiedPatch(before, after, { context, limit: Infinity });
      assert.equal(apply(before, patch!), after);
      assert.equal(patch === '', before === after);
    }), { numRuns: 2_000 });
  });

  it('read as others write them', () => {
    const before = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join('\n');
    const after = before.replace('line 3\n', 'three\n').replace('line 5\n', '').replace('line 20', 'line 19 1/2\nline 20').replace('line 30', 'thirty');
    const theirs = createTwoFilesPatch('a', 'b', before, after, '', '', { context: 2 }).split('\n').slice(3).join('\n').trimEnd();
    assert.equal(unifiedPatch(before, after, { context: 2, limit: Infinity }), theirs);
  });

  it('are about words: line endings are no difference, and a long one is none', () => {
    assert.equal(unifiedPatch('a\nb\n', 'a\r\nb\r\n', { context: 2, limit: 100 }), '');
    assert.equal(unifiedPatch('a\r\nb\r\n', 'a\r\nc\r\n', { context: 1, limit: 100 }), '@@ -1,2 +1,2 @@\n a\n-b\n+c');
    assert.equal(unifiedPatch('', 'long line\n'.repeat(100), { context: 2, limit: 100 }), undefined);
  });
});
