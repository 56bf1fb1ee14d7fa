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

/** Decided reviews whose texts are still served. */
const REMEMBERED = 20;

/** Whether the document of this URI has text that is not saved. */
function isTyped(uri: string): boolean {
  return vscode.workspace.textDocuments.some((document) => document.isDirty && document.uri.toString() === uri);
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
  /** The last texts of decided reviews: their editors are on their way out, and some come back. */
  readonly #decided = new Map<string, Pick<ReviewFile, 'base' | 'proposed'>>();
  readonly #unsubscribe: () => void;

  /** `take`: a proposal was saved. */
  constructor(review: ReviewService, take: (fileId: string, text: string) => Promise<void>) {
    this.#review = review;
    this.#take = take;
    this.#unsubscribe = review.onChange((file) => {
      if (file.state === 'decided') this.#remember(file);
      const uris = [reviewUri(file), reviewUri(file, 'base')];
      for (const uri of uris) this.#times.set(uri.toString(), Math.max(Date.now(), (this.#times.get(uri.toString()) ?? 0) + 1));
      this.#changed.fire(uris.map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
    });
  }

  #remember({ id, base, proposed }: ReviewFile): void {
    this.#decided.set(id, { base, proposed });
    const [oldest] = this.#decided.keys();
    if (this.#decided.size > REMEMBERED && oldest !== undefined) this.#decided.delete(oldest);
  }

  /** A review that is open, or was decided a short while ago. */
  #sides(uri: vscode.Uri): Pick<ReviewFile, 'base' | 'proposed'> | undefined {
    const id = reviewIdOf(uri) ?? '';
    const file = this.#review.file(id);
    return file !== undefined && file.state !== 'decided' ? file : this.#decided.get(id);
  }

  #text(uri: vscode.Uri): string {
    const sides = this.#sides(uri);
    // a tab of an earlier run, or out of the history: it is closed, and no error page comes before that
    if (sides === undefined) return `${vscode.l10n.t('This change was decided. Its card in the chat says what became of it.')}\n`;
    return uri.query === 'base' ? sides.base : sides.proposed;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const key = uri.toString();
    // what is typed is put on top of what the review did meanwhile: a newer time would make its next save a conflict
    const mtime = isTyped(key) ? 1 : this.#times.get(key) ?? 1;
    return {
      type: vscode.FileType.File, ctime: 0, mtime, size: Buffer.byteLength(this.#text(uri)),
      ...(uri.query === 'base' ? { permissions: vscode.FilePermission.Readonly } : {}),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return Buffer.from(this.#text(uri), 'utf8');
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const id = reviewIdOf(uri) ?? '';
    const file = this.#review.file(id);
    // decided a moment ago, and auto-save comes late: what was typed was taken into the decision
    if (file?.state === 'decided' || this.#decided.has(id)) return;
    if (uri.query === 'base') throw vscode.FileSystemError.NoPermissions(uri);
    // text of an earlier run that nobody takes any more: it stays in its editor
    if (file === undefined) throw vscode.FileSystemError.Unavailable(vscode.l10n.t('This change was decided. Its card in the chat says what became of it.'));
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
