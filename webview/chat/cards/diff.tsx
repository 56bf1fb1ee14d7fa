import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { CardView, DiffCardFile, DiffCardHunk, DiffRow, ReviewProblem, ToolItem } from '../../../src/protocol.ts';
import { assertNever } from '../../../src/contract/never.ts';
import { Button, IconButton, TextButton } from '../../ui/button.tsx';
import { CodeLine } from '../../ui/code.tsx';
import { FileLink } from '../../ui/file-link.tsx';
import { highlight, languageOf } from '../../ui/highlight/lazy.ts';
import type { Token } from '../../ui/highlight/tokens.ts';
import { Icon } from '../../ui/icon.tsx';
import { isComposing, isEnter } from '../../ui/keys.ts';
import { formatNumber } from '../../ui/l10n.ts';
import { splitAtPath } from '../../ui/path.ts';
import { ScrollBox } from '../../ui/scroll-box.tsx';
import { Card } from '../card.tsx';
import { useActions } from '../context.ts';

/** What can be decided here: `staged` = nothing is written yet, `landed` = it is, and can be undone. */
interface Review { fileId: string; mode: 'staged' | 'landed'; problem: ReviewProblem | undefined }

function reviewOf({ ask, review }: ToolItem): Review | undefined {
  if (ask?.kind === 'review') return { fileId: ask.fileId, mode: 'staged', problem: ask.problem };
  return review !== undefined && review.pending > 0 ? { fileId: review.fileId, mode: review.landed ? 'landed' : 'staged', problem: review.problem } : undefined;
}

/** A change to files. While it waits for the user, hunks and the whole can be decided here (B15), or in the native diff (B13). */
export function DiffCard({ item, view, foot }: { item: ToolItem; view: Extract<CardView, { card: 'diff' }>; foot: ComponentChildren }) {
  const { post } = useActions();
  const review = reviewOf(item);
  const added = view.files.reduce((sum, file) => sum + file.added, 0);
  const removed = view.files.reduce((sum, file) => sum + file.removed, 0);
  const [file] = view.files;
  const title = view.title || item.name;
  const open = (path: string, line?: number): void => post({ type: 'openLocation', path, ...(line === undefined ? {} : { line }) });
  // a file that the title names needs no row of its own
  const named = file !== undefined && view.files.length === 1 && splitAtPath(title, file.path) !== undefined ? file : undefined;
  const line = named === undefined ? undefined : firstLine(named);
  return (
    <Card id={item.id} icon="diff" title={title} status={item.status} open={item.status !== 'failed' || view.files.length > 0}
      {...(named === undefined ? {} : { place: { path: named.path, open, ...(line === undefined ? {} : { line }) } })}
      badges={<>{named?.isNew && <span class="tag">{l10n.t('new')}</span>}<Counts added={added} removed={removed} /></>}
      actions={<IconButton icon="diff-single" label={l10n.t('Open Diff')} onClick={() => post({ type: 'openDiff', callId: item.id, ...(named === undefined ? {} : { path: named.path }) })} />}>
      {view.files.map((changed) => <FileDiff key={changed.path} callId={item.id} file={changed} named={changed === named} review={review} open={open} />)}
      {review !== undefined && <ReviewBar callId={item.id} review={review} />}
      {foot}
    </Card>
  );
}

function firstLine(file: DiffCardFile): number | undefined {
  return file.hunks[0]?.rows.find((row) => row.new !== undefined)?.new;
}

/** `+3 −1` in the colours of the theme; what is nought is left out. */
function Counts({ added, removed }: { added: number; removed: number }) {
  if (added === 0 && removed === 0) return null;
  return (
    <span class="counts" title={l10n.t('{0} lines added, {1} removed', formatNumber(added), formatNumber(removed))}>
      {added > 0 && <span class="count-added">+{formatNumber(added)}</span>}{added > 0 && removed > 0 && ' '}{removed > 0 && <span class="count-removed">−{formatNumber(removed)}</span>}
    </span>
  );
}

