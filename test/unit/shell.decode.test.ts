import assert from 'node:assert/strict';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { characterStart, decodeOutput } from '../../src/headless/output-decoder.ts';

/** Feeds `bytes` in pieces, as a reader of a growing stream does. */
function inPieces(bytes: Buffer, sizes: readonly number[], codePage?: string): string {
  let text = '';
  let held = Buffer.alloc(0);
  let at = 0;
  for (const size of sizes) {
    held = Buffer.concat([held, bytes.subarray(at, at + size)]);
    at += size;
    const { text: piece, consumed } = decodeOutput(held, false, codePage);
    text += piece;
    held = held.subarray(consumed);
  }
  return text + decodeOutput(Buffer.concat([held, bytes.subarray(at)]), true, codePage).text;
}

describe('shell.decode', () => {
  it('C9 UTF-8 in any pieces is what it was', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(5), { maxLength: 40 }), (text, sizes) => {
      const bytes = Buffer.from(text);
      assert.equal(inPieces(bytes, sizes), bytes.toString('utf8'));
    }));
  });

  it('C9 GBK in any pieces is what it was', () => {
    const text = '编译失败：找不到文件\n警告 42\n完成\n';
    const bytes = iconv.encode(text, 'gbk');
    fc.assert(fc.property(fc.array(fc.nat(4), { maxLength: 40 }), (sizes) => assert.equal(inPieces(bytes, sizes), text)));
  });

  it('C9 the system\'s code page is tried before a guess', () => {
    assert.equal(decodeOutput(iconv.encode('エラー', 'cp932'), true, 'cp932').text, 'エラー');
    assert.equal(decodeOutput(iconv.encode('été', 'windows-1252'), true).text, 'été');
  });

  it('C9 one stray byte does not turn good UTF-8 into another code page', () => {
    assert.equal(decodeOutput(Buffer.concat([Buffer.from('größe '), Buffer.from([0xff]), Buffer.from(' 你好\n')]), true).text, 'größe \ufffd 你好\n');
  });

  it('C9 a prompt without a newline is shown at once, half a character is not', () => {
    assert.deepEqual(decodeOutput(Buffer.from('name? '), false), { text: 'name? ', consumed: 6 });
    assert.deepEqual(decodeOutput(Buffer.from([0x61, 0xe4, 0xbd]), false), { text: 'a', consumed: 1 });
  });

  it('C11 a tail starts with a whole character', () => {
    const bytes = Buffer.from('你好吗'.repeat(100));
    for (let cut = 0; cut < 9; cut++) {
      const tail = bytes.subarray(cut);
      assert.ok(!decodeOutput(tail.subarray(characterStart(tail)), true).text.includes('\ufffd'), String(cut));
    }
  });
});
