import { multiByteCodec, singleByteCodec, TextDecodeError, TextEncodeError, UnknownEncodingError, UTF16BE, UTF16LE, UTF8 } from './codec.ts';
import type { Codec } from './codec.ts';
import { applySplices, assertSplices } from './splice.ts';
import type { Splice } from './splice.ts';

/** A file's bytes, understood: what is needed to write them back with only the edited span changed. */
export interface DecodedText {
  /** Without the byte-order mark, with the file's own line endings. */
  readonly text: string;
  /** `utf8`, `utf8bom`, `utf16le`, `utf16be`, or the name of the hint. */
  readonly encoding: string;
  readonly bytes: Uint8Array;
  /** Bytes of the mark at the start. */
  readonly bomLength: number;
  readonly codec: Codec;
}

const BOMS: readonly { readonly encoding: string; readonly bytes: readonly number[]; readonly codec: Codec }[] = [
  { encoding: 'utf8bom', bytes: [0xef, 0xbb, 0xbf], codec: UTF8 },
  { encoding: 'utf16le', bytes: [0xff, 0xfe], codec: UTF16LE },
  { encoding: 'utf16be', bytes: [0xfe, 0xff], codec: UTF16BE },
];

const ALIASES: Record<string, string> = {
  utf8: 'utf8', utf8bom: 'utf8bom', utf8withbom: 'utf8bom', utf16: 'utf16le', utf16le: 'utf16le', ucs2: 'utf16le', utf16be: 'utf16be',
  ascii: 'utf8', usascii: 'utf8', latin1: 'windows1252', iso88591: 'windows1252', cp1252: 'windows1252', sjis: 'shiftjis',
  windows31j: 'shiftjis', cp932: 'shiftjis', cp936: 'gbk', gb2312: 'gbk', cp950: 'big5',
};

/** Only encodings in which every LF byte is a line feed and no state crosses it. */
const STATELESS = /^(windows(125\d|874)|iso8859\d+|koi8[a-z]+|mac[a-z]+|cp\d+|gbk|gb18030|big5|big5hkscs|shiftjis|eucjp|euckr|tis620)$/;

const codecs = new Map<string, Codec>([['utf8', UTF8], ['utf8bom', UTF8], ['utf16le', UTF16LE], ['utf16be', UTF16BE]]);

/** `UTF-8`, `Shift_JIS`, `windows-1252` … in the spelling used here. */
function canonicalEncoding(name: string): string {
  const key = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return Object.hasOwn(ALIASES, key) ? ALIASES[key] ?? key : key;
}

/** The codec of a name. Tables beyond Unicode are loaded on first use. Throws UnknownEncodingError. */
export async function codecFor(name: string): Promise<Codec> {
  const canonical = canonicalEncoding(name);
  const known = codecs.get(canonical);
  if (known !== undefined) return known;
  const iconv = (await import('iconv-lite')).default;
  if (!STATELESS.test(canonical) || !iconv.encodingExists(canonical)) throw new UnknownEncodingError(name);
  const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const singles = Array.from(all, (byte) => iconv.decode(Buffer.from([byte]), canonical));
  const isSingle = iconv.decode(all, canonical).length === 256 && iconv.encode('\u4e00\u3042\uac00', canonical).length === 3;
  const codec = isSingle
    ? singleByteCodec(canonical, singles.map((char) => char.length === 1 ? char : '\ufffd').join(''))
    : multiByteCodec(canonical, {
      decode: (bytes) => iconv.decode(Buffer.from(bytes), canonical, { stripBOM: false }),
      encode: (text) => iconv.encode(text, canonical),
    });
  codecs.set(canonical, codec);
  return codec;
}

/**
 * Decodes a file. A byte-order mark decides; else `hint` (the user's `files.encoding`, say); else strict UTF-8. Never
 * guesses: short texts are valid in several encodings. Throws TextDecodeError (FS_NOT_TEXT), UnknownEncodingError.
 */
export async function decodeText(bytes: Uint8Array, hint?: string): Promise<DecodedText> {
  const bom = bomOf(bytes);
  const encoding = bom?.encoding ?? encodingFromHint(hint);
  const codec = bom?.codec ?? await codecFor(encoding);
  const bomLength = bom?.bytes.length ?? 0;
  const body = bomLength === 0 ? bytes : bytes.subarray(bomLength);
  const wide = codec === UTF16LE || codec === UTF16BE;
  if (!wide && body.includes(0)) throw new TextDecodeError('binary', encoding);
  const text = codec.decode(body);
  if (wide && text.includes('\0')) throw new TextDecodeError('binary', encoding);
  return { text, encoding, bytes, bomLength, codec };
}

/** The byte-order mark at the start of `bytes`, if any. */
export function bomOf(bytes: Uint8Array): { readonly encoding: string; readonly bytes: readonly number[]; readonly codec: Codec } | undefined {
  return BOMS.find((bom) => bom.bytes.every((byte, at) => bytes[at] === byte));
}

/** Bytes of a whole new text. `utf8bom`, `utf16le` and `utf16be` get a mark. Throws TextEncodeError. */
export async function encodeText(text: string, encoding: string): Promise<Uint8Array> {
  const canonical = canonicalEncoding(encoding);
  const codec = await codecFor(canonical);
  const bom = BOMS.find((entry) => entry.encoding === canonical);
  const body = codec.encode(text);
  return bom === undefined ? body : Buffer.concat([Uint8Array.from(bom.bytes), body]);
}

/** `spliceBytesInParts` in one piece. */
export function spliceBytes(decoded: DecodedText, splices: readonly Splice[]): Uint8Array {
  return Buffer.concat(spliceBytesInParts(decoded, splices));
}

/**
 * The bytes after `splices` (offsets in `decoded.text`), one part after the other: everything outside the splices is
 * the file's own bytes, never encoded again (A9). Verified before it is returned: a result that would not decode to
 * the meant text throws TextEncodeError.
 */
export function spliceBytesInParts(decoded: DecodedText, splices: readonly Splice[]): Uint8Array[] {
  if (splices.length === 0) return [decoded.bytes];
  assertSplices(splices, decoded.text.length);
  const { bytes, bomLength, codec, text } = decoded;
  const body = bytes.subarray(bomLength);
  const offsets = codec.byteOffsets(body, text, splices.flatMap((splice) => [splice.start, splice.end]));
  const parts: Uint8Array[] = [bytes.subarray(0, bomLength)];
  let at = 0;
  splices.forEach((splice, index) => {
    parts.push(body.subarray(at, offsets[index * 2]), codec.encode(splice.text));
    at = offsets[index * 2 + 1] ?? at;
  });
  parts.push(body.subarray(at));
  if (codec !== UTF8 && codec.decode(Buffer.concat(parts).subarray(bomLength)) !== applySplices(text, splices)) {
    throw new TextEncodeError(splices[0]?.text ?? '', decoded.encoding, 0);
  }
  return parts;
}

function encodingFromHint(hint: string | undefined): string {
  const canonical = hint === undefined ? 'utf8' : canonicalEncoding(hint);
  return canonical === 'utf8bom' ? 'utf8' : canonical;
}
