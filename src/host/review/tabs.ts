import path from 'node:path';
import * as vscode from 'vscode';
import type { ReviewFile, ReviewHunk } from '../../seams/review.ts';
import { splicesBetween } from '../../text/hunk.ts';
import { editOf } from '../edit.ts';
import { reviewIdOf, reviewUri } from './files.ts';

/** The two sides of a review as the native diff editor shows them, and the tab's title. */
export function diffSides(file: ReviewFile): { left: vscode.Uri; right: vscode.Uri; title: string } {
  const name = path.basename(file.file);
  const real = vscode.Uri.file(file.file);
  if (file.state === 'applied') return { left: reviewUri(file, 'base'), right: real, title: vscode.l10n.t('{0} (Before ↔ Now)', name) };
  // the real file on the left is what brings the tab back after a reload
  return { left: file.operation === 'create' ? reviewUri(file, 'base') : real, right: reviewUri(file), title: vscode.l10n.t('{0} (Review)', name) };
}

/** All files of a turn in one editor: for looking, decisions are taken in the single diffs, the view and the chat. */
export async function openTogether(files: readonly ReviewFile[], title: string): Promise<void> {
  const resources = files.map((file) => {
    const real = vscode.Uri.file(file.file);
    // both sides under one path, or VS Code shows a renamed file
    return file.state === 'applied' ? [real, reviewUri(file, 'base').with({ path: real.path }), real] : [real, reviewUri(file, 'base'), reviewUri(file)];
  });
  await vscode.commands.executeCommand('vscode.changes', title, resources);
}

/** The document of a review's proposed side, when it is loaded. */
export function proposalDocument(file: Pick<ReviewFile, 'id' | 'file'>): vscode.TextDocument | undefined {
  const wanted = reviewUri(file).toString();
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && document.uri.toString() === wanted);
}

export async function replaceText(document: vscode.TextDocument, text: string): Promise<void> {
  const now = document.getText();
  await vscode.workspace.applyEdit(editOf(document, now, splicesBetween(now, text)));
}

/** Closes tabs that show reviews `gone` says are over. One with unsaved text stays, or VS Code would ask the user about it. */
export async function closeTabs(gone: (reviewId: string) => boolean): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => {
    const { input, isDirty } = tab;
    if (isDirty) return false;
    const uris = input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : input instanceof vscode.TabInputText ? [input.uri] : [];
    return uris.some((uri) => {
      const id = reviewIdOf(uri);
      return id !== undefined && gone(id);
    });
  });
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
}

/** Proposals as text, so that what was given up is still there to copy from. */
export async function showHunks(file: ReviewFile, hunks: readonly ReviewHunk[]): Promise<void> {
  const lines = (sign: string, all: readonly string[]) => all.map((line) => `${sign}${line.replace(/\r?\n$|\r$/, '')}`);
  const content = hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines.length} +${hunk.newStart},${hunk.newLines.length} @@ ${file.path}`, ...lines('-', hunk.oldLines), ...lines('+', hunk.newLines),
  ]).join('\n');
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: `${content}\n`, language: 'diff' }), { preview: true });
}
