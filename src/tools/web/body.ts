import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import type { WebFetchResult } from '../../seams/web.ts';
import { WebError } from './error.ts';

/** Characters of a body that are handed on (B10.32). */
export const BODY_CHARS = 100_000;

const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT_TYPE = /^text\/|^application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-javascript|x-ndjson|graphql|sql|x-sh)$|^image\/svg\+xml$|^application\/[\w.-]+\+(?:json|xml|yaml)$/;

function bomOf(bytes: Buffer): { encoding: string; length: number } | undefined {
  if (bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: 'utf8', length: 3 };
  if (bytes.length >= 2 && bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf16le', length: 2 };
  if (bytes.length >= 2 && bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf16be', length: 2 };
  return undefined;
}

/** Pages that say Latin-1 or ASCII mean Windows-1252, and GB2312 means its superset: what every browser does. */
function webEncoding(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  const name = label.trim().toLowerCase().replace(/^["']|["']$/g, '');
  if (/^(?:iso-?8859-1|latin-?1|(?:us-)?ascii)$/.test(name)) return 'windows-1252';
  if (/^(?:gb2312|gbk|x-gbk|gb_2312-80)$/.test(name)) return 'gb18030';
  return iconv.encodingExists(name) ? name : undefined;
}

function declaredInPage(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 4096).toString('latin1');
  return /<meta\b[^>]*\bcharset\s*=\s*["']?\s*([\w:-]+)/i.exec(head)?.[1] ?? /^<\?xml[^>]*\bencoding\s*=\s*["']([\w:-]+)["']/i.exec(head)?.[1];
}

function decodeText(bytes: Buffer, charset: string | undefined, html: boolean): string {
  const bom = bomOf(bytes);
  if (bom !== undefined) return iconv.decode(bytes.subarray(bom.length), bom.encoding, { stripBOM: false });
  // the declaration inside a UTF-16 page cannot be read as ASCII: one that is read and says so lies
  const declared = webEncoding(charset) ?? (html ? webEncoding(declaredInPage(bytes)?.replace(/^utf-?16.*$/i, 'utf-8')) : undefined);
  if (declared !== undefined && !/^utf-?8$/.test(declared)) return iconv.decode(bytes, declared);
  if (isUtf8(bytes) || declared !== undefined) return bytes.toString('utf8');
  return iconv.decode(bytes, 'windows-1252');
}

function isBinary(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 4096);
  if (head.subarray(0, 5).toString('latin1') === '%PDF-') return true;
  const bom = bomOf(bytes);
  return head.includes(0) && (bom === undefined || bom.encoding === 'utf8');
}

/** Removes what never holds readable text, by scanning: no expression that could be made to run for long. */
function withoutCode(html: string): string {
  const lower = html.toLowerCase();
  let out = '';
  let at = 0;
  while (at < html.length) {
    const open = lower.indexOf('<', at);
    if (open < 0) break;
    let end = -1;
    if (lower.startsWith('<!--', open)) {
      const close = lower.indexOf('-->', open + 4);
      end = close < 0 ? html.length : close + 3;
    } else {
      for (const tag of ['script', 'style', 'noscript', 'svg', 'template']) {
        if (!lower.startsWith(tag, open + 1) || !/[\s>/]/.test(lower[open + 1 + tag.length] ?? '>')) continue;
        const close = lower.indexOf(`</${tag}`, open + 1);
        const tagEnd = close < 0 ? -1 : lower.indexOf('>', close);
        end = tagEnd < 0 ? html.length : tagEnd + 1;
        break;
      }
    }
    if (end < 0) {
      out += html.slice(at, open + 1);
      at = open + 1;
    } else {
      out += html.slice(at, open);
      at = end;
    }
  }
  return out + html.slice(at);
}

/** At most `limit` UTF-16 units, no half of a pair at the end. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
}

/**
 * Bytes of a response as text (K7).
 * @param contentType header, undefined when there was none: then the bytes decide
 * @throws WebError WEB_UNSUPPORTED_CONTENT_TYPE for anything that is not text
 */
export function readBody(bytes: Buffer, contentType: string | undefined, url: string): Pick<WebFetchResult, 'body' | 'truncated'> {
  const type = contentType?.split(';')[0]!.trim().toLowerCase() ?? '';
  const charset = contentType === undefined ? undefined : /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
  let html = HTML_TYPE.test(type);
  const unsure = type === '' || type === 'application/octet-stream' || !type.includes('/');
  if ((!html && !unsure && !TEXT_TYPE.test(type)) || isBinary(bytes)) {
    const what = type !== '' && !html ? type : isBinary(bytes) ? 'binary data' : 'an unknown type';
    throw new WebError(`"${url}" holds ${what}: only web pages and text can be fetched; download it with a shell command if you need it`, 'WEB_UNSUPPORTED_CONTENT_TYPE');
  }
  if (unsure) html = /^\s*(?:<!doctype html|<html|<head|<body)/i.test(bytes.subarray(0, 1024).toString('latin1'));
  let text = decodeText(bytes, charset, html);
  if (html && text.length > BODY_CHARS) text = withoutCode(text);
  const content = cutText(text, BODY_CHARS);
  return { body: { kind: html ? 'html' : 'text', content }, truncated: content.length < text.length };
}
