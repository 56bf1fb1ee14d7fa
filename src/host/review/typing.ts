import * as vscode from 'vscode';
import { carry } from '../../review/rebase.ts';
import type { ReviewFile, ReviewService } from '../../seams/review.ts';
import { reviewIdOf } from './files.ts';
import { proposalDocument, replaceText } from './tabs.ts';

/** What an editor of a proposal stood on last, when its text and the review's were the same. */
interface Ground {
  text: string;
  /** Typed text on its way into the review: so many calls. */
  inFlight: number;
  /** Undone or redone since: a document without unsaved changes may differ from the review all the same. */
  undone: boolean;
}

/**
 * What the user types on the proposed side goes into the review, and what the review changes meanwhile (a hunk rejected,
 * the file changed) goes into the editor: each on top of the other, so that neither is lost.
 */
export class ProposalTyping implements vscode.Disposable {
  readonly #review: ReviewService;
  readonly #grounds = new Map<string, Ground>();
  readonly #disposables: vscode.Disposable[];

  constructor(review: ReviewService) {
    this.#review = review;
    this.#disposables = [
      vscode.workspace.onDidOpenTextDocument((document) => this.#opened(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.#changed(event)),
    ];
    for (const document of vscode.workspace.textDocuments) this.#opened(document);
  }

  /** Text that a crash left unsaved was typed on what the review has: it was taken before. */
  #opened(document: vscode.TextDocument): void {
    const file = this.#staged(document.uri);
    if (file !== undefined) this.#grounds.set(file.id, { text: document.isDirty ? file.proposed : document.getText(), inFlight: 0, undone: false });
  }

  #changed({ document, reason, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const file = contentChanges.length === 0 ? undefined : this.#staged(document.uri);
    const ground = file === undefined ? undefined : this.#grounds.get(file.id);
    if (file === undefined || ground === undefined) return;
    if (reason !== undefined) ground.undone = true;
    // VS Code took a changed proposal over into a clean editor: that is what is typed on from now on
    else if (ground.inFlight === 0 && document.getText() === file.proposed) ground.text = file.proposed;
  }

  #staged(uri: vscode.Uri): ReviewFile | undefined {
    const id = uri.query === '' ? reviewIdOf(uri) : undefined;
    const file = id === undefined ? undefined : this.#review.file(id);
    return file?.state === 'staged' ? file : undefined;
  }

  /** Takes what stands in the editor, saved or not, into the review: a decision is about what the user sees. */
  async sync(fileId: string): Promise<void> {
    const file = this.#review.file(fileId);
    if (file === undefined || file.state !== 'staged') return;
    const document = proposalDocument(file);
    if (document === undefined || (!document.isDirty && this.#grounds.get(fileId)?.undone !== true)) return;
    await this.take(fileId, document.getText());
  }

  /** The proposed side holds this text now. Only what was typed since it was taken last goes into the review. */
  async take(fileId: string, text: string): Promise<void> {
    const file = this.#review.file(fileId);
    if (file === undefined || file.state !== 'staged') return;
    const ground = this.#grounds.get(fileId) ?? { text: file.proposed, inFlight: 0, undone: false };
    this.#grounds.set(fileId, ground);
    ground.undone = false;
    const since = ground.text;
    if (since === text) return;
    ground.text = text;
    ground.inFlight += 1;
    try {
      await this.#review.setProposed(fileId, text, since);
    } finally {
      ground.inFlight -= 1;
    }
    const now = this.#review.file(fileId);
    if (now !== undefined && ground.inFlight === 0) await this.follow(now);
  }

  /** The review changed the proposal: what was typed since is put on top of it. Clean editors are VS Code's to reload. */
  async follow(file: ReviewFile): Promise<void> {
    if (file.state !== 'staged') return void this.#grounds.delete(file.id);
    const document = proposalDocument(file);
    const ground = this.#grounds.get(file.id);
    // what was typed is on its way into the review: the editor is ahead, and stays so until it has arrived
    if (document?.isDirty !== true || ground === undefined || ground.inFlight > 0 || ground.text === file.proposed) return;
    if (this.#review.file(file.id)?.proposed !== file.proposed) return;
    const text = carry(file.proposed, ground.text, document.getText());
    ground.text = file.proposed;
    if (document.getText() !== text) await replaceText(document, text);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