function FileDiff({ callId, file, named, review, open }: {
  callId: string; file: DiffCardFile; /** The title has it. */ named: boolean; review: Review | undefined; open: (path: string, line?: number) => void;
}) {
  const { post } = useActions();
  const [all, setAll] = useState(false);
  const budget = all ? Infinity : 40;
  let rows = 0;
  const shown = file.hunks.filter((hunk, at) => {
    rows += hunk.rows.length;
    return at === 0 || rows <= budget || hunk.state === 'pending';
  });
  const lang = languageOf(file.path);
  return (
    <div class="diff-file">
      {!named && (
        <div class="diff-file-header">
          <Icon name="file" />
          <FileLink path={file.path} line={firstLine(file)} text={file.path} open={open} />
          {file.isNew && <span class="tag">{l10n.t('new')}</span>}
          <span class="spring" />
          <TextButton class="file-action" onClick={() => post({ type: 'openDiff', callId, path: file.path })}>{l10n.t('Open Diff')}</TextButton>
        </div>
      )}
      {file.isNew && file.hunks.length === 0 && <p class="card-note">{l10n.t('The file is empty.')}</p>}
      {shown.map((hunk) => <Hunk key={hunk.id} hunk={hunk} lang={lang} review={review} limit={all ? Infinity : 40} />)}
      {(shown.length < file.hunks.length || file.hunks.some((hunk) => hunk.rows.length > 40)) && (
        <TextButton class="show-all" onClick={() => setAll(!all)}>{all ? l10n.t('Show less') : l10n.t('Show all changes')}</TextButton>
      )}
      {file.truncated && (
        <p class="card-note">{l10n.t('Not all lines are shown here.')} <TextButton onClick={() => post({ type: 'openDiff', callId, path: file.path })}>{l10n.t('Open Diff')}</TextButton></p>
      )}
    </div>
  );
}

function Hunk({ hunk, lang, review, limit }: { hunk: DiffCardHunk; lang: string | undefined; review: Review | undefined; limit: number }) {
  const { post } = useActions();
  const rows = hunk.rows.slice(0, limit);
  const before = highlight(rows.filter((row) => row.sign !== '+').map((row) => row.text).join('\n'), lang);
  const after = highlight(rows.filter((row) => row.sign !== '-').map((row) => row.text).join('\n'), lang);
  let oldAt = 0;
  let newAt = 0;
  const decide = (action: 'accept' | 'reject') => () => {
    if (review !== undefined) post({ type: 'review', fileId: review.fileId, action, hunkId: hunk.id });
  };
  const pending = hunk.state === 'pending' && review !== undefined;
  return (
    <div class={`hunk${hunk.state === undefined ? '' : ` hunk-${hunk.state}`}`}>
      {(pending || (hunk.state !== undefined && hunk.state !== 'pending')) && (
        <div class="hunk-bar">
          <span class="hunk-place">{place(hunk)}</span>
          {!pending && <Decision state={hunk.state} />}
          {pending && (
            <span class="hunk-actions">
              <IconButton icon="check" label={review.mode === 'staged' ? l10n.t('Accept this change') : l10n.t('Keep this change')} onClick={decide('accept')} />
              <IconButton icon={review.mode === 'staged' ? 'close' : 'discard'} label={review.mode === 'staged' ? l10n.t('Reject this change') : l10n.t('Undo this change')} onClick={decide('reject')} />
            </span>
          )}
        </div>
      )}
      <ScrollBox class="diff-scroll" label={l10n.t('Changed lines')}>
        <table class="diff-rows" role="presentation">
          <tbody>
            {rows.map((row, at) => {
              const tokens: Token[] | undefined = row.sign === '-' ? before?.[oldAt] : after?.[newAt];
              if (row.sign !== '+') oldAt += 1;
              if (row.sign !== '-') newAt += 1;
              return <Row key={at} row={row} tokens={tokens} />;
            })}
          </tbody>
        </table>
      </ScrollBox>
    </div>
  );
}

