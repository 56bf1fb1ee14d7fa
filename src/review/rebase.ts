import { lineChar } from '../text/endings.ts';
import { applyHunks, diffLines, type Hunk } from '../text/hunk.ts';

export interface Rebased {
  /** The pending hunks again, on the new base. */
  readonly proposed: string;
  /** Hunks whose lines were changed meanwhile: they are in neither text. */
  readonly lost: readonly Hunk[];
  /** Hunks the new base holds already. */
  readonly landed: readonly Hunk[];
}

/** Whether `move` changes lines of `hunk`'s old side, or inserts where it does. */
function touches(move: Hunk, hunk: Hunk): boolean {
  return overlap(move.oldStart, move.oldLines.length, hunk.oldStart, hunk.oldLines.length);
}

/** Two line ranges, the second belonging to a hunk. Neighbours do not overlap; two insertions at one place do. */
function overlap(start: number, count: number, hunkStart: number, hunkCount: number): boolean {
  const end = start + count;
  const hunkEnd = hunkStart + hunkCount;
  if (count === 0 && hunkCount === 0) return start === hunkStart;
  return start < hunkEnd && hunkStart < end;
}

/** Whether an edit (on its new side) lies on or at the lines a hunk wrote: better asked once too often. */
export function meet(hunk: Hunk, edit: Hunk): boolean {
  const [start, end] = [hunk.newStart, hunk.newStart + hunk.newLines.length];
  const [from, to] = [edit.newStart, edit.newStart + edit.newLines.length];
  return start === end || from === to ? from <= end && start <= to : from < end && start < to;
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i]);
}

/** Whether `move` does just what `hunk` proposes. */
export function sameChange(move: Hunk, hunk: Hunk): boolean {
  return move.oldStart === hunk.oldStart && sameLines(move.oldLines, hunk.oldLines) && sameLines(move.newLines, hunk.newLines);
}

/**
 * Moves pending hunks from `oldBase` to `newBase`, the file having changed under a review. A hunk moves along with its
 * lines; one whose own lines changed is given up, never forced (B, drift).
 */
export function rebase(oldBase: string, newBase: string, hunks: readonly Hunk[]): Rebased {
  const moves = diffLines(oldBase, newBase);
  const moved: Hunk[] = [];
  const lost: Hunk[] = [];
  const landed: Hunk[] = [];
  let at = 0;
  let shift = 0;
  for (const hunk of hunks) {
    for (; at < moves.length; at++) {
      const move = moves[at]!;
      if (move.oldStart + move.oldLines.length > hunk.oldStart || touches(move, hunk)) break;
      shift += move.newLines.length - move.oldLines.length;
    }
    const touching = moves.slice(at).find((move) => move.oldStart > hunk.oldStart + hunk.oldLines.length || touches(move, hunk));
    if (touching === undefined || !touches(touching, hunk)) moved.push({ ...hunk, oldStart: hunk.oldStart + shift });
    else (sameChange(touching, hunk) ? landed : lost).push(hunk);
  }
  try {
    return { proposed: applyHunks(newBase, moved, () => true), lost, landed };
  } catch {
    return { proposed: newBase, lost: hunks, landed: [] };
  }
}

/** Moves from `from` that lie outside the hunks between `text` and `from`, each with how far `from` is shifted there. */
function freeMoves(between: readonly Hunk[], moves: readonly Hunk[]): { readonly move: Hunk; readonly shift: number }[] {
  const free: { move: Hunk; shift: number }[] = [];
  let at = 0;
  let shift = 0;
  for (const move of moves) {
    const touching = (hunk: Hunk): boolean => overlap(move.oldStart, move.oldLines.length, hunk.newStart, hunk.newLines.length);
    for (; at < between.length; at++) {
      const hunk = between[at]!;
      if (hunk.newStart + hunk.newLines.length > move.oldStart || touching(hunk)) break;
      shift += hunk.newLines.length - hunk.oldLines.length;
    }
    const hunk = between[at];
    if (hunk === undefined || !touching(hunk)) free.push({ move, shift });
  }
  return free;
}

function alike(...texts: string[]): boolean {
  return new Set(texts.map(lineChar)).size === 1;
}

/**
 * `text` with what changed from `from` to `to`, as far as it lies outside the differences between `text` and `from`:
 * the user's edits beside an agent's hunks belong to the file before the agent as well.
 */
export function carry(text: string, from: string, to: string): string {
  if (text === from) return to;
  if (!alike(text, from, to)) return text;
  const free = freeMoves(diffLines(text, from), diffLines(from, to));
  try {
    return applyHunks(text, free.map(({ move, shift }) => ({ ...move, oldStart: move.oldStart - shift })), () => true);
  } catch {
    return text;
  }
}

/** `from` with what changed to `to`, as far as it lies outside the differences between `text` and `from`. */
export function outside(text: string, from: string, to: string): string {
  if (text === from) return to;
  if (!alike(text, from, to)) return from;
  return applyHunks(from, freeMoves(diffLines(text, from), diffLines(from, to)).map(({ move }) => move), () => true);
}
