import { assertNever } from '../contract/never.ts';
import type { SessionEvent } from '../contract/event.ts';
import type { CardView, ToolItem, TranscriptItem } from '../protocol.ts';
import { Transcript, type TranscriptOptions } from '../transcript/transcript.ts';
import { visible } from './visible.ts';

const LONGEST = 2000;

/** Turns a session's events into text for a terminal, each item once, when it is settled. */
export class Printer {
  private readonly transcript: Transcript;
  private readonly write: (text: string) => void;
  private readonly done = new Set<string>();

  constructor(options: TranscriptOptions, write: (text: string) => void) {
    this.transcript = new Transcript(options);
    this.write = write;
  }

  event(event: SessionEvent): void {
    for (const patch of this.transcript.apply(event)) {
      if (patch.op === 'remove') this.done.delete(patch.id);
      if (patch.op !== 'put' || this.done.has(patch.item.id) || !settled(patch.item)) continue;
      this.done.add(patch.item.id);
      this.write(visible(itemText(patch.item)));
    }
  }
}

/** The cards of a stored log. */
export function cardsOf(events: readonly SessionEvent[], options: TranscriptOptions): ToolItem[] {
  const transcript = new Transcript(options);
  for (const event of events) transcript.apply(event);
  return transcript.items().filter((item): item is ToolItem => item.kind === 'tool');
}

function settled(item: TranscriptItem): boolean {
  if (item.kind === 'assistant') return !item.streaming;
  return item.kind !== 'tool' || !['streaming', 'pending', 'asking', 'running'].includes(item.status);
}

function itemText(item: TranscriptItem): string {
  switch (item.kind) {
    case 'user':
      return `> ${item.text.replaceAll('\n', '\n> ')}\n`;
    case 'assistant':
      return `${item.blocks.filter((block) => block.type === 'text').map((block) => block.text).join('\n')}\n`;
    case 'notice':
      return `(${item.text})\n`;
    case 'tool':
      return cardText(item);
    default:
      return assertNever(item, 'transcript item');
  }
}

/** The cards of a log as text for a terminal. */
export function cardsText(items: readonly ToolItem[]): string {
  return visible(items.map(cardText).join(''));
}

/** One card as text: what it is, how it ended, what it shows. */
function cardText(item: ToolItem): string {
  const body = item.error ?? bodyText(item.view);
  const cut = body.length > LONGEST ? `${body.slice(0, LONGEST)}\n… (${body.length - LONGEST} more characters)` : body;
  return `[${item.name}] ${item.view.title} — ${item.status}\n${cut === '' ? '' : `${cut.replace(/\n$/, '').replace(/^/gm, '    ')}\n`}`;
}

function bodyText(view: CardView): string {
  switch (view.card) {
    case 'generic':
      return view.content ?? view.input ?? '';
    case 'terminal': {
      const end = view.signal !== undefined ? `killed by ${view.signal}` : view.exitCode === undefined ? '' : `exit code ${view.exitCode}`;
      return [view.output ?? '', end].filter((part) => part !== '').join('\n');
    }
    case 'diff':
      return view.files.map((file) => `${file.isNew ? 'new ' : ''}${file.path} +${file.added} -${file.removed}`).join('\n');
    case 'search':
      return view.shape === 'paths'
        ? [...view.paths, `${view.total} in all`].join('\n')
        : [...view.files.flatMap((file) => file.matches.map((match) => `${file.path}:${match.lineNumber}: ${match.line}`)), `${view.total} in all`].join('\n');
    case 'read':
      return view.lines.map((line) => `${line.number}: ${line.text}`).join('\n');
    case 'web':
      return view.kind === 'fetch' ? `${view.url} (${view.statusCode})` : view.sources.map((source) => source.url).join('\n');
    default:
      return assertNever(view, 'card');
  }
}
