import path from 'node:path';
import * as vscode from 'vscode';

const SCHEME = 'dsh-diff';

/** One file of a settled diff card. `before` null: new, or unknown. */
export interface DiffRecord { readonly path: string; readonly before: string | null; readonly after: string }

/** Read-only texts of settled diff cards, so that a change of the past can be looked at in the native diff editor. */
export class DiffTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly #closed = vscode.workspace.onDidCloseTextDocument((document) => this.#texts.delete(document.uri.toString()));

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }

  async show(callId: string, record: DiffRecord): Promise<void> {
    const name = path.basename(record.path);
    const { left, right } = this.sides(callId, record);
    await vscode.commands.executeCommand('vscode.diff', left, right, vscode.l10n.t('{0} (Change)', name), { preview: true } satisfies vscode.TextDocumentShowOptions);
  }

  /** The two texts as documents; `id` tells them from others of the same file. */
  sides(id: string, record: DiffRecord): { left: vscode.Uri; right: vscode.Uri } {
    const name = path.basename(record.path);
    return { left: this.#put(id, 'before', name, record.before ?? ''), right: this.#put(id, 'after', name, record.after) };
  }

  #put(callId: string, side: string, name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${encodeURIComponent(callId)}/${side}/${name}` });
    this.#texts.set(uri.toString(), text);
    return uri;
  }

  dispose(): void {
    this.#registration.dispose();
    this.#closed.dispose();
    this.#texts.clear();
  }
}
