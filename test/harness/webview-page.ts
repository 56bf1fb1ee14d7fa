import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { home } from '../../scripts/vscode-home.mjs';
import type { HostToResults, HostToView } from '../../src/protocol.ts';

/**
 * The built webviews on a plain page: the CSP, the boot record and the theme variables as the host and VS Code give
 * them, and an `acquireVsCodeApi` that records what is posted. No host, so tests play its part.
 */
export type ThemeName = 'dark' | 'light' | 'hc' | 'hc-light' | 'dark-2026' | 'light-2026';
export interface PageOptions {
  readonly kind: 'chat' | 'results';
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly l10n?: Record<string, string> | null;
  readonly locale?: string;
  readonly platform?: string;
  /** Files of the build that answer 404 (F9). */
  readonly missing?: readonly string[];
}
export type Posted = { readonly type: string } & Record<string, unknown>;

export interface WebviewPage {
  readonly page: Page;
  /** Every request the page made, except to its own server's files. */
  readonly foreign: string[];
  /** What went wrong in the page: uncaught errors, console errors, CSP reports. */
  readonly errors: string[];
  /** Plays the host: posts with the sequence numbers that follow. */
  send(...messages: readonly Unsequenced[]): Promise<void>;
  /** Posts as it stands. */
  sendRaw(message: unknown): Promise<void>;
  posted(): Promise<Posted[]>;
  /** Waits for a posted message of this type and returns the newest one. */
  waitPosted(type: string): Promise<Posted>;
  /** As when the user picks another theme while the view is open. */
  setTheme(theme: ThemeName): Promise<void>;
  clearPosted(): Promise<void>;
  close(): Promise<void>;
}
type WithoutSeq<T> = T extends unknown ? Omit<T, 'seq'> : never;
export type Unsequenced = WithoutSeq<HostToView> | WithoutSeq<HostToResults>;

const ROOT = path.resolve(import.meta.dirname, '../..');
const THEMES = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'browser/themes.json'), 'utf8')) as Record<ThemeName, Record<string, string>>;
const BODY: Record<ThemeName, { class: string; kind: string }> = {
  dark: { class: 'vscode-dark', kind: 'vscode-dark' },
  light: { class: 'vscode-light', kind: 'vscode-light' },
  hc: { class: 'vscode-high-contrast', kind: 'vscode-high-contrast' },
  'dark-2026': { class: 'vscode-dark', kind: 'vscode-dark' },
  'light-2026': { class: 'vscode-light', kind: 'vscode-light' },
  'hc-light': { class: 'vscode-high-contrast-light vscode-high-contrast', kind: 'vscode-high-contrast-light' },
};
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf', '.map': 'application/json' };
const NONCE = 'dGVzdC1ub25jZQ';

/** One browser and one build for all pages of a test file. */
export class WebviewBench {
  private readonly browser: Browser;
  private readonly dist: string;

  private constructor(browser: Browser, dist: string) {
    this.browser = browser;
    this.dist = dist;
  }

  static async start(): Promise<WebviewBench> {
    const stage = fs.mkdtempSync(path.join(os.tmpdir(), 'dsh-webview-'));
    const built = spawnSync(process.execPath, [path.join(ROOT, 'esbuild.mjs'), '--stage', stage], { cwd: ROOT, encoding: 'utf8' });
    if (!fs.existsSync(path.join(stage, 'dist/webview/chat.js'))) throw new Error(`the webviews did not build:\n${built.stderr}`);
    const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'] });
    return new WebviewBench(browser, stage);
  }

  /** A page with nothing on it. */
  async blank(width: number, height: number): Promise<Page> {
    return this.browser.newPage({ viewport: { width, height } });
  }

  async stop(): Promise<void> {
    await this.browser.close();
    fs.rmSync(this.dist, { recursive: true, force: true });
  }

