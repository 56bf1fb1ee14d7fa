import { assertNever } from '../contract/never.ts';
import type { FileDiff } from '../contract/presentation.ts';
import type { DiffCardFile, DiffCardHunk, DiffRow } from '../protocol.ts';
import type { HunkState, ReviewFile, ReviewHunk } from '../seams/review.ts';
import { splitLines } from '../text/endings.ts';
import { diffLines } from '../text/hunk.ts';
import type { Hunk } from '../text/hunk.ts';
import { cut, LIMITS } from './limits.ts';

const CONTEXT = 3;

function bare(line: string): string {
  return cut(line.replace(/\r?\n$|\r$/, ''), LIMITS.line);
}

interface Numbering { readonly old: boolean; readonly new: boolean }

/** Unchanged lines `from`..`to` (0-based, exclusive) of the side before; `shift` leads to the new side's numbers. */
function contextRows(lines: readonly string[], from: number, to: number, shift: number, numbers: Numbering): DiffRow[] {
  return lines.slice(Math.max(0, from), Math.max(0, to)).map((line, i) => {
    const old = Math.max(0, from) + i + 1;
    return { sign: ' ', text: bare(line), ...(numbers.old && { old }), ...(numbers.new && { new: old + shift }) };
  });
}

function changedRows(hunk: Hunk, numbers: Numbering): DiffRow[] {
  return [
    ...hunk.oldLines.map((line, i): DiffRow => ({ sign: '-', text: bare(line), ...(numbers.old && { old: hunk.oldStart + i }) })),
    ...hunk.newLines.map((line, i): DiffRow => ({ sign: '+', text: bare(line), ...(numbers.new && { new: hunk.newStart + i }) })),
  ];
}

/** One hunk with its context; what lies nearer to the next hunk than the context is wide is left to the next one. */
function rowsOf(lines: readonly string[], hunk: Hunk, previousEnd: number, numbers: Numbering): DiffRow[] {
  const from = hunk.oldStart - 1;
  const to = from + hunk.oldLines.length;
  const before = hunk.newStart - hunk.oldStart;
  const after = before + hunk.newLines.length - hunk.oldLines.length;
  return [
    ...contextRows(lines, Math.max(previousEnd, from - CONTEXT), from, before, numbers),
    ...changedRows(hunk, numbers),
    ...contextRows(lines, to, to + CONTEXT, after, numbers),
  ];
}

/** Rows within the budget, and whether any had to go. */
class Budget {
  truncated = false;
  #left: number = LIMITS.diffRows;

  take(rows: DiffRow[]): DiffRow[] {
    if (rows.length > this.#left) this.truncated = true;
    const taken = rows.slice(0, this.#left);
    this.#left -= taken.length;
    return taken;
  }
}

function count(hunks: readonly Hunk[], side: 'oldLines' | 'newLines'): number {
  return hunks.reduce((sum, hunk) => sum + hunk[side].length, 0);
}

/**
 * The files of a diff view. Several diffs of one path are hunks of one file. A diff that is only a hunk says nothing of
 * where it stands, so rows are numbered for new files alone.
 */
export function diffFiles(diffs: readonly FileDiff[]): DiffCardFile[] {
  const byPath = new Map<string, FileDiff[]>();
  for (const diff of diffs) byPath.set(diff.path, [...byPath.get(diff.path) ?? [], diff]);
  return [...byPath].map(([path, parts]) => {
    const budget = new Budget();
    const isNew = parts.length === 1 && parts[0]!.oldText === null;
    const all: Hunk[] = [];
    const hunks: DiffCardHunk[] = [];
    for (const { oldText, newText } of parts) {
      const lines = splitLines(oldText ?? '');
      let previousEnd = 0;
      for (const hunk of diffLines(oldText ?? '', newText)) {
        all.push(hunk);
        const rows = budget.take(rowsOf(lines, hunk, previousEnd, { old: false, new: isNew }));
        previousEnd = hunk.oldStart - 1 + hunk.oldLines.length;
        if (rows.length > 0) hunks.push({ id: String(all.length - 1), rows });
      }
    }
    return { path, isNew, added: count(all, 'newLines'), removed: count(all, 'oldLines'), hunks, truncated: budget.truncated };
  });
}

/** The file of a review that is open: its pending hunks, numbered, each to be decided on its own. */
export function reviewFiles(review: ReviewFile): DiffCardFile[] {
  const budget = new Budget();
  const lines = splitLines(review.base);
  let previousEnd = 0;
  const hunks = review.hunks.map((hunk: ReviewHunk): DiffCardHunk => {
    const rows = budget.take(rowsOf(lines, hunk, previousEnd, { old: true, new: true }));
    previousEnd = hunk.oldStart - 1 + hunk.oldLines.length;
    return { id: hunk.id, rows, state: decision(hunk.state, review.landed) };
  });
  return [{
    path: review.path, isNew: review.operation === 'create', added: count(review.hunks, 'newLines'), removed: count(review.hunks, 'oldLines'),
    hunks, truncated: budget.truncated,
  }];
}

/** What the user did with a hunk, in the words of the way it came: staged, or landed at once. */
export function decision(state: HunkState, landed: boolean): NonNullable<DiffCardHunk['state']> {
  switch (state) {
    case 'pending': return 'pending';
    case 'kept': return landed ? 'kept' : 'accepted';
    case 'undone': return landed ? 'undone' : 'rejected';
    default: return assertNever(state, 'hunk state');
  }
}
