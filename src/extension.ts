import * as vscode from 'vscode';
import type { Host } from './host/main.ts';
import { COMMANDS } from './host/command-ids.ts';
import { l10nBundle, page } from './host/chat/html.ts';
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
  const start = (): Promise<Host> => (host ??= load(context));
  const webviewOptions = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview')] };

  async function show(webview: vscode.Webview): Promise<void> {
    webview.options = webviewOptions;
    webview.html = page(webview, context.extensionUri, { kind: 'chat', l10n: await l10nBundle(), locale: vscode.env.language });
  }

  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider('dshHost.chat', {
      async resolveWebviewView(view) {
        const port = start();
        await Promise.all([port.then((running) => running.chat.attachView(view)), show(view.webview)]);
      },
    }, { webviewOptions: { retainContextWhenHidden: true } }),
    vscode.window.registerWebviewPanelSerializer('dshHost.chatEditor', {
      async deserializeWebviewPanel(panel) {
        const port = start();
        await Promise.all([port.then((running) => running.chat.attachPanel(panel)), show(panel.webview)]);
      },
    }),
    vscode.workspace.registerFileSystemProvider('dsh-review', new LazyReviewFiles(async () => (await start()).reviewFiles), { isCaseSensitive: true }),
    vscode.window.registerTreeDataProvider('dshHost.plugins', new LazyTree(async () => (await start()).pluginTree)),
    ...COMMANDS.map((id) => vscode.commands.registerCommand(`dshHost.${id}`, async (...args: unknown[]) => {
      try {
        return await (await start()).commands[id](...args);
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
  await (await host)?.dispose();
  host = undefined;
}
