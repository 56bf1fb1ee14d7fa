import * as vscode from 'vscode';
import type { ReviewFile, ReviewService } from '../../seams/review.ts';
import type { CommandId, CommandTable } from '../command-ids.ts';
import type { ReviewEditor } from './editor.ts';
import type { ChangeNode } from './tree.ts';

type ReviewCommand = Extract<CommandId, `review.${string}`>;

function nodeOf(argument: unknown): ChangeNode | undefined {
  const kind = (argument as { kind?: unknown } | undefined)?.kind;
  return kind === 'turn' || kind === 'file' || kind === 'hunk' ? (argument as ChangeNode) : undefined;
}

/** What the review commands do, from an editor, the Changes view or the keyboard. */
export function reviewCommands(review: ReviewService, editor: ReviewEditor): Pick<CommandTable, ReviewCommand> {
  const target = (argument: unknown): { file: ReviewFile; hunkId?: string } | undefined => {
    const node = nodeOf(argument);
    if (node?.kind === 'file') return { file: node.file };
    if (node?.kind === 'hunk') return { file: node.file, hunkId: node.hunk.id };
    const file = editor.fileOf(argument);
    if (file === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t('There is nothing to review here.'));
      return undefined;
    }
    return { file };
  };
  const hunkOf = async (argument: unknown): Promise<{ file: ReviewFile; hunkId: string } | undefined> => {
    const found = target(argument);
    if (found === undefined) return undefined;
    await editor.sync(found.file.id);
    const file = review.file(found.file.id) ?? found.file;
    const hunkId = found.hunkId ?? editor.hunkOf(file, argument)?.id;
    return hunkId === undefined ? undefined : { file, hunkId };
  };
  const move = (step: 1 | -1) => (argument: unknown) => {
    const found = target(argument);
    if (found !== undefined) editor.reveal(review.file(found.file.id) ?? found.file, step);
  };
  const all = (decide: (file: ReviewFile) => Promise<void>) => async () => {
    for (const file of review.files()) await decide(file);
  };

  return {
    'review.openDiff': async (argument) => {
      const found = target(argument);
      if (found !== undefined) await editor.open(found.file);
    },
    'review.acceptFile': async (argument) => {
      const found = target(argument);
      if (found !== undefined) await editor.accept(found.file.id);
    },
    'review.rejectFile': async (argument) => {
      const found = target(argument);
      if (found !== undefined) await editor.reject(found.file.id);
    },
    'review.rejectFileWithNote': async (argument) => {
      const found = target(argument);
      if (found === undefined) return;
      const note = await vscode.window.showInputBox({ title: vscode.l10n.t('Reject with a Note'), prompt: vscode.l10n.t('The model reads this.'), ignoreFocusOut: true });
      if (note !== undefined) await editor.reject(found.file.id, undefined, note);
    },
    'review.acceptHunk': async (argument) => {
      const found = await hunkOf(argument);
      if (found !== undefined) await editor.accept(found.file.id, found.hunkId);
    },
    'review.rejectHunk': async (argument) => {
      const found = await hunkOf(argument);
      if (found !== undefined) await editor.reject(found.file.id, found.hunkId);
    },
    'review.nextHunk': move(1),
    'review.previousHunk': move(-1),
    'review.acceptAll': all((file) => editor.accept(file.id)),
    'review.rejectAll': all((file) => editor.reject(file.id)),
  };
}
