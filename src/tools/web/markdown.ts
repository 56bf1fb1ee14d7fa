import { Readability, isProbablyReaderable } from '@mozilla/readability';
import { gfm } from '@joplin/turndown-plugin-gfm';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';

/** Levels of nesting that are converted at most (B10.31). */
const MAX_DEPTH = 512;

/** Depth of nesting as the tags say, without building anything: hostile pages are recognised before they cost. */
function tagDepth(html: string): number {
  const empty = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr', 'p', 'li', 'td', 'tr', 'th', 'option', 'dt', 'dd']);
  let depth = 0;
  let deepest = 0;
  for (const [tag, close, name] of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)(?![a-z0-9-])[^<>]*>/gi)) {
    if (empty.has(name!.toLowerCase()) || tag!.endsWith('/>')) continue;
    depth = close === '' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

function absoluteLinks(document: Document, base: string): void {
  for (const [selector, attribute] of [['a[href]', 'href'], ['img[src]', 'src']] as const) {
    for (const element of Array.from(document.querySelectorAll(selector) as ArrayLike<Element>)) {
      const value = element.getAttribute(attribute) ?? '';
      if (/^data:/i.test(value)) {
        element.removeAttribute(attribute);
        continue;
      }
      try {
        element.setAttribute(attribute, new URL(value, base).href);
      } catch {
        // left as it is written
      }
    }
  }
}

function readableNode(document: Document): { node: Element; title?: string } {
  const body = document.querySelector('body') ?? document.documentElement;
  try {
    if (isProbablyReaderable(document)) {
      const article = new Readability(document.cloneNode(true) as Document, { keepClasses: true }).parse();
      const enough = (body.textContent ?? '').replace(/\s+/g, ' ').length * 0.4;
      if (article?.content != null && (article.textContent ?? '').replace(/\s+/g, ' ').length >= enough) {
        const { document: inner } = parseHTML(`<!doctype html><html><body>${article.content}</body></html>`);
        return { node: inner.querySelector('body')!, ...(article.title ? { title: article.title } : {}) };
      }
    }
  } catch {
    // the whole page then
  }
  return { node: body };
}

/**
 * Looked at before what is in a table: the rules for tables ask for its rows at each row and cell, and the converter's
 * parser searches the table for them each time. An ordinary table of a few thousand rows took minutes.
 */
function listRowsOnce(node: HTMLElement): boolean {
  if (node.nodeName === 'TABLE') Object.defineProperty(node, 'rows', { value: Array.from((node as HTMLTableElement).rows) });
  return false;
}

/**
 * A page as Markdown with GFM tables: the article where there clearly is one, else all of it.
 * @returns undefined when it is nested too deeply or cannot be converted; the page itself is shown then (B10.31)
 */
export function htmlToMarkdown(html: string, url: string): string | undefined {
  if (tagDepth(html) > MAX_DEPTH) return undefined;
  try {
    // a bare fragment is put into a page, or its first element would become one
    const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`);
    for (const element of Array.from(document.querySelectorAll('script,style,noscript,template,svg,iframe,object,embed') as ArrayLike<Element>)) element.remove();
    absoluteLinks(document as unknown as Document, url);
    const { node, title } = readableNode(document as unknown as Document);
    const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' });
    turndown.use(gfm);
    turndown.remove(['script', 'style', 'noscript']);
    turndown.addRule('rows once', { filter: listRowsOnce, replacement: () => '' });
    // as text: the converter's own parser knows tables, linkedom's has no rows
    const text = turndown.turndown(node.innerHTML).trim();
    const heading = title ?? document.querySelector('title')?.textContent?.trim();
    return heading === undefined || heading === '' || text.includes(heading) ? text : `# ${heading}\n\n${text}`;
  } catch {
    return undefined;
  }
}
