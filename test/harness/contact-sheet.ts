import fs from 'node:fs';
import type { WebviewBench } from './webview-page.ts';

export interface Column { readonly title: string; /** px */ readonly width: number; readonly png: Buffer }

/** Height of a sheet, px: what can be looked at without being scaled down. */
const HIGH = 1400;
const GAP = 12;

/** Pictures side by side, cut into as many sheets as they are high: `NAME.png`, `NAME-2.png`, … */
export async function contactSheets(bench: WebviewBench, name: string, columns: readonly Column[]): Promise<void> {
  const high = Math.max(...columns.map(({ png }) => png.readUInt32BE(20)));
  const page = await bench.blank(columns.reduce((sum, { width }) => sum + width + GAP, GAP), HIGH);
  for (let part = 0; part * HIGH < high; part++) {
    const height = Math.min(HIGH, high - part * HIGH);
    await page.setViewportSize({ width: columns.reduce((sum, { width }) => sum + width + GAP, GAP), height: height + 24 });
    await page.setContent(`<body style="margin:0;background:#808080;display:flex;gap:${GAP}px;padding-left:${GAP}px;font:12px sans-serif">${columns
      .map(({ title, width, png }) => `<div style="width:${width}px"><div style="height:20px;line-height:20px">${title}</div><div style="height:${height}px;overflow:hidden"><img style="margin-top:${-part * HIGH}px" src="data:image/png;base64,${png.toString('base64')}"></div></div>`)
      .join('')}`);
    fs.writeFileSync(`${name}${part === 0 ? '' : `-${part + 1}`}.png`, await page.screenshot());
  }
  await page.close();
}
