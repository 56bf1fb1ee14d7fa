// node --import tsx test/harness/browser/read-themes.ts: writes themes.json, the colours a real VS Code gives to a webview
import fs from 'node:fs';
import path from 'node:path';
import { stage } from '../../../scripts/stage.mjs';
import { openVSCode, runCommand, webviewFrame } from '../vscode.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const THEMES = {
  dark: 'Dark Modern', light: 'Light Modern', hc: 'Default High Contrast', 'hc-light': 'Default High Contrast Light', 'dark-2026': 'Dark 2026', 'light-2026': 'Light 2026',
};

/** The variables our styles and the toolkit's name: a theme has eight hundred. */
function wanted(): Set<string> {
  const ours = fs.readdirSync(path.join(ROOT, 'webview'), { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:css|tsx?)$/.test(file));
  const sources = [...ours.map((file) => path.join(ROOT, 'webview', file)), path.join(ROOT, 'node_modules/@vscode/webview-ui-toolkit/dist/toolkit.js')];
  const names = new Set(['--vscode-editor-foreground', '--vscode-sideBar-background', '--vscode-scrollbarSlider-background', '--vscode-scrollbarSlider-hoverBackground', '--vscode-scrollbarSlider-activeBackground']);
  for (const file of sources) for (const [name] of fs.readFileSync(file, 'utf8').matchAll(/--vscode-[A-Za-z0-9-]+/g)) names.add(name);
  for (const name of names) if (/-font-(?:family|size|weight)$/.test(name)) names.delete(name);
  return names;
}

const staged = await stage('themes', []);
process.env['DSH_TEST_STAGE'] = staged.dir;
const vscode = await openVSCode({ extension: 'development' });
try {
  const names = wanted();
  const settings = path.join(vscode.profileDir, 'user/User/settings.json');
  const out: Record<string, Record<string, string>> = {};
  for (const [name, theme] of Object.entries(THEMES)) {
    fs.writeFileSync(settings, JSON.stringify({ ...(JSON.parse(fs.readFileSync(settings, 'utf8')) as object), 'workbench.colorTheme': theme }));
    await vscode.reload();
    await runCommand(vscode.page, 'DSH: Open Chat');
    const frame = await webviewFrame(vscode.page, '.composer-input');
    const [shown, colours] = await frame.evaluate(() => {
      const { style } = document.documentElement;
      return [document.body.dataset['vscodeThemeId'], [...style].filter((variable) => variable.startsWith('--vscode-')).map((variable) => [variable, style.getPropertyValue(variable).trim()] as const)] as const;
    });
    if (shown !== theme) throw new Error(`the window shows ${String(shown)}, not ${theme}`);
    out[name] = Object.fromEntries(colours.filter(([variable]) => names.has(variable)).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  fs.writeFileSync(path.join(import.meta.dirname, 'themes.json'), `${JSON.stringify(out, null, 1)}\n`);
} finally {
  await vscode.close();
  staged.remove();
}
