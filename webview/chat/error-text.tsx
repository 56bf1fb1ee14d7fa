import * as l10n from '@vscode/l10n';
import type { ToolItem } from '../../src/protocol.ts';
import { LongText } from '../ui/long-text.tsx';

/** The inside of a text that is one code fence: the box it is shown in is fence enough. */
export function unfenced(text: string): string {
  return /^(`{3,})[\w-]*\n([\s\S]*?)\n?\1$/.exec(text.trim())?.[2] ?? text;
}

function message(text: string): string {
  return unfenced(text).replace(/^Error: /, '').trim();
}

/**
 * What went wrong, in full: an item has the first line of it, and its result begins with that line when the result is
 * the error and nothing else.
 */
export function errorOf(item: ToolItem): string | undefined {
  const { error, resultText } = item;
  if (error === undefined || resultText === undefined) return error;
  const whole = message(resultText);
  return whole.startsWith(error.replace(/…$/, '')) ? whole : error;
}

/** Whether a text of the card is just the error that stands below it. */
export function isError(item: ToolItem, text: string): boolean {
  return item.error !== undefined && message(text) === errorOf(item);
}

/** The error of a call: a line or two as they are, more in a box. */
export function ErrorText({ item }: { item: ToolItem }) {
  const text = errorOf(item);
  if (text === undefined || text === '') return null;
  if (text.includes('\n') || text.length > 600) return <LongText text={text} lines={12} label={l10n.t('Error')} class="card-error" />;
  return <p class="card-error">{text}</p>;
}
