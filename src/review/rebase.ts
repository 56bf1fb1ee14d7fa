import { applyHunks, diffLines, type Hunk } from '../text/hunk.ts';

export interface Rebased {
  /** The pending hunks again, on the new base. */
  readonly proposed: string;
  /** Hunks whose lines were changed meanwhile: they are in neither text. */
  readonly lost: readonly Hunk[];
}

/**
 * Moves pending hunks from `oldBase` to `newBase`, the file having changed under a review. A hunk moves along with its
 * lines; one whose own lines changed is given up, never forced (B, drift).
 */
export function rebase(oldBase: string, newBase: string, hunks: readonly Hunk[]): Rebased {
  const moves = diffLines(oldBase, newBase);
  const moved: Hunk[] = [];
  const lost: Hunk[] = [];
  for (const hunk of hunks) {
    const first = hunk.oldStart;
    const end = first + hunk.oldLines.length;
    let shift = 0;
    let touched = false;
    for (const move of moves) {
      const moveEnd = move.oldStart + move.oldLines.length;
      const inserts = hunk.oldLines.length === 0;
      if (moveEnd < first || (moveEnd === first && !(inserts && move.oldLines.length === 0))) shift += move.newLines.length - move.oldLines.length;
      else if (move.oldStart < end || (move.oldStart === end && inserts)) touched = true;
    }
    if (touched) lost.push(hunk);
    else moved.push({ ...hunk, oldStart: first + shift });
  }
  try {
    return { proposed: applyHunks(newBase, moved, () => true), lost };
  } catch {
    return { proposed: newBase, lost: hunks };
  }
}
