import assert from 'node:assert/strict';
import axe from 'axe-core';
import { cardGallery } from '../harness/card-gallery.ts';
import type { CardState } from '../harness/card-gallery.ts';
import type { ThemeName, WebviewPage } from '../harness/webview-page.ts';
import { webviewRoom } from '../harness/webview-room.ts';
import { SHOTS, cardShot } from '../harness/webview-scenes.ts';
import type { Shot } from '../harness/webview-scenes.ts';
import { APPROVAL, BUSY, CARDS, QUESTION, REVIEW, STATUSES, assistant, state } from '../harness/webview-states.ts';
import { RESULTS } from '../harness/results-states.ts';

const THEMES: readonly ThemeName[] = ['dark', 'light', 'hc', 'hc-light', 'dark-2026', 'light-2026'];
/** Rules that look at colours: they are asked again in each theme. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/** What axe-core objects to, one line a node. */
async function complaints(view: WebviewPage, only?: readonly string[]): Promise<string[]> {
  const found = await view.page.evaluate(async (rules) => {
    const run = (window as unknown as { axe: typeof axe }).axe;
    const { violations } = await run.run(document, rules === undefined ? { resultTypes: ['violations'] } : { runOnly: [...rules], resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.split('\n').slice(1).join(' ') ?? ''}`));
  }, only);
  return [...new Set(found)];
}

/** Opens all that can be opened. */
const unfold = (view: WebviewPage): Promise<void> => view.page.evaluate(() => document.querySelectorAll<HTMLElement>('.card-toggle[aria-expanded=false], .bar-toggle[aria-expanded=false], .reasoning-toggle[aria-expanded=false]').forEach((toggle) => toggle.click()));

/** Where the Tab key stops: what it is called, and how one sees that it is there. */
interface Stop { readonly what: string; readonly name: string; readonly seen: boolean; readonly top: number; readonly inView: boolean }

/** The stop that has the focus, or undefined at the end of the page. Runs in the page; text, because a compiled function calls helpers that the page has not. */
const STOP = `(() => {
  const outer = document.activeElement;
  if (outer === null || outer === document.body) return undefined;
  const inner = outer.shadowRoot?.activeElement ?? outer;
  const row = document.getElementById(outer.getAttribute('aria-activedescendant') ?? '');
  const box = outer.closest('.composer-box');
  const rings = [outer, inner, row].filter(Boolean).map((node) => getComputedStyle(node));
  const seen = rings.some((style) => (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none') || (box !== null && box.matches(':focus-within'));
  const place = (row ?? outer).getBoundingClientRect();
  const name = outer.getAttribute('aria-label') ?? (outer.labels?.[0]?.textContent || outer.textContent || '').trim();
  return { what: outer.outerHTML.slice(0, 120), name, seen, top: Math.round(place.top + (document.querySelector('.transcript')?.scrollTop ?? 0)), inView: place.bottom > 0 && place.top < innerHeight && place.width > 0 };
})()`;

async function stops(view: WebviewPage): Promise<Stop[]> {
  const found: Stop[] = [];
  await view.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  for (let at = 0; at < 400; at++) {
    await view.page.keyboard.press('Tab');
    const stop = (await view.page.evaluate(STOP)) as Stop | undefined;
    if (stop === undefined) break;
    found.push(stop);
  }
  return found;
}

describe('the webviews, by keyboard and to the eye', function () {
  this.timeout(300_000);
  const room = webviewRoom();
  const pages: Record<string, (theme: ThemeName) => Promise<WebviewPage>> = {
    welcome: (theme) => room.chat(state([]), { theme }),
    chat: (theme) => room.chat(state([...CARDS, APPROVAL, REVIEW, QUESTION], { ...BUSY, untrusted: true }), { theme, width: 320 }),
    matches: (theme) => room.results(RESULTS['matches'], { theme }),
    web: (theme) => room.results(RESULTS['web'], { theme }),
    fetch: (theme) => room.results(RESULTS['fetch'], { theme }),
  };
  for (const [name, open] of Object.entries(pages)) {
    for (const theme of ['dark', 'hc-light'] as const) {
      it(`${name}, ${theme}: every stop of the Tab key has a name, is seen, and comes in the order of the page`, async () => {
        const view = await open(theme);
        await unfold(view);
        const found = await stops(view);
        assert.ok(found.length > 2, `${found.length} stops`);
        assert.deepEqual(found.filter((stop) => stop.name === '').map((stop) => stop.what), [], 'no name');
        assert.deepEqual(found.filter((stop) => !stop.seen).map((stop) => stop.what), [], 'no ring');
        assert.deepEqual(found.filter((stop) => !stop.inView).map((stop) => stop.what), [], 'out of sight');
        const jumps = name === 'chat' ? [] : found.filter((stop, at) => at > 0 && stop.top < found[at - 1]!.top - 30);
        assert.deepEqual(jumps.map((stop) => stop.what), [], 'jumps back');
        assert.equal(await view.page.locator('[tabindex]:not([tabindex="0"], [tabindex="-1"])').count(), 0);
      });
    }
  }

  it('a user who wants no motion sees none', async () => {
    const view = await room.chat(state(STATUSES, { ...BUSY, status: 'running' }));
    await view.send({ type: 'patch', ops: [{ op: 'put', item: assistant('s', '', { streaming: true, blocks: [{ type: 'reasoning', text: 'hm' }] }) }] });
    await unfold(view);
    const moving = () => view.page.evaluate(() => document.getAnimations().filter((animation) => animation.playState === 'running').length);
    assert.equal(await moving(), 0);
    await view.page.emulateMedia({ reducedMotion: 'no-preference' });
    assert.ok((await moving()) > 0, 'others see that something goes on');
  });

  for (const width of [200, 320]) {
    it(`with text twice as large nothing sticks out at ${width} px`, async () => {
      const view = await room.chat(state([...CARDS, APPROVAL, REVIEW, QUESTION, ...STATUSES.slice(1)], { ...BUSY, untrusted: true }), { width });
      await view.page.evaluate(() => document.documentElement.style.setProperty('--vscode-font-size', '26px'));
      await unfold(view);
      const wide = await view.page.evaluate(() => [...document.querySelectorAll('.transcript, .footer, .chat, body')].filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => `${node.className || node.tagName} ${node.scrollWidth}`));
      assert.deepEqual(wide, []);
      await view.send({ type: 'state', state: state([], { untrusted: true, noFolder: true }) });
      assert.equal(await view.page.evaluate(() => document.body.scrollWidth > document.body.clientWidth), false);
    });
  }

  it('with the colours of the system, what is chosen and what can be pressed has an edge', async () => {
    const view = await room.chat(state([QUESTION, APPROVAL]), { theme: 'hc' });
    await view.page.emulateMedia({ forcedColors: 'active' });
    await view.page.locator('.choice input').first().check();
    const dot = await view.page.locator('.choice input').first().evaluate((node) => [getComputedStyle(node, '::before').backgroundColor, getComputedStyle(node).backgroundColor]);
    assert.notEqual(dot[0], dot[1], 'the chosen one is marked');
    const edges = await view.page.evaluate(() => [...document.querySelectorAll('.card, .icon-button, .text-input, .choice input, .composer-box')].filter((node) => getComputedStyle(node).borderTopStyle === 'none').map((node) => node.className));
    assert.deepEqual(edges, []);
  });
});

describe('the webviews, looked over by axe-core', function () {
  this.timeout(300_000);
  const room = webviewRoom();
  let gallery: ReadonlyMap<string, readonly CardState[]>;
  before(async () => {
    gallery = await cardGallery();
  });

  async function look(shot: Shot, colours: boolean): Promise<string[]> {
    const view = await room.open({ kind: shot.kind, width: shot.width ?? 320, height: shot.height ?? 700, ...shot.page });
    await view.page.evaluate(axe.source);
    await shot.draw(view);
    await unfold(view);
    const found: string[] = [];
    for (const [at, theme] of THEMES.entries()) {
      if (at > 0 && !colours) break;
      await view.setTheme(theme);
      // the buttons take a theme over in a frame of their own
      await view.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      found.push(...(await complaints(view, at === 0 ? undefined : COLOURS)).map((text) => `${theme}: ${text}`));
    }
    await view.close();
    return found;
  }

  for (const name of Object.keys(SHOTS)) {
    it(name.replaceAll('-', ' '), async () => {
      assert.equal((await look(SHOTS[name]!, true)).join('\n'), '');
    });
  }

  it('every card in every state', async () => {
    const found: string[] = [];
    for (const [kind, states] of gallery) found.push(...(await look(cardShot(states), true)).map((text) => `${kind} ${text}`));
    assert.equal(found.join('\n'), '');
  });
});
