import * as path from 'node:path';
import * as vscode from 'vscode';
import { expandHome } from '../text/home.ts';
import { log } from './log.ts';

/** Where a path of a card leads: absolute, or relative to the session's cwd, else to any workspace folder (E7). */
export async function locate(given: string, cwd: string): Promise<vscode.Uri | undefined> {
  const file = expandHome(given);
  if (path.isAbsolute(file)) return (await exists(vscode.Uri.file(file))) ? vscode.Uri.file(file) : undefined;
  const roots = [vscode.Uri.file(cwd), ...(vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri)];
  for (const root of roots) {
    const uri = vscode.Uri.joinPath(root, ...file.split(path.sep === '\\' ? /[\\/]/ : '/'));
    if (await exists(uri)) return uri;
  }
  return undefined;
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

/** A zero-based position inside the document for any 1-based numbers a card may carry, NaN and 0 included (E9). */
export function clampPosition(document: vscode.TextDocument, line: number | undefined, column?: number): vscode.Position {
  const wanted = Number.isFinite(line) ? Math.trunc(line as number) : 1;
  const lineIndex = Math.min(Math.max(wanted, 1), document.lineCount) - 1;
  const character = Number.isFinite(column) ? Math.max(Math.trunc(column as number), 1) - 1 : 0;
  return document.validatePosition(new vscode.Position(lineIndex, character));
}

export interface JumpOptions {
  /** 1-based. */
  readonly line?: number;
  /** 1-based, UTF-16. */
  readonly column?: number;
  /** UTF-16 units selected from there on. */
  readonly length?: number;
  readonly preview?: boolean;
  readonly preserveFocus?: boolean;
}

/** Opens a file at a place. Tells the user when there is no such file; images and other binaries open in their own editor. */
export async function jumpTo(file: string, cwd: string, options: JumpOptions = {}): Promise<void> {
  const uri = await locate(file, cwd);
  if (uri === undefined) {
    void vscode.window.showWarningMessage(vscode.l10n.t("'{0}' no longer exists.", file));
    return;
  }
  const stat = await vscode.workspace.fs.stat(uri);
  if (stat.type & vscode.FileType.Directory) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
    return;
  }
  let document: vscode.TextDocument;
  try {
    document = await vscode.workspace.openTextDocument(uri);
  } catch (error) {
    log().debug(`'${uri.fsPath}' is not text, opening it in its own editor`, String(error));
    await vscode.commands.executeCommand('vscode.open', uri, { preview: options.preview ?? true });
    return;
  }
  const start = clampPosition(document, options.line, options.column);
  const end = options.length === undefined ? start : document.validatePosition(start.translate(0, options.length));
  const editor = await vscode.window.showTextDocument(document, {
    preview: options.preview ?? true,
    preserveFocus: options.preserveFocus ?? false,
    selection: new vscode.Range(start, end),
    viewColumn: editorColumn(),
  });
  editor.revealRange(new vscode.Range(start, end), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Files open where the user edits, never on top of a webview panel of ours. */
function editorColumn(): vscode.ViewColumn {
  const group = vscode.window.tabGroups.activeTabGroup;
  const input = group.activeTab?.input;
  if (!(input instanceof vscode.TabInputWebview)) return vscode.ViewColumn.Active;
  const other = vscode.window.tabGroups.all.find((candidate) => candidate !== group);
  return other?.viewColumn ?? (input.viewType.includes('dshHost.results') ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside);
}

/** Opens a link outside, after VS Code's own question for hosts the user does not trust. http and https only. */
export async function openLink(url: string): Promise<void> {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return;
  }
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') {
    void vscode.window.showWarningMessage(vscode.l10n.t("Only web links can be opened: '{0}'.", url));
    return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(url, true));
}
