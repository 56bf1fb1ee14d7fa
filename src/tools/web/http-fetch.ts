import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { LookupFunction } from 'node:net';
import { Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import zlib from 'node:zlib';
import type { WebFetchProvider, WebFetchRequest, WebFetchResult } from '../../seams/web.ts';
import { isPublicAddress } from './address.ts';
import { readBody } from './body.ts';
import { WebError } from './error.ts';

const MAX_URL_CHARS = 2048;
const MAX_REDIRECTS = 5;
const MAX_BYTES = 5 * 1024 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface HttpFetchOptions {
  /** Ms for everything; default 28,000: a little less than the tool has, so that the clearer error wins. */
  readonly timeoutMs?: number;
  /** Bytes of a body, as sent and unpacked; default 5 MiB (B10.32). */
  readonly maxBytes?: number;
  /** Which addresses may be connected to; default: public ones. Only tests say otherwise. */
  readonly allowAddress?: (address: string) => boolean;
  /** Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<{ address: string; family: number }[]>;
  readonly userAgent?: string;
}

function parseUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_CHARS) throw new WebError(`the URL is longer than ${MAX_URL_CHARS} characters`, 'WEB_INVALID_URL');
  let url: URL;
  try {
    url = new URL(text, base);
  } catch (cause) {
    throw new WebError(`"${text}" is not a URL: give it with its scheme, such as https://example.com/page`, 'WEB_INVALID_URL', { cause });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new WebError(`"${text}" is neither http nor https`, 'WEB_INVALID_URL');
  if (url.username !== '' || url.password !== '') throw new WebError('the URL carries a user name or password: fetch it without', 'WEB_BLOCKED_URL');
  url.hash = '';
  return url;
}

function blocked(url: URL, host: string, address: string): WebError {
  return new WebError(`"${url.href}" was not fetched: ${host} is at ${address}, which is this machine or a private network`, 'WEB_BLOCKED_URL');
}

/** The same place, or the same host with encryption added. */
function isSameSite(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  return from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname && from.port === '' && to.port === '';
}

function defaultResolve(host: string): Promise<{ address: string; family: number }[]> {
  return dns.promises.lookup(host, { all: true, verbatim: true });
}

/** Counts bytes on their way and ends the stream when there are too many. */
function limiter(maxBytes: number, tooLarge: () => Error): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > maxBytes) done(tooLarge());
      else done(null, chunk);
    },
  });
}

function unpacker(encoding: string): Transform | undefined {
  switch (encoding) {
    case '': case 'identity': return undefined;
    case 'gzip': case 'x-gzip': return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
    case 'deflate': return zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
    case 'br': return zlib.createBrotliDecompress();
    default: throw new WebError(`the answer is packed as "${encoding}", which was not asked for`, 'WEB_UNSUPPORTED_CONTENT_TYPE');
  }
}

/**
 * Fetches over plain HTTP. Every host of every hop is resolved once, every one of its addresses must be public, and the
 * connection goes to exactly those addresses: a second look-up that answers differently changes nothing (K1, K3).
 */
export class HttpFetchProvider implements WebFetchProvider {
  readonly id = 'http';
  private readonly options: HttpFetchOptions;

  constructor(options: HttpFetchOptions = {}) {
    this.options = options;
  }

  available(): boolean {
    return true;
  }

  private async addressesOf(url: URL): Promise<{ address: string; family: number }[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const allow = this.options.allowAddress ?? isPublicAddress;
    const family = net.isIP(host);
    let addresses: { address: string; family: number }[];
    try {
      addresses = family !== 0 ? [{ address: host, family }] : await (this.options.resolve ?? defaultResolve)(host);
    } catch (cause) {
      throw new WebError(`"${host}" was not found: ${(cause as Error).message}`, 'WEB_PROVIDER_ERROR', { cause });
    }
    if (addresses.length === 0) throw new WebError(`"${host}" has no address`, 'WEB_PROVIDER_ERROR');
    const inside = addresses.find(({ address }) => !allow(address));
    if (inside !== undefined) throw blocked(url, host, inside.address);
    return addresses;
  }

  /** What the address itself says: no name is looked up. */
  check({ url: text }: WebFetchRequest): void {
    const url = parseUrl(text);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (net.isIP(host) !== 0 && !(this.options.allowAddress ?? isPublicAddress)(host)) throw blocked(url, host, host);
  }

