import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { TranscriptItem } from '../../src/protocol.ts';
import { assertNever } from '../../src/contract/never.ts';
import { Boundary } from '../ui/boundary.tsx';
import { TextButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { formatNumber } from '../ui/l10n.ts';
import { memo } from '../ui/memo.ts';
import { useActions } from './context.ts';
import { AssistantMessage, Notice, UserMessage } from './message.tsx';
import { StickyScroll } from './sticky-scroll.ts';
import type { ChatView } from './store.ts';
import { ToolCard } from './tool-card.tsx';

/** Rows kept in the page while the user stays at the end; older ones come back on demand. */
const ROWS = 200;

/** The conversation. Follows its end unless the user reads or selects something above it. */
export function Transcript({ view }: { view: ChatView }) {
  const { post } = useActions();
  const { items, earlier } = view;
  const [extra, setExtra] = useState(0);
  const [pill, setPill] = useState<'none' | 'down' | 'new'>('none');
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticky = useRef<StickyScroll>(undefined);
  const session = view.meta?.sessionId;
  const lastUser = items.findLast((item) => item.kind === 'user')?.id;

  useLayoutEffect(() => {
    if (scroller.current === null || content.current === null) return undefined;
    const made = new StickyScroll(scroller.current, content.current, setPill);
    sticky.current = made;
    return () => made.dispose();
  }, []);
  useLayoutEffect(() => {
    setExtra(0);
    sticky.current?.toEnd();
  }, [session]);
  // the answer to one's own message belongs in sight
  useEffect(() => sticky.current?.toEnd(), [lastUser]);
  useLayoutEffect(() => sticky.current?.grown(), [items, view.outputs]);

  const first = Math.max(0, items.length - ROWS - extra);
  const hidden = first + earlier;
  return (
    <main class="transcript-frame">
      <h1 class="visually-hidden">{view.meta?.title || l10n.t('Conversation')}</h1>
      <div class="transcript" ref={scroller} role="log" aria-live="off" aria-label={l10n.t('Conversation')} tabIndex={0}>
        <div class="transcript-content" ref={content}>
          {hidden > 0 && (
            <TextButton class="show-earlier"
              onClick={() => {
                sticky.current?.release();
                setExtra(extra + ROWS);
                if (first - ROWS <= 0 && earlier > 0) post({ type: 'earlier' });
              }}>
              {l10n.t('Show earlier messages ({0})', formatNumber(hidden))}
            </TextButton>
          )}
          {items.slice(first).map((item) => <Item key={item.id} item={item} live={item.kind === 'tool' ? view.outputs.get(item.id) : undefined} />)}
          <Activity view={view} />
        </div>
      </div>
      {pill !== 'none' && (
        <button type="button" class={`pill pill-${pill}`} onClick={() => sticky.current?.toEnd()} aria-label={pill === 'new' ? l10n.t('New messages') : l10n.t('Scroll to the end')}>
          <Icon name="arrow-down" />
          {pill === 'new' && <span>{l10n.t('New messages')}</span>}
        </button>
      )}
    </main>
  );
}

const Item = memo(function Item({ item, live }: { item: TranscriptItem; live: string | undefined }) {
  const { post } = useActions();
  return (
    <Boundary subject={item} report={(message) => post({ type: 'error', message })} fallback={() => <pre class="long-text">{JSON.stringify(item, null, 2)}</pre>}>
      <Drawn item={item} live={live} />
    </Boundary>
  );
});

function Drawn({ item, live }: { item: TranscriptItem; live: string | undefined }) {
  switch (item.kind) {
    case 'user': return <UserMessage item={item} />;
    case 'assistant': return <AssistantMessage item={item} />;
    case 'notice': return <Notice item={item} />;
    case 'tool': return <ToolCard item={item} live={live} />;
    default: return assertNever(item, 'item');
  }
}

/** A sign of life while the agent works and nothing else moves. */
function Activity({ view }: { view: ChatView }) {
  const last = view.items.at(-1);
  if (view.meta?.status === 'stopping') return <p class="activity"><Icon name="loading" spin /> {l10n.t('Stopping…')}</p>;
  if (view.meta?.status !== 'running') return null;
  const moving = (last?.kind === 'assistant' && last.streaming && last.blocks.some((block) => block.text !== '')) || (last?.kind === 'tool' && last.status !== 'completed' && last.status !== 'failed');
  const waiting = last?.kind === 'notice' && last.wait !== undefined;
  return moving || waiting ? null : <p class="activity"><Icon name="loading" spin /> {l10n.t('Working…')}</p>;
}
