import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { ItemStatus } from '../../src/protocol.ts';
import { assertNever } from '../../src/contract/never.ts';
import { FileLink } from '../ui/file-link.tsx';
import { Icon } from '../ui/icon.tsx';
import { MiddleText } from '../ui/middle-text.tsx';
import { splitAtPath } from '../ui/path.ts';
import { inPlainSight } from '../ui/plain-sight.ts';

/** What the user opened or closed by hand, by item id: kept while rows come and go. */
const chosen = new Map<string, boolean>();

export interface Place { readonly path: string; readonly line?: number; readonly open: (path: string, line?: number) => void }

interface CardProps {
  id: string; icon: string; title: string; status: ItemStatus;
  /** A place that is a link where the title names it. */
  place?: Place;
  /** The title is code: a command. */
  mono?: boolean;
  /** In quiet words after the title: what the call is about. */
  detail?: string;
  /** Drawn at the end of the row: counts, exit status. */
  badges?: ComponentChildren;
  /** Buttons that appear on hover and focus. */
  actions?: ComponentChildren;
  open: boolean;
  /** Something else on the card tells how it ended: the state is not shown as a success. */
  subdued?: boolean;
  children?: ComponentChildren;
}

/** Every tool card: one header row (icon, title, badges, actions, status), and a body that opens below it. */
export function Card({ id, icon, title, status, place, mono, detail, badges, actions, open, subdued, children }: CardProps) {
  const [, redraw] = useState(0);
  const empty = children === undefined || children === null || children === false;
  const shown = !empty && (status === 'asking' || (chosen.get(id) ?? open));
  const toggle = (): void => {
    chosen.set(id, !shown);
    redraw((n) => n + 1);
  };
  const named = place === undefined ? undefined : splitAtPath(title, place.path);
  const chevron = !empty && <Icon name={shown ? 'chevron-down' : 'chevron-right'} class="card-chevron" />;
  const tip = detail === undefined ? title : `${title}\n${detail}`;
  const toggleClass = named === undefined ? 'card-toggle' : 'card-toggle card-verb';
  const words = (
    <>
      <Icon name={icon} class="card-icon" />
      <span class={mono ? 'card-title mono' : 'card-title'}>{mono ? <span class="middle-head">{inPlainSight(title)}</span> : <MiddleText text={named?.before ?? title} />}</span>
      {named === undefined && detail !== undefined && <span class="card-detail">{' '}{inPlainSight(detail)}</span>}
      {named === undefined && chevron}
    </>
  );
  return (
    <article class={`card card-${status}${subdued ? ' card-subdued' : ''}`} aria-label={title}>
      <div class={empty ? 'card-header' : 'card-header card-header-opens'}
        // the whole row is easier to hit than the words on it; keys have the button
        onClick={(event) => {
          if (!empty && (event.target as Element).closest('a, button') === null) toggle();
        }}>
        {empty ? <span class={toggleClass} title={tip}>{words}</span> : (
          <button type="button" class={toggleClass} aria-expanded={shown} aria-label={detail === undefined ? title : `${title} ${detail}`} title={tip} onClick={toggle}>{words}</button>
        )}
        {named !== undefined && place !== undefined && (
          <>
            <FileLink path={place.path} line={place.line} text={named.text} open={place.open} />
            {named.after !== '' && <span class="card-after">{inPlainSight(named.after)}</span>}
            {chevron}
            <span class="spring" />
          </>
        )}
        {actions && <span class="card-actions">{actions}</span>}
        {badges}
        <StatusIcon status={status} />
      </div>
      {shown && <div class="card-body">{children}</div>}
    </article>
  );
}

/** The state of a call as an icon with a name. */
export function StatusIcon({ status }: { status: ItemStatus }) {
  const { icon, spin } = STATUS[status];
  return <Icon name={icon} label={statusName(status)} spin={spin} class={`status status-${status}`} />;
}

const STATUS: Record<ItemStatus, { icon: string; spin: boolean }> = {
  streaming: { icon: 'loading', spin: true },
  pending: { icon: 'circle-large-outline', spin: false },
  asking: { icon: 'bell-dot', spin: false },
  running: { icon: 'loading', spin: true },
  completed: { icon: 'check', spin: false },
  failed: { icon: 'error', spin: false },
  stopped: { icon: 'circle-slash', spin: false },
};

/** The state of a call in the user's words. */
export function statusName(status: ItemStatus): string {
  switch (status) {
    case 'streaming': return l10n.t('Preparing');
    case 'pending': return l10n.t('Waiting');
    case 'asking': return l10n.t('Waiting for you');
    case 'running': return l10n.t('Running');
    case 'completed': return l10n.t('Done');
    case 'failed': return l10n.t('Failed');
    case 'stopped': return l10n.t('Stopped');
    default: return assertNever(status, 'status');
  }
}