  private async request(url: URL, signal: AbortSignal): Promise<http.IncomingMessage> {
    const addresses = await this.addressesOf(url);
    if (signal.aborted) throw signal.reason;
    const lookup: LookupFunction = (_host, options, done) => {
      const wanted = addresses.filter(({ family }) => options.family === undefined || options.family === 0 || options.family === family || options.family === `IPv${family}` as never);
      if (wanted.length === 0) return done(new Error('no address of the wanted kind'), '', 0);
      if (options.all === true) return done(null, wanted);
      done(null, wanted[0]!.address, wanted[0]!.family);
    };
    return new Promise((resolve, reject) => {
      const client = url.protocol === 'https:' ? https : http;
      const request = client.request(url, {
        lookup, signal, agent: false,
        headers: {
          'user-agent': this.options.userAgent ?? 'dsh-host (VS Code extension)',
          accept: 'text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9,application/json;q=0.8,*/*;q=0.5',
          'accept-encoding': 'gzip, deflate, br', 'accept-language': 'en;q=0.9,*;q=0.5',
        },
      });
      request.once('response', resolve);
      request.once('error', reject);
      request.end();
    });
  }

  private async readAll(response: http.IncomingMessage, url: URL): Promise<Buffer> {
    const maxBytes = this.options.maxBytes ?? MAX_BYTES;
    const tooLarge = (): WebError => new WebError(`"${url.href}" is larger than ${maxBytes} bytes`, 'WEB_FETCH_TOO_LARGE');
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
    const stages = [limiter(maxBytes, tooLarge), unpacker(encoding), encoding === '' ? undefined : limiter(maxBytes, tooLarge)].filter((stage) => stage !== undefined);
    let stream: Readable = response;
    for (const stage of stages) {
      const before = stream;
      before.once('error', (error) => stage.destroy(error));
      // a connection that ends early emits no error on its own
      before.once('close', () => { if (!before.readableEnded) stage.destroy(new Error('the connection was closed early')); });
      stream = before.pipe(stage);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  private async follow(first: URL, signal: AbortSignal): Promise<WebFetchResult> {
    let url = first;
    for (let hops = 0; ; hops++) {
      const response = await this.request(url, signal);
      try {
        const status = response.statusCode ?? 0;
        const location = response.headers.location;
        if (!REDIRECTS.has(status) || location === undefined) {
          const bytes = await this.readAll(response, url);
          return { url: url.href, statusCode: status, ...readBody(bytes, response.headers['content-type'], url.href) };
        }
        if (hops >= MAX_REDIRECTS) throw new WebError(`"${first.href}" redirects more than ${MAX_REDIRECTS} times`, 'WEB_REDIRECT_BLOCKED');
        const next = parseUrl(location, url);
        if (!isSameSite(url, next)) {
          throw new WebError(`"${url.href}" redirects to another site, "${next.href}": fetch that address if it is what you want`, 'WEB_REDIRECT_BLOCKED');
        }
        url = next;
      } finally {
        response.destroy();
      }
    }
  }

  async fetch({ url: text }: WebFetchRequest, signal = new AbortController().signal): Promise<WebFetchResult> {
    const url = parseUrl(text);
    const timeoutMs = this.options.timeoutMs ?? 28_000;
    const deadline = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, deadline]);
    let stop: (() => void) | undefined;
    try {
      return await Promise.race([
        this.follow(url, either),
        new Promise<never>((_resolve, reject) => {
          stop = () => reject(either.reason);
          either.addEventListener('abort', stop, { once: true });
        }),
      ]);
    } catch (error) {
      if (signal.aborted) throw new WebError(`fetching "${url.href}" was stopped`, 'WEB_ABORTED', { cause: error });
      if (deadline.aborted) throw new WebError(`"${url.href}" took longer than ${timeoutMs} ms`, 'WEB_FETCH_TIMEOUT', { cause: error });
      if (error instanceof WebError) throw error;
      throw new WebError(`cannot fetch "${url.href}": ${error instanceof Error ? error.message : String(error)}`, 'WEB_PROVIDER_ERROR', { cause: error });
    } finally {
      if (stop !== undefined) either.removeEventListener('abort', stop);
    }
  }
}
