// A real VS Code (code-server) opened in a headless Chromium. Used by the e2e tests and by the host test runner.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core';
import { installVsix, profileIn, startServer, workbenchUrl } from '../../scripts/code-server.mjs';
import { packFolder } from '../../scripts/package.mjs';
import { findBrowser } from '../../scripts/vscode-home.mjs';

export const EXTENSION_ID = 'dsh-host.dsh-host';

/** What tests need on top of the quiet settings `npm start` has: nothing opens, fetches or restores by itself. */
const TEST_SETTINGS: Readonly<Record<string, unknown>> = {
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'extensions.ignoreRecommendations': true,
  'git.autofetch': false,
  'window.restoreWindows': 'none',
  'files.hotExit': 'off',
  'files.simpleDialog.enable': true,
  // text in the page, where a test can read it
  'terminal.integrated.gpuAcceleration': 'off',
  'npm.fetchOnlinePackageInfo': false,
  'typescript.disableAutomaticTypeAcquisition': true,
};

const BROWSER_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // nothing but loopback, so that no look-up waits for a closed network
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

export interface OpenOptions {
  /** Merged over the quiet settings, into the user's settings.json. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Files of the workspace, path → text or bytes. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** false: a window without a folder. */
  readonly folder?: false;
  /** A folder to copy into the workspace first. */
  readonly from?: string;
  /** `vsix` (default): the packed extension, as a user has it. `development`: DSH_TEST_STAGE or the repo itself, in development mode. `none`: no extension of ours. */
  readonly extension?: 'vsix' | 'development' | 'none';
  /** Folders of other extensions, packed and installed beside ours. */
  readonly extensions?: readonly string[];
  /** Reaches code-server and the extension host. */
  readonly env?: Readonly<Record<string, string>>;
  /** true: VS Code asks whether the workspace is trusted. Default: every folder is trusted, nothing is asked. */
  readonly trustPrompt?: boolean;
  readonly locale?: string;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** A running VS Code with its window; {@link VSCode.close} ends every process of it and removes its folders. */
export interface VSCode {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly browser: Browser;
  /** Absolute path of the opened folder. */
  readonly workspace: string;
  /** Absolute path of the profile: `user/User/settings.json`, `user/User/globalStorage`, … */
  readonly profileDir: string;
  readonly url: string;
  /** What code-server printed so far. */
  log(): string;
  /** Opens the window anew (sessions, storage and editors stay), and waits until it is ready. */
  reload(): Promise<void>;
  /** Takes a picture to .shots/NAME.png (or an absolute path ending in .png) and returns where it is. */
  shot(name: string): Promise<string>;
  close(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '../..');
process.setMaxListeners(0); // one clean-up a VS Code

function vsixFile(): string {
  const file = process.env['DSH_TEST_VSIX'] ?? path.join(root, 'dsh-host.vsix');
  if (!fs.existsSync(file)) throw new Error(`${file} is not there: run the tests by \`npm run test:e2e\`, or \`npm run package\` first`);
  return file;
}

/** A Chromium window of its own. The browser is the system's: none is downloaded. */
export async function launchBrowser(viewport = { width: 1400, height: 900 }): Promise<{ browser: Browser; context: BrowserContext; page: Page }> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('no Chromium found: run node scripts/vscode-home.mjs, or set CHROMIUM');
  const browser = await chromium.launch({ executablePath, headless: true, args: BROWSER_FLAGS });
  const context = await browser.newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  // a loaded machine takes its time to start an extension host
  page.setDefaultTimeout(60_000);
  return { browser, context, page };
}

/** Resolves when the workbench has drawn itself and left its loading state. */
export async function waitForWorkbench(page: Page, timeoutMs = 60_000): Promise<void> {
  await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: timeoutMs });
  await page.waitForFunction("!document.querySelector('.monaco-workbench')?.classList.contains('loading')", null, { timeout: timeoutMs });
}

/** A VS Code URI of a local file, as the page of this server names it. */
export function remoteUri(server: { readonly host: string }, file: string): string {
  return `vscode-remote://${server.host}${path.resolve(file)}`;
}

/** Settings and folders of a test's VS Code. Short path: VS Code puts unix sockets below it. */
export function testProfile(settings: Readonly<Record<string, unknown>> = {}): ReturnType<typeof profileIn> & { workspace: string } {
  const dir = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'dsh-'));
  const workspace = path.join(dir, 'ws');
  fs.mkdirSync(workspace);
  if (!process.env['DSH_TEST_KEEP']) process.once('exit', () => fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return { ...profileIn(dir, { ...TEST_SETTINGS, ...settings }), workspace };
}

