import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { CardView, ToolItem } from '../../../src/protocol.ts';
import type { ToolCallKind } from '../../../src/contract/presentation.ts';
import { FileLink } from '../../ui/file-link.tsx';
import { Capped, LongText } from '../../ui/long-text.tsx';
import { splitAtPath } from '../../ui/path.ts';
import { Card } from '../card.tsx';
import { useActions } from '../context.ts';
import { isError, unfenced } from '../error-text.tsx';
import { partialFields } from '../partial-json.ts';

const ICONS: Record<ToolCallKind, string> = {
  read: 'file', edit: 'edit', delete: 'trash', move: 'move', search: 'search', execute: 'terminal', fetch: 'globe', other: 'tools',
};

/** A result this short is shown at once, lines and characters. */
const SHORT = { lines: 4, length: 400 };
/** Characters of a text that still streams: its end, where it grows. */
const STREAMED = 300;

/** The card for every tool that draws none of its own, and the fallback for what can't be drawn. */
export function GenericCard({ item, view, foot }: { item: ToolItem; view: Extract<CardView, { card: 'generic' }>; foot: ComponentChildren }) {
  const { post } = useActions();
  const open = (path: string, line?: number): void => post({ type: 'openLocation', path, ...(line === undefined ? {} : { line }) });
  const title = view.title || item.name;
  const result = view.content === undefined ? item.resultText : unfenced(view.content);
  const content = result === undefined || result === '' || isError(item, result) ? undefined : result;
  const short = content !== undefined && content.length <= SHORT.length && content.split('\n').length <= SHORT.lines;
  // what the title says is not said again, unless it is to be decided on
  const input = view.input === undefined || /^\s*(?:\{\s*\})?\s*$/.test(view.input) || (item.ask === undefined && saidBy(title, view.input)) ? undefined : view.input;
  const [only] = view.locations;
  const named = only !== undefined && view.locations.length === 1 && splitAtPath(title, only.path) !== undefined ? { ...only, open } : undefined;
  const locations = named === undefined ? view.locations : [];
  const empty = content === undefined && input === undefined && locations.length === 0 && item.error === undefined && item.ask === undefined;
  return (
    <Card id={item.id} icon={ICONS[view.kind] ?? 'tools'} title={title} status={item.status} open={short || item.status === 'failed'}
      {...(view.detail === undefined ? {} : { detail: view.detail })}
      {...(named === undefined ? {} : { place: named })}>
      {!empty && (
        <>
          {locations.length > 0 && (
            <div class="locations">
              <Capped items={locations} limit={8} draw={({ path, line }) => <FileLink key={`${path}:${line}`} path={path} line={line} open={open} />} />
            </div>
          )}
          {input !== undefined && (
            <>
              {(content !== undefined || item.status !== 'streaming') && <div class="card-label">{l10n.t('Input')}</div>}
              <Input text={input} growing={item.status === 'streaming'} />
            </>
          )}
          {content !== undefined && <>{input !== undefined && <div class="card-label">{l10n.t('Result')}</div>}<LongText text={content} lines={12} label={l10n.t('Result')} /></>}
          {foot}
        </>
      )}
    </Card>
  );
}

/** Whether every line of `text` stands in the title. */
function saidBy(title: string, text: string): boolean {
  return text.split('\n').every((line) => title.includes(line.trim()));
}

/** Arguments in few words as names and values, everything else as it came. */
function Input({ text, growing }: { text: string; growing: boolean }) {
  const fields = growing ? partialFields(text)?.map(({ name, text: value }) => [name, value.length > STREAMED ? `…${value.slice(-STREAMED)}` : value] as const) : plainFields(text);
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
