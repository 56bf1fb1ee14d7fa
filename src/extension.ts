import * as vscode from 'vscode';
import type { Host } from './host/main.ts';
import { COMMANDS } from './host/command-ids.ts';
import { failurePage, l10nBundle, page } from './host/chat/html.ts';
import { LazyReviewFiles } from './host/review/lazy-files.ts';
import { LazyTree } from './host/lazy-tree.ts';

/**
 * Composes the host, nothing else: registers what VS Code must know at once and loads everything behind it when it is
 * first used.
 */

let host: Promise<Host> | undefined;

/** What `vscode.extensions.getExtension(…).exports` gives. */
export interface Api {
  readonly version: 1;
  /** The running host, for tests only: undefined outside test and development mode. */
  readonly host?: () => Promise<Host>;
}

export function activate(context: vscode.ExtensionContext): Api {
  /** Views that say why there is no host; they show it when a later start works. */
  const waiting = new Set<() => Promise<void>>();
  const start = (): Promise<Host> => (host ??= load(context).then((running) => {
    for (const show of waiting) void show();
    waiting.clear();
    return running;
  }, (error: unknown) => {
    // the next one who needs it tries again
    host = undefined;
    throw error;
  }));
  const webviewOptions = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview')] };

  /** The page is there at once, the host when it has started; a host that can't start says why instead (F9). */
  async function show(view: vscode.WebviewView | vscode.WebviewPanel, attach: (host: Host) => void): Promise<void> {
    const { webview } = view;
    let gone = false;
    view.onDidDispose(() => { gone = true; });
    webview.options = webviewOptions;
    const started = start();
    try {
      const [running] = await Promise.all([started, l10nBundle().then((l10n) => {
        webview.html = page(webview, context.extensionUri, { kind: 'chat', l10n, locale: vscode.env.language });
      })]);
      attach(running);
    } catch (error) {
      if (gone) return;
      const again = () => (gone ? Promise.resolve() : show(view, attach));
      view.onDidDispose(() => waiting.delete(again));
      waiting.add(again);
      webview.options = { enableCommandUris: ['workbench.action.reloadWindow'] };
      webview.html = failurePage(vscode.l10n.t('DSH could not start'), error, vscode.l10n.t('Reload Window'));
    }
  }

  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider('dshHost.chat', {
      resolveWebviewView: (view) => show(view, (running) => running.chat.attachView(view)),
    }, { webviewOptions: { retainContextWhenHidden: true } }),
    vscode.window.registerWebviewPanelSerializer('dshHost.chatEditor', {
      deserializeWebviewPanel: (panel) => show(panel, (running) => running.chat.attachPanel(panel)),
    }),
    vscode.workspace.registerFileSystemProvider('dsh-review', new LazyReviewFiles(async () => (await start()).reviewFiles), { isCaseSensitive: true }),
    vscode.window.registerTreeDataProvider('dshHost.plugins', new LazyTree(async () => (await start()).pluginTree)),
    ...COMMANDS.map((id) => vscode.commands.registerCommand(`dshHost.${id}`, async (...args: unknown[]) => {
      const running = await start().catch(() => undefined);
      // why it can't start was told
      if (running === undefined) return undefined;
      try {
        return await running.commands[id](...args);
      } catch (error) {
        failed(vscode.l10n.t('The command did not work'), error);
        return undefined;
      }
    })),
  );
  void introduce(context);
  const forTests = context.extensionMode !== vscode.ExtensionMode.Production || process.env['DSH_HOST_TEST'] === '1';
  return forTests ? { version: 1, host: start } : { version: 1 };
}

/** The first time after installation the chat is shown, without taking the focus; from then on the layout is the user's. */
async function introduce(context: vscode.ExtensionContext): Promise<void> {
  if (context.globalState.get<boolean>('dshHost.introduced') === true) return;
  await context.globalState.update('dshHost.introduced', true);
  await vscode.commands.executeCommand('dshHost.chat.focus', { preserveFocus: true });
}

async function load(context: vscode.ExtensionContext): Promise<Host> {
  try {
    const { startHost } = await import('./host/main.ts');
    return await startHost(context);
  } catch (error) {
    failed(vscode.l10n.t('DSH could not start'), error);
    throw error;
  }
}

/** The log belongs to the host, which may be what failed. */
function failed(what: string, error: unknown): void {
  console.error(what, error);
  void vscode.window.showErrorMessage(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}

export async function deactivate(): Promise<void> {
  await (await host?.catch(() => undefined))?.dispose();
  host = undefined;
}
