import { useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { ChatMeta, SessionSummary } from '../../src/protocol.ts';
import { Button, IconButton, TextButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { formatAgo, formatNumber, formatTime } from '../ui/l10n.ts';
import { memo } from '../ui/memo.ts';
import { useActions } from './context.ts';

const FEW = 5;

/** An empty chat: what this is, what to try, and the way back to earlier sessions. */
export const Welcome = memo(function Welcome({ meta }: { meta: ChatMeta }) {
  const { fill, post } = useActions();
  const tries = examples(meta);
  return (
    <main class="welcome" aria-label={l10n.t('Welcome')}>
      <div class="welcome-lead">
        <Icon name="comment-discussion-sparkle" class="welcome-icon" />
        <h1>{l10n.t('Work with an agent')}</h1>
        {meta.noFolder
          ? <p>{l10n.t('No folder is open: the agent can answer, look things up and use your tools, but has no files of yours to work on.')}</p>
          : <p>{l10n.t('It reads, searches and runs commands in your workspace. Every edit is yours to review.')}</p>}
        {meta.noFolder && <div class="welcome-action"><Button primary onClick={() => post({ type: 'command', id: 'openFolder' })}>{l10n.t('Open Folder')}</Button></div>}
      </div>
      {tries.length > 0 && <section class="welcome-section">
        <h2>{l10n.t('Try')}</h2>
        <ul class="examples">
          {tries.map((example) => (
            <li key={example}><button type="button" class="example" onClick={() => fill(example)}>{example}</button></li>
          ))}
        </ul>
      </section>}
      <Sessions sessions={meta.sessions.filter((session) => session.id !== meta.sessionId)} />
    </main>
  );
});

/** Requests that work with the tools that are there; they are words for the model, so they are not translated. */
function examples(meta: ChatMeta): string[] {
  const has = (name: string): boolean => meta.tools.some((tool) => tool.name === name);
  const out: string[] = [];
  if (has('greet')) out.push('Use the greet tool to greet Ada.');
  if (meta.noFolder) {
    if (has('web_fetch')) out.push(meta.model.offline ? '/web_fetch https://example.com' : 'Fetch https://example.com and tell me what it says.');
    if (!meta.model.offline) out.push('Which tools do you have?');
    return out;
  }
  if (has('grep')) out.push('/grep TODO');
  if (has('bash') && out.length < 3) out.push('/bash git status');
  if (!meta.model.offline) out.push('Explain what this project does.');
  else if (has('glob') && out.length < 3) out.push('/glob **/*.md');
  return out.slice(0, 3);
}

function Sessions({ sessions }: { sessions: readonly SessionSummary[] }) {
  const { post } = useActions();
  const [filter, setFilter] = useState('');
  const [all, setAll] = useState(false);
  if (sessions.length === 0) return null;
  const wanted = filter.trim().toLowerCase();
  const found = sessions.filter((session) => session.title.toLowerCase().includes(wanted));
  const shown = all || wanted !== '' ? found : found.slice(0, FEW);
  const now = Date.now();
  return (
    <section class="welcome-section">
      <h2>{l10n.t('Recent Sessions')}</h2>
      {sessions.length > FEW && (
        <input class="text-input" type="search" value={filter} aria-label={l10n.t('Search sessions')} placeholder={l10n.t('Search sessions')} onInput={(event) => setFilter(event.currentTarget.value)} />
      )}
      <ul class="sessions">
        {shown.map((session) => (
          <li key={session.id} class="session">
            <button type="button" class="session-open" title={`${session.title}\n${formatTime(session.time)}`} onClick={() => post({ type: 'openSession', id: session.id })}>
              <span class="session-title">{session.title || l10n.t('Untitled')}</span>
              <span class="session-time">{session.elsewhere !== undefined ? `${session.elsewhere} · ` : ''}{formatAgo(session.time, now)}</span>
            </button>
            <IconButton icon="trash" label={l10n.t('Delete {0}', session.title || l10n.t('Untitled'))} onClick={() => post({ type: 'deleteSession', id: session.id })} class="session-delete" />
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="card-note">{l10n.t('Nothing was found.')}</p>}
      {wanted === '' && found.length > FEW && (
        <TextButton class="show-all" onClick={() => setAll(!all)}>{all ? l10n.t('Show less') : l10n.t('Show all {0}', formatNumber(found.length))}</TextButton>
      )}
    </section>
  );
}
