import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { CardView, ToolItem } from '../../../src/protocol.ts';
import { ansiSpans } from '../../ui/ansi.ts';
import { IconButton, TextButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatNumber } from '../../ui/l10n.ts';
import { inPlainSight } from '../../ui/plain-sight.ts';
import { ScrollBox } from '../../ui/scroll-box.tsx';
import { Card } from '../card.tsx';
import { useActions } from '../context.ts';

/** A command, what it printed, how it ended. Display only: the process is the host's. */
export function TerminalCard({ item, view, live, foot }: { item: ToolItem; view: Extract<CardView, { card: 'terminal' }>; live: string | undefined; foot: ComponentChildren }) {
  const { post } = useActions();
  // what the model is told of a silent command is no output
  const printed = view.output === '(no output)' ? '' : view.output;
  const output = printed ?? live ?? (item.status === 'failed' || item.status === 'stopped' ? (item.error === undefined ? item.resultText : undefined) : undefined);
  const firstLine = view.title.split('\n', 1)[0] ?? '';
  // a short command without a description is the title: said once is enough
  const bare = view.description === undefined && firstLine === view.title && view.title.length <= 48 && item.ask === undefined;
  const shows = !bare || view.cwd !== undefined || (output !== undefined && output !== '');
  return (
    <Card id={item.id} icon="terminal" mono={view.description === undefined} title={view.description ?? firstLine} status={item.status} open subdued={view.signal !== undefined || (view.exitCode !== undefined && view.exitCode !== 0)}
      badges={<ExitBadge view={view} />}
      actions={
        <>
          <CopyButton text={() => view.title} copy={(text) => post({ type: 'copy', text })} label={l10n.t('Copy Command')} />
          <IconButton icon="link-external" label={l10n.t('Open in Terminal')} onClick={() => post({ type: 'openTerminal', callId: item.id })} />
        </>
      }>
      {(shows || item.error !== undefined || item.status === 'completed') && <div class="terminal">
        {!bare && <ScrollBox class="terminal-command" label={l10n.t('Command')}><span class="terminal-prompt" aria-hidden="true">$ </span>{inPlainSight(view.title)}</ScrollBox>}
        {view.cwd !== undefined && <div class="terminal-cwd" title={view.cwd}>{l10n.t('in {0}', view.cwd)}</div>}
        {output !== undefined && output !== '' && <Output text={output} following={view.output === undefined} />}
        {view.files?.map((file, at) => (
          <TextButton key={file} class="show-all" title={file} onClick={() => post({ type: 'openLocation', path: file })}>
            {at === 0 ? l10n.t('Open Full Output') : l10n.t('Open Full Error Output')}
          </TextButton>
        ))}
        {(output === undefined || output === '') && item.status === 'completed' && <div class="terminal-cwd">{l10n.t('No output')}</div>}
      </div>}
      {foot}
    </Card>
  );
}

function ExitBadge({ view }: { view: Extract<CardView, { card: 'terminal' }> }) {
  if (view.signal !== undefined) return <span class="badge badge-error">{view.signal}</span>;
  if (view.exitCode === undefined || view.exitCode === 0) return null;
  return <span class="badge badge-error" title={l10n.t('The command ended with exit code {0}', view.exitCode)}>{l10n.t('exit {0}', view.exitCode)}</span>;
}

/** Lines shown before the user asks for all. */
const TAIL = 12;

/** The end of the output, which is where errors are; while it runs, the newest lines stay in sight. */
function Output({ text, following }: { text: string; following: boolean }) {
  const [all, setAll] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  const clean = text.replace(/\n$/, '');
  const lines = clean.split('\n');
  const hidden = all ? 0 : Math.max(0, lines.length - TAIL - 2 > 0 ? lines.length - TAIL : 0);
  // what a command said last is at its end; once the user has all of it, it stays where it is read
  useLayoutEffect(() => {
    if ((following || !all) && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text, following]);
  return (
    <>
      {hidden > 0 && <TextButton class="show-all" onClick={() => setAll(true)}>{l10n.t('Show {0} earlier lines', formatNumber(hidden))}</TextButton>}
      <ScrollBox as="pre" class="terminal-output" box={box} label={l10n.t('Output')}>
        {ansiSpans(hidden > 0 ? lines.slice(hidden).join('\n') : clean).map((span, at) => (span.style === '' ? span.text : <span key={at} class={span.style}>{span.text}</span>))}
      </ScrollBox>
      {all && lines.length > TAIL + 2 && <TextButton class="show-all" onClick={() => setAll(false)}>{l10n.t('Show less')}</TextButton>}
    </>
  );
}
