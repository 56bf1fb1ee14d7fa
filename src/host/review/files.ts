import * as vscode from 'vscode';
import type { ReviewFile, ReviewService } from '../../seams/review.ts';

export const SCHEME = 'dsh-review';

/**
 * The editable right side of a review, or with `base` the text before it. The path is the file's own, so that language,
 * icon and breadcrumbs are right; the authority says which review it is.
 */
export function reviewUri(file: Pick<ReviewFile, 'id' | 'file'>, side: 'proposed' | 'base' = 'proposed'): vscode.Uri {
  const shown = vscode.Uri.file(vscode.workspace.asRelativePath(file.file, false)).path;
  return vscode.Uri.from({ scheme: SCHEME, authority: file.id, path: shown, ...(side === 'base' ? { query: 'base' } : {}) });
}

/** Which review a `dsh-review:` URI belongs to. */
export function reviewIdOf(uri: vscode.Uri): string | undefined {
  return uri.scheme === SCHEME ? uri.authority : undefined;
}

/**
 * Staged texts as files (design 4): writable, so that the proposed side can be edited; saving, by hand or by auto-save,
 * keeps what was typed and accepts nothing.
 */
export class ReviewFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #review: ReviewService;
  readonly #take: (fileId: string, text: string) => Promise<void>;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #times = new Map<string, number>();
  readonly #unsubscribe: () => void;

  /** `take`: a proposal was saved. */
  constructor(review: ReviewService, take: (fileId: string, text: string) => Promise<void>) {
    this.#review = review;
    this.#take = take;
    this.#unsubscribe = review.onChange((file) => {
      const uris = [reviewUri(file), reviewUri(file, 'base')];
      for (const uri of uris) {
        // what is typed is in the editor first: a newer time would make its next save look like a conflict
        const typing = vscode.workspace.textDocuments.some((document) => document.isDirty && document.uri.toString() === uri.toString());
        if (!typing) this.#times.set(uri.toString(), Date.now());
      }
      const type = file.state === 'decided' ? vscode.FileChangeType.Deleted : vscode.FileChangeType.Changed;
      this.#changed.fire(uris.map((uri) => ({ type, uri })));
    });
  }

  #file(uri: vscode.Uri): ReviewFile {
    const file = this.#review.file(reviewIdOf(uri) ?? '');
    if (file === undefined || file.state === 'decided') throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }

  #text(uri: vscode.Uri): string {
    const file = this.#file(uri);
    return uri.query === 'base' ? file.base : file.proposed;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    // an auto-save that comes after the decision must not fail before the user's eyes
    const decided = this.#review.file(reviewIdOf(uri) ?? '')?.state === 'decided';
    const text = decided ? '' : this.#text(uri);
    const mtime = this.#times.get(uri.toString()) ?? 1;
    return {
      type: vscode.FileType.File, ctime: 0, mtime, size: Buffer.byteLength(text),
      ...(uri.query === 'base' ? { permissions: vscode.FilePermission.Readonly } : {}),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return Buffer.from(this.#text(uri), 'utf8');
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    // decided a moment ago, and auto-save comes late: what was typed was taken into the decision
    if (this.#review.file(reviewIdOf(uri) ?? '')?.state === 'decided') return;
    const file = this.#file(uri);
    if (uri.query === 'base') throw vscode.FileSystemError.NoPermissions(uri);
    await this.#take(file.id, new TextDecoder('utf-8', { ignoreBOM: true }).decode(content));
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#unsubscribe();
    this.#changed.dispose();
  }
}
