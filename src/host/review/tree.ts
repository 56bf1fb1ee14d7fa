import path from 'node:path';
import * as vscode from 'vscode';
import { assertNever } from '../../contract/never.ts';
import type { ReviewFile, ReviewHunk, ReviewProblem, ReviewService } from '../../seams/review.ts';
import { pendingReviews } from '../chat/pending.ts';
import { problemText } from './words.ts';

export type ChangeNode =
  | { readonly kind: 'turn'; readonly turn: number; readonly sessionId: string }
  | { readonly kind: 'file'; readonly file: ReviewFile }
  /** What went wrong with the file's review last. */
  | { readonly kind: 'problem'; readonly file: ReviewFile; readonly problem: ReviewProblem }
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
    const { changes, files, kind } = pendingReviews(this.#review.files());
    this.#view.badge = changes === 0 ? undefined : { value: changes, tooltip: countText(changes, files) };
    void vscode.commands.executeCommand('setContext', 'dshHost.hasChanges', changes > 0);
    void vscode.commands.executeCommand('setContext', 'dshHost.reviews', kind);
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
    if (node.kind !== 'file') return [];
    const { file } = node;
    const hunks = file.hunks.map((hunk): ChangeNode => ({ kind: 'hunk', file, hunk }));
    return file.problem === undefined ? hunks : [{ kind: 'problem', file, problem: file.problem }, ...hunks];
  }

  getTreeItem(node: ChangeNode): vscode.TreeItem {
    const open = { command: 'dshHost.review.openDiff', title: vscode.l10n.t('Open Review'), arguments: [node] };
    switch (node.kind) {
      case 'turn': {
        const item = new vscode.TreeItem(vscode.l10n.t('Turn {0}', node.turn), vscode.TreeItemCollapsibleState.Expanded);
        item.contextValue = 'turn';
        return item;
      }
      case 'file': return fileItem(node.file, open);
      case 'problem': {
        const item = new vscode.TreeItem(problemText(node.problem));
        item.id = `${node.file.id} problem`;
        item.tooltip = problemText(node.problem);
        item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
        item.contextValue = 'problem';
        item.command = open;
        return item;
      }
      case 'hunk': return hunkItem(node.file, node.hunk, open);
      default: return assertNever(node, 'node of the Changes view');
    }
  }

  getParent(node: ChangeNode): ChangeNode | undefined {
    return node.kind === 'hunk' || node.kind === 'problem' ? { kind: 'file', file: node.file } : undefined;
  }

  dispose(): void {
    this.#unsubscribe();
    this.#view.dispose();
    this.#changed.dispose();
  }
}

/** What waits, for who can't see the badge's meaning. */
function countText(changes: number, files: number): string {
  if (changes === 1) return vscode.l10n.t('1 change to review');
  return files === 1 ? vscode.l10n.t('{0} changes in 1 file to review', changes) : vscode.l10n.t('{0} changes in {1} files to review', changes, files);
}

function fileItem(file: ReviewFile, open: vscode.Command): vscode.TreeItem {
  const { problem } = file;
  const item = new vscode.TreeItem(vscode.Uri.file(file.file), problem === undefined ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.Expanded);
  // VS Code remembers by id what was folded: a problem unfolds it once
  item.id = problem === undefined ? file.id : `${file.id} with problem`;
  item.description = fileDescription(file);
  item.contextValue = file.landed ? 'landedFile' : 'file';
  const state = file.landed ? vscode.l10n.t('In the file, can be undone') : vscode.l10n.t('Waits for you, the file is unchanged');
  item.tooltip = [file.file, state, ...(problem === undefined ? [] : [problemText(problem)])].join('\n');
  if (problem !== undefined) item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
  item.command = open;
  return item;
}

function hunkItem(file: ReviewFile, hunk: ReviewHunk, open: vscode.Command): vscode.TreeItem {
  const text = (hunk.newLines.find((line) => line.trim() !== '') ?? hunk.oldLines[0] ?? '').trim();
  const item = new vscode.TreeItem(text === '' ? vscode.l10n.t('Line {0}', hunk.newStart) : text);
  item.id = `${file.id} ${hunk.id}`;
  item.description = vscode.l10n.t('line {0}, +{1} −{2}', hunk.newStart, hunk.newLines.length, hunk.oldLines.length);
  item.contextValue = file.landed ? 'landedHunk' : 'hunk';
  item.iconPath = new vscode.ThemeIcon(hunk.oldLines.length === 0 ? 'diff-added' : hunk.newLines.length === 0 ? 'diff-removed' : 'diff-modified');
  item.command = open;
  return item;
}

function fileDescription(file: ReviewFile): string {
  const added = file.hunks.reduce((sum, hunk) => sum + hunk.newLines.length, 0);
  const removed = file.hunks.reduce((sum, hunk) => sum + hunk.oldLines.length, 0);
  const folder = path.dirname(vscode.workspace.asRelativePath(file.file));
  return `+${added} −${removed}${folder === '.' ? '' : ` ${folder}`}`;
}
