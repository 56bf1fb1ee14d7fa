import * as l10n from '@vscode/l10n';
import type { ResultsPage, ResultsToHost } from '../../src/protocol.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';
import { formatDate, formatNumber } from '../ui/l10n.ts';
import { Markdown } from '../ui/markdown.tsx';
import type { MarkdownActions } from '../ui/markdown.tsx';
import { hostOf } from '../ui/url.ts';

type Post = (message: ResultsToHost) => void;

function Link({ url, text, post }: { url: string; text: string; post: Post }) {
  return (
    <a href={url} title={url}
      onClick={(event) => {
        event.preventDefault();
        post({ type: 'openLink', url });
      }}>{text}</a>
  );
}

/** What a web search found, numbered. Nothing is loaded from the pages; the whole address is to be seen before a click. */
export function WebSearch({ page, post, actions }: { page: Extract<ResultsPage, { kind: 'web-search' }>; post: Post; actions: MarkdownActions }) {
  return (
    <main class="results results-page">
      <div class="results-bar"><h1 class="results-title" title={page.title}><Icon name="globe" /><span>{page.title}</span></h1></div>
      <p class="results-count">{page.sources.length === 1 ? l10n.t('1 source') : page.truncated ? l10n.t('The first {0} sources', formatNumber(page.sources.length)) : l10n.t('{0} sources', formatNumber(page.sources.length))}</p>
      {page.answer !== undefined && page.answer !== '' && <section class="web-summary" aria-label={l10n.t('Answer')}><Markdown text={page.answer} growing={false} actions={actions} /></section>}
      {page.sources.length === 0 && <p class="results-none">{l10n.t('Nothing was found.')}</p>}
      {page.sources.length > 0 && <ol class="sources">
        {page.sources.map((source) => (
          <li key={source.url} class="source">
            <div class="source-title"><Link url={source.url} text={source.title || hostOf(source.url)} post={post} /></div>
            <div class="source-place"><span class="source-host">{hostOf(source.url)}</span>{source.publishedAt ? ` · ${formatDate(source.publishedAt)}` : ''}</div>
            {source.snippet && <p class="source-snippet">{source.snippet}</p>}
            <div class="source-url">{source.url}</div>
          </li>
        ))}
      </ol>}
    </main>
  );
}

/** A page that was fetched, as the model read it. */
export function WebFetch({ page, post, actions }: { page: Extract<ResultsPage, { kind: 'web-fetch' }>; post: Post; actions: MarkdownActions }) {
  return (
    <main class="results results-page">
      <div class="results-bar">
        <h1 class="results-title" title={page.title}><Icon name="globe" /><span>{page.title}</span></h1>
        <span class="results-actions">
          <span class={page.statusCode >= 400 ? 'badge badge-error' : 'badge'} title={l10n.t('HTTP status {0}', page.statusCode)}>{page.statusCode}</span>
          {page.text !== '' && <CopyButton text={() => page.text} copy={actions.copy} label={l10n.t('Copy Text')} />}
        </span>
      </div>
      <p class="source-url"><Link url={page.url} text={page.url} post={post} /></p>
      {page.truncated && <p class="results-note"><Icon name="info" /> {l10n.t('The page was cut because it is long.')}</p>}
      {page.text.trim() === '' ? <p class="results-none">{l10n.t('The page has no text.')}</p> : <article class="web-text"><Markdown text={page.text} growing={false} actions={actions} /></article>}
    </main>
  );
}
