import { useEffect, useRef, useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { AssistantItem, NoticeItem, UserItem } from '../../src/protocol.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { IconButton, TextButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { formatNumber, formatTime } from '../ui/l10n.ts';
import { Markdown } from '../ui/markdown.tsx';
import type { MarkdownActions } from '../ui/markdown.tsx';
import { memo } from '../ui/memo.ts';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { useActions } from './context.ts';
import type { ChatActions } from './context.ts';

/** What the user said, as it was typed. */
export const UserMessage = memo(function UserMessage({ item }: { item: UserItem }) {
  const [all, setAll] = useState(false);
  const actions = useActions();
  const long = item.text.length > 1500 || item.text.split('\n').length > 14;
  return (
    <article class="user" aria-label={l10n.t('You')}>
      <div class={long && !all ? 'user-bubble user-cut' : 'user-bubble'} title={formatTime(item.time)}>{item.text}</div>
      {long && <TextButton class="show-all" onClick={() => setAll(!all)}>{all ? l10n.t('Show less') : l10n.t('Show all')}</TextButton>}
      <div class="message-actions"><IconButton icon="discard" label={l10n.t('Rewind to Before This Message…')} onClick={() => actions.post({ type: 'rewind', id: item.id })} /></div>
    </article>
  );
});

const actionsOf = new WeakMap<ChatActions, MarkdownActions>();
/** The same object for the same actions: Markdown is drawn again only when its text changes. */
function markdownActions(actions: ChatActions): MarkdownActions {
  let made = actionsOf.get(actions);
  if (made === undefined) {
    made = {
      openLink: (url) => actions.post({ type: 'openLink', url }),
      openLocation: (path, line) => actions.post({ type: 'openLocation', path, ...(line === undefined ? {} : { line }) }),
      copy: (text) => actions.post({ type: 'copy', text }),
    };
    actionsOf.set(actions, made);
  }
  return made;
}

/** What the model said, and behind a fold what it thought. */
export const AssistantMessage = memo(function AssistantMessage({ item }: { item: AssistantItem }) {
  const actions = useActions();
  const text = item.blocks.filter((block) => block.type === 'text').map((block) => block.text).join('\n\n');
  return (
    <article class="assistant" aria-label={l10n.t('Agent')} aria-busy={item.streaming}>
      {item.blocks.map((block, at) => {
        const growing = item.streaming && at === item.blocks.length - 1;
        if (block.text.trim() === '' && !growing) return null;
        return block.type === 'text'
          ? <Markdown key={at} text={block.text} growing={growing} actions={markdownActions(actions)} />
          : <Reasoning key={at} text={block.text} growing={growing} durationMs={block.durationMs} />;
      })}
      {item.interrupted && <p class="interrupted"><Icon name="circle-slash" /> {l10n.t('Stopped before the end.')}</p>}
      {!item.streaming && text.trim() !== '' && (
        <div class="message-actions"><CopyButton text={() => text} copy={(copied) => actions.post({ type: 'copy', text: copied })} label={l10n.t('Copy Message')} /></div>
      )}
    </article>
  );
});

function Reasoning({ text, growing, durationMs }: { text: string; growing: boolean; durationMs: number | undefined }) {
  const [open, setOpen] = useState(false);
  // what was watched here is timed here; of older thoughts only the host may know
  const watched = useRef<{ start: number; took?: number }>(undefined);
  if (growing) watched.current ??= { start: Date.now() };
  else if (watched.current !== undefined) watched.current.took ??= Date.now() - watched.current.start;
  const took = durationMs ?? watched.current?.took;
  const actions = useActions();
  return (
    <div class="reasoning">
      <button type="button" class="reasoning-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={growing ? 'loading' : 'thinking'} spin={growing} />
        <span>{growing ? l10n.t('Thinking…') : took === undefined ? l10n.t('Thought') : l10n.t('Thought for {0} s', formatNumber(Math.max(1, Math.round(took / 1000))))}</span>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} class="card-chevron" />
      </button>
      {!open && growing && <p class="reasoning-peek">{lastLine(text)}</p>}
      {open && <div class="reasoning-text"><Markdown text={text} growing={growing} actions={markdownActions(actions)} /></div>}
    </div>
  );
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.slice(-200) ?? '';
}

/** How much of a wait is left, as it goes by. The notice beside it has been read out: nothing here is. */
function Remaining({ from, until }: { from: number; until: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const left = Math.max(0, until - now);
  const seconds = Math.ceil(left / 1000);
  return (
    <span class="remaining" role="timer" aria-live="off">
      <progress max={Math.max(1, until - from)} value={until - from - left} aria-label={l10n.t('Waiting')} />
      <span class="remaining-time">{`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`}</span>
    </span>
  );
}

const LEVEL_ICON: Record<NoticeItem['level'], string> = { info: 'info', warning: 'warning', error: 'error' };

/** Something the host or a plugin has to say, on one line that opens. */
export const Notice = memo(function Notice({ item }: { item: NoticeItem }) {
  const { post } = useActions();
  const [open, setOpen] = useState(false);
  const { action } = item;
  return (
    <div class={`notice notice-${item.level}`} role="note" aria-label={l10n.t('Notice')}>
      <div class="notice-row">
        <Icon name={LEVEL_ICON[item.level]} label={levelName(item.level)} class="notice-icon" />
        <span class="notice-text">{item.text}</span>
        {item.wait !== undefined && <Remaining {...item.wait} />}
        {(item.detail !== undefined || action !== undefined) && (
          <span class="notice-actions">
            {item.detail !== undefined && <TextButton onClick={() => setOpen(!open)}>{open ? l10n.t('Less') : l10n.t('Details')}</TextButton>}
            {action !== undefined && <TextButton onClick={() => post(action.message)}>{action.title}</TextButton>}
          </span>
        )}
      </div>
      {open && item.detail !== undefined && <ScrollBox as="pre" class="long-text quiet" label={l10n.t('Details')}>{item.detail}</ScrollBox>}
    </div>
  );
});

function levelName(level: NoticeItem['level']): string {
  return level === 'error' ? l10n.t('Error') : level === 'warning' ? l10n.t('Warning') : l10n.t('Information');
}
