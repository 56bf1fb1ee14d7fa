import { defineTool } from '../../contract/define-tool.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import type { WebFetchResult, WebService } from '../../seams/web.ts';
import { cutText } from './body.ts';
import { WebError } from './error.ts';

/** Characters of a rendered page at most (B10.31). */
const MAX_CHARS = 200_000;
const FOOTER = '\n\n(The page goes on; only its beginning is shown.)';

/** Resolves to undefined for a page that cannot be converted; its HTML is shown then. Ends at once when `signal` says so. */
export type HtmlConverter = (html: string, url: string, signal: AbortSignal) => Promise<string | undefined>;

interface FetchValue { url: string; statusCode: number; body: { kind: 'html' | 'text'; content: string }; truncated: boolean }

/** Pages whose Markdown is kept until they have been rendered. */
const KEPT_PAGES = 8;

/**
 * Turns values into text. Rendering may not wait, converting a page does: it happens while the call runs, and what comes
 * out is found again by the page's own text (B10.31).
 */
class FetchRenderer {
  private readonly pages = new Map<string, string | undefined>();
  private readonly done = new WeakMap<object, { text: string; truncated: boolean }>();

  keep(html: string, markdown: string | undefined): void {
    this.pages.delete(html);
    this.pages.set(html, markdown);
    if (this.pages.size > KEPT_PAGES) this.pages.delete(this.pages.keys().next().value!);
  }

  render(value: FetchValue): { text: string; truncated: boolean } {
    const known = this.done.get(value);
    if (known !== undefined) return known;
    const { url, statusCode, body } = value;
    const readable = (body.kind === 'html' ? this.pages.get(body.content) : undefined) ?? body.content;
    const whole = `Fetched ${url} (HTTP ${statusCode})\n\n${readable}`;
    const tooLong = whole.length > MAX_CHARS || (value.truncated && whole.length + FOOTER.length > MAX_CHARS);
    const truncated = value.truncated || tooLong;
    const rendered = { text: truncated ? `${cutText(whole, MAX_CHARS - FOOTER.length)}${FOOTER}` : whole, truncated };
    this.done.set(value, rendered);
    return rendered;
  }
}

/**
 * B10.31.
 * @param convert page to Markdown, away from this thread
 */
export function webFetchTool(web: WebService, timeoutMs: number, convert: HtmlConverter): ToolDefinition {
  const renderer = new FetchRenderer();
  return defineTool({
    name: 'web_fetch',
    description: 'Fetch a web page or text file by its http(s) address and read it as Markdown. Addresses of this machine and of private networks are refused, and so are redirects to other sites: fetch their target yourself.',
    parameters: { url: { type: 'string', description: 'The whole address, with https://.', required: true } },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          url: { type: 'string', required: true },
          statusCode: { type: 'integer', required: true },
          body: {
            type: 'object', additionalProperties: false, required: true,
            properties: { kind: { type: 'string', enum: ['html', 'text'], required: true }, content: { type: 'string', required: true } },
          },
          truncated: { type: 'boolean', required: true },
        },
      },
      render: (_args, value) => [{ type: 'text', text: renderer.render(value).text }],
      presentationMeta: (_args, value) => ({ url: value.url, statusCode: value.statusCode, truncated: renderer.render(value).truncated }),
    },
    timeoutMs,
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      const fetched: WebFetchResult = await web.fetch({ url: args.url }, exec.signal);
      if (fetched.body.kind === 'html') {
        const markdown = await convert(fetched.body.content, fetched.url, exec.signal);
        if (exec.signal.aborted) throw new WebError(`fetching "${fetched.url}" was stopped`, 'WEB_ABORTED');
        renderer.keep(fetched.body.content, markdown);
      }
      return { url: fetched.url, statusCode: fetched.statusCode, body: { ...fetched.body }, truncated: fetched.truncated };
    },
    presentCall: (args) => ({ card: 'generic', kind: 'fetch', title: `Fetch ${args.url}`, rawInput: args.url }),
    presentResult(_args, { isError, meta }) {
      if (isError || typeof meta !== 'object' || meta === null || Array.isArray(meta)) return undefined;
      const { url, statusCode, truncated } = meta;
      if (typeof url !== 'string' || typeof statusCode !== 'number' || typeof truncated !== 'boolean') return undefined;
      return { card: 'web', kind: 'fetch', url, statusCode, truncated };
    },
  });
}
