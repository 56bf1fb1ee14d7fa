import type { ChatMeta, ResultsPage, TranscriptItem } from '../../src/protocol.ts';
import type { CardState } from './card-gallery.ts';
import type { PageOptions, WebviewPage } from './webview-page.ts';
import { RESULTS } from './results-states.ts';
import { BUSY, CARDS, MARKDOWN, MESSAGES, STATUSES, assistant, state, user } from './webview-states.ts';

/** One thing to be seen. Without a height the picture is as high as its content. */
export interface Shot {
  readonly kind: 'chat' | 'results'; readonly width?: number; readonly height?: number; readonly page?: Partial<PageOptions>;
  readonly draw: (view: WebviewPage) => Promise<void>;
}

function chat(items: readonly TranscriptItem[], meta: Partial<ChatMeta> = {}, more: (view: WebviewPage) => Promise<unknown> = async () => undefined, options: Omit<Shot, 'kind' | 'draw'> = {}): Shot {
  return {
    kind: 'chat', ...options,
    async draw(view) {
      await view.send({ type: 'state', state: state(items, meta) });
      await more(view);
    },
  };
}
function results(page: ResultsPage, more: (view: WebviewPage) => Promise<unknown> = async () => undefined): Shot {
  return {
    kind: 'results', width: 480, height: 360,
    async draw(view) {
      await view.waitPosted('ready');
      await view.send({ type: 'page', page });
      await more(view);
    },
  };
}

/** All states of one kind of card below each other, each with its name above it. */
export function cardShot(states: readonly CardState[]): Shot {
  return chat(states.flatMap(({ state: name, item }) => [assistant(`label-${item.id}`, `**${name}**`), item]), { status: 'idle' });
}

const OFFLINE: Partial<ChatMeta> = { model: { provider: 'offline', id: 'offline', name: 'Offline', offline: true } };
const composer = (view: WebviewPage) => view.page.getByRole('textbox', { name: /message/i });

/** Everything that is not a card. */
export const SHOTS: Record<string, Shot> = {
  welcome: chat([]),
  'welcome-first': chat([], { sessions: [], ...OFFLINE, untrusted: true }),
  'welcome-no-folder': chat([], { noFolder: true, sessions: state([]).meta.sessions.slice(0, 3) }),
  'welcome-no-hit': chat([], {}, (view) => view.page.getByRole('searchbox').fill('nowhere')),
  messages: chat(MESSAGES),
  markdown: chat([user('u', 'What did you find?'), assistant('a', MARKDOWN)]),
  statuses: chat(STATUSES, BUSY),
  mixed: chat(CARDS),
  bars: chat([user('u', 'Make it work.')], { ...BUSY, usage: { used: 60_000, window: 64_000 } }, (view) => composer(view).fill('Also mention it in the changelog, in one line, and say which version of the parser it came with.')),
  stopping: chat([user('u', 'Make it work.')], { status: 'stopping', queued: ['And then tell me what you did.'] }),
  streaming: chat([user('u', 'Why?'), assistant('a', '', { streaming: true, blocks: [{ type: 'reasoning', text: 'First I look at the scanner, then at the tests that cover it.' }] })], { status: 'running' },
    (view) => view.send({ type: 'patch', ops: [{ op: 'append', id: 'a', block: 1, type: 'text', text: 'The scanner **splits** on\n\n```ts\nconst a = 1;\nconst b' }] })),
  thinking: chat([user('u', 'Why?'), assistant('a', '', { streaming: true, blocks: [{ type: 'reasoning', text: 'First I look at the scanner, then at the tests that cover it.' }] })], { status: 'running' }),
  completion: chat([], {}, (view) => composer(view).pressSequentially('/g'), { height: 420 }),
  'completion-files': chat([], {}, async (view) => {
    await composer(view).pressSequentially('@tok');
    await view.send({ type: 'mentions', query: 'tok', paths: ['src/parser/tokens.ts', 'packages/a/very/long/way/down/the/tree/of/folders/that/nobody/wants/to/read/tokens.ts', 'my tokens.ts'] });
  }, { height: 420 }),
  pill: chat(CARDS, {}, async (view) => {
    await view.page.locator('.transcript').hover();
    await view.page.mouse.wheel(0, -600);
    await view.page.locator('.pill').waitFor();
    await view.send({ type: 'patch', ops: [{ op: 'put', item: assistant('more', 'One more thing.') }] });
  }, { height: 420 }),
  ...Object.fromEntries(Object.entries(RESULTS).map(([name, page]) => [`results-${name}`, results(page)])),
  'results-filter': results(RESULTS['matches']!, (view) => view.page.getByRole('searchbox').fill('name')),
  'results-filter-none': results(RESULTS['matches']!, (view) => view.page.getByRole('searchbox').fill('nowhere at all')),
  'results-focus': results(RESULTS['matches']!, async (view) => {
    await view.page.getByRole('tree').focus();
    await view.page.keyboard.press('ArrowDown');
  }),
};