  async open(options: PageOptions): Promise<WebviewPage> {
    const server = await this.serve(options);
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const context = await this.browser.newContext({ viewport: { width: options.width ?? 420, height: options.height ?? 760 }, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const foreign: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) foreign.push(request.url());
    });
    page.on('pageerror', (error) => errors.push(String(error.stack ?? error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.addInitScript(FAKE_API);
    await page.goto(`${origin}/`);
    let seq = -1;
    const sendRaw = (message: unknown): Promise<void> => page.evaluate((data) => window.postMessage(data, '*'), message);
    const posted = (): Promise<Posted[]> => page.evaluate(() => (window as unknown as { dshPosted: Posted[] }).dshPosted);
    return {
      page, foreign, errors, sendRaw, posted,
      async send(...messages) {
        const numbered = messages.map((message) => ({ ...message, seq: (seq = message.type === 'state' ? 0 : seq + 1) }));
        await page.evaluate((all) => {
          for (const data of all) window.postMessage(data, '*');
        }, numbered);
        // two frames: one takes the messages, the next has drawn them
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0)))));
      },
      async waitPosted(type) {
        await page.waitForFunction((wanted) => (window as unknown as { dshPosted: Posted[] }).dshPosted.some((message) => message.type === wanted), type);
        const all = await posted();
        const found = all.findLast((message) => message.type === type);
        if (found === undefined) throw new Error(`no ${type} was posted`);
        return found;
      },
      setTheme: (theme) => page.evaluate(([variables, { class: name, kind }]) => {
        document.getElementById('theme')!.textContent = variables;
        document.body.className = name;
        document.body.dataset['vscodeThemeKind'] = kind;
      }, [themeStyle(theme), BODY[theme]] as const),
      clearPosted: () => page.evaluate(() => {
        (window as unknown as { dshPosted: Posted[] }).dshPosted.length = 0;
      }),
      async close() {
        await context.close();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  private serve(options: PageOptions): Promise<http.Server> {
    const server = http.createServer((request, response) => {
      const name = new URL(request.url ?? '/', 'http://x').pathname;
      if (name === '/') {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html(options));
        return;
      }
      const file = path.join(this.dist, name);
      if (!name.startsWith('/dist/webview/') || name.includes('..') || options.missing?.some((end) => name.endsWith(end)) || !fs.existsSync(file)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' }).end(fs.readFileSync(file));
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
  }
}

/** What VS Code puts into every webview, read from the VS Code that is installed for the tests; none: not there. */
function defaultStyles(): string {
  const file = path.join(home().root, 'node_modules/code-server/lib/vscode/out/vs/workbench/contrib/webview/browser/pre/index.html');
  if (!fs.existsSync(file)) return '';
  return /defaultStyles\.textContent = `([^`]*)`/.exec(fs.readFileSync(file, 'utf8'))?.[1] ?? '';
}

function themeStyle(theme: ThemeName): string {
  return `html{${Object.entries(THEMES[theme]).map(([name, value]) => `${name}:${value}`).join(';')}}`;
}

function html(options: PageOptions): string {
  const theme = options.theme ?? 'dark';
  const boot = JSON.stringify({ kind: options.kind, l10n: options.l10n ?? null, locale: options.locale ?? 'en', platform: options.platform ?? 'linux' }).replaceAll('<', '\\u003c');
  const csp = `default-src 'none'; style-src 'self' 'nonce-${NONCE}'; font-src 'self'; img-src 'self' data:; script-src 'nonce-${NONCE}'`;
  const fonts = `--vscode-font-family:"DejaVu Sans",sans-serif;--vscode-font-size:13px;--vscode-editor-font-family:"DejaVu Sans Mono",monospace;--vscode-editor-font-size:13px`;
  return `<!DOCTYPE html><html lang="${options.locale ?? 'en'}"><head><meta charset="utf-8"><title>${options.kind}</title><meta http-equiv="Content-Security-Policy" content="${csp}">
<style nonce="${NONCE}" id="_defaultStyles">${defaultStyles()}</style><style nonce="${NONCE}" id="theme">${themeStyle(theme)}</style>
<style nonce="${NONCE}">html{${fonts}} body{background:var(--vscode-${options.kind === 'chat' ? 'sideBar' : 'editor'}-background)}</style>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/dist/webview/codicon.css"><link rel="stylesheet" href="/dist/webview/${options.kind}.css"></head>
<body class="${BODY[theme].class}" data-vscode-theme-kind="${BODY[theme].kind}"><div id="root"><p>Loading…</p></div>
<script type="application/json" id="boot">${boot}</script><script nonce="${NONCE}" src="/dist/webview/${options.kind}.js"></script></body></html>`;
}

/** Runs in the page before its scripts; text, because a compiled function may call helpers that the page has not. State is kept over a reload, as VS Code keeps it. */
const FAKE_API = `
  window.dshPosted = [];
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => void window.dshPosted.push(structuredClone(message)),
    getState: () => JSON.parse(sessionStorage.getItem('state') ?? 'null') ?? undefined,
    setState: (state) => sessionStorage.setItem('state', JSON.stringify(state)),
  });
`;
