import * as vscode from 'vscode';
import type { ReviewFile, ReviewService } from '../../seams/review.ts';
import { reviewUri } from './files.ts';

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
