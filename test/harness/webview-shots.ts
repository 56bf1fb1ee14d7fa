// node --import tsx test/harness/webview-shots.ts [name…] [--theme NAME]: draws the webviews in every state and theme into .shots/
import fs from 'node:fs';
import path from 'node:path';
import { WebviewBench } from './webview-page.ts';
import type { ThemeName, WebviewPage } from './webview-page.ts';
import { APPROVAL, BUSY, CARDS, GREET, QUESTION, REVIEW, STATUSES, assistant, state, user } from './webview-states.ts';
import { RESULTS } from './results-states.ts';

type Shot = { readonly kind: 'chat' | 'results'; readonly height?: number; readonly draw: (view: WebviewPage) => Promise<void> };
const chat = (draw: (view: WebviewPage) => Promise<void>, height?: number): Shot => ({ kind: 'chat', draw, ...(height === undefined ? {} : { height }) });

const SHOTS: Record<string, Shot> = {
  welcome: chat((view) => view.send({ type: 'state', state: state([]) })),
  offline: chat((view) => view.send({ type: 'state', state: state([user('u', 'Use the greet tool to greet Ada.'), GREET, assistant('a', 'The greet tool answered: Hello, Ada!')], { model: { provider: 'offline', id: 'offline', name: 'Offline', offline: true }, untrusted: true }) })),
  cards: chat((view) => view.send({ type: 'state', state: state(CARDS) }), 2300),
  statuses: chat(async (view) => {
    await view.send({ type: 'state', state: state(STATUSES, BUSY) });
    await view.send({ type: 'patch', ops: [{ op: 'output', id: 's3', text: 'running 12 files\n✓ one\n✓ two\n' }] });
  }, 1150),
  asks: chat((view) => view.send({ type: 'state', state: state([user('u', 'Mend it.'), APPROVAL, REVIEW, QUESTION], { status: 'running' }) }), 1300),
  streaming: chat(async (view) => {
    await view.send({ type: 'state', state: state([user('u', 'Why?'), assistant('a', '', { streaming: true, blocks: [{ type: 'reasoning', text: 'First I look at the scanner, then at the tests that cover it.' }] })], { status: 'running' }) });
    await view.send({ type: 'patch', ops: [{ op: 'append', id: 'a', block: 1, type: 'text', text: 'The scanner **splits** on\n\n```ts\nconst a = 1;\nconst b' }] });
  }),
  completion: chat(async (view) => {
    await view.send({ type: 'state', state: state([]) });
    await view.page.getByRole('textbox', { name: /message/i }).pressSequentially('/g');
  }),
  todos: chat(async (view) => {
    await view.send({ type: 'state', state: state(CARDS.slice(0, 3), BUSY) });
    for (const toggle of await view.page.locator('.bar-toggle').all()) await toggle.click();
  }),
  pill: chat(async (view) => {
    await view.send({ type: 'state', state: state(CARDS) });
    await view.page.locator('.transcript').hover();
    await view.page.mouse.wheel(0, -600);
    await view.page.waitForTimeout(200);
    await view.send({ type: 'patch', ops: [{ op: 'put', item: assistant('more', 'One more thing.') }] });
  }),
};
for (const [name, page] of Object.entries(RESULTS)) SHOTS[`results-${name}`] = { kind: 'results', height: 600, draw: (view) => view.send({ type: 'page', page }) };

const themeAt = process.argv.indexOf('--theme');
const onlyTheme = themeAt === -1 ? undefined : process.argv[themeAt + 1];
const only = process.argv.slice(2, themeAt === -1 ? undefined : themeAt);
const out = path.resolve(import.meta.dirname, '../../.shots');
fs.mkdirSync(out, { recursive: true });
const bench = await WebviewBench.start();
const faults: string[] = [];
try {
  for (const [name, shot] of Object.entries(SHOTS)) {
    if (only.length > 0 && !only.some((wanted) => name.startsWith(wanted))) continue;
    for (const [theme, width] of [['dark', 420], ['light', 420], ['hc', 420], ['hc-light', 420], ['dark-2026', 420], ['dark', 240]] as [ThemeName, number][]) {
      if (onlyTheme !== undefined && onlyTheme !== (width === 240 ? 'narrow' : theme)) continue;
      const wide = shot.kind === 'results' && width > 240 ? 760 : width;
      const view = await bench.open({ kind: shot.kind, theme, width: wide, ...(shot.height === undefined ? {} : { height: shot.height }) });
      await shot.draw(view);
      await view.page.waitForTimeout(700);
      await view.page.screenshot({ path: path.join(out, `${name}-${width === 240 ? 'narrow' : theme}.png`) });
      faults.push(...view.errors.map((error) => `${name} ${theme}: ${error}`));
      await view.close();
    }
  }
} finally {
  await bench.stop();
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;
