import assert from 'node:assert/strict';
import fc from 'fast-check';
import { codecFor, decodeText, encodeText, spliceBytes } from '../../src/text/encoding.ts';
import { adoptEndings, replaceText } from '../../src/text/replace.ts';
import { applySplices, reverseSplices } from '../../src/text/splice.ts';
import { splitLines, toLf, toOwnOffsets, withEndings } from '../../src/text/endings.ts';
import type { Splice } from '../../src/text/splice.ts';
import type { LineEnding } from '../../src/text/endings.ts';

/** Words every one of the encodings can hold, one list an encoding. */
const WORDS: Record<string, string[]> = {
  utf8: ['naïve', '漢字', '😀', 'plain', '', '\u{10ffff}', 'é́'],
  utf8bom: ['sécurisé', '中文', '𝒳', 'x', ''],
  utf16le: ['한국', '😀😀', 'plain', '', 'Ω'],
  utf16be: ['日本', 'é', '🦄', '', 'b'],
  gb18030: ['浣犲ソ', '你好', '€', '😀', 'plain', '', 'ḿ'],
  shiftjis: ['表示', 'ソース', 'ｶﾅ', '日本語', 'plain', ''],
  big5: ['許功蓋', '中文', 'plain', '', '一乙'],
  windows1252: ['Søk', '€uro', 'naïve', '\u0081', 'plain', ''],
};
const STYLES: Record<string, readonly LineEnding[]> = { lf: ['\n'], crlf: ['\r\n'], cr: ['\r'], mixed: ['\n', '\r\n'] };

