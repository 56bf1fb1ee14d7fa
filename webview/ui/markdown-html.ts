import MarkdownIt from 'markdown-it';
import DOMPurify from 'dompurify';
import { parseLocation } from './path.ts';

/** Raw HTML stays text, and a picture becomes a link: a reply loads nothing (K5). */
const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
const escape = parser.utils.escapeHtml;

parser.renderer.rules['image'] = (tokens, at) => {
  const token = tokens[at];
  const url = String(token?.attrGet('src') ?? '');
  return `<a href="${escape(url)}" class="image-link">${escape(token?.content || url)}</a>`;
};
parser.renderer.rules['code_inline'] = (tokens, at) => {
  const text = tokens[at]?.content ?? '';
  const place = parseLocation(text);
  const code = `<code>${escape(text)}</code>`;
  return place === undefined ? code : `<a href="#" class="code-link" data-path="${escape(place.path)}" data-line="${place.line ?? ''}" title="${escape(text)}">${code}</a>`;
};
parser.renderer.rules['table_open'] = () => '<div class="table-box" tabindex="0"><table>';
parser.renderer.rules['table_close'] = () => '</table></div>';
const linkOpen = parser.renderer.rules['link_open'] ?? ((tokens, at, options, _env, self) => self.renderToken(tokens, at, options));
parser.renderer.rules['link_open'] = (tokens, at, options, env, self) => {
  const token = tokens[at];
  if (token?.attrGet('title') === null) token.attrSet('title', String(token.attrGet('href') ?? ''));
  return linkOpen(tokens, at, options, env, self);
};

const POLICY = {
  ALLOWED_TAGS: ['a', 'p', 'br', 'hr', 'strong', 'em', 's', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'div'],
  ALLOWED_ATTR: ['href', 'title', 'class', 'start', 'tabindex', 'data-path', 'data-line'],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** Link definitions that are known to all blocks of one text. */
export type MarkdownEnv = NonNullable<Parameters<InstanceType<typeof MarkdownIt>['render']>[1]>;

/** The HTML of one Markdown block, not yet sanitized: only {@link renderBlock} and tests want it. */
export function blockHtml(text: string, env: MarkdownEnv): string {
  return parser.render(text, env);
}

/** One Markdown block as DOM, safe to put into the page. */
export function renderBlock(text: string, env: MarkdownEnv): DocumentFragment {
  return DOMPurify.sanitize(blockHtml(text, env), POLICY);
}

/** Collects the link definitions of a whole text, wherever they stand. */
export function readReferences(text: string, env: MarkdownEnv): void {
  if (/^ {0,3}\[[^\]\n]+\]:/m.test(text)) parser.parse(text, env);
}
