import { useLayoutEffect, useRef } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import type { CompletionEntry } from './completion.ts';

/** The list above the composer; the field keeps the focus and tells which entry is active. */
export function CompletionList({ id, entries, active, pick }: { id: string; entries: readonly CompletionEntry[]; active: number; pick: (entry: CompletionEntry) => void }) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active, entries]);
  return (
    <ul class="completions" id={id} role="listbox" aria-label={l10n.t('Suggestions')} ref={list}>
      {entries.map((entry, at) => (
        <li key={entry.insert} id={`${id}-${at}`} role="option" aria-selected={at === active} class={at === active ? 'completion active' : 'completion'}
          // the field must not lose the focus to a click here
          onMouseDown={(event) => event.preventDefault()} onClick={() => pick(entry)}>
          <span class="completion-label">{entry.label}</span>
          <span class="completion-detail">{entry.detail}</span>
        </li>
      ))}
    </ul>
  );
}