function Decision({ state }: { state: DiffCardHunk['state'] }) {
  switch (state) {
    case 'accepted': return <span class="hunk-state"><Icon name="check" /> {l10n.t('Accepted')}</span>;
    case 'rejected': return <span class="hunk-state"><Icon name="close" /> {l10n.t('Rejected')}</span>;
    case 'kept': return <span class="hunk-state"><Icon name="check" /> {l10n.t('Kept')}</span>;
    case 'undone': return <span class="hunk-state"><Icon name="discard" /> {l10n.t('Undone')}</span>;
    case 'pending': case undefined: return null;
    default: return assertNever(state, 'hunk state');
  }
}

function place(hunk: DiffCardHunk): string {
  const lines = hunk.rows.map((row) => row.new ?? row.old).filter((line): line is number => line !== undefined);
  const first = lines[0];
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return '';
  return first === last ? l10n.t('Line {0}', first) : l10n.t('Lines {0}–{1}', first, last);
}

const SIGN_CLASS: Record<DiffRow['sign'], string> = { ' ': 'row-same', '+': 'row-added', '-': 'row-removed' };

function Row({ row, tokens }: { row: DiffRow; tokens: readonly Token[] | undefined }) {
  return (
    <tr class={SIGN_CLASS[row.sign]}>
      <td class="line-number" aria-hidden="true">{row.old ?? ''}</td>
      <td class="line-number" aria-hidden="true">{row.new ?? ''}</td>
      <td class="row-sign">{row.sign === '-' ? '−' : row.sign}</td>
      <td class="row-text"><CodeLine tokens={tokens} text={row.text} /></td>
    </tr>
  );
}

function ReviewBar({ callId, review }: { callId: string; review: Review }) {
  const { post } = useActions();
  const [note, setNote] = useState<string>();
  const staged = review.mode === 'staged';
  const decide = (action: 'accept' | 'reject', text?: string): void =>
    post({ type: 'review', fileId: review.fileId, action, ...(text?.trim() ? { note: text.trim() } : {}) });
  return (
    <div class="ask" role="group" aria-label={l10n.t('Review')}>
      {review.problem !== undefined && <p class="card-error" role="alert">{problemText(review.problem)}</p>}
      <div class="ask-buttons">
        <Button primary onClick={() => decide('accept')}>{staged ? l10n.t('Accept') : l10n.t('Keep')}</Button>
        <Button onClick={() => decide('reject', note)}>{staged ? l10n.t('Reject') : l10n.t('Undo')}</Button>
        <Button onClick={() => post({ type: 'openDiff', callId })}>{l10n.t('Open Diff')}</Button>
        {note === undefined && <TextButton onClick={() => setNote('')}>{staged ? l10n.t('Reject with a note…') : l10n.t('Undo with a note…')}</TextButton>}
      </div>
      {note !== undefined && (
        <input class="text-input" type="text" value={note} aria-label={l10n.t('Note for the model')} placeholder={l10n.t('Tell the model why, Enter rejects')}
          ref={(input) => input?.focus()}
          onInput={(event) => setNote(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (isEnter(event)) decide('reject', note);
            else if (event.key === 'Escape' && !isComposing(event)) setNote(undefined);
          }} />
      )}
    </div>
  );
}

function problemText(problem: ReviewProblem): string {
  switch (problem.kind) {
    case 'failed': return l10n.t('Not carried out: {0}', problem.message);
    case 'drift': return problem.lost === 1 ? l10n.t('1 change was given up: the file was changed at these lines.')
      : l10n.t('{0} changes were given up: the file was changed at these lines.', formatNumber(problem.lost));
    default: return assertNever(problem, 'problem');
  }
}
