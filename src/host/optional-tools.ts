import type { Context, Fiber } from '@deepseek-ai/cordis';
import type * as vscode from 'vscode';
import * as strReplaceEditor from '../tools/fs/str-replace-editor.ts';
import { onSettingChange, setting } from './settings.ts';

/** Tools that are there only where the user wants them; a change of the setting takes effect at once. */
export class OptionalTools implements vscode.Disposable {
  readonly #ctx: Context;
  readonly #listening: vscode.Disposable;
  #editor: Fiber | undefined;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#listening = onSettingChange(['strReplaceEditor'], () => this.#refresh());
    this.#refresh();
  }

  #refresh(): void {
    if (setting('strReplaceEditor')) {
      this.#editor ??= this.#ctx.plugin(strReplaceEditor, {});
    } else {
      void this.#editor?.dispose();
      this.#editor = undefined;
    }
  }

  dispose(): void {
    this.#listening.dispose();
    void this.#editor?.dispose();
  }
}
