import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { CardView, ToolItem } from '../../../src/protocol.ts';
import { CodeLine } from '../../ui/code.tsx';
import { highlight, languageOf } from '../../ui/highlight/lazy.ts';
import { formatNumber } from '../../ui/l10n.ts';
import { Capped } from '../../ui/long-text.tsx';
import { splitAtPath } from '../../ui/path.ts';
import { Card } from '../card.tsx';
import { useActions } from '../context.ts';

/** Lines of a file as they were read; a click opens the file there. */
export function ReadCard({ item, view, foot }: { item: ToolItem; view: Extract<CardView, { card: 'read' }>; foot: ComponentChildren }) {
  const { post } = useActions();
  const last = view.lines.at(-1)?.number ?? view.offset;
  // the range stands at the end of the row, with what it is of
  const named = splitAtPath(view.title, view.path);
  const title = named === undefined ? view.title || view.path : `${named.before} ${named.text}`;
  const open = (line: number): void => post({ type: 'openLocation', path: view.path, line });
  return (
    <Card id={item.id} icon="file" title={title} status={item.status} open={item.status === 'failed'}
      badges={view.lines.length > 0 && <span class="card-meta">{l10n.t('{0}–{1} of {2}', formatNumber(view.offset), formatNumber(last), formatNumber(view.totalLines))}</span>}
      place={{ path: view.path, line: view.offset, open: (_path, line) => open(line ?? 1) }}>
      <Lines view={view} open={open} />
      {foot}
    </Card>
  );
}

function Lines({ view, open }: { view: Extract<CardView, { card: 'read' }>; open: (line: number) => void }) {
  const tokens = highlight(view.lines.map((line) => line.text).join('\n'), view.lang ?? languageOf(view.path));
  if (view.lines.length === 0) return <p class="card-note">{l10n.t('The file is empty.')}</p>;
  return (
    <div class="read-lines">
      <Capped items={view.lines} limit={16} draw={(line, at) => (
        <a key={line.number} href="#" class="read-line" title={`${view.path}:${line.number}`} tabIndex={at === 0 ? 0 : -1}
          onClick={(event) => {
            event.preventDefault();
            open(line.number);
          }}>
          <span class="line-number">{line.number}</span><span class="read-text"><CodeLine tokens={tokens?.[at]} text={line.text} /></span>
        </a>
      )} />
    </div>
  );
}
