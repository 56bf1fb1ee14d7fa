import * as l10n from '@vscode/l10n';
import type { TranscriptItem } from '../../src/protocol.ts';
import { statusName } from './card.tsx';
import { isSettled } from './store.ts';
import type { ChatView } from './store.ts';

/** Characters of a reply that are read out; the rest is in the transcript. */
const SPOKEN = 500;

/**
 * What a screen reader should hear about the step from one view to the next: replies when they are whole, calls when
 * they end or ask, never single words as they stream.
 */
export function announcements(before: ChatView, after: ChatView): string[] {
  if (before.meta === undefined || before.meta.sessionId !== after.meta?.sessionId || before.items === after.items) return [];
  const out: string[] = [];
  for (const item of after.items.slice(-20)) {
    const at = before.index.get(item.id);
    const old = at === undefined ? undefined : before.items[at];
    const text = old === item ? undefined : announce(old, item);
    if (text !== undefined) out.push(text);
  }
  return out;
}

function announce(old: TranscriptItem | undefined, item: TranscriptItem): string | undefined {
  if (item.kind === 'assistant') {
    const finished = !item.streaming && (old?.kind === 'assistant' ? old.streaming : true);
    const text = item.blocks.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
    return finished && text.trim() !== '' ? text.slice(0, SPOKEN) : undefined;
  }
  if (item.kind === 'notice') return old === undefined ? item.text : undefined;
  if (item.kind === 'tool') {
    const was = old?.kind === 'tool' ? old.status : undefined;
    if (was === item.status || !(isSettled(item.status) || item.status === 'asking')) return undefined;
    return l10n.t('{0}: {1}', item.view.title || item.name, statusName(item.status));
  }
  return undefined;
}
