import path from 'node:path';
import * as vscode from 'vscode';
import { HarnessError } from '../../contract/error.ts';
import type { ReviewFile, ReviewHunk, ReviewService, UndoOptions } from '../../seams/review.ts';
import { errorText, log } from '../log.ts';
import { saveDocument } from '../save.ts';
import { reviewIdOf, reviewUri, SCHEME } from './files.ts';
import { hunkLines, neighbour, type Lines } from './hunks.ts';
import { closeTabs, diffSides, proposalDocument, showHunks } from './tabs.ts';
import type { ProposalTyping } from './typing.ts';

/** Edits of a file are taken together. Milliseconds. */
const SETTLE_MS = 150;

/** Native diff editors for reviews, and every decision taken in them. */
export class ReviewEditor implements vscode.Disposable {
  readonly #review: ReviewService;
  readonly #disposables: (vscode.Disposable | { dispose(): void })[];
  readonly #stale = new Set<string>();
  readonly #typing: ProposalTyping;
  /** Diffs that VS Code is still opening, by review: closed in the middle of it they leave errors behind. */
  readonly #opening = new Map<string, Promise<unknown>>();
  #staleTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the user last did something in a file of theirs, and when last in the chat or in a review. Milliseconds. */
  #inFile = 0;
  #attending = Date.now();