async function bytesOf(text: string, encoding: string): Promise<Uint8Array> {
  return encodeText(text, encoding);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** A file in one encoding and ending style, and its text. */
function fileArbitrary(encoding: string, style: readonly LineEnding[]): fc.Arbitrary<string> {
  const line = fc.array(fc.constantFrom(...(WORDS[encoding] ?? []), ' ', 'a'), { maxLength: 5 }).map((words) => words.join(''));
  return fc.tuple(fc.array(line, { minLength: 1, maxLength: 12 }), fc.array(fc.constantFrom(...style), { minLength: 12, maxLength: 12 }), fc.boolean())
    .map(([lines, endings, final]) => lines.map((text, i) => text + (i < lines.length - 1 || final ? endings[i] : '')).join(''));
}

describe('text bytes', () => {
  const runs = Number(process.env.TEXT_RUNS ?? 32);
  for (const encoding of Object.keys(WORDS)) {
    for (const [style, endings] of Object.entries(STYLES)) {
      it(`A1 A5 A7 A9 ${encoding} ${style}: bytes outside the edited lines stay, the reverse edit restores all`, async () => {
        await fc.assert(fc.asyncProperty(
          fileArbitrary(encoding, endings),
          fc.nat(), fc.nat(),
          fc.array(fc.constantFrom(...(WORDS[encoding] ?? []), '\n', 'new'), { maxLength: 4 }).map((parts) => parts.join('')),
          async (text, from, size, replacement) => {
            const bytes = await bytesOf(text, encoding);
            const hint = encoding.startsWith('utf') ? undefined : encoding;
            const decoded = await decodeText(bytes, hint);
            assert.equal(decoded.text, text);
            const view = toLf(text);
            const start = view.length === 0 ? 0 : from % view.length;
            const wanted = view.slice(start, start + 1 + (size % 9));
            const found = replaceText(text, wanted, replacement, false);
            if (found.splices.length === 0) return;
            const [first] = found.splices;
            const last = found.splices.at(-1);
            assert.ok(first && last);
            const changed = spliceBytes(decoded, found.splices);
            const after = await decodeText(changed, hint);
            assert.equal(after.text, applySplices(text, found.splices));
            assert.equal(toLf(after.text), toLf(applySplices(view, [{ start: view.indexOf(wanted), end: view.indexOf(wanted) + wanted.length, text: replacement }])));

            const offsets = decoded.codec.byteOffsets(bytes.subarray(decoded.bomLength), text, [first.start, last.end]);
            const head = decoded.bomLength + (offsets[0] ?? 0);
            const tail = bytes.length - decoded.bomLength - (offsets[1] ?? 0);
            assert.equal(hex(changed.subarray(0, head)), hex(bytes.subarray(0, head)), 'bytes before the edit');
            assert.equal(hex(changed.subarray(changed.length - tail)), hex(bytes.subarray(bytes.length - tail)), 'bytes after the edit');

            const back = spliceBytes(after, reverseSplices(text, found.splices));
            assert.equal(hex(back), hex(bytes), 'reverse edit');
          },
        ), { numRuns: runs });
      });
    }
  }

  it('A9 bytes that are not Unicode survive an edit of another line', async () => {
    const bytes = Buffer.from([0x53, 0xf8, 0x6b, 0x0a, 0x78, 0x0a, 0x81, 0x0a]);
    const decoded = await decodeText(bytes, 'windows1252');
    assert.equal(decoded.text, 'Søk\nx\n\u0081\n');
    const { splices } = replaceText(decoded.text, 'x', '€', false);
    assert.deepEqual([...spliceBytes(decoded, splices)], [0x53, 0xf8, 0x6b, 0x0a, 0x80, 0x0a, 0x81, 0x0a]);
  });

  it('A9 byte sequences with two spellings are copied, not re-encoded', async () => {
    // 0xED40 and 0xFA5C are the same character in Windows' Shift-JIS
    const decoded = await decodeText(Buffer.from([0xed, 0x40, 0x0a, 0x61, 0x0a, 0xfa, 0x5c]), 'shiftjis');
    const { splices } = replaceText(decoded.text, 'a', 'b', false);
    assert.deepEqual([...spliceBytes(decoded, splices)], [0xed, 0x40, 0x0a, 0x62, 0x0a, 0xfa, 0x5c]);
  });

  it('never guesses: the same short bytes are refused without a hint', async () => {
    await assert.rejects(decodeText(Buffer.from([0xc4, 0xe3, 0xba, 0xc3])), { code: 'FS_NOT_TEXT', message: 'invalid UTF-8 text' });
    assert.equal((await decodeText(Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), 'gbk')).text, '你好');
  });

  it('a byte-order mark beats the hint', async () => {
    const decoded = await decodeText(Buffer.from([0xff, 0xfe, 0x61, 0x00]), 'gbk');
    assert.deepEqual([decoded.encoding, decoded.text], ['utf16le', 'a']);
  });

  it('NUL bytes mean binary, broken sequences mean invalid', async () => {
    await assert.rejects(decodeText(Buffer.from('a\0b')), { code: 'FS_NOT_TEXT', message: 'binary file' });
    await assert.rejects(decodeText(Buffer.from([0xff, 0xfe, 0x61])), { message: 'invalid UTF-16 LE text' });
    await assert.rejects(decodeText(Buffer.from([0x81]), 'gb18030'), { message: 'invalid GB18030 text' });
    await assert.rejects(decodeText(Buffer.from([0xed, 0xa0, 0x80])), { message: 'invalid UTF-8 text' });
  });

  it('a character the encoding lacks is refused by name, before anything is written', async () => {
    const decoded = await decodeText(Buffer.from('abc'), 'windows1252');
    assert.throws(() => spliceBytes(decoded, [{ start: 0, end: 1, text: 'a😀' }]), { code: 'FS_ENCODING', message: /"😀" \(U\+1F600\), which Windows-1252 cannot hold/ });
    const shift = await decodeText(Buffer.from('abc'), 'Shift_JIS');
    assert.throws(() => spliceBytes(shift, [{ start: 0, end: 1, text: '¥' }]), { code: 'FS_ENCODING' });
    const utf8 = await decodeText(Buffer.from('abc'));
    assert.throws(() => spliceBytes(utf8, [{ start: 0, end: 1, text: '\ud83d' }]), { message: /unpaired surrogate/ });
  });

  it('unknown and stateful encodings are refused by name', async () => {
    for (const name of ['klingon', 'iso-2022-jp', 'utf-7', 'hex', 'base64']) {
      await assert.rejects(codecFor(name), { code: 'FS_ENCODING', message: `unknown encoding "${name}"` });
    }
  });
});

