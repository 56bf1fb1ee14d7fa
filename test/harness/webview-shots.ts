// node --import tsx test/harness/webview-shots.ts [name…] [--theme NAME] [--single]: draws the webviews in every state,
// theme and width into .shots/, on contact sheets or (--single) a picture each
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { WebviewBench } from './webview-page.ts';
import type { ThemeName, WebviewPage } from './webview-page.ts';
import { cardGallery } from './card-gallery.ts';
import { contactSheets } from './contact-sheet.ts';
import type { Column } from './contact-sheet.ts';
import { SHOTS, cardShot } from './webview-scenes.ts';
import type { Shot } from './webview-scenes.ts';

/** Themes side by side, with every card open; then the widths. */
const THEMES: readonly ThemeName[] = ['dark', 'light', 'hc', 'hc-light'];
const WIDTHS: readonly (readonly [ThemeName, number, boolean])[] = [['dark-2026', 320, false], ['light-2026', 240, true], ['dark', 700, true]];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { theme: { type: 'string' }, single: { type: 'boolean', default: false } } });
const out = path.resolve(import.meta.dirname, '../../.shots');
fs.mkdirSync(out, { recursive: true });
const shots: Record<string, Shot> = { ...SHOTS };
for (const [kind, states] of await cardGallery()) shots[`cards-${kind}`] = cardShot(states);

const bench = await WebviewBench.start();
const faults: string[] = [];
try {
  for (const [name, shot] of Object.entries(shots)) {
    if (positionals.length > 0 && !positionals.some((wanted) => name.startsWith(wanted))) continue;
    const view = await bench.open({ kind: shot.kind, width: 320, height: 700, ...shot.page });
    await shot.draw(view);
    const untouched: Column[] = [];
    const themes: Column[] = [];
    const widths: Column[] = [];
    for (const [theme, width, open] of WIDTHS.filter(([, , open]) => !open)) untouched.push(await take(view, shot, theme, width, open));
    for (const theme of THEMES) themes.push(await take(view, shot, theme, shot.width ?? 320, true));
    for (const [theme, width, open] of WIDTHS.filter(([, , open]) => open)) widths.push(await take(view, shot, theme, width, open));
    await view.page.emulateMedia({ forcedColors: 'active' });
    const forced = { ...(await take(view, shot, 'hc', 320, true)), title: 'forced colours 320' };
    faults.push(...view.errors.map((error) => `${name}: ${error}`));
    await view.close();
    widths.push(forced);
    const columns = [...themes, ...untouched, ...widths].filter(({ title }) => values.theme === undefined || title.startsWith(`${values.theme} `));
    if (values.single) for (const { title, png } of columns) fs.writeFileSync(path.join(out, `${name}-${title.replaceAll(' ', '-')}.png`), png);
    else {
      await contactSheets(bench, path.join(out, `${name}-themes`), themes);
      await contactSheets(bench, path.join(out, `${name}-widths`), [...untouched, ...widths]);
    }
  }
} finally {
  await bench.stop();
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exit(faults.length > 0 ? 1 : 0);

/** One picture, as high as what is on it. */
async function take(view: WebviewPage, shot: Shot, theme: ThemeName, width: number, open: boolean): Promise<Column> {
  const { page } = view;
  await view.setTheme(theme);
  await page.setViewportSize({ width, height: shot.height ?? 700 });
  if (open) await page.evaluate(() => document.querySelectorAll<HTMLElement>('.card-toggle[aria-expanded=false], .bar-toggle[aria-expanded=false], .reasoning-toggle[aria-expanded=false]').forEach((toggle) => toggle.click()));
  await page.waitForTimeout(300);
  if (shot.height === undefined) {
    const height = await page.evaluate(() => Array.from(document.querySelectorAll('.banner, .transcript-content, .welcome, .footer')).reduce((sum, node) => sum + node.scrollHeight, 0));
    await page.setViewportSize({ width, height: Math.max(120, height + 4) });
    await page.waitForTimeout(100);
  }
  const sideways = await page.evaluate(() => Array.from(document.querySelectorAll('body, .chat, .transcript, .footer, .results, .welcome')).filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.className || node.tagName));
  if (sideways.length > 0) faults.push(`${theme} ${width}: wider than the view: ${sideways.join(', ')}`);
  return { title: `${theme} ${width}${open ? '' : ' closed'}`, width, png: await page.screenshot() };
}
