import path from 'node:path';
import * as vscode from 'vscode';
import type { ReviewFile, ReviewHunk, ReviewService } from '../../seams/review.ts';
import { reviewUri } from './files.ts';

export type ChangeNode =
  | { readonly kind: 'turn'; readonly turn: number; readonly sessionId: string }
  | { readonly kind: 'file'; readonly file: ReviewFile }
  | { readonly kind: 'hunk'; readonly file: ReviewFile; readonly hunk: ReviewHunk };

/** The "Changes" view: turn → file → change, for everything that waits for a decision. */
export class ChangesTree implements vscode.TreeDataProvider<ChangeNode>, vscode.Disposable {
  readonly #review: ReviewService;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<ChangeNode>;
  readonly #unsubscribe: () => void;

  constructor(review: ReviewService) {
    this.#review = review;
    this.#view = vscode.window.createTreeView('dshHost.changes', { treeDataProvider: this, showCollapseAll: true });
    this.#unsubscribe = review.onChange(() => this.refresh());
    this.refresh();
  }

  refresh(): void {
    const hunks = this.#review.files().reduce((sum, file) => sum + Math.max(file.hunks.length, 1), 0);
    this.#view.badge = hunks === 0 ? undefined : { value: hunks, tooltip: vscode.l10n.t('{0} changes to review', hunks) };
    void vscode.commands.executeCommand('setContext', 'dshHost.hasChanges', hunks > 0);
    this.#changed.fire(undefined);
  }

  getChildren(node?: ChangeNode): ChangeNode[] {
    const files = this.#review.files();
    if (node === undefined) {
      const turns = new Map(files.map((file) => [`${file.sessionId} ${file.turn}`, file]));
      if (turns.size > 1) return [...turns.values()].map(({ turn, sessionId }) => ({ kind: 'turn', turn, sessionId }));
      return files.map((file) => ({ kind: 'file', file }));
    }
    if (node.kind === 'turn') return files.filter((file) => file.turn === node.turn && file.sessionId === node.sessionId).map((file) => ({ kind: 'file', file }));
    return node.kind === 'file' ? node.file.hunks.map((hunk) => ({ kind: 'hunk', file: node.file, hunk })) : [];
  }

  getTreeItem(node: ChangeNode): vscode.TreeItem {
    if (node.kind === 'turn') {
      const item = new vscode.TreeItem(vscode.l10n.t('Turn {0}', node.turn), vscode.TreeItemCollapsibleState.Expanded);
      item.contextValue = 'turn';
      return item;
    }
    const open = { command: 'dshHost.review.openDiff', title: vscode.l10n.t('Open Review'), arguments: [node] };
    if (node.kind === 'file') {
      const { file } = node;
      const item = new vscode.TreeItem(vscode.Uri.file(file.file), vscode.TreeItemCollapsibleState.Collapsed);
      item.id = file.id;
      item.description = fileDescription(file);
      item.contextValue = 'file';
      item.tooltip = `${file.file}\n${file.state === 'applied' ? vscode.l10n.t('In the file, can be undone') : vscode.l10n.t('Waits for you, the file is unchanged')}`;
      item.command = open;
      return item;
    }
    const { file, hunk } = node;
    const text = (hunk.newLines.find((line) => line.trim() !== '') ?? hunk.oldLines[0] ?? '').trim();
    const item = new vscode.TreeItem(text === '' ? vscode.l10n.t('Line {0}', hunk.newStart) : text);
    item.id = `${file.id} ${hunk.id}`;
    item.description = vscode.l10n.t('line {0}, +{1} −{2}', hunk.newStart, hunk.newLines.length, hunk.oldLines.length);
    item.contextValue = 'hunk';
    item.iconPath = new vscode.ThemeIcon(hunk.oldLines.length === 0 ? 'diff-added' : hunk.newLines.length === 0 ? 'diff-removed' : 'diff-modified');
    item.command = open;
    return item;
  }

  getParent(node: ChangeNode): ChangeNode | undefined {
    return node.kind === 'hunk' ? { kind: 'file', file: node.file } : undefined;
  }

  dispose(): void {
    this.#unsubscribe();
    this.#view.dispose();
    this.#changed.dispose();
  }
}

function fileDescription(file: ReviewFile): string {
  const added = file.hunks.reduce((sum, hunk) => sum + hunk.newLines.length, 0);
  const removed = file.hunks.reduce((sum, hunk) => sum + hunk.oldLines.length, 0);
  const folder = path.dirname(vscode.workspace.asRelativePath(file.file));
  return `+${added} −${removed}${folder === '.' ? '' : ` ${folder}`}`;
}

/** Files that landed and stay open get gutter marks against what was there before (auto-edit preset). */
export class AppliedMarks implements vscode.Disposable {
  readonly #review: ReviewService;
  readonly #unsubscribe: () => void;
  #control: vscode.SourceControl | undefined;
  #marked = '';

  constructor(review: ReviewService) {
    this.#review = review;
    this.#unsubscribe = review.onChange(() => this.#update());
    this.#update();
  }

  #applied(uri: vscode.Uri): ReviewFile | undefined {
    return this.#review.files().find((file) => file.state === 'applied' && vscode.Uri.file(file.file).toString() === uri.toString());
  }

  #update(): void {
    const any = this.#review.files().some((file) => file.state === 'applied');
    if (!any) {
      this.#control?.dispose();
      this.#control = undefined;
      this.#marked = '';
      return;
    }
    this.#control ??= vscode.scm.createSourceControl('dsh', vscode.l10n.t('DSH Review'));
    const marked = this.#review.files().filter((file) => file.state === 'applied').map((file) => file.id).join(' ');
    if (marked === this.#marked) return;
    this.#marked = marked;
    // VS Code asks again only when the provider goes and comes
    (this.#control as { quickDiffProvider: vscode.QuickDiffProvider | undefined }).quickDiffProvider = undefined;
    this.#control.quickDiffProvider = {
      provideOriginalResource: (uri) => {
        const file = this.#applied(uri);
        return file === undefined ? undefined : reviewUri(file, 'base');
      },
    };
    this.#control.inputBox.visible = false;
  }

  dispose(): void {
    this.#unsubscribe();
    this.#control?.dispose();
  }
}
