import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { Boot, HostPort } from '../ui/host.ts';
import type { ViewToHost } from '../../src/protocol.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { announcements } from './announcer.ts';
import { Bars } from './bars.tsx';
import { Composer } from './composer.tsx';
import type { ComposerHandle } from './composer.tsx';
import type { ChatConnection } from './connection.ts';
import { Actions } from './context.ts';
import type { ChatActions } from './context.ts';
import { Transcript } from './transcript.tsx';
import { Welcome } from './welcome.tsx';

/** The whole chat page. */
export function App({ connection, port, boot }: { connection: ChatConnection; port: HostPort<ViewToHost>; boot: Boot }) {
  const view = connection.view.value;
  const composer = useRef<ComposerHandle>(undefined);
  const [spoken, setSpoken] = useState('');
  const actions = useMemo<ChatActions>(() => ({
    post: (message) => port.post(message),
    announce: setSpoken,
    fill: (text) => composer.current?.fill(text),
    platform: boot.platform,
  }), [port, boot]);

  const before = useRef(view);
  useEffect(() => {
    const texts = announcements(before.current, view);
    before.current = view;
    if (texts.length > 0) setSpoken(texts.join('\n'));
  }, [view]);
  const composed = useRef(view.compose?.seq);
  useEffect(() => {
    const wish = view.compose;
    if (wish === undefined || wish.seq === composed.current) return;
    composed.current = wish.seq;
    composer.current?.take(wish.text, wish.focus);
  }, [view.compose]);

  const { meta } = view;
  if (meta === undefined) return <Waiting connection={connection} port={port} />;
  const said = view.items.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
  const empty = view.items.length === 0 && view.earlier === 0;
  return (
    <Actions.Provider value={actions}>
      <div class="chat">
        {meta.untrusted && (
          <div class="banner" role="status">
            <Icon name="shield" /><span>{l10n.t('This workspace is not trusted: tools that write or run are off.')}</span>
            <button type="button" class="text-button" onClick={() => port.post({ type: 'command', id: 'manageTrust' })}>{l10n.t('Manage Trust')}</button>
          </div>
        )}
        {empty ? <Welcome meta={meta} /> : <Transcript view={view} />}
        <footer class="footer">
          <Bars meta={meta} />
          <Composer meta={meta} mentions={view.mentions} said={said} draft={keptDraft(port)} keepDraft={(draft) => port.keep({ draft })} handle={composer} />
        </footer>
        <div class="visually-hidden" role="status" aria-live="polite">{spoken}</div>
      </div>
    </Actions.Provider>
  );
}

/** Before the first state: quiet at first, then the truth and a way out (F9). */
function Waiting({ connection, port }: { connection: ChatConnection; port: HostPort<ViewToHost> }) {
  if (!connection.late.value) return <div class="waiting" role="status" aria-label={l10n.t('Loading')}><Icon name="loading" spin /></div>;
  return (
    <div class="waiting" role="alert">
      <p>{l10n.t('The chat did not load: the extension gives no answer.')}</p>
      <div class="ask-buttons">
        <Button primary onClick={() => connection.start()}>{l10n.t('Try Again')}</Button>
        <Button onClick={() => port.post({ type: 'command', id: 'showLog' })}>{l10n.t('Show Log')}</Button>
      </div>
    </div>
  );
}

function keptDraft(port: HostPort<ViewToHost>): string {
  const kept = port.kept() as { draft?: unknown } | undefined;
  return typeof kept?.draft === 'string' ? kept.draft : '';
}
