import * as vscode from 'vscode';
import type { ReviewFile, ReviewService } from '../../seams/review.ts';
import type { CommandId, CommandTable } from '../command-ids.ts';
import type { ReviewEditor } from './editor.ts';
import type { Rewinder } from './rewinder.ts';
import { openTogether } from './tabs.ts';
import type { ChangeNode } from './tree.ts';

type ReviewCommand = Extract<CommandId, `review.${string}`>;

function nodeOf(argument: unknown): ChangeNode | undefined {
  const kind = (argument as { kind?: unknown } | undefined)?.kind;
  return kind === 'turn' || kind === 'file' || kind === 'problem' || kind === 'hunk' ? (argument as ChangeNode) : undefined;
}

/** The 1-based line a menu is about: of the line number menu, or of the change a quick diff peek shows. */
function lineOf(args: readonly unknown[]): number | undefined {
  const [first, changes, index] = args as [{ lineNumber?: unknown } | undefined, readonly { modifiedStartLineNumber?: number }[] | undefined, number | undefined];
  if (typeof first?.lineNumber === 'number') return first.lineNumber;
  return Array.isArray(changes) && typeof index === 'number' ? (changes as readonly { modifiedStartLineNumber?: number }[])[index]?.modifiedStartLineNumber : undefined;
}

/** What the review commands do, from an editor, the Changes view, a quick diff peek or the keyboard. */
export function reviewCommands(review: ReviewService, editor: ReviewEditor, rewinder: Rewinder): Pick<CommandTable, ReviewCommand> {
  const nothing = (): undefined => {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is nothing to review here.'));
    return undefined;
  };
  const target = (argument: unknown): { file: ReviewFile; hunkId?: string } | undefined => {
    const node = nodeOf(argument);
    if (node?.kind === 'file' || node?.kind === 'problem') return { file: node.file };
    if (node?.kind === 'hunk') return { file: node.file, hunkId: node.hunk.id };
    const file = editor.fileOf(argument);
    return file === undefined ? nothing() : { file };
  };
  const hunkOf = async (args: readonly unknown[]): Promise<{ file: ReviewFile; hunkId: string } | undefined> => {
    const found = target(args[0]);
    if (found === undefined) return undefined;
    await editor.sync(found.file.id);
    const file = review.file(found.file.id) ?? found.file;
    const hunkId = found.hunkId ?? editor.hunkOf(file, lineOf(args))?.id;
    return hunkId === undefined ? nothing() : { file, hunkId };
  };
  const move = (step: 1 | -1) => (argument: unknown) => {
    const file = nodeOf(argument) === undefined ? editor.fileOf(argument) : target(argument)?.file;
    return editor.move(file === undefined ? undefined : review.file(file.id), step);
  };
  const askNote = () => vscode.window.showInputBox({ title: vscode.l10n.t('Reject with a Note'), prompt: vscode.l10n.t('The model reads this.'), ignoreFocusOut: true });
  const all = (decide: (file: ReviewFile) => Promise<void>) => async () => {
    for (const file of review.files()) await decide(file);
  };

  return {
    'review.openDiff': async (argument) => {
      const node = nodeOf(argument);
      const file = node === undefined ? editor.fileOf(argument) ?? review.files()[0] : target(argument)?.file;
      if (file === undefined) return nothing();
      await editor.open(review.file(file.id) ?? file, false, node?.kind === 'hunk' ? node.hunk : undefined);
    },
    'review.openTurn': async (argument) => {
      const node = nodeOf(argument);
      const last = review.files().at(-1);
      const turn = node?.kind === 'turn' ? node : node?.file ?? last;
      if (turn === undefined) return nothing();
      await openTogether(review.files().filter((file) => file.turn === turn.turn && file.sessionId === turn.sessionId), vscode.l10n.t('Changes of Turn {0}', turn.turn));
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
      const note = await askNote();
      if (note !== undefined) await editor.reject(found.file.id, undefined, note);
    },
    'review.acceptHunk': async (...args) => {
      const found = await hunkOf(args);
      if (found === undefined) return;
      await editor.accept(found.file.id, found.hunkId);
      await editor.goOn(found.file.id);
    },
    'review.rejectHunk': async (...args) => {
      const found = await hunkOf(args);
      if (found === undefined) return;
      await editor.reject(found.file.id, found.hunkId);
      await editor.goOn(found.file.id);
    },
    'review.rejectHunkWithNote': async (...args) => {
      const found = await hunkOf(args);
      const note = found === undefined ? undefined : await askNote();
      if (found === undefined || note === undefined) return;
      await editor.reject(found.file.id, found.hunkId, note);
      await editor.goOn(found.file.id);
    },
    'review.nextHunk': move(1),
    'review.previousHunk': move(-1),
    'review.acceptAll': all((file) => editor.accept(file.id)),
    'review.rejectAll': all((file) => editor.reject(file.id)),
    'review.rewind': (argument) => rewinder.rewind(typeof argument === 'string' ? argument : undefined),
    'review.undoRewind': () => rewinder.undo(),
  };
}
