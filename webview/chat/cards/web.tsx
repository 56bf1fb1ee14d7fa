import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { CardView, ToolItem } from '../../../src/protocol.ts';
import { IconButton, TextButton } from '../../ui/button.tsx';
import { formatDate, formatNumber } from '../../ui/l10n.ts';
import { hostOf } from '../../ui/url.ts';
import { Card } from '../card.tsx';
import { useActions } from '../context.ts';

const SOURCES = 4;

/** Pages that were found, or one that was fetched. Nothing is loaded; a link opens after a click. */
export function WebCard({ item, view, foot }: { item: ToolItem; view: Extract<CardView, { card: 'web' }>; foot: ComponentChildren }) {
  const { post } = useActions();
  const openAll = (): void => post({ type: 'openResults', callId: item.id });
  const link = (url: string, text: string) => (
    <a href={url} class="web-link" title={url}
      onClick={(event) => {
        event.preventDefault();
        post({ type: 'openLink', url });
      }}>{text}</a>
  );
  const actions = <IconButton icon="list-tree" label={l10n.t('Open Results')} onClick={openAll} />;
  if (view.kind === 'fetch') {
    const bad = view.statusCode >= 400;
    return (
      <Card id={item.id} icon="globe" title={view.title || view.url} status={item.status} actions={actions} open subdued={bad}
        badges={bad && <span class="badge badge-error" title={l10n.t('HTTP status {0}', view.statusCode)}>{view.statusCode}</span>}>
        <div class="web-url">{link(view.url, view.url)}</div>
        {view.truncated && <p class="card-note">{l10n.t('The page was cut because it is long.')}</p>}
        {foot}
      </Card>
    );
  }
  return (
    <Card id={item.id} icon="globe" title={view.title || item.name} status={item.status} actions={actions} open={item.status !== 'failed'}
      badges={<span class="badge">{formatNumber(view.sources.length)}{view.truncated ? '+' : ''}</span>}>
      {view.answer !== undefined && view.answer !== '' && <p class="web-answer">{view.answer}</p>}
      {view.sources.length === 0 && <p class="card-note">{l10n.t('Nothing was found.')}</p>}
      {view.sources.length > 0 && <ol class="web-sources">
        {view.sources.slice(0, SOURCES).map((source) => (
          <li key={source.url}>
            {link(source.url, source.title || source.url)}
            <span class="web-host">{hostOf(source.url)}{source.publishedAt ? ` · ${formatDate(source.publishedAt)}` : ''}</span>
          </li>
        ))}
      </ol>}
      {view.sources.length > SOURCES && <TextButton class="show-all" onClick={openAll}>{l10n.t('Show all {0}', formatNumber(view.sources.length))}</TextButton>}
      {foot}
    </Card>
  );
}