describe('text endings', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '\r', 'é'), { maxLength: 30 }).map((parts) => parts.join(''));

  it('offsets of the LF view map to the same characters', () => {
    fc.assert(fc.property(text, (own) => {
      const view = toLf(own);
      const offsets = toOwnOffsets(own, Array.from({ length: view.length + 1 }, (_, i) => i));
      assert.equal(offsets[0], 0);
      assert.equal(offsets.at(-1), own.length);
      for (let i = 0; i < view.length; i++) {
        assert.equal(toLf(own.slice(offsets[i], offsets[i + 1])).replace('\r', '\n'), view[i] === '\r' ? '\n' : view[i]);
      }
    }));
  });

  it('lines joined give the text again', () => {
    fc.assert(fc.property(text, (own) => assert.equal(splitLines(own).join(''), own)));
  });

  it('A1 one edited line keeps every other ending, byte for byte', () => {
    const edit = (own: string, from: string, to: string): string => applySplices(own, replaceText(own, from, to, false).splices);
    assert.equal(edit('a\r\nb\r\nc\r\n', 'b', 'B'), 'a\r\nB\r\nc\r\n');
    assert.equal(edit('a\r\nb\nc\r\n', 'a\nb\nc', 'a\nb2\nc'), 'a\r\nb2\nc\r\n');
    assert.equal(edit('a\nb\r\nc\n', 'b\n', 'b\nnew\n'), 'a\nb\r\nnew\nc\n');
    assert.equal(edit('a\rb\rc', 'a\nb', 'x\ny'), 'x\ry\rc');
    assert.equal(edit('a\r\nb', 'b', 'b\nc'), 'a\r\nb\r\nc');
  });

  it('A3 LF text from the model matches a CRLF file', () => {
    const found = replaceText('x\r\na\r\nb\r\ny', 'a\nb\n', 'c\n', false);
    assert.equal(applySplices('x\r\na\r\nb\r\ny', found.splices), 'x\r\nc\r\ny');
  });

  it('A19 several matches give no splices, but their number and lines; overlaps count', () => {
    assert.deepEqual(replaceText('foo\nbar\nfoo\n', 'foo', 'x', false), { count: 2, lines: [1, 3], splices: [] });
    assert.equal(replaceText('aaa', 'aa', 'b', false).count, 2);
    assert.equal(applySplices('aaaa', replaceText('aaaa', 'aa', 'b', true).splices), 'bb');
    assert.equal(replaceText('a  b', 'a b', 'x', false).count, 0);
  });

  it('half a surrogate pair never matches', () => {
    assert.equal(replaceText('😀', '\ud83d', 'x', true).count, 0);
  });

  it('whole rewrites keep the endings of lines that stay', () => {
    assert.equal(adoptEndings('a\r\nb\r\n', 'a\nnew\nb\n'), 'a\r\nnew\r\nb\r\n');
    assert.equal(adoptEndings('a\r\nb\nc\r\n', 'a\nb\nC\n'), 'a\r\nb\nC\r\n');
    assert.equal(adoptEndings('a\rb', 'a\nc\nd'), 'a\rc\rd');
    assert.equal(adoptEndings('a\r\nb\r\n', 'a\r\nb\n'), 'a\r\nb\n');
    assert.equal(adoptEndings('a\r\nb\r\n', ''), '');
    fc.assert(fc.property(text, (own) => {
      if (!toLf(own).includes('\r')) assert.equal(adoptEndings(own, toLf(own)), own);
    }));
  });

  it('withEndings falls back once the list runs out', () => {
    assert.equal(withEndings('a\nb\nc\n', ['\r\n'], '\n'), 'a\r\nb\r\nc\r\n');
    assert.equal(withEndings('a\nb', [], '\r\n'), 'a\r\nb');
  });

  it('splices out of order are refused', () => {
    const bad: Splice[] = [{ start: 2, end: 3, text: '' }, { start: 1, end: 2, text: '' }];
    assert.throws(() => applySplices('abcd', bad), RangeError);
  });
});
