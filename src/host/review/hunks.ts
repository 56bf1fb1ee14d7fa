import type { ReviewFile, ReviewHunk } from '../../seams/review.ts';

/** 1-based lines of the proposed side a hunk is drawn on; a deletion is drawn on the line that follows it. */
export function hunkLines(hunk: ReviewHunk): { first: number; last: number } {
  return { first: hunk.newStart, last: Math.max(hunk.newStart, hunk.newStart + hunk.newLines.length - 1) };
}

/** The hunk at a 1-based line of the proposed side, else the nearest one. */
export function hunkAt(file: ReviewFile, line: number): ReviewHunk | undefined {
  let nearest: ReviewHunk | undefined;
  let best = Infinity;
  for (const hunk of file.hunks) {
    const { first, last } = hunkLines(hunk);
    const distance = line < first ? first - line : line > last ? line - last : 0;
    if (distance < best) [nearest, best] = [hunk, distance];
  }
  return nearest;
}

/** The next hunk below a 1-based line, or above it with `step` −1; undefined when there is none. */
export function neighbour(file: ReviewFile, line: number, step: 1 | -1): ReviewHunk | undefined {
  const hunks = step === 1 ? file.hunks : [...file.hunks].reverse();
  return hunks.find((hunk) => (step === 1 ? hunk.newStart > line : hunkLines(hunk).last < line));
}
