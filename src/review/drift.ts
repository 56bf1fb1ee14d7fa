import type { ReviewHunk } from '../seams/review.ts';
import { diffLines } from '../text/hunk.ts';
import type { Change } from './change.ts';
import { carry, outside, rebase, sameChange } from './rebase.ts';

/** What a file holds now. `text` is null when it is absent, or holds no text. */
export interface FileNow { readonly text: string | null; readonly version: string | null }

export interface Moved {
  readonly change: Change;
  /** Proposals given up because their lines were changed meanwhile. */
  readonly lost: readonly ReviewHunk[];
}

/**
 * A change on top of what its file holds now: it may have been edited, saved or deleted during the review. Staged
 * proposals move along or are given up; of an applied change, edits outside its hunks become part of both sides.
 */
export function moveAlong(change: Change, now: FileNow): Moved {
  return change.record.state === 'staged' ? moveStaged(change, now) : moveApplied(change, now);
}

function moveStaged(change: Change, { text, version }: FileNow): Moved {
  const { record, hunks } = change;
  const base = text ?? '';
  if (base === record.base) return { change: change.with({ version }), lost: [] };
  const { proposed, lost, landed } = rebase(record.base, base, hunks);
  const moves = diffLines(record.base, base);
  // undone in the editor after it had been accepted
  const decided = record.decided.map((hunk) => {
    if (hunk.state !== 'kept') return hunk;
    const back = moves.some((move) => sameChange({ ...move, oldStart: hunk.oldStart }, { ...hunk, oldLines: hunk.newLines, newLines: hunk.oldLines }));
    return back ? { ...hunk, state: 'undone' as const, note: 'accepted at first, then taken back in the editor' } : hunk;
  });
  const moved = change.with({ base, version, proposed, decided });
  const given = moved.giveUp(lost, 'the file was changed at these lines during the review');
  return {
    change: moved.with({ decided: moved.with({ decided: given }).decide(landed as readonly ReviewHunk[], 'kept') }),
    lost: lost as readonly ReviewHunk[],
  };
}

function moveApplied(change: Change, { text, version }: FileNow): Moved {
  const { record } = change;
  const now = text ?? '';
  if (now === record.proposed) return { change: change.with({ version }), lost: [] };
  const beside = outside(record.base, record.proposed, now);
  return {
    change: change.with({
      version, proposed: now, base: carry(record.base, record.proposed, beside), original: carry(record.original, record.proposed, beside),
    }),
    lost: [],
  };
}
