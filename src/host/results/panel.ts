import * as vscode from 'vscode';
import type { HostToResults, ResultsPage } from '../../protocol.ts';
import { parseResultsToHost } from '../../protocol.ts';
import { assertNever } from '../../contract/never.ts';
import { l10nBundle, page, tabIcon } from '../chat/html.ts';
import { log } from '../log.ts';
import { jumpTo, openLink } from '../navigation.ts';

const VIEW_TYPE = 'dshHost.results';

/** The results webview: one editor tab that shows the search or web results of the card last opened. */
export class ResultsPanel implements vscode.Disposable {
  #panel: vscode.WebviewPanel | undefined;
  #page: ResultsPage = { kind: 'empty' };
  #cwd = '';
  #seq = 0;
  #ready = false;
  readonly #extensionUri: vscode.Uri;

  constructor(extensionUri: vscode.Uri) {
    this.#extensionUri = extensionUri;
  }

  /** The page on show, for tests and for `openRaw`. */
  get page(): ResultsPage {
    return this.#page;
  }

  async show(results: ResultsPage, cwd: string): Promise<void> {
    this.#page = results;
    this.#cwd = cwd;
    const panel = this.#panel ?? (await this.#create());
    panel.title = results.kind === 'empty' ? vscode.l10n.t('Results') : results.title;
    this.#post();
    panel.reveal(panel.viewColumn, false);
  }

  async #create(): Promise<vscode.WebviewPanel> {
    const panel = vscode.window.createWebviewPanel(VIEW_TYPE, vscode.l10n.t('Results'), { viewColumn: vscode.ViewColumn.Active, preserveFocus: false }, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [vscode.Uri.joinPath(this.#extensionUri, 'dist', 'webview')],
    });
    this.#panel = panel;
    this.#ready = false;
    panel.iconPath = tabIcon(this.#extensionUri);
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#ready = false;
    });
    panel.webview.onDidReceiveMessage((message: unknown) => void this.#receive(message));
    panel.webview.html = page(panel.webview, this.#extensionUri, { kind: 'results', l10n: await l10nBundle(), locale: vscode.env.language });
    return panel;
  }

  #post(): void {
    if (!this.#ready) return;
    const message: HostToResults = { type: 'page', seq: ++this.#seq, page: this.#page };
    void this.#panel?.webview.postMessage(message);
  }

  async #receive(raw: unknown): Promise<void> {
    const message = parseResultsToHost(raw);
    if (message === undefined) {
      log().warn('results view: dropped a message that is not part of the protocol');
      return;
    }
    switch (message.type) {
      case 'ready':
        this.#ready = true;
        this.#post();
        return;
      case 'open':
        return jumpTo(message.path, this.#cwd, {
          ...(message.line === undefined ? {} : { line: message.line }), ...(message.column === undefined ? {} : { column: message.column }),
          ...(message.length === undefined ? {} : { length: message.length }), preview: message.preview, preserveFocus: message.preview,
        });
      case 'openAll':
        return this.#openAll(message.paths);
      case 'openRaw':
        return this.#openRaw();
      case 'openLink':
        return openLink(message.url);
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        return;
      case 'error':
        log().error(`results view: ${message.message}`);
        return;
      default:
        assertNever(message);
    }
  }

  async #openAll(paths: readonly string[]): Promise<void> {
    const many = 20;
    if (paths.length > many) {
      const open = vscode.l10n.t('Open {0} Files', paths.length);
      if ((await vscode.window.showWarningMessage(vscode.l10n.t('Open {0} files?', paths.length), { modal: true }, open)) !== open) return;
    }
    for (const file of paths) await jumpTo(file, this.#cwd, { preview: false, preserveFocus: true });
  }

  async #openRaw(): Promise<void> {
    const raw = 'raw' in this.#page ? this.#page.raw : 'text' in this.#page ? this.#page.text : undefined;
    if (raw === undefined) return;
    const document = await vscode.workspace.openTextDocument({ content: raw, language: this.#page.kind === 'web-fetch' ? 'markdown' : 'plaintext' });
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.#panel?.dispose();
  }
}
