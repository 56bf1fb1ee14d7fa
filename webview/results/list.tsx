import { useMemo, useRef, useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { ResultsPage, ResultsToHost } from '../../src/protocol.ts';
import { IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { matchCount, pathCount } from '../ui/counts.ts';
import { Icon } from '../ui/icon.tsx';
import { isComposing, isEnter } from '../ui/keys.ts';
import { formatNumber } from '../ui/l10n.ts';
import { MiddleText } from '../ui/middle-text.tsx';
import { baseName, dirName } from '../ui/path.ts';
import { VirtualList } from '../ui/virtual-list.tsx';
import { HitFinder } from './hits.ts';
import { countRows, matchRows, pathRows, rowsText, treeMove } from './rows.ts';
import type { ResultRow } from './rows.ts';

type ListPage = Extract<ResultsPage, { kind: 'matches' | 'paths' }>;
const ROW = 22;
/** Files that are opened at once without further thought. */
const OPEN_ALL = 20;

/** Matches by file, or paths: filtered, folded and walked by keyboard like VS Code's own search. */
export function ResultList({ page, post }: { page: ListPage; post: (message: ResultsToHost) => void }) {
  const [filter, setFilter] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(0);
  // nothing is selected until the user selects something
  const [picked, setPicked] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const finder = useMemo(() => new HitFinder(page.kind === 'matches' ? page.pattern : undefined), [page]);
  const rows = useMemo(() => (page.kind === 'matches' ? matchRows(page.files, closed, filter) : pathRows(page.paths, filter)), [page, closed, filter]);
  const at = Math.min(active, Math.max(0, rows.length - 1));
  const listed = useMemo(() => (page.kind === 'matches' ? page.files.reduce((sum, file) => sum + file.matches.length, 0) : page.paths.length), [page]);

  const toggle = (path: string): void => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  const open = (row: ResultRow, preview: boolean): void => {
    if (row.kind !== 'line') post({ type: 'open', path: row.path, preview });
    else post({ type: 'open', path: row.path, line: row.match.lineNumber, preview, ...finder.first(row.match.line) });
  };
  const onKeyDown = (event: KeyboardEvent, size: number): void => {
    const row = rows[at];
    if (row === undefined || isComposing(event)) return;
    setPicked(true);
    const move = treeMove(rows, at, event.key, size);
    if (move !== undefined) {
      if ('to' in move) setActive(move.to);
      else toggle(move.toggle);
    } else if (isEnter(event)) open(row, false);
    else if (event.key === ' ') {
      if (row.kind === 'file') toggle(row.path);
      else open(row, true);
    } else if (event.key === 'c' && (event.ctrlKey || event.metaKey)) {
      if (!document.getSelection()?.isCollapsed) return;
      post({ type: 'copy', text: rowsText(row.kind === 'file' ? [{ ...row, open: false }] : [row]) });
    } else return;
    event.preventDefault();
  };
  const anyOpen = page.kind === 'matches' && page.files.some((file) => !closed.has(file.path));
  const paths = [...new Set(rows.map((row) => row.path))];
  return (
    <main class="results">
      <div class="results-bar">
        <h1 class="results-title" title={page.title}><Icon name="search" /><span>{page.title}</span></h1>
        <span class="results-actions">
          {page.kind === 'matches' && (
            <IconButton icon={anyOpen ? 'collapse-all' : 'expand-all'} label={anyOpen ? l10n.t('Collapse All') : l10n.t('Expand All')}
              onClick={() => setClosed(anyOpen ? new Set(page.files.map((file) => file.path)) : new Set())} />
          )}
          <IconButton icon="files" label={paths.length > OPEN_ALL ? l10n.t('Open the First {0} Files', OPEN_ALL) : l10n.t('Open All Files')} disabled={paths.length === 0}
            onClick={() => post({ type: 'openAll', paths: paths.slice(0, OPEN_ALL) })} />
          <CopyButton label={l10n.t('Copy All')} copy={(text) => post({ type: 'copy', text })}
            text={() => rowsText(page.kind === 'matches' ? matchRows(page.files, new Set(), filter) : rows)} />
          {page.raw !== undefined && <IconButton icon="output" label={l10n.t('Open the Full Output')} onClick={() => post({ type: 'openRaw', callId: page.callId })} />}
        </span>
        <input class="text-input results-filter" type="search" value={filter} aria-label={l10n.t('Filter results')} placeholder={l10n.t('Filter')}
          onInput={(event) => {
            setFilter(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown' || isComposing(event)) return;
            event.preventDefault();
            box.current?.focus();
          }} />
      </div>
      <p class="results-count" role="status">{countText(page, listed, filter.trim() === '' ? undefined : countRows(rows))}</p>
      {rows.length === 0 ? <p class="results-none">{filter.trim() === '' ? l10n.t('Nothing was found.') : l10n.t('Nothing matches the filter.')}</p> : (
        <VirtualList box={box} count={rows.length} height={ROW} active={at} role={page.kind === 'matches' ? 'tree' : 'listbox'} label={page.title} activeId={`row-${at}`} onKeyDown={onKeyDown}
          draw={(place) => {
            const row = rows[place];
            return row === undefined ? null : (
              <Row key={place} row={row} id={`row-${place}`} active={place === at} picked={picked} finder={finder} open={() => open(row, false)}
                click={(preview) => {
                  setActive(place);
                  setPicked(true);
                  if (row.kind === 'file' && preview) toggle(row.path);
                  else open(row, preview);
                }} />
            );
          }} />
      )}
    </main>
  );
}

function Row({ row, id, active, picked, finder, click, open }: {
  row: ResultRow; id: string; active: boolean; picked: boolean; finder: HitFinder; click: (preview: boolean) => void; open: () => void;
}) {
  const common = { id, class: `result-row${active ? (picked ? ' active picked' : ' active') : ''}`, onClick: () => click(true), onDblClick: () => click(false) };
  if (row.kind === 'line') {
    const indent = row.match.line.length - row.match.line.trimStart().length;
    return (
      <div {...common} role="treeitem" aria-level={2} aria-selected={active} aria-setsize={row.of} aria-posinset={row.place} title={`${row.path}:${row.match.lineNumber}`}>
        <span class="result-line line-number">{row.match.lineNumber}</span>
        <span class="result-text">{finder.parts(row.match.line.slice(indent, indent + 1000)).map((part, at) => (part.hit ? <mark key={at}>{part.text}</mark> : part.text))}</span>
      </div>
    );
  }
  const folder = dirName(row.path);
  const name = <><span class="result-name">{baseName(row.path)}</span>{folder !== '' && <span class="result-folder"><MiddleText text={folder} /></span>}</>;
  if (row.kind === 'path') return <div {...common} role="option" aria-selected={active} title={row.path}><Icon name="file" />{name}</div>;
  return (
    <div {...common} role="treeitem" aria-level={1} aria-selected={active} aria-expanded={row.open} title={row.path}>
      <Icon name={row.open ? 'chevron-down' : 'chevron-right'} /><Icon name="file" />{name}
      <button type="button" class="icon-button result-open" tabIndex={-1} title={l10n.t('Open File')} aria-label={l10n.t('Open File')}
        onClick={(event) => {
          event.stopPropagation();
          open();
        }}
        onDblClick={(event) => event.stopPropagation()}><Icon name="go-to-file" /></button>
      <span class="badge">{formatNumber(row.count)}</span>
    </div>
  );
}

/** `250 of 10,000 results in 3 files`, and what the filter leaves. */
function countText(page: ListPage, listed: number, filtered: number | undefined): string {
  const text = page.kind === 'matches' ? matchCount(listed, page.total, page.files.length, page.truncated) : pathCount(listed, page.total, page.truncated);
  return filtered === undefined ? text : l10n.t('{0} match the filter · {1}', formatNumber(filtered), text);
}
