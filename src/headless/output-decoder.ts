import { isUtf8 } from 'node:buffer';
import { execFile } from 'node:child_process';
import iconv from 'iconv-lite';

/** Bytes of a started UTF-8 sequence at the end of `bytes` that later bytes may complete: 0 to 3. */
function openTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc2) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return byte < 0xf5 && back < length ? back : 0;
    }
  }
  return 0;
}

/** Counts the characters of valid multi-byte sequences and the bytes that fit no sequence. */
function weigh(line: Uint8Array): { valid: number; invalid: number } {
  let valid = 0;
  let invalid = 0;
  for (let i = 0; i < line.length; ) {
    const byte = line[i]!;
    const length = byte < 0x80 ? 1 : byte >= 0xc2 && byte < 0xe0 ? 2 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xf0 && byte < 0xf5 ? 4 : 0;
    if (length === 1) {
      i++;
    } else if (length > 0 && i + length <= line.length && isUtf8(line.subarray(i, i + length))) {
      valid++;
      i += length;
    } else {
      invalid++;
      i++;
    }
  }
  return { valid, invalid };
}

/** Bytes above ASCII stand in pairs, both in the range of GB2312's table. */
function looksLikeGb2312(line: Uint8Array): boolean {
  for (let i = 0; i < line.length; i++) {
    if (line[i]! < 0x80) continue;
    if (line[i]! < 0xa1 || line[i]! > 0xf7 || i + 1 >= line.length || line[i + 1]! < 0xa1 || line[i + 1]! > 0xfe) return false;
    i++;
  }
  return true;
}

function strictly(line: Buffer, encoding: string): string | undefined {
  if (!iconv.encodingExists(encoding)) return undefined;
  const text = iconv.decode(line, encoding);
  return text.includes('\ufffd') ? undefined : text;
}

function decodeLine(line: Buffer, codePage: string | undefined): string {
  if (isUtf8(line)) return line.toString('utf8');
  const { valid, invalid } = weigh(line);
  // mostly good UTF-8 with a stray byte: a code page would turn all of it to rubbish
  if (valid >= invalid) return line.toString('utf8');
  const own = codePage === undefined ? undefined : strictly(line, codePage);
  if (own !== undefined) return own;
  if (looksLikeGb2312(line)) return strictly(line, 'gb18030') ?? line.toString('utf8');
  // control bytes say that this is no text in any code page
  return line.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d && byte !== 0x1b)
    ? line.toString('utf8')
    : iconv.decode(line, 'windows-1252');
}

/**
 * Decodes what a command printed: strict UTF-8, else line by line the system's code page, GBK, Windows-1252 (C9).
 * @param bytes output from a place where a character starts
 * @param final no bytes will follow; otherwise an unfinished character, or an unfinished line that is not UTF-8, is left
 *   for the next call
 * @param codePage the system's 8-bit or double-byte encoding, when known
 * @returns the text and how many of `bytes` it stands for
 */
export function decodeOutput(bytes: Buffer, final: boolean, codePage?: string): { text: string; consumed: number } {
  const whole = final ? bytes : bytes.subarray(0, bytes.length - openTail(bytes));
  if (isUtf8(whole)) return { text: whole.toString('utf8'), consumed: whole.length };
  let text = '';
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline < 0) break;
    text += decodeLine(bytes.subarray(start, newline + 1), codePage);
    start = newline + 1;
  }
  const rest = bytes.subarray(start);
  if (final || rest.length > 8192) return { text: text + decodeLine(rest, codePage), consumed: bytes.length };
  const clean = rest.subarray(0, rest.length - openTail(rest));
  if (clean.length > 0 && isUtf8(clean)) return { text: text + clean.toString('utf8'), consumed: start + clean.length };
  return { text, consumed: start };
}

/** Where the first whole character starts in a tail that was cut anywhere: 0 to 3. */
export function characterStart(tail: Uint8Array): number {
  let skip = 0;
  while (skip < Math.min(3, tail.length) && (tail[skip]! & 0xc0) === 0x80) skip++;
  // a run of such bytes right at the start of a valid UTF-8 rest is half a character; elsewhere they are characters
  return skip > 0 && isUtf8(tail.subarray(skip, Math.min(tail.length, skip + 4096) - openTail(tail.subarray(0, Math.min(tail.length, skip + 4096)))))
    ? skip
    : 0;
}

/** The 8-bit or double-byte encoding that the locale names (`zh_CN.GBK`), or undefined when it is UTF-8 or not named. */
function localeCodePage(env: NodeJS.ProcessEnv): string | undefined {
  const name = /\.([\w-]+)/.exec(env.LC_ALL || env.LC_CTYPE || env.LANG || '')?.[1]?.toLowerCase();
  return name === undefined || /^utf-?8$/.test(name) ? undefined : name;
}

let windowsPage: Promise<string | undefined> | undefined;

/** The code page that console programs print in: from the locale, on Windows from the console itself, asked once. */
export function systemCodePage(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform !== 'win32') return Promise.resolve(localeCodePage(env));
  windowsPage ??= new Promise((resolve) => {
    execFile('chcp.com', { windowsHide: true }, (error, text) => {
      const number = error === null ? /(\d{3,5})\s*\.?\s*$/.exec(text)?.[1] : undefined;
      resolve(number === undefined || number === '65001' ? undefined : `cp${number}`);
    });
  });
  return windowsPage;
}
