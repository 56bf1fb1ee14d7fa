import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newlineKernel } from '../../src/text/newline-kernel.ts';
import { countByLine, countNewlines, skipLines, Utf8Check } from '../../src/text/scan.ts';

describe('text scan', () => {
  it('the kernel is there and counts what JavaScript counts, at every length and alignment', () => {
    const kernel = newlineKernel() ?? assert.fail('no WebAssembly SIMD here');
    const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => ((i * 2_654_435_761) >>> 8) % 13 === 0 ? 10 : i % 256);
    for (const [start, end] of [[0, 0], [0, 1], [1, 17], [3, 18], [5, 65_541], [7, 131_079], [0, 200_000], [9, 199_999]]) {
      const part = bytes.subarray(start, end);
      assert.equal(kernel(part), countByLine(part), `${start}..${end}`);
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (part) => assert.equal(countNewlines(part), part.filter((byte) => byte === 10).length)));
    assert.equal(kernel(new Uint8Array(100).fill(10)), 100);
    assert.equal(kernel(new Uint8Array(5).fill(0x0a)), 5, 'nothing of the chunk before is left');
  });

  it('UTF-8 cut anywhere is judged as a whole', () => {
    const judge = (chunks: Uint8Array[]): boolean => {
      const check = new Utf8Check();
      return chunks.every((chunk) => check.push(chunk)) && check.end();
    };
    const bytes = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => (text as string & { isWellFormed(): boolean }).isWellFormed()).map((text) => new Uint8Array(Buffer.from(text))),
      fc.uint8Array({ maxLength: 12 }),
      fc.array(fc.constantFrom(0xf0, 0x9f, 0x98, 0x80, 0xe6, 0xbc, 0xa2, 0xc3, 0xa9, 0x61, 0xc0, 0xed, 0xa0, 0xf4, 0x90), { maxLength: 8 }).map((list) => Uint8Array.from(list)),
    );
    fc.assert(fc.property(bytes, fc.array(fc.nat(12), { maxLength: 4 }), (whole, cuts) => {
      let valid = true;
      try {
        new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(whole);
      } catch {
        valid = false;
      }
      const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
      const chunks = places.slice(1).map((end, i) => whole.subarray(places[i], end));
      assert.equal(judge(chunks), valid);
    }), { numRuns: 3000 });
  });

  it('skips lines, and says when there are too few', () => {
    const bytes = Buffer.from('a\nb\nc');
    assert.deepEqual([skipLines(bytes, 0, 0), skipLines(bytes, 0, 1), skipLines(bytes, 0, 2), skipLines(bytes, 0, 3)], [0, 2, 4, -1]);
  });
});
