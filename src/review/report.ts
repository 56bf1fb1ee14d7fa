import { createTwoFilesPatch } from 'diff';
import type { ReviewHunk } from '../seams/review.ts';
import { unifiedHunks } from '../text/hunk.ts';
import type { ChangeRecord } from './change.ts';

/** Longest diff told to the model, in characters; beyond it the model is told to read the file. */
const MAX_DIFF = 8_000;

function range(start: number, count: number): string {
  return count <= 1 ? `line ${start}` : `lines ${start}-${start + count - 1}`;
}

function decision(hunk: ReviewHunk): string {
  const where = hunk.oldLines.length > 0 ? range(hunk.oldStart, hunk.oldLines.length) : `before line ${hunk.oldStart}`;
  const note = hunk.note === undefined ? '' : `: ${hunk.note}`;
  return `- ${hunk.state === 'kept' ? 'accepted' : 'rejected'} (${where})${note}`;
}

/**
 * What the model is told about a review, or undefined when the file holds just what it proposed: decisions, and the
 * difference between its proposal and the file, with the file's line numbers of now (B3, B17).
 */
export function reviewReport(record: ChangeRecord, final: string): string | undefined {
  const notes = record.decided.some((hunk) => hunk.note !== undefined);
  if (final === record.original && !notes) return undefined;
  const kept = record.decided.filter((hunk) => hunk.state === 'kept').length;
  const lines = [`The user reviewed this change to ${record.path}: ${kept} of ${record.decided.length} changes accepted.`, ...record.decided.map(decision)];
  if (final !== record.original) {
    const patch = unifiedHunks(record.original, final).length === 0 ? '' : createTwoFilesPatch('proposed', 'now in the file', record.original, final, '', '', { context: 2 });
    const body = patch.split('\n').slice(2).join('\n').trimEnd();
    lines.push(body.length > MAX_DIFF
      ? 'The file differs a lot from the proposal. Read it before you edit it again.'
      : `Difference from the proposal (-) to what the file holds now (+):\n${body}`);
  }
  return lines.join('\n');
}

/** Why nothing was written. */
export function rejectionText(record: ChangeRecord): string {
  const notes = [...new Set(record.decided.map((hunk) => hunk.note).filter((note) => note !== undefined))];
  return `the user rejected this change to "${record.path}"; the file is unchanged${notes.length === 0 ? '' : `. The user says: ${notes.join('; ')}`}`;
}
