import path from 'node:path';
import * as vscode from 'vscode';
import type { ReviewFile, ReviewHunk, ReviewService } from '../../seams/review.ts';
import { splicesBetween } from '../../text/hunk.ts';
import { errorText, log } from '../log.ts';
import { reviewIdOf, reviewUri } from './files.ts';
import { hunkAt, hunkLines, neighbour } from './hunks.ts';

/** A diff must not push away what the user is typing in. Milliseconds since the last keystroke. */
const TYPING_MS = 2_000;
/** A file's edits are taken together. Milliseconds. */
const SETTLE_MS = 150;

/** Native diff editors for reviews, and every decision taken in them. */
export class ReviewEditor implements vscode.Disposable {
  readonly #review: ReviewService;
  readonly #disposables: (vscode.Disposable | { dispose(): void })[];
  readonly #stale = new Set<string>();
  #staleTimer: ReturnType<typeof setTimeout> | undefined;
  #lastTyped = 0;

  constructor(review: ReviewService) {
    this.#review = review;
    const watcher = vscode.workspace.createFileSystemWatcher('**/*', true);
    this.#disposables = [
      { dispose: review.onChange((file) => void this.#follow(file)) },
      vscode.workspace.onDidChangeTextDocument((event) => {
        const active = vscode.window.activeTextEditor?.document;
        if (event.document === active && event.contentChanges.length > 0 && event.document.uri.scheme !== 'output') this.#lastTyped = Date.now();
        if (event.contentChanges.length > 0) this.#fileChanged(event.document.uri);
      }),
      watcher,
      watcher.onDidChange((uri) => this.#fileChanged(uri)),
      watcher.onDidDelete((uri) => this.#fileChanged(uri)),
    ];
  }

  /** The file under a review was edited: its pending changes move along, once the typing pauses. */
  #fileChanged(uri: vscode.Uri): void {
    if (uri.scheme !== 'file') return;
    const key = uri.toString();
    for (const file of this.#review.files()) if (vscode.Uri.file(file.file).toString() === key) this.#stale.add(file.id);
    if (this.#stale.size === 0) return;
    clearTimeout(this.#staleTimer);
    this.#staleTimer = setTimeout(() => {
      const ids = [...this.#stale];
      this.#stale.clear();
      for (const id of ids) void this.sync(id).then(() => this.#review.refresh(id)).catch((error: unknown) => log().warn(errorText(error)));
    }, SETTLE_MS);
  }

  /** Opens the diff without taking the focus, unless the user is typing in an editor right now. */
  async announce(file: ReviewFile): Promise<void> {
    if (Date.now() - this.#lastTyped < TYPING_MS) return;
    await this.open(file, true);
  }

  async open(file: ReviewFile, preserveFocus = false): Promise<void> {
    const first = file.hunks[0];
    const line = Math.max((first?.newStart ?? 1) - 1, 0);
    const name = path.basename(file.file);
    const real = vscode.Uri.file(file.file);
    const [left, right, title] = file.state === 'applied'
      ? [reviewUri(file, 'base'), real, vscode.l10n.t('{0} (Before ↔ Now)', name)]
      : [file.operation === 'create' ? reviewUri(file, 'base') : real, reviewUri(file), vscode.l10n.t('{0} (Review)', name)];
    await vscode.commands.executeCommand('vscode.diff', left, right, title, {
      preview: false, preserveFocus, selection: new vscode.Range(line, 0, line, 0),
    } satisfies vscode.TextDocumentShowOptions);
  }

  /** The review a command is about: of the URI a menu passed, of the active editor, or the only one there is. */
  fileOf(argument: unknown): ReviewFile | undefined {
    const uri = argument instanceof vscode.Uri ? argument : (argument as { uri?: vscode.Uri } | undefined)?.uri ?? vscode.window.activeTextEditor?.document.uri;
    const id = uri === undefined ? undefined : reviewIdOf(uri);
    if (id !== undefined) return this.#review.file(id);
    const files = this.#review.files();
    return files.find((file) => uri !== undefined && vscode.Uri.file(file.file).toString() === uri.toString()) ?? (files.length === 1 ? files[0] : undefined);
  }

  /** The hunk under the cursor of the review's editor; `lineNumber` (1-based) comes from the line number menu. */
  hunkOf(file: ReviewFile, argument?: unknown): ReviewHunk | undefined {
    const lineNumber = (argument as { lineNumber?: unknown } | undefined)?.lineNumber;
    const editor = this.#editorOf(file);
    const line = typeof lineNumber === 'number' ? lineNumber : (editor?.selection.active.line ?? 0) + 1;
    return hunkAt(file, line);
  }

  #editorOf(file: ReviewFile): vscode.TextEditor | undefined {
    const wanted = file.state === 'applied' ? vscode.Uri.file(file.file).toString() : reviewUri(file).toString();
    const { activeTextEditor, visibleTextEditors } = vscode.window;
    return [activeTextEditor, ...visibleTextEditors].find((editor) => editor?.document.uri.toString() === wanted);
  }

  /** Takes what stands in the editor, saved or not, into the review: a decision is about what the user sees. */
  async sync(fileId: string): Promise<void> {
    const file = this.#review.file(fileId);
    if (file === undefined || file.state !== 'staged') return;
    const document = documentOf(file);
    if (document?.isDirty === true) await this.#review.setProposed(fileId, document.getText());
  }

  async accept(fileId: string, hunkId?: string): Promise<void> {
    await this.#decide(fileId, () => (hunkId === undefined ? this.#review.accept(fileId) : this.#review.acceptHunk(fileId, hunkId)));
  }

  async reject(fileId: string, hunkId?: string, note?: string): Promise<void> {
    await this.#decide(fileId, () => (hunkId === undefined ? this.#review.reject(fileId, note) : this.#review.rejectHunk(fileId, hunkId, note)));
  }

  async #decide(fileId: string, decision: () => Promise<void>): Promise<void> {
    await this.sync(fileId);
    try {
      await decision();
    } catch (error) {
      void vscode.window.showErrorMessage(errorText(error));
    }
  }

  reveal(file: ReviewFile, step: 1 | -1): void {
    const editor = this.#editorOf(file);
    if (editor === undefined) return;
    const hunk = neighbour(file, editor.selection.active.line + 1, step);
    if (hunk === undefined) return;
    const { first, last } = hunkLines(hunk);
    const start = editor.document.validatePosition(new vscode.Position(first - 1, 0));
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, editor.document.validatePosition(new vscode.Position(last - 1, 0))), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** Keeps open editors in step: the right side shows what is pending now; the tab closes when nothing is. */
  async #follow(file: ReviewFile): Promise<void> {
    const document = documentOf(file);
    if (file.state === 'decided') {
      // a dirty tab would ask whether to save a proposal that is gone
      if (document?.isDirty === true) await replaceText(document, file.proposed);
      await closeTabs(file.id);
      return;
    }
    if (document?.isDirty === true && file.state === 'staged' && document.getText() !== file.proposed) {
      await replaceText(document, file.proposed);
    }
  }

  dispose(): void {
    clearTimeout(this.#staleTimer);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

function documentOf(file: ReviewFile): vscode.TextDocument | undefined {
  const wanted = reviewUri(file).toString();
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && document.uri.toString() === wanted);
}

async function replaceText(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  for (const splice of splicesBetween(document.getText(), text)) {
    edit.replace(document.uri, new vscode.Range(document.positionAt(splice.start), document.positionAt(splice.end)), splice.text);
  }
  await vscode.workspace.applyEdit(edit);
}

/** Closes the diff tabs of a review; unsaved text in them is in the review already. */
async function closeTabs(reviewId: string): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => {
    const { input } = tab;
    const uris = input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : input instanceof vscode.TabInputText ? [input.uri] : [];
    return uris.some((uri) => reviewIdOf(uri) === reviewId);
  });
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
}
