import { isAscii, isUtf8 } from 'node:buffer';
import { HarnessError } from '../contract/error.ts';

/**
 * One encoding. `decode` is strict: bytes that the encoding does not know throw TextDecodeError. `encode` throws
 * TextEncodeError for characters the encoding cannot hold. Neither knows about byte-order marks.
 */
export interface Codec {
  readonly name: string;
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array;
  /** Byte offsets in `bytes` of ascending UTF-16 `offsets` in `text`, its decoded form. */
  byteOffsets(bytes: Uint8Array, text: string, offsets: readonly number[]): number[];
}

/** The bytes are no text in this encoding. `binary`: they hold NULs; `invalid`: a sequence is broken. */
export class TextDecodeError extends HarnessError {
  readonly reason: 'binary' | 'invalid';
  readonly encoding: string;
  constructor(reason: 'binary' | 'invalid', encoding: string) {
    super(reason === 'binary' ? 'binary file' : `invalid ${encodingLabel(encoding)} text`, 'FS_NOT_TEXT');
    this.reason = reason;
    this.encoding = encoding;
  }
}

/** The text has a character that the file's encoding cannot hold. */
export class TextEncodeError extends HarnessError {
  constructor(text: string, encoding: string, position: number) {
    const code = text.codePointAt(position) ?? 0;
    const shown = code >= 0xd800 && code <= 0xdfff ? 'an unpaired surrogate' : `"${String.fromCodePoint(code)}"`;
    super(`the new text contains ${shown} (U+${code.toString(16).toUpperCase().padStart(4, '0')}), `
      + `which ${encodingLabel(encoding)} cannot hold`, 'FS_ENCODING');
  }
}

/** An encoding name we have no tables for. */
export class UnknownEncodingError extends HarnessError {
  constructor(name: string) {
    super(`unknown encoding "${name}"`, 'FS_ENCODING');
  }
}

/** How an encoding is called in messages. */
function encodingLabel(name: string): string {
  const labels: Record<string, string> = {
    utf8: 'UTF-8', utf8bom: 'UTF-8', utf16le: 'UTF-16 LE', utf16be: 'UTF-16 BE', gbk: 'GBK', gb18030: 'GB18030',
    shiftjis: 'Shift-JIS', big5: 'Big5', big5hkscs: 'Big5-HKSCS', windows1252: 'Windows-1252',
  };
  return Object.hasOwn(labels, name) ? labels[name] ?? name : name;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function assertWellFormed(text: string, encoding: string): void {
  if (isWellFormed(text)) return;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at++;
    else if (code >= 0xd800 && code <= 0xdfff) throw new TextEncodeError(text, encoding, at);
  }
}

function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

export const UTF8: Codec = {
  name: 'utf8',
  decode(bytes) {
    if (isAscii(bytes)) return bufferOf(bytes).toString('latin1');
    if (!isUtf8(bytes)) throw new TextDecodeError('invalid', 'utf8');
    return bufferOf(bytes).toString('utf8');
  },
  encode(text) {
    assertWellFormed(text, 'utf8');
    return Buffer.from(text, 'utf8');
  },
  byteOffsets(bytes, text, offsets) {
    if (bytes.length === text.length) return [...offsets];
    let char = 0;
    let byte = 0;
    return offsets.map((offset) => {
      byte += Buffer.byteLength(text.slice(char, offset), 'utf8');
      char = offset;
      return byte;
    });
  },
};

function utf16(name: 'utf16le' | 'utf16be'): Codec {
  const native = name === 'utf16le';
  return {
    name,
    decode(bytes) {
      if (bytes.length % 2 !== 0) throw new TextDecodeError('invalid', name);
      const text = (native ? bufferOf(bytes) : Buffer.from(bytes).swap16()).toString('utf16le');
      if (!isWellFormed(text)) throw new TextDecodeError('invalid', name);
      return text;
    },
    encode(text) {
      assertWellFormed(text, name);
      const bytes = Buffer.from(text, 'utf16le');
      return native ? bytes : bytes.swap16();
    },
    byteOffsets: (_bytes, _text, offsets) => offsets.map((offset) => offset * 2),
  };
}

export const UTF16LE = utf16('utf16le');
export const UTF16BE = utf16('utf16be');

/** One byte a character. Bytes without a character in `table` map to the C1 control of the same number, so none is lost. */
export function singleByteCodec(name: string, table: string): Codec {
  const chars = Array.from({ length: 256 }, (_, byte) => {
    const char = table[byte];
    return char === undefined || char === '\ufffd' ? String.fromCharCode(byte) : char;
  });
  const bytes = new Map(chars.map((char, byte) => [char, byte]));
  return {
    name,
    decode(input) {
      if (isAscii(input)) return bufferOf(input).toString('latin1');
      const latin1 = bufferOf(input).toString('latin1');
      return latin1.replace(/[\x80-\xff]/g, (char) => chars[char.charCodeAt(0)] ?? char);
    },
    encode(text) {
      const out = Buffer.alloc(text.length);
      for (let at = 0; at < text.length; at++) {
        const byte = bytes.get(text[at] ?? '');
        if (byte === undefined) throw new TextEncodeError(text, name, at);
        out[at] = byte;
      }
      return out;
    },
    byteOffsets: (_bytes, _text, offsets) => [...offsets],
  };
}

/** What a multi-byte codec needs from the tables: stateless at line feeds, as every encoding here is. */
export interface MultiByteTable {
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array;
}

const MAX_CHARACTER_BYTES = 4;

/** The character at byte `at`: the shortest sequence that decodes cleanly. */
function characterAt(input: Buffer, at: number, table: MultiByteTable, name: string): { bytes: number; units: number } {
  if ((input[at] ?? 0) < 0x80) return { bytes: 1, units: 1 };
  for (let length = 1; length <= MAX_CHARACTER_BYTES && at + length <= input.length; length++) {
    const text = table.decode(input.subarray(at, at + length));
    if (text !== '' && !text.includes('\ufffd')) return { bytes: length, units: text.length };
  }
  throw new TextDecodeError('invalid', name);
}

/** Chinese, Japanese and Korean encodings whose trail bytes never equal LF. */
export function multiByteCodec(name: string, table: MultiByteTable): Codec {
  return {
    name,
    decode(bytes) {
      if (isAscii(bytes)) return bufferOf(bytes).toString('latin1');
      const text = table.decode(bytes);
      if (text.includes('\ufffd')) throw new TextDecodeError('invalid', name);
      return text;
    },
    encode(text) {
      const bytes = table.encode(text);
      const back = table.decode(bytes);
      if (back !== text) {
        let at = 0;
        for (const char of text) {
          if (table.decode(table.encode(char)) !== char) throw new TextEncodeError(text, name, at);
          at += char.length;
        }
        throw new TextEncodeError(text, name, 0);
      }
      return bytes;
    },
    byteOffsets(bytes, text, offsets) {
      if (isAscii(bytes)) return [...offsets];
      const input = bufferOf(bytes);
      let byte = 0;
      let char = 0;
      return offsets.map((offset) => {
        // whole lines first: LF is LF in both
        for (;;) {
          const next = text.indexOf('\n', char);
          if (next === -1 || next >= offset) break;
          char = next + 1;
          byte = input.indexOf(0x0a, byte) + 1;
        }
        while (char < offset) {
          const next = characterAt(input, byte, table, name);
          char += next.units;
          byte += next.bytes;
        }
        if (char !== offset) throw new RangeError(`offset ${offset} lies inside a character of ${name}`);
        return byte;
      });
    },
  };
}
