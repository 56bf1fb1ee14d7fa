/** Bytes of `text` from the start or the end, at most `limit`, between characters and if possible between lines. */
function part(bytes: Buffer, limit: number, from: 'start' | 'end'): Buffer {
  if (limit <= 0) return Buffer.alloc(0);
  const isInner = (index: number): boolean => index > 0 && index < bytes.length && (bytes[index]! & 0xc0) === 0x80;
  if (from === 'start') {
    let end = Math.min(limit, bytes.length);
    while (isInner(end)) end--;
    const line = bytes.lastIndexOf(0x0a, end - 1);
    return bytes.subarray(0, line > end / 2 ? line : end);
  }
  let start = Math.max(0, bytes.length - limit);
  while (isInner(start)) start++;
  const line = bytes.indexOf(0x0a, start);
  return bytes.subarray(line >= 0 && line < start + (bytes.length - start) / 2 ? line + 1 : start);
}

const GAP = '\n…\n';

/**
 * Head and tail of a text, and the notice where all of it is, in at most `maxBytes` of UTF-8 (C8.21).
 * @returns undefined when not even the notice fits
 */
export function previewText(text: string, maxBytes: number, stored: { locator: string; retrievalHint: string }): string | undefined {
  const bytes = Buffer.from(text);
  const notice = (omitted: number): string => `\n\n(${omitted} of ${bytes.length} bytes omitted. Full formatted result stored at: ${stored.locator}. ${stored.retrievalHint})`;
  const room = maxBytes - Buffer.byteLength(notice(bytes.length)) - Buffer.byteLength(GAP);
  if (room < 0) return undefined;
  const head = part(bytes, Math.ceil(room / 2), 'start');
  const tail = part(bytes, Math.floor(room / 2), 'end');
  return `${head.toString('utf8')}${GAP}${tail.toString('utf8')}${notice(bytes.length - head.length - tail.length)}`;
}
