import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import iconv from 'iconv-lite';
import { isPublicAddress } from '../../src/tools/web/address.ts';
import { HttpFetchProvider } from '../../src/tools/web/http-fetch.ts';
import type { HttpFetchOptions } from '../../src/tools/web/http-fetch.ts';
import { htmlToMarkdown } from '../../src/tools/web/markdown.ts';
import { MarkdownWorker } from '../../src/tools/web/markdown-thread.ts';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

describe('web.fetch', () => {
  let server: http.Server;
  let base: string;
  let handle: Handler;
  let requests: string[];

  beforeEach(async () => {
    requests = [];
    server = http.createServer((request, response) => {
      requests.push(request.url!);
      handle(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** The test server is on loopback: these tests say that its address may be fetched. */
  const fetcher = (options: HttpFetchOptions = {}) => new HttpFetchProvider({ allowAddress: (address) => address === '127.0.0.1', ...options });
  const get = (url: string, options?: HttpFetchOptions, signal = new AbortController().signal) => fetcher(options).fetch({ url }, signal);
  const send = (body: string | Buffer, type?: string, headers: Record<string, string> = {}): Handler => (_request, response) => {
    response.writeHead(200, { ...(type !== undefined ? { 'content-type': type } : {}), ...headers });
    response.end(body);
  };

  for (const url of [
    'http://127.0.0.1/', 'http://169.254.169.254/latest/meta-data', 'http://0x7f.1/', 'http://2130706433/', 'http://[::ffff:127.0.0.1]/', 'http://[::1]/',
    'http://0/', 'http://10.1.2.3/', 'http://172.16.0.1/', 'http://192.168.1.1/', 'http://100.64.0.1/', 'http://[fe80::1]/', 'http://[fd00::1]/',
    'http://[64:ff9b::7f00:1]/', 'http://[2002:7f00:1::]/', 'http://[::7f00:1]/', 'http://224.0.0.1/', 'http://255.255.255.255/', 'http://[64:ff9b:1::1]/', 'http://localhost/',
  ]) {
    it(`K1 K3 ${url} is refused by its address`, async () => {
      await assert.rejects(new HttpFetchProvider().fetch({ url: url }, new AbortController().signal), { code: 'WEB_BLOCKED_URL' });
    });
  }

  it('K1 public addresses are public', () => {
    for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '64:ff9b::101:101', '::ffff:8.8.8.8']) assert.equal(isPublicAddress(address), true, address);
    for (const address of ['', 'example.com', '198.18.0.1', '192.0.2.1', '2001:db8::1', 'ff02::1']) assert.equal(isPublicAddress(address), false, address);
  });

  it('K1 a name with one inner address among public ones is refused', async () => {
    const resolve = async () => [{ address: '1.1.1.1', family: 4 }, { address: '10.0.0.1', family: 4 }];
    await assert.rejects(new HttpFetchProvider({ resolve }).fetch({ url: 'http://two.test/' }, new AbortController().signal), { code: 'WEB_BLOCKED_URL', message: /10\.0\.0\.1/ });
  });

  it('K1 a name that answers differently the second time is asked once only', async () => {
    handle = send('hello', 'text/plain');
    let asked = 0;
    const resolve = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
    const { port } = new URL(base);
    const result = await get(`http://rebind.test:${port}/`, { resolve });
    assert.deepEqual([result.body.content, asked], ['hello', 1]);
  });

  it('K1 every hop of a redirect is checked', async () => {
    let asked = 0;
    const resolve = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }];
    handle = (_request, response) => response.writeHead(302, { location: '/next' }).end();
    await assert.rejects(get(`http://hop.test:${new URL(base).port}/`, { resolve }), { code: 'WEB_BLOCKED_URL', message: /169\.254\.169\.254/ });
    assert.deepEqual(requests, ['/']);
  });

  it('B10.32 a redirect to another site is not followed, and is named', async () => {
    handle = (_request, response) => response.writeHead(302, { location: 'http://127.0.0.2:1/x' }).end();
    await assert.rejects(get(`${base}/`), { code: 'WEB_REDIRECT_BLOCKED', message: /http:\/\/127\.0\.0\.2:1\/x/ });
  });

  it('B10.32 redirects within a site are followed, five at most', async () => {
    handle = (request, response) => {
      const step = Number(request.url!.slice(1));
      if (step === 0) send('there', 'text/plain')(request, response);
      else response.writeHead(307, { location: `/${step - 1}` }).end();
    };
    assert.equal((await get(`${base}/5`)).url, `${base}/0`);
    await assert.rejects(get(`${base}/6`), { code: 'WEB_REDIRECT_BLOCKED' });
  });

  it('B10.32 what is no web address, and credentials', async () => {
    for (const url of ['example.com', 'ftp://example.com/', 'file:///etc/passwd', 'javascript:alert(1)', `http://x.test/${'a'.repeat(2048)}`]) {
      await assert.rejects(get(url), { code: 'WEB_INVALID_URL' }, url);
    }
    await assert.rejects(get('http://user:pw@example.com/'), (error: Error & { code: string }) => error.code === 'WEB_BLOCKED_URL' && !error.message.includes('pw'));
  });

  it('B10.31 another status is a result', async () => {
    handle = (_request, response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
    assert.deepEqual(await get(`${base}/`), { url: `${base}/`, statusCode: 404, body: { kind: 'text', content: 'not here' }, truncated: false });
  });

  it('K3 an endless body ends with an error', async () => {
    handle = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const pump = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', pump);
      };
      pump();
    };
    await assert.rejects(get(`${base}/`), { code: 'WEB_FETCH_TOO_LARGE' });
  });

  it('K3 an announced size is enough to refuse', async () => {
    handle = (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '6000000' }).write('x');
    await assert.rejects(get(`${base}/`), { code: 'WEB_FETCH_TOO_LARGE' });
  });

  it('K7 a gzip bomb is stopped while it unpacks', async () => {
    handle = send(zlib.gzipSync(Buffer.alloc(200 * 1024 * 1024)), 'text/plain', { 'content-encoding': 'gzip' });
    await assert.rejects(get(`${base}/`), { code: 'WEB_FETCH_TOO_LARGE' });
  });

  it('K7 packed bodies are unpacked, broken ones are an error', async () => {
    for (const [encoding, pack] of [['gzip', zlib.gzipSync], ['deflate', zlib.deflateSync], ['br', zlib.brotliCompressSync]] as const) {
      handle = send(pack(Buffer.from('packed')), 'text/plain', { 'content-encoding': encoding });
      assert.equal((await get(`${base}/`)).body.content, 'packed');
    }
    handle = send('not gzip at all', 'text/plain', { 'content-encoding': 'gzip' });
    await assert.rejects(get(`${base}/`), { code: 'WEB_PROVIDER_ERROR' });
  });

  it('K7 a connection that breaks off is an error', async () => {
    handle = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    await assert.rejects(get(`${base}/`), { code: 'WEB_PROVIDER_ERROR' });
  });

  it('K7 PDF and other binary data are refused, whatever they call themselves', async () => {
    for (const [body, type] of [['%PDF-1.7', 'application/pdf'], ['%PDF-1.7', 'text/plain'], [Buffer.from([0x89, 0x50, 0, 1]), undefined], ['x', 'image/png'], [Buffer.from('a\0b'), 'text/html']] as const) {
      handle = send(body as Buffer, type);
      await assert.rejects(get(`${base}/`), { code: 'WEB_UNSUPPORTED_CONTENT_TYPE' }, String(type));
    }
  });

  it('K7 without a content type the bytes decide', async () => {
    handle = send('<!DOCTYPE html><p>x');
    assert.equal((await get(`${base}/`)).body.kind, 'html');
    handle = send('plain words');
    assert.deepEqual((await get(`${base}/`)).body, { kind: 'text', content: 'plain words' });
  });

  it('K7 charsets: header, page, byte order mark, none', async () => {
    const cases: [Buffer, string, string][] = [
      [iconv.encode('你好', 'gbk'), 'text/plain; charset=gb2312', '你好'],
      [Buffer.concat([Buffer.from('<meta charset="gbk">'), iconv.encode('你好', 'gbk')]), 'text/html', '<meta charset="gbk">你好'],
      [iconv.encode('日本', 'shift_jis'), 'text/plain; charset="Shift_JIS"', '日本'],
      [Buffer.from('\ufeffé', 'utf16le'), 'text/plain; charset=utf-8', 'é'],
      [Buffer.from('naïve', 'latin1'), 'text/plain', 'naïve'],
      [Buffer.from('€ é'), 'text/plain; charset=x-unknown', '€ é'],
      [Buffer.from([0x80]), 'text/plain; charset=iso-8859-1', '€'],
    ];
    for (const [bytes, type, expected] of cases) {
      handle = send(bytes, type);
      assert.equal((await get(`${base}/`)).body.content, expected, type);
    }
  });

  it('B10.32 a long body is cut, code of a page before its text', async () => {
    handle = send('é'.repeat(150_000), 'text/plain');
    const long = await get(`${base}/`);
    assert.deepEqual([long.body.content.length, long.truncated], [100_000, true]);
    handle = send(`<html><script>${'var x;'.repeat(30_000)}</script><style>${'a{}'.repeat(9_000)}</style><p>The text</p></html>`, 'text/html');
    const page = await get(`${base}/`);
    assert.equal(page.truncated, false);
    assert.equal(page.body.content, '<html><p>The text</p></html>');
  });

  it('B10.32 time and stop have their own codes', async () => {
    handle = () => undefined;
    await assert.rejects(get(`${base}/`, { timeoutMs: 30 }), { code: 'WEB_FETCH_TIMEOUT' });
    const stop = new AbortController();
    const pending = get(`${base}/`, {}, stop.signal);
    setTimeout(() => stop.abort(), 20);
    await assert.rejects(pending, { code: 'WEB_ABORTED' });
    await assert.rejects(get('http://slow.test/', { resolve: () => new Promise(() => undefined), timeoutMs: 30 }), { code: 'WEB_FETCH_TIMEOUT' });
  });

  describe('markdown', () => {
    it('B10.31 tables, code, links made absolute, no script', () => {
      const text = htmlToMarkdown(`<html><head><title>T</title></head><body><script>evil()</script><noscript>no</noscript><h1>Head</h1>
        <p>See <a href="/x?y=1">this</a>.</p><pre><code class="language-js">let a = 1;\nlet b;</code></pre>
        <table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></body></html>`, 'https://e.test/a/b')!;
      assert.match(text, /^# T\n\n# Head/);
      assert.ok(text.includes('[this](https://e.test/x?y=1)'));
      assert.ok(text.includes('```js\nlet a = 1;\nlet b;\n```'), text);
      assert.match(text, /\| A +\| B +\|\n\| -+ \| -+ \|\n\| 1 +\| 2 +\|/);
      assert.ok(!/evil|no\b/.test(text.replace('noscript', '')), text);
    });

    it('B10.31 a fragment is read whole', () => {
      assert.equal(htmlToMarkdown('<p>one</p><p>two</p>', 'https://e.test/'), 'one\n\ntwo');
    });

    it('B10.31 too deep a page stays HTML', () => {
      assert.equal(htmlToMarkdown(`${'<div>'.repeat(600)}x`, 'https://e.test/'), undefined);
      assert.equal(htmlToMarkdown(`${'<div>'.repeat(100)}x${'</div>'.repeat(100)}`, 'https://e.test/'), 'x');
    });

    it('B10.31 a table of ten thousand rows is no costly page', () => {
      const text = htmlToMarkdown(`<table>${'<tr><td>a</td><td>b</td></tr>'.repeat(10_000)}</table>`, 'https://e.test/')!;
      assert.equal(text.split('\n').length, 10_002);
    }).timeout(15_000);

    it('B10.32 O15.8 a page that isn\'t wanted any more ends at once, waiting or running, and the next one is converted', async () => {
      const worker = new MarkdownWorker(3_600_000);
      try {
        const endless = `<ol>${'<li>x</li>'.repeat(120_000)}</ol>`;
        const [one, two, three] = [new AbortController(), new AbortController(), new AbortController()];
        const over: string[] = [];
        const convert = (name: string, html: string, { signal }: AbortController) => worker.convert(html, 'https://e.test/', signal).then((markdown) => {
          over.push(name);
          return markdown;
        });
        const running = convert('running', endless, one);
        const waiting = convert('waiting', endless, two);
        const next = convert('next', '<p>read me</p>', three);
        two.abort();
        assert.equal(await waiting, undefined);
        one.abort();
        assert.equal(await running, undefined);
        assert.equal(await next, 'read me');
        assert.equal(await convert('late', '<p>x</p>', one), undefined);
        assert.deepEqual(over, ['waiting', 'running', 'next', 'late']);
      } finally {
        await worker.close();
      }
    });

    it('B10.31 pages made to cost are over soon', () => {
      for (const html of ['<'.repeat(100_000), `<${'a'.repeat(100_000)}`, '<a '.repeat(30_000), '<b>'.repeat(33_000), '&'.repeat(100_000), '<p>'.repeat(30_000), '<table>'.repeat(400), '*_`['.repeat(25_000)]) {
        htmlToMarkdown(html, 'https://e.test/');
      }
    }).timeout(15_000);
  });
});
