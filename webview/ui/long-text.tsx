import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import { formatNumber } from './l10n.ts';
import { TextButton } from './button.tsx';
import { ScrollBox } from './scroll-box.tsx';

/** Shows the first `limit` of `items` and a button that shows all. */
export function Capped<T>({ items, limit, draw }: { items: readonly T[]; limit: number; draw: (item: T, at: number) => ComponentChildren }) {
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(0, limit);
  return (
    <>
      {shown.map(draw)}
      {items.length > limit && (
        <TextButton class="show-all" onClick={() => setAll(!all)}>
          {all ? l10n.t('Show less') : l10n.t('Show all {0}', formatNumber(items.length))}
        </TextButton>
      )}
    </>
  );
}

/** Preformatted text, cut to `lines` lines until the user wants all of it. */
export function LongText({ text, lines, label, class: extra }: { text: string; lines: number; label: string; class?: string }) {
  const [all, setAll] = useState(false);
  const rows = text.split('\n');
  const long = rows.length > lines + 2 || text.length > lines * 400;
  const shown = all || !long ? text : rows.slice(0, lines).join('\n').slice(0, lines * 400);
  return (
    <>
      <ScrollBox as="pre" class={`long-text${extra ? ` ${extra}` : ''}`} label={label}>{shown}</ScrollBox>
      {long && (
        <TextButton class="show-all" onClick={() => setAll(!all)}>
          {all ? l10n.t('Show less') : l10n.t('Show all ({0} lines)', formatNumber(rows.length))}
        </TextButton>
      )}
    </>
  );
}
