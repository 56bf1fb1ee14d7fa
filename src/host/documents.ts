import path from 'node:path';
import * as vscode from 'vscode';
import type { Context } from '@deepseek-ai/cordis';
import type { ToolExecution } from '../contract/tool.ts';
import { statPath } from '../headless/disk.ts';
import { NodeFileSystem } from '../headless/fs.ts';
import type { FileOutcome, FileTarget, MutationContext, TextFile, TextSplice } from '../seams/fs.ts';
import { HarnessError } from '../contract/error.ts';
import { editOf } from './edit.ts';
import { saveDocument } from './save.ts';

/**
 * `ctx.fs` inside VS Code: a file that is open is read from and changed in its editor, so that unsaved edits survive and
 * a change can be undone (A13); everything else is plain node's.
 */
export class EditorFileSystem extends NodeFileSystem {
  /** The disk version a clean document was last found to be equal to, by document version. */
  private readonly verified = new WeakMap<vscode.TextDocument, { documentVersion: number; diskVersion: string }>();
  /** Notes for results whose file is not saved, by call. */
  private readonly unsaved = new Map<string, string>();

  constructor(ctx: Context) {
    super(ctx);
    ctx.inject(['tools'], (inner) => {
      inner.on('tools/post-execute', async (exec: ToolExecution, result, next) => {
        const decision = await next();
        const note = this.unsaved.get(exec.callId);
        this.unsaved.delete(exec.callId);
        if (note === undefined || decision.kind !== 'accept' || decision.value !== undefined) return decision;
        return { ...decision, content: [...(decision.content ?? result.content), { type: 'text', text: note }] };
      });
    });
  }

  override async openDocument(target: FileTarget): Promise<TextFile | undefined> {
    const document = documentOf(target);
    if (document === undefined) return undefined;
    const text = document.getText();
    if (document.isDirty) {
      return { text, encoding: document.encoding, version: `document ${document.version}`, source: 'document', dirty: true };
    }
    const version = await this.diskVersionOf(document, target, text);
    return version === undefined ? undefined : { text, encoding: document.encoding, version, source: 'document', dirty: false };
  }

  /**
   * The version of the file a clean document shows, or undefined when it does not show the file as it is: changed a
   * moment ago, or with mixed line endings, which an editor does not keep.
   */
  private async diskVersionOf(document: vscode.TextDocument, target: FileTarget, text: string): Promise<string | undefined> {
    const stat = await statPath(target.realPath);
    if (stat === null) return undefined;
    const known = this.verified.get(document);
    if (known?.documentVersion === document.version && known.diskVersion === stat.version) return stat.version;
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.file(target.realPath));
    const onDisk = await vscode.workspace.decode(bytes, { encoding: document.encoding });
    if (onDisk !== text) return undefined;
    this.verified.set(document, { documentVersion: document.version, diskVersion: stat.version });
    return stat.version;
  }

  protected override async writeDocument(target: FileTarget, before: TextFile, splices: readonly TextSplice[], after: string): Promise<{ version: string; text: string }> {
    const document = documentOf(target);
    const stale = () => new HarnessError(`cannot write "${target.path}": file changed since it was read — re-read the file, then retry`, 'FS_STALE_VERSION');
    if (document === undefined || document.getText() !== before.text) throw stale();
    if (!(await vscode.workspace.applyEdit(editOf(document, before.text, splices)))) throw new HarnessError(`VS Code did not apply the change to "${target.path}"`, 'FS_EDITOR_REFUSED');
    // a clean file is on disk again at once; unsaved edits of the user stay theirs to save
    if (!before.dirty && !(await saveDocument(document))) {
      throw new HarnessError(`the change is in the editor, but "${target.path}" could not be saved`, 'FS_NOT_SAVED');
    }
    if (document.isDirty) return { version: `document ${document.version}`, text: document.getText() };
    const version = (await statPath(target.realPath))?.version ?? `document ${document.version}`;
    // formatters and code actions ran while it was saved (B17); an editor that was closed meanwhile does not know
    const text = await vscode.workspace.decode(await vscode.workspace.fs.readFile(vscode.Uri.file(target.realPath)), { encoding: document.encoding });
    if (text === before.text && text !== after) throw stale();
    return { version, text };
  }

  override async write(target: FileTarget, content: string, context: MutationContext): Promise<FileOutcome> {
    return this.noting(target, context, await super.write(target, content, context));
  }

  override async edit(target: FileTarget, compute: (before: TextFile) => readonly TextSplice[], context: MutationContext): Promise<FileOutcome> {
    return this.noting(target, context, await super.edit(target, compute, context));
  }

  /** The model must know when a command would still see the old file. */
  private noting(target: FileTarget, context: MutationContext, outcome: FileOutcome): FileOutcome {
    if (context.callId !== undefined && documentOf(target)?.isDirty === true) {
      this.unsaved.set(context.callId, `Note: ${context.displayPath} has unsaved edits of the user in the editor. The change was made there and is not on disk until the user saves.`);
    }
    return outcome;
  }

  override encodingFor(target: FileTarget): string {
    return vscode.workspace.getConfiguration('files', vscode.Uri.file(target.path)).get<string>('encoding') ?? 'utf8';
  }
}

/** The open document of a file, whichever of its names it was opened by. Paths are compared by URI (B7, E5). */
export function documentOf(target: FileTarget): vscode.TextDocument | undefined {
  const names = new Set([target.path, target.realPath].map((file) => vscode.Uri.file(path.normalize(file)).toString()));
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && document.uri.scheme === 'file' && names.has(document.uri.toString()));
}
