import type { ReviewFile, ReviewHunk } from '../../seams/review.ts';

/** 1-based lines of the proposed side a hunk is drawn on; a deletion is drawn on the line that follows it. */
export function hunkLines(hunk: ReviewHunk): Lines {
  return { first: hunk.newStart, last: Math.max(hunk.newStart, hunk.newStart + hunk.newLines.length - 1) };
}

/** 1-based lines, both ends included. */
export interface Lines { readonly first: number; readonly last: number }

function distance(hunk: ReviewHunk, { first, last }: Lines): number {
  const lines = hunkLines(hunk);
  return last < lines.first ? lines.first - last : first > lines.last ? first - lines.last : 0;
}

/** The hunk on these lines of the proposed side, or right beside them: a deletion is drawn on either of its neighbours. */
export function hunkOn(file: ReviewFile, lines: Lines): ReviewHunk | undefined {
  return file.hunks.find((hunk) => distance(hunk, lines) === 0) ?? file.hunks.find((hunk) => hunk.newLines.length === 0 && distance(hunk, lines) === 1);
}

/** The hunk nearest to a line, among those that can be seen: nobody decides on what they do not see. Without `visible`, all can. */
export function nearestOf(file: ReviewFile, line: number, visible: readonly Lines[]): ReviewHunk | undefined {
  const at = { first: line, last: line };
  const seen = file.hunks.filter((hunk) => visible.length === 0 || visible.some((lines) => distance(hunk, lines) === 0));
  return seen.reduce<ReviewHunk | undefined>((best, hunk) => (best === undefined || distance(hunk, at) < distance(best, at) ? hunk : best), undefined);
}

/** The next hunk below a 1-based line, or above it with `step` −1; undefined when there is none. */
export function neighbour(file: ReviewFile, line: number, step: 1 | -1): ReviewHunk | undefined {
  const hunks = step === 1 ? file.hunks : [...file.hunks].reverse();
  return hunks.find((hunk) => (step === 1 ? hunk.newStart > line : hunkLines(hunk).last < line));
}
