import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { CardView, ToolItem } from '../../../src/protocol.ts';
import { IconButton, TextButton } from '../../ui/button.tsx';
import { matchCount, pathCount } from '../../ui/counts.ts';
import { FileLink } from '../../ui/file-link.tsx';
import { formatNumber } from '../../ui/l10n.ts';
import { Card } from '../card.tsx';
import { useActions } from '../context.ts';

/** Rows of the card; the results view has all. */
const FILES = 3;
const LINES = 3;
const PATHS = 6;

/** What a search found: the first few places, how many there are, and the way to all of them. */
export function SearchCard({ item, view, foot }: { item: ToolItem; view: Extract<CardView, { card: 'search' }>; foot: ComponentChildren }) {
  const { post } = useActions();
  const listed = view.shape === 'matches' ? view.files.reduce((sum, file) => sum + file.matches.length, 0) : view.paths.length;
  const openAll = (): void => post({ type: 'openResults', callId: item.id });
  const open = (path: string, line?: number): void => post({ type: 'openLocation', path, ...(line === undefined ? {} : { line }) });
  const shown = view.shape === 'matches' ? view.files.slice(0, FILES).reduce((sum, file) => sum + Math.min(LINES, file.matches.length), 0) : Math.min(PATHS, listed);
  return (
    <Card id={item.id} icon="search" title={view.title || item.name} status={item.status} open={item.status !== 'failed'}
      badges={<span class="badge" title={countText(view, listed)}>{view.truncated || view.total > listed ? l10n.t('{0} of {1}', formatNumber(listed), formatNumber(view.total)) : formatNumber(view.total)}</span>}
      actions={<IconButton icon="list-tree" label={l10n.t('Open Results')} onClick={openAll} />}>
      {view.total === 0 && listed === 0 ? <p class="card-note">{l10n.t('Nothing was found.')}</p> : (
        <>
          {view.shape === 'matches' && view.files.slice(0, FILES).map((file) => (
            <div key={file.path} class="search-file">
              <div class="search-path"><FileLink path={file.path} open={open} /><span class="badge">{formatNumber(file.matches.length)}</span></div>
              {file.matches.slice(0, LINES).map((match) => (
                <a key={match.lineNumber} href="#" class="search-line" title={`${file.path}:${match.lineNumber}`}
                  onClick={(event) => {
                    event.preventDefault();
                    open(file.path, match.lineNumber);
                  }}>
                  <span class="line-number">{match.lineNumber}</span><span class="search-text">{match.line.trim().slice(0, 300)}</span>
                </a>
              ))}
            </div>
          ))}
          {view.shape === 'paths' && <div class="search-paths">{view.paths.slice(0, PATHS).map((path) => <div key={path} class="search-path"><FileLink path={path} open={open} /></div>)}</div>}
          {(shown < listed || view.total > listed) && <TextButton class="show-all" onClick={openAll}>{countText(view, listed)} · {l10n.t('Open Results')}</TextButton>}
        </>
      )}
      {foot}
    </Card>
  );
}

function countText(view: Extract<CardView, { card: 'search' }>, listed: number): string {
  return view.shape === 'paths' ? pathCount(listed, view.total, view.truncated) : matchCount(listed, view.total, view.files.length, view.truncated);
}
