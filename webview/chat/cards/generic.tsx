import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { CardView, ToolItem } from '../../../src/protocol.ts';
import type { ToolCallKind } from '../../../src/contract/presentation.ts';
import { FileLink } from '../../ui/file-link.tsx';
import { Capped, LongText } from '../../ui/long-text.tsx';
import { Card } from '../card.tsx';
import { useActions } from '../context.ts';

const ICONS: Record<ToolCallKind, string> = {
  read: 'file', edit: 'edit', delete: 'trash', move: 'move', search: 'search', execute: 'terminal', fetch: 'globe', other: 'tools',
};

/** A result this short is shown at once, lines and characters. */
const SHORT = { lines: 4, length: 400 };

/** The card for every tool that draws none of its own, and the fallback for what can't be drawn. */
export function GenericCard({ item, view, foot }: { item: ToolItem; view: Extract<CardView, { card: 'generic' }>; foot: ComponentChildren }) {
  const { post } = useActions();
  const result = view.content === undefined ? item.resultText : unfenced(view.content);
  const content = isError(item, result) ? undefined : result;
  const short = content !== undefined && content.length <= SHORT.length && content.split('\n').length <= SHORT.lines;
  const empty = content === undefined && view.input === undefined && view.locations.length === 0 && item.error === undefined && item.ask === undefined;
  return (
    <Card id={item.id} icon={ICONS[view.kind] ?? 'tools'} title={view.title || item.name} status={item.status} badges={view.detail !== undefined && <span class="card-detail" title={view.detail}>{view.detail}</span>} open={short || item.status === 'failed'}>
      {!empty && (
        <>
          {view.locations.length > 0 && (
            <div class="locations">
              <Capped items={view.locations} limit={8} draw={(place) => (
                <FileLink key={`${place.path}:${place.line}`} path={place.path} line={place.line} open={(path, line) => post({ type: 'openLocation', path, ...(line === undefined ? {} : { line }) })} />
              )} />
            </div>
          )}
          {view.input !== undefined && view.input !== '' && <><h4 class="card-label">{l10n.t('Input')}</h4><Input text={view.input} /></>}
          {content !== undefined && content !== '' && (
            <>{view.input !== undefined && view.input !== '' && <h4 class="card-label">{l10n.t('Result')}</h4>}<LongText text={content} lines={12} label={l10n.t('Result')} /></>
          )}
          {foot}
        </>
      )}
    </Card>
  );
}

/** Arguments in few words as names and values, everything else as it came. */
function Input({ text }: { text: string }) {
  const fields = plainFields(text);
  if (fields === undefined) return <LongText text={text} lines={8} label={l10n.t('Input')} class="quiet" />;
  return <dl class="fields">{fields.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** The members of a small flat JSON object, or undefined for anything else. */
function plainFields(text: string): [name: string, value: string][] | undefined {
  if (text.length > 600) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
    const entries = Object.entries(parsed);
    const plain = entries.every(([, value]) => value === null || typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 120 && !value.includes('\n')));
    return plain && entries.length > 0 && entries.length <= 6 ? entries.map(([name, value]) => [name, String(value)]) : undefined;
  } catch {
    return undefined;
  }
}

/** The result is just the error that stands below it. */
function isError(item: ToolItem, result: string | undefined): boolean {
  return item.error !== undefined && result?.replace(/^Error: /, '').trim() === item.error;
}

/** The inside of a text that is one code fence: the box it is shown in is fence enough. */
function unfenced(text: string): string {
  return /^(`{3,})[\w-]*\n([\s\S]*?)\n?\1$/.exec(text.trim())?.[2] ?? text;
}
