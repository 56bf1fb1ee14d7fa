import * as vscode from 'vscode';
import type { ReviewFile, ReviewService } from '../../seams/review.ts';
import type { CommandId, CommandTable } from '../command-ids.ts';
import type { ReviewEditor } from './editor.ts';
import { hunkOn, nearestOf, type Lines } from './hunks.ts';
import type { Rewinder } from './rewinder.ts';
import { openTogether } from './tabs.ts';
import type { ChangeNode } from './tree.ts';

type ReviewCommand = Extract<CommandId, `review.${string}`>;

function nodeOf(argument: unknown): ChangeNode | undefined {
  const kind = (argument as { kind?: unknown } | undefined)?.kind;
  return kind === 'turn' || kind === 'file' || kind === 'problem' || kind === 'hunk' ? (argument as ChangeNode) : undefined;
}

/** A change as a quick diff peek has it; without an end: a deletion behind its start. */
interface PeekChange { readonly modifiedStartLineNumber: number; readonly modifiedEndLineNumber: number }

/** The lines a menu is about: of the line number menu, or of the change a quick diff peek shows; `gone`: the peek is behind the times. */
function linesOf(args: readonly unknown[]): Lines | 'gone' | undefined {
  const [first, changes, index] = args as [{ lineNumber?: unknown } | undefined, readonly PeekChange[] | undefined, number | undefined];
  if (typeof first?.lineNumber === 'number') return { first: first.lineNumber, last: first.lineNumber };
  if (!Array.isArray(changes) || typeof index !== 'number') return undefined;
  const change = (changes as readonly PeekChange[])[index];
  return change === undefined ? 'gone' : { first: change.modifiedStartLineNumber, last: Math.max(change.modifiedStartLineNumber, change.modifiedEndLineNumber) };
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
    const lines = linesOf(args);
    // where the cursor is now: it may be elsewhere by the time the rest is done
    const place = editor.placeIn(found.file);
    await editor.sync(found.file.id);
    const file = review.file(found.file.id) ?? found.file;
    if (found.hunkId !== undefined) return { file, hunkId: found.hunkId };
    if (lines === undefined && place === undefined && file.hunks.length > 1) {
      await editor.open(file);
      return undefined;
    }
    const hunk = lines === 'gone' ? undefined : lines !== undefined ? hunkOn(file, lines)
      : place === undefined ? file.hunks[0] : nearestOf(file, place.line, place.visible);
    return hunk === undefined ? nothing() : { file, hunkId: hunk.id };
  };
  const move = (step: 1 | -1) => (argument: unknown) => {
    const file = nodeOf(argument) === undefined ? editor.fileOf(argument) : target(argument)?.file;
    return editor.move(file === undefined ? undefined : review.file(file.id), step);
  };
  const askNote = (landed: boolean) => vscode.window.showInputBox({
    title: landed ? vscode.l10n.t('Undo with a Note') : vscode.l10n.t('Reject with a Note'), prompt: vscode.l10n.t('The model reads this.'), ignoreFocusOut: true,
  });
  const acceptFile = async (argument: unknown) => {
    const found = target(argument);
    if (found !== undefined) await editor.accept(found.file.id);
  };
  const rejectFile = async (argument: unknown) => {
    const found = target(argument);
    if (found !== undefined) await editor.reject(found.file.id);
  };
  const rejectFileWithNote = async (argument: unknown) => {
    const found = target(argument);
    const note = found === undefined ? undefined : await askNote(found.file.landed);
    if (found !== undefined && note !== undefined) await editor.reject(found.file.id, undefined, note);
  };
  const acceptHunk = async (...args: unknown[]) => {
    const found = await hunkOf(args);
    if (found === undefined) return;
    await editor.accept(found.file.id, found.hunkId);
    await editor.goOn(found.file.id);
  };
  const rejectHunk = async (...args: unknown[]) => {
    const found = await hunkOf(args);
    if (found === undefined) return;
    await editor.reject(found.file.id, found.hunkId);
    await editor.goOn(found.file.id);
  };
  const rejectHunkWithNote = async (...args: unknown[]) => {
    const found = await hunkOf(args);
    const note = found === undefined ? undefined : await askNote(found.file.landed);
    if (found === undefined || note === undefined) return;
    await editor.reject(found.file.id, found.hunkId, note);
    await editor.goOn(found.file.id);
  };
  const all = (decide: (file: ReviewFile) => Promise<void>) => async () => {
    for (const file of review.files()) await decide(file);
  };
  const acceptAll = all((file) => editor.accept(file.id));
  const rejectAll = all((file) => editor.reject(file.id));

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
    // the same decision has the words of the way the change came
    'review.acceptFile': acceptFile, 'review.keepFile': acceptFile,
    'review.rejectFile': rejectFile, 'review.undoFile': rejectFile,
    'review.rejectFileWithNote': rejectFileWithNote, 'review.undoFileWithNote': rejectFileWithNote,
    'review.acceptHunk': acceptHunk, 'review.keepHunk': acceptHunk,
    'review.rejectHunk': rejectHunk, 'review.undoHunk': rejectHunk,
    'review.rejectHunkWithNote': rejectHunkWithNote, 'review.undoHunkWithNote': rejectHunkWithNote,
    'review.acceptAll': acceptAll, 'review.keepAll': acceptAll,
    'review.rejectAll': rejectAll, 'review.undoAll': rejectAll,
    'review.nextHunk': move(1),
    'review.previousHunk': move(-1),
    'review.rewind': (argument) => rewinder.rewind(typeof argument === 'string' ? argument : undefined),
    'review.undoRewind': () => rewinder.undo(),
  };
}
