import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebFetchResult, WebSearchProvider, WebSearchResult } from '../../src/seams/web.ts';
import { HttpFetchProvider } from '../../src/tools/web/http-fetch.ts';
import * as web from '../../src/tools/web/plugin.ts';
import { brave, exa, perplexity, searxng, tavily } from '../../src/tools/web/search-providers.ts';
import { WebRuntime } from '../../src/tools/web/service.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { ToolRoom } from '../harness/tool-room.ts';

describe('web.tools', () => {
  let room: ToolRoom;
  afterEach(() => room.dispose());
  async function open(config = {}): Promise<void> {
    room = await toolRoom();
    await room.ctx.plugin(WebRuntime, config);
    await room.ctx.plugin(web, {});
  }
  const provide = (search: WebSearchProvider['search'], id = 'one', available = true) => room.ctx.get('web')!.registerSearchProvider({ id, available: () => available, search });
  const code = async (result: ReturnType<ToolRoom['call']>) => {
    const settled = await result;
    return settled.isError ? settled.error.info?.code : undefined;
  };
  const ask = (...queries: string[]) => room.call('web_search', { queries });

  it('B10.32 which provider is asked', async () => {
    let choice: string | undefined;
    await open({ searchProvider: () => choice, searchSetup: 'open the settings' });
    const none = await ask('x');
    assert.ok(none.isError);
    assert.deepEqual([none.error.info?.code, none.error.message], ['WEB_PROVIDER_UNAVAILABLE', 'no web search provider is set up: open the settings']);
    provide(async () => ({ sources: [], truncated: false, content: 'a' }), 'a');
    assert.match(textOf(await ask('x')), /^a\n/);
    provide(async () => ({ sources: [], truncated: false, content: 'b' }), 'b');
    provide(async () => ({ sources: [], truncated: false }), 'off', false);
    assert.equal(await code(ask('x')), 'WEB_PROVIDER_AMBIGUOUS');
    choice = 'b';
    assert.match(textOf(await ask('x')), /^b\n/);
    choice = 'c';
    assert.equal(await code(ask('x')), 'WEB_PROVIDER_CONFIGURED_MISSING');
    choice = 'off';
    assert.equal(await code(ask('x')), 'WEB_PROVIDER_CONFIGURED_UNAVAILABLE');
    assert.throws(() => provide(async () => ({ sources: [], truncated: false }), 'a'), { code: 'WEB_DUPLICATE_PROVIDER' });
  });

  it('B10.29 one to four queries, none blank', async () => {
    await open();
    const asked: string[] = [];
    provide(async ({ query }) => (asked.push(query), { sources: [], truncated: false }));
    assert.equal(textOf(await ask()), 'Error: queries must contain at least one query');
    assert.equal(textOf(await ask('a', 'b', 'c', 'd', 'e')), 'Error: queries must contain at most 4 queries');
    assert.equal(textOf(await ask('a', ' ')), 'Error: each query must be a non-empty string');
    await ask('a', 'b', 'a');
    assert.deepEqual(asked, ['a', 'b']);
  });

  it('B10.29 results are merged by rank, each address once, eight in all', async () => {
    await open();
    provide(async ({ query }): Promise<WebSearchResult> => ({
      content: `answer ${query}`, truncated: false, sources: [0, 1, 2, 3, 4, 5].map((n) => ({ url: n === 1 ? 'https://same.test/' : `https://${query}.test/${n}` })),
    }));
    const result = await ask('p', 'q');
    assert.ok(!result.isError);
    const { sources, truncated, content } = result.value as { sources: { url: string }[]; truncated: boolean; content: string };
    assert.deepEqual(sources.map(({ url }) => url.slice(8)), ['p.test/0', 'q.test/0', 'same.test/', 'p.test/2', 'q.test/2', 'p.test/3', 'q.test/3', 'p.test/4']);
    assert.equal(truncated, true);
    assert.equal(content, '### p\n\nanswer p\n\n### q\n\nanswer q');
    assert.match(textOf(result), /\n\n\(Showing the first 8 sources\. Refine the query for more\.\)\n\n/);
  });

  it('B10.29 the first failure stops the others', async () => {
    await open();
    let stopped = false;
    provide(({ query }, signal) => query === 'bad' ? Promise.reject(new Error('no')) : new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        stopped = true;
        reject(new Error('stopped'));
      });
    }));
    assert.equal(textOf(await ask('good', 'bad')), 'Error: no');
    assert.equal(stopped, true);
  });

  it('B10.30 text and card of a search', async () => {
    await open();
    const sources = [{ url: 'https://a.test/x', title: 'A [1]', snippet: 'About a', publishedAt: '2026-01-02' }, { url: 'https://b.test/' }];
    provide(async () => ({ sources, truncated: false, content: 'Answer.' }));
    const result = await ask('q', 'r');
    assert.match(textOf(result), /^### q\n\nAnswer\.\n\n### r\n\nAnswer\.\n\nSources:\n- \[A \\\[1\\\]\]\(https:\/\/a\.test\/x\) — About a \(2026-01-02\)\n- \[b\.test\]\(https:\/\/b\.test\/\)\n\n\S/);
    const tool = room.ctx.get('tools')!.get('web_search')!;
    assert.deepEqual(tool.presentResult!({ queries: ['q', 'r'] }, { content: result.content, isError: false, meta: result.meta! }), {
      card: 'web', kind: 'search', title: 'q, r', sources, truncated: false, answer: '### q\n\nAnswer.\n\n### r\n\nAnswer.',
    });
    assert.equal(tool.presentResult!({ queries: ['q'] }, { content: [], isError: false, meta: { sources: [{}], truncated: false } }), undefined);
    assert.equal(tool.isConcurrencySafe!({ queries: ['q'] }), true);
  });

  it('B10.30 nothing found', async () => {
    await open();
    provide(async () => ({ sources: [], truncated: false }));
    assert.equal(textOf(await ask('q')), 'No results found.');
  });

  it('B10.31 text and card of a fetch', async () => {
    await open();
    let page: WebFetchResult = { url: 'https://a.test/', statusCode: 404, body: { kind: 'html', content: '<h1>Gone</h1><p>Sorry</p>' }, truncated: false };
    room.ctx.get('web')!.registerFetchProvider({ id: 'f', available: () => true, fetch: async () => page });
    const result = await room.call('web_fetch', { url: 'https://a.test/' });
    assert.equal(textOf(result), 'Fetched https://a.test/ (HTTP 404)\n\n# Gone\n\nSorry');
    assert.deepEqual(result.meta, { url: 'https://a.test/', statusCode: 404, truncated: false });
    const tool = room.ctx.get('tools')!.get('web_fetch')!;
    assert.deepEqual(tool.presentResult!({ url: 'x' }, { content: [], isError: false, meta: result.meta! }), { card: 'web', kind: 'fetch', url: 'https://a.test/', statusCode: 404, truncated: false });
    assert.deepEqual(tool.presentCall!({ url: 'https://a.test/' }), { card: 'generic', kind: 'fetch', title: 'Fetch https://a.test/', rawInput: 'https://a.test/' });
    page = { ...page, body: { kind: 'text', content: 'x'.repeat(250_000) } };
    const long = await room.call('web_fetch', { url: 'https://a.test/' });
    assert.equal(textOf(long).length, 200_000);
    assert.deepEqual((long.meta as { truncated: boolean }).truncated, true);
  });

  it('B10.32 a fetch that is stopped while its page is converted ends at once', async () => {
    await open();
    const stop = new AbortController();
    const html = `<ol>${'<li>x</li>'.repeat(120_000)}</ol>`;
    room.ctx.get('web')!.registerFetchProvider({
      id: 'f', available: () => true,
      fetch: async ({ url }) => {
        setImmediate(() => stop.abort());
        return { url, statusCode: 200, body: { kind: 'html', content: html }, truncated: false };
      },
    });
    assert.equal(await code(room.call('web_fetch', { url: 'https://a.test/' }, { signal: stop.signal })), 'WEB_ABORTED');
  });

  it('K1 the shipped composition refuses this machine', async () => {
    await open();
    room.ctx.get('web')!.registerFetchProvider(new HttpFetchProvider());
    const refused = await room.call('web_fetch', { url: 'http://127.0.0.1:1/' });
    assert.ok(refused.isError, textOf(refused));
    assert.equal(refused.error.info?.code, 'WEB_BLOCKED_URL', refused.error.message);
  });

  describe('search services', () => {
    let server: http.Server;
    let base: string;
    let answer: unknown;
    let status: number;
    let seen: { url: string; headers: http.IncomingHttpHeaders; body: string };
    beforeEach(async () => {
      await open();
      status = 200;
      server = http.createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request) body += chunk;
        seen = { url: request.url!, headers: request.headers, body };
        response.writeHead(status, { 'content-type': 'application/json' }).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => {
      server.closeAllConnections();
      server.close();
    });
    const key = { available: () => true, read: async () => 's3cret' };
    const signal = new AbortController().signal;

    it('B10.32 SearXNG', async () => {
      answer = { results: [{ url: 'https://a.test/', title: 'A', content: 'About <b>a</b> &amp; b', publishedDate: '2026-01-02' }, { url: 'javascript:alert(1)' }], answers: ['42'] };
      const result = await searxng({ url: () => `${base}/` }).search({ query: 'a b' }, signal);
      assert.equal(seen.url, '/search?q=a+b&format=json');
      assert.deepEqual(result, { content: '42', truncated: false, sources: [{ url: 'https://a.test/', title: 'A', snippet: 'About a & b', publishedAt: '2026-01-02' }] });
      assert.equal(searxng({ url: () => undefined }).available(), false);
      await assert.rejects(searxng({ url: () => 'nonsense' }).search({ query: 'x' }, signal), { code: 'WEB_PROVIDER_ERROR', message: /"nonsense", is not a URL/ });
    });

    it('B10.32 Exa, Perplexity, Tavily and Brave', async () => {
      answer = { results: [{ url: 'https://a.test/', title: 'A', highlights: ['high'], text: 'low', publishedDate: 'd' }] };
      assert.deepEqual((await exa({ key, endpoint: base }).search({ query: 'q' }, signal)).sources, [{ url: 'https://a.test/', title: 'A', snippet: 'high', publishedAt: 'd' }]);
      assert.equal(seen.headers['x-api-key'], 's3cret');
      answer = { results: [{ url: 'https://a.test/', title: 'A', snippet: 's', date: 'd' }] };
      assert.deepEqual((await perplexity({ key, endpoint: base }).search({ query: 'q' }, signal)).sources, [{ url: 'https://a.test/', title: 'A', snippet: 's', publishedAt: 'd' }]);
      assert.equal(seen.headers.authorization, 'Bearer s3cret');
      answer = { answer: 'Yes.', results: [{ url: 'https://a.test/', title: 'A', content: 's' }] };
      assert.deepEqual(await tavily({ key, endpoint: base }).search({ query: 'q' }, signal), { content: 'Yes.', truncated: false, sources: [{ url: 'https://a.test/', title: 'A', snippet: 's' }] });
      assert.deepEqual(JSON.parse(seen.body), { query: 'q', max_results: 8, include_answer: true });
      answer = { web: { results: [{ url: 'https://a.test/', title: 'A', description: 'the <strong>q</strong>', age: '3 days ago' }] } };
      assert.deepEqual((await brave({ key, endpoint: base }).search({ query: 'q' }, signal)).sources, [{ url: 'https://a.test/', title: 'A', snippet: 'the q', publishedAt: '3 days ago' }]);
      assert.deepEqual([seen.url, seen.headers['x-subscription-token']], ['/res/v1/web/search?q=q&count=8', 's3cret']);
    });

    it('B10.32 errors of a service are clear and keep the key to themselves', async () => {
      const failing = async (promise: Promise<unknown>, message: RegExp) => assert.rejects(promise, (error: Error & { code: string }) => error.code === 'WEB_PROVIDER_ERROR' && message.test(error.message) && !error.message.includes('s3cret'));
      status = 401;
      answer = 'bad key';
      await failing(tavily({ key, endpoint: base }).search({ query: 'q' }, signal), /^Tavily answered with HTTP 401 \(check the key.*\): bad key$/);
      status = 200;
      answer = '<html>';
      await failing(brave({ key, endpoint: base }).search({ query: 'q' }, signal), /not JSON/);
      answer = `"${'x'.repeat(3_000_000)}"`;
      await failing(exa({ key, endpoint: base }).search({ query: 'q' }, signal), /larger than/);
      await failing(perplexity({ key, endpoint: 'http://127.0.0.1:1' }).search({ query: 'q' }, signal), /could not be asked/);
      answer = { results: 'none', web: null };
      assert.deepEqual(await exa({ key, endpoint: base }).search({ query: 'q' }, signal), { sources: [], truncated: false });
      assert.deepEqual(await brave({ key, endpoint: base }).search({ query: 'q' }, signal), { sources: [], truncated: false });
      await assert.rejects(exa({ key: { available: () => true, read: async () => undefined }, endpoint: base }).search({ query: 'q' }, signal), { code: 'WEB_PROVIDER_CONFIGURED_UNAVAILABLE' });
    });
  });
});
