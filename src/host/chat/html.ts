import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** What the page tells the script before the first message. */
export interface Boot {
  readonly kind: 'chat' | 'results';
  /** Contents of the l10n bundle for the display language, or null for English. */
  readonly l10n: Record<string, string> | null;
  readonly locale: string;
}

let bundle: Promise<Record<string, string> | null> | undefined;

/** The strings of the webviews in the display language. */
export function l10nBundle(): Promise<Record<string, string> | null> {
  return (bundle ??= (async () => {
    const uri = vscode.l10n.uri;
    if (uri === undefined) return null;
    try {
      return JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri))) as Record<string, string>;
    } catch {
      return null;
    }
  })());
}

/** The icon of our editor tabs. */
export function tabIcon(extensionUri: vscode.Uri): { light: vscode.Uri; dark: vscode.Uri } {
  return { light: vscode.Uri.joinPath(extensionUri, 'media', 'dsh-light.svg'), dark: vscode.Uri.joinPath(extensionUri, 'media', 'dsh-dark.svg') };
}

/** Inside a script element `<` could end it. */
function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/**
 * The page of a webview: one bundled script, nothing remote, no inline script (design 5). The text inside #root is what
 * stays when the script fails to load (F9).
 */
export function page(webview: vscode.Webview, extensionUri: vscode.Uri, boot: Boot): string {
  const nonce = randomBytes(16).toString('base64');
  const asset = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', 'webview', name)).toString();
  const csp = [
    "default-src 'none'", `script-src 'nonce-${nonce}' ${webview.cspSource}`, `style-src ${webview.cspSource} 'unsafe-inline'`, `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
  ].join('; ');
  const failed = vscode.l10n.t('The view did not load. Run "DSH: Show Log" for the reason, then "Developer: Reload Webviews".');
  return `<!DOCTYPE html>
<html lang="${escapeHtml(boot.locale)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${csp}">
<title>${escapeHtml(boot.kind === 'chat' ? vscode.l10n.t('DSH Chat') : vscode.l10n.t('Results'))}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${asset('codicon.css')}" id="vscode-codicon-stylesheet">
<link rel="stylesheet" href="${asset(`${boot.kind}.css`)}">
</head>
<body>
<div id="root"><noscript>${escapeHtml(failed)}</noscript><p class="boot-fallback" hidden>${escapeHtml(failed)}</p></div>
<script type="application/json" id="boot">${scriptJson(boot)}</script>
<script nonce="${nonce}" src="${asset(`${boot.kind}.js`)}"></script>
</body>
</html>`;
}

/** What a view shows when there is no host to talk to. No script, only a link to a command. */
export function failurePage(title: string, error: unknown, reload: string): string {
  const text = error instanceof Error ? error.message : String(error);
  return `<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"></head>
<body>
<h3>${escapeHtml(title)}</h3>
<p>${escapeHtml(text)}</p>
<p><a href="command:workbench.action.reloadWindow">${escapeHtml(reload)}</a></p>
</body>
</html>`;
}
