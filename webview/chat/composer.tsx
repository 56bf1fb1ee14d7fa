import { useEffect, useRef, useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { ChatMeta } from '../../src/protocol.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { isComposing, isEnter } from '../ui/keys.ts';
import { complete, completionAt, fileEntries, toolEntries } from './completion.ts';
import type { CompletionEntry, CompletionQuery } from './completion.ts';
import { CompletionList } from './completion-list.tsx';
import { useActions } from './context.ts';
import { Recall } from './recall.ts';
import type { ChatView } from './store.ts';
import { UsageRing } from './usage-ring.tsx';

/** What the composer asks of the page around it. */
export interface ComposerHandle {
  /** Replaces the text and takes the focus: the answer to a click. */
  fill(text: string): void;
  /** The host's wish: adds text to the draft, takes the focus only when the user's gesture asked for it. */
  take(text: string | undefined, focus: boolean): void;
}

const LIST_ID = 'completions';

/** Where the user writes. Enter sends; while the agent runs it steers, and Alt+Enter queues. */
export function Composer({ meta, mentions, said, draft, keepDraft, handle }: {
  meta: ChatMeta; mentions: ChatView['mentions']; said: readonly string[]; draft: string; keepDraft: (text: string) => void; handle: { current: ComposerHandle | undefined };
}) {
  const { post, platform } = useActions();
  const [text, setText] = useState(draft);
  const [query, setQuery] = useState<CompletionQuery>();
  const [active, setActive] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const recall = useRef(new Recall());
  const running = meta.status !== 'idle';

  const change = (next: string, caret?: number): void => {
    setText(next);
    keepDraft(next);
    if (caret !== undefined && field.current !== null) {
      field.current.value = next;
      field.current.setSelectionRange(caret, caret);
    }
  };
  handle.current = {
    fill(next) {
      recall.current.reset();
      change(next, next.length);
      setQuery(undefined);
      field.current?.focus();
    },
    take(more, focus) {
      if (more !== undefined) {
        // what is there already is not said twice: a message that is rewound again
        const next = text.trim() === more.trim() ? text : text === '' || /\s$/.test(text) ? text + more : `${text} ${more}`;
        change(next, next.length);
      }
      if (focus) field.current?.focus();
    },
  };

  const entries: readonly CompletionEntry[] =
    query === undefined ? [] : query.kind === 'tool' ? toolEntries(meta.tools, query.query) : mentions === undefined ? [] : fileEntries(mentions.paths);
  const open = query !== undefined && entries.length > 0;
  const chosen = Math.min(active, entries.length - 1);

  const look = (): void => {
    const input = field.current;
    if (input === null) return;
    const next = input.selectionStart === input.selectionEnd ? completionAt(input.value, input.selectionStart) : undefined;
    if (next?.kind === query?.kind && next?.query === query?.query && next?.start === query?.start) return;
    setQuery(next);
    setActive(0);
  };
  const wanted = query?.kind === 'file' ? query.query : undefined;
  useEffect(() => {
    if (wanted === undefined) return undefined;
    const timer = setTimeout(() => post({ type: 'mentions', query: wanted }), 80);
    return () => clearTimeout(timer);
  }, [wanted]);

  const take = (entry: CompletionEntry): void => {
    const input = field.current;
    if (input === null || query === undefined) return;
    const made = complete(text, input.selectionStart, query, entry);
    change(made.text, made.caret);
    setQuery(undefined);
    input.focus();
  };
  const send = (mode: 'steer' | 'queue'): void => {
    if (text.trim() === '') return;
    post({ type: 'send', text: text.trim(), mode });
    recall.current.reset();
    setQuery(undefined);
    change('');
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event)) return;
    if (open && pick(event)) return;
    if (isEnter(event) && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      send(event.altKey && running ? 'queue' : 'steer');
    } else if (event.key === 'ArrowUp' && (text === '' || recall.current.walking) && !event.shiftKey) {
      walk(event, recall.current.older(said));
    } else if (event.key === 'ArrowDown' && recall.current.walking && !event.shiftKey) {
      walk(event, recall.current.newer(said));
    }
  };
  const walk = (event: KeyboardEvent, found: string | undefined): void => {
    if (found === undefined) return;
    event.preventDefault();
    change(found, found.length);
  };
  const pick = (event: KeyboardEvent): boolean => {
    const entry = entries[chosen];
    if (event.key === 'ArrowDown') setActive((chosen + 1) % entries.length);
    else if (event.key === 'ArrowUp') setActive((chosen + entries.length - 1) % entries.length);
    else if ((event.key === 'Tab' || isEnter(event)) && !event.shiftKey && entry !== undefined) take(entry);
    else if (event.key === 'Escape') setQuery(undefined);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  const alt = platform === 'darwin' ? '⌥' : l10n.t('Alt+');
  return (
    <div class="composer">
      {open && <CompletionList id={LIST_ID} entries={entries} active={chosen} pick={take} />}
      <div class="composer-box">
        <textarea ref={field} class="composer-input" rows={1} value={text} aria-label={l10n.t('Message to the agent')}
          placeholder={running ? l10n.t('Enter steers, {0}Enter queues', alt) : l10n.t('Ask, or type / for tools and @ for files')}
          aria-autocomplete="list" aria-haspopup="listbox" aria-controls={open ? LIST_ID : undefined}
          aria-activedescendant={open ? `${LIST_ID}-${chosen}` : undefined}
          onInput={(event) => {
            recall.current.reset();
            change(event.currentTarget.value);
            look();
          }}
          onKeyDown={onKeyDown} onClick={look}
          onKeyUp={(event) => {
            if (/^(?:Arrow(?:Left|Right)|Home|End)$/.test(event.key)) look();
          }} onBlur={() => setQuery(undefined)} />
        <div class="composer-bar">
          <button type="button" class="picker" title={meta.model.offline ? l10n.t('Offline: no language model. Choose a model') : l10n.t('Model: {0} ({1})', meta.model.name, meta.model.provider)}
            onClick={() => post({ type: 'command', id: 'selectModel' })}>
            {meta.model.offline && <Icon name="debug-disconnect" />}
            <span class="picker-text">{meta.model.offline ? l10n.t('Offline') : meta.model.name}</span><Icon name="chevron-down" />
          </button>
          <button type="button" class="picker" title={l10n.t('Permissions: {0}', meta.preset.label)} onClick={() => post({ type: 'command', id: 'selectPreset' })}>
            <Icon name="shield" /><span class="picker-text">{meta.preset.label}</span><Icon name="chevron-down" />
          </button>
          <span class="spring" />
          {meta.usage !== undefined && <UsageRing usage={meta.usage} />}
          {running && <IconButton icon="stop-circle" label={meta.status === 'stopping' ? l10n.t('Stopping…') : l10n.t('Stop')} disabled={meta.status === 'stopping'} onClick={() => post({ type: 'stop' })} class="stop" />}
          {(!running || text.trim() !== '') && <IconButton icon="send" label={running ? l10n.t('Steer (Enter)') : l10n.t('Send (Enter)')} disabled={text.trim() === ''} onClick={() => send('steer')} class="send" />}
        </div>
      </div>
      {meta.model.offline && (
        <p class="offline-note"><span>{l10n.t('No language model: your words are matched to tools by name.')}</span>{' '}
          <button type="button" class="text-button" onClick={() => post({ type: 'command', id: 'selectModel' })}>{l10n.t('Choose a Model')}</button>
        </p>
      )}
    </div>
  );
}