/** Starts a private VS Code with its own profile and workspace, and opens it in its own browser. */
export async function openVSCode(options: OpenOptions = {}): Promise<VSCode> {
  const extension = options.extension ?? 'vsix';
  const profile = testProfile(options.settings);
  if (options.from) fs.cpSync(options.from, profile.workspace, { recursive: true });
  for (const [name, content] of Object.entries(options.files ?? {})) {
    const file = path.join(profile.workspace, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }
  const closers: (() => Promise<void> | void)[] = [];
  if (!process.env['DSH_TEST_KEEP']) closers.push(() => fs.rmSync(profile.dir, { recursive: true, force: true, maxRetries: 3 }));
  const close = async (): Promise<void> => {
    open.delete(close);
    for (const closer of closers.splice(0).reverse()) await Promise.resolve(closer()).catch(() => undefined);
  };
  closeOnSignal(close);
  try {
    if (extension === 'vsix') await installVsix(profile, vsixFile());
    for (const folder of options.extensions ?? []) {
      const vsix = path.join(profile.dir, `${path.basename(folder)}.vsix`);
      await packFolder(folder, vsix, ['--skip-license']);
      await installVsix(profile, vsix);
    }
    const server = await startServer(profile, {
      env: { ...options.env },
      trust: options.trustPrompt ?? false,
      smokeDriver: extension === 'development',
      ...(options.locale === undefined ? {} : { locale: options.locale }),
    });
    closers.push(server.stop);
    const { browser, context, page } = await launchBrowser(options.viewport);
    closers.push(() => browser.close());
    const payload: [string, string][] =
      extension === 'development'
        ? [
            ['extensionDevelopmentPath', remoteUri(server, process.env['DSH_TEST_STAGE'] ?? root)],
            ['skipWelcome', 'true'],
          ]
        : [];
    const url = workbenchUrl(server, options.folder === false ? undefined : profile.workspace, payload);
    await page.goto(url);
    await waitForWorkbench(page);
    return {
      page,
      context,
      browser,
      workspace: profile.workspace,
      profileDir: profile.dir,
      url,
      log: server.log,
      close,
      async reload() {
        await page.goto(url);
        await waitForWorkbench(page);
      },
      async shot(name) {
        const file = path.isAbsolute(name) ? name : path.join(root, '.shots', `${name}.png`);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        await page.screenshot({ path: file });
        return file;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs a command by its title in the command palette. Asks again while extensions are still being scanned. */
export async function runCommand(page: Page, title: string, timeoutMs = 60_000): Promise<void> {
  const input = page.locator('.quick-input-widget input[type="text"]');
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  const end = Date.now() + timeoutMs;
  for (;;) {
    // a key can get lost while the workbench moves focus, and the list does not grow while it is open
    try {
      await page.keyboard.press('F1');
      await input.waitFor({ state: 'visible', timeout: 3000 });
      await input.fill(`>${title}`);
      await row.waitFor({ timeout: 3000 });
      await row.click({ timeout: 3000 });
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await page.keyboard.press('Escape');
      await page.waitForTimeout(500);
    }
  }
}

/**
 * The document of a webview. VS Code nests `iframe.webview` (one a webview, floating over its part of the window) and in
 * it `iframe#active-frame` with the extension's HTML. Several are open at once, so the wanted one is told by the
 * extension and by a selector only it has.
 */
export async function webviewFrame(page: Page, has: string, { extensionId = EXTENSION_ID, timeoutMs = 60_000 } = {}): Promise<Frame> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    for (const frame of page.frames()) {
      const parent = frame.parentFrame();
      if (!parent?.url().includes(`extensionId=${extensionId}`) || frame.isDetached()) continue;
      try {
        const element = await frame.frameElement();
        if ((await element.getAttribute('id')) === 'active-frame' && (await frame.locator(has).count()) > 0) return frame;
      } catch {
        // the frame was replaced while we looked
      }
    }
    if (Date.now() > end) {
      const seen = page.frames().map((frame) => frame.url().slice(0, 160));
      throw new Error(`no webview of ${extensionId} has ${has} after ${timeoutMs} ms; frames:\n${seen.join('\n')}`);
    }
    await page.waitForTimeout(100);
  }
}

/** Types a message into the chat and sends it. */
export async function sendMessage(chat: Frame, text: string): Promise<void> {
  await chat.locator('.composer-input').fill(text);
  await chat.locator('.composer-input').press('Enter');
}

/** A picture of the window of a test that failed, named after it. */
export async function shotOfFailure(test: { readonly state?: string | undefined; readonly title: string } | undefined, vscode: Pick<VSCode, 'shot'> | undefined, prefix = 'failed'): Promise<void> {
  if (test?.state === 'failed') await vscode?.shot(`${prefix}-${test.title.slice(0, 40).replace(/\W+/g, '-')}`);
}

/** The tab with this label in the editor area. */
export function tab(page: Page, label: string | RegExp): Locator {
  return page.locator('.tabs-container .tab', { hasText: label });
}

const open = new Set<() => Promise<void>>();
let listening = false;

/** A run that is interrupted must not leave a VS Code and a browser behind. */
function closeOnSignal(close: () => Promise<void>): void {
  if (!listening) {
    listening = true;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => void Promise.allSettled([...open].map((end) => end())).then(() => process.exit(130)));
    }
  }
  open.add(close);
}