  constructor(review: ReviewService, typing: ProposalTyping) {
    this.#review = review;
    this.#typing = typing;
    const watcher = vscode.workspace.createFileSystemWatcher('**/*');
    this.#disposables = [
      { dispose: review.onChange((file) => void this.#follow(file).catch((error: unknown) => log().warn(errorText(error)))) },
      vscode.workspace.onDidChangeTextDocument((event) => {
        const active = vscode.window.activeTextEditor?.document;
        if (event.contentChanges.length === 0) return;
        if (event.document === active) this.#used(active);
        this.#fileChanged(event.document.uri);
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => {
        if (event.kind !== undefined) this.#used(event.textEditor.document);
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.#updateContext()),
      vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
        if (opened.length > 0) this.#closeOver();
      }),
      watcher,
      watcher.onDidCreate((uri) => this.#fileChanged(uri)),
      watcher.onDidChange((uri) => this.#fileChanged(uri)),
      watcher.onDidDelete((uri) => this.#fileChanged(uri)),
    ];
    this.#updateContext();
    this.#closeOver();
  }

  #isOver(id: string): boolean {
    return (this.#review.file(id)?.state ?? 'decided') === 'decided';
  }

  /** Tabs of reviews that are over come back with a reload, or out of the history of closed editors. */
  #closeOver(): void {
    void closeTabs((id) => this.#isOver(id) && !this.#opening.has(id)).catch((error: unknown) => log().warn(errorText(error)));
  }

  /** Whether the active editor shows a file with changes that landed: the keys for Keep and Undo work there. */
  #updateContext(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const here = uri?.scheme === 'file' && this.#review.files().some((file) => file.state === 'applied' && vscode.Uri.file(file.file).toString() === uri.toString());
    void vscode.commands.executeCommand('setContext', 'dshHost.reviewHere', here);
  }

  /** The file under a review, or its proposed side, was edited: what is pending moves along, once the typing pauses. */
  #fileChanged(uri: vscode.Uri): void {
    if (uri.scheme !== 'file' && uri.scheme !== SCHEME) return;
    const key = uri.toString();
    for (const file of this.#review.files()) {
      if (uri.scheme === SCHEME ? reviewIdOf(uri) === file.id : vscode.Uri.file(file.file).toString() === key) this.#stale.add(file.id);
    }
    if (this.#stale.size === 0) return;
    clearTimeout(this.#staleTimer);
    this.#staleTimer = setTimeout(() => {
      const ids = [...this.#stale];
      this.#stale.clear();
      for (const id of ids) void this.sync(id).then(() => this.#review.refresh(id)).catch((error: unknown) => log().warn(errorText(error)));
    }, SETTLE_MS);
  }

  #used(document: vscode.TextDocument): void {
    if (document.uri.scheme === SCHEME) this.attend();
    else if (document.uri.scheme === 'file' || document.uri.scheme === 'untitled') this.#inFile = Date.now();
  }

  /** The user is with the agent's work: in the chat, or deciding. */
  attend(): void {
    this.#attending = Date.now();
  }

  /**
   * Opens the diff without taking the focus. Who works in a file meanwhile keeps it: a diff in its place would take the
   * keys away, so they are told instead.
   */
  async announce(file: ReviewFile): Promise<void> {
    if (this.#inFile <= this.#attending) return this.open(file, true);
    const open = vscode.l10n.t('Open Review');
    const answer = await vscode.window.showInformationMessage(vscode.l10n.t("A change to '{0}' waits for your review.", path.basename(file.file)), open);
    const now = this.#review.file(file.id);
    if (answer === open && now !== undefined && now.state !== 'decided') await this.open(now);
  }

  async open(file: ReviewFile, preserveFocus = false, hunk = file.hunks[0]): Promise<void> {
    const line = Math.max((hunk?.newStart ?? 1) - 1, 0);
    const { left, right, title } = diffSides(file);
    const opening = Promise.resolve(vscode.commands.executeCommand('vscode.diff', left, right, title, {
      preview: false, preserveFocus, selection: new vscode.Range(line, 0, line, 0),
    } satisfies vscode.TextDocumentShowOptions));
    const before = this.#opening.get(file.id);
    const all = Promise.allSettled([before, opening]);
    this.#opening.set(file.id, all);
    void all.then(() => {
      if (this.#opening.get(file.id) === all) this.#opening.delete(file.id);
    });
    await opening;
    // decided while it opened
    if (this.#isOver(file.id)) await closeTabs((id) => id === file.id);
  }

  /** The review a command is about: of the URI a menu passed, of the active editor, or the only one there is. */
  fileOf(argument: unknown): ReviewFile | undefined {
    const uri = argument instanceof vscode.Uri ? argument : (argument as { uri?: vscode.Uri } | undefined)?.uri ?? vscode.window.activeTextEditor?.document.uri;
    const id = uri === undefined ? undefined : reviewIdOf(uri);
    if (id !== undefined) return this.#review.file(id);
    const files = this.#review.files();
    const here = files.filter((file) => uri !== undefined && vscode.Uri.file(file.file).toString() === uri.toString());
    return here.find((file) => file.state === 'applied') ?? here[0] ?? (files.length === 1 ? files[0] : undefined);
  }

  /** Where the cursor is in the review's editor, and what can be seen of it: 1-based lines of the side with the change. */
  placeIn(file: ReviewFile): { readonly line: number; readonly visible: readonly Lines[] } | undefined {
    const editor = this.#editorOf(file);
    if (editor === undefined) return undefined;
    return { line: editor.selection.active.line + 1, visible: editor.visibleRanges.map(({ start, end }) => ({ first: start.line + 1, last: end.line + 1 })) };
  }

  #editorOf(file: ReviewFile): vscode.TextEditor | undefined {
    const wanted = file.state === 'applied' ? vscode.Uri.file(file.file).toString() : reviewUri(file).toString();
    const { activeTextEditor, visibleTextEditors } = vscode.window;
    return [activeTextEditor, ...visibleTextEditors].find((editor) => editor?.document.uri.toString() === wanted);
  }

  /** Takes what stands in the editor of a proposal into the review. */
  sync(fileId: string): Promise<void> {
    return this.#typing.sync(fileId);
  }

  async accept(fileId: string, hunkId?: string): Promise<void> {
    await this.#decide(fileId, () => (hunkId === undefined ? this.#review.accept(fileId) : this.#review.acceptHunk(fileId, hunkId)));
  }

  async reject(fileId: string, hunkId?: string, note?: string): Promise<void> {
    const reject = (options?: UndoOptions) => (hunkId === undefined ? this.#review.reject(fileId, note, options) : this.#review.rejectHunk(fileId, hunkId, note, options));
    await this.#decide(fileId, async () => {
      try {
        await reject();
      } catch (error) {
        if (!(error instanceof HarnessError && error.code === 'REVIEW_EDITED')) throw error;
        if (await this.#askForEdited(fileId)) await reject({ edited: 'undo' });
      }
    });
  }

  /** The user's own bytes go only when they say so. */
  async #askForEdited(fileId: string): Promise<boolean> {
    const file = this.#review.file(fileId);
    const undo = vscode.l10n.t('Undo Both');
    const answer = await vscode.window.showWarningMessage(
      vscode.l10n.t("You edited these lines of '{0}' after the agent changed them.", path.basename(file?.file ?? '')),
      { modal: true, detail: vscode.l10n.t('Undoing takes your edit back too. It can be undone in the editor.') }, undo,
    );
    return answer === undo;
  }

  async #decide(fileId: string, decision: () => Promise<void>): Promise<void> {
    this.attend();
    try {
      await this.sync(fileId);
      await decision();
    } catch (error) {
      void vscode.window.showErrorMessage(errorText(error));
    }
  }

  /** Proposals were given up because the file changed where they were: told, and kept in reach. */
  async drifted(file: ReviewFile, lost: readonly ReviewHunk[]): Promise<void> {
    const show = vscode.l10n.t('Show Them');
    const name = path.basename(file.file);
    const text = lost.length === 1 ? vscode.l10n.t("A proposed change to '{0}' was given up: the file was changed at these lines.", name)
      : vscode.l10n.t("{0} proposed changes to '{1}' were given up: the file was changed at these lines.", lost.length, name);
    if ((await vscode.window.showWarningMessage(text, show)) === show) await showHunks(file, lost);
  }

  /** Moves to the next or previous hunk, from one file to the next; opens the first review when none is shown. */
  async move(file: ReviewFile | undefined, step: 1 | -1): Promise<void> {
    this.attend();
    const files = this.#review.files();
    const editor = file === undefined ? undefined : this.#editorOf(file);
    if (file !== undefined && editor !== undefined && editor === vscode.window.activeTextEditor) {
      const hunk = neighbour(file, editor.selection.active.line + 1, step);
      if (hunk !== undefined) return this.#show(editor, hunk);
      const at = files.findIndex(({ id }) => id === file.id);
      const other = files[(at + step + files.length) % files.length];
      const first = (step === 1 ? other?.hunks[0] : other?.hunks.at(-1)) ?? other?.hunks[0];
      if (other === undefined || first === undefined) return;
      return other.id === file.id ? this.#show(editor, first) : this.open(other, false, first);
    }
    const target = file ?? files[0];
    if (target !== undefined) await this.open(target);
  }

  /** After a decision by key: the cursor goes on to the next hunk, in this file or the next one. */
  async goOn(fileId: string): Promise<void> {
    const file = this.#review.file(fileId);
    if (file === undefined || file.state === 'decided') return;
    const editor = this.#editorOf(file);
    if (editor === undefined || editor !== vscode.window.activeTextEditor) return;
    const hunk = neighbour(file, editor.selection.active.line, 1) ?? file.hunks[0];
    if (hunk !== undefined) this.#show(editor, hunk);
  }

  #show(editor: vscode.TextEditor, hunk: ReviewHunk): void {
    const { first, last } = hunkLines(hunk);
    const start = editor.document.validatePosition(new vscode.Position(first - 1, 0));
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, editor.document.validatePosition(new vscode.Position(last - 1, 0))), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** Keeps open editors in step: the right side shows what is pending now; the tab closes when nothing is. */
  async #follow(file: ReviewFile): Promise<void> {
    this.#updateContext();
    await this.#typing.follow(file);
    if (file.state !== 'decided') return;
    const document = proposalDocument(file);
    // what is typed there was taken into the decision: as a file of its own it is saved, so that nobody is asked about it
    if (document?.isDirty === true) await saveDocument(document);
    await this.#opening.get(file.id);
    await closeTabs((id) => id === file.id);
  }

  dispose(): void {
    clearTimeout(this.#staleTimer);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
