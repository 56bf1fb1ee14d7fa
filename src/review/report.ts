import type { ReviewHunk } from '../seams/review.ts';
import { unifiedPatch } from '../text/patch.ts';
import type { ChangeRecord } from './change.ts';

/** Longest diff told to the model, in characters; beyond it the model is told to read the file. */
const MAX_DIFF = 8_000;
/** Decisions told one by one; the rest is counted. */
const MAX_DECISIONS = 40;

function range(start: number, count: number): string {
  return count <= 1 ? `line ${start}` : `lines ${start}-${start + count - 1}`;
}

function decision(hunk: ReviewHunk): string {
  const where = hunk.oldLines.length > 0 ? range(hunk.oldStart, hunk.oldLines.length) : `before line ${hunk.oldStart}`;
  const note = hunk.note === undefined ? '' : `: ${hunk.note}`;
  return `- ${hunk.state === 'kept' ? 'accepted' : hunk.givenUp === true ? 'not written' : 'rejected'} (${where})${note}`;
}

function decisions(hunks: readonly ReviewHunk[]): string[] {
  const shown = hunks.slice(0, MAX_DECISIONS).map(decision);
  return hunks.length > shown.length ? [...shown, `- and ${hunks.length - shown.length} more`] : shown;
}

/** A unified diff with the line numbers of both texts, without file names. */
export function patchText(before: string, after: string): string {
  const body = unifiedPatch(before, after, { context: 2, limit: MAX_DIFF });
  if (body === '') return 'Only line endings differ.';
  return body ?? 'The difference is large. Read the file before you edit it again.';
}

/**
 * What the model is told about a review, or undefined when the file holds just what it proposed: decisions, and the
 * difference between its proposal and the file, with the file's line numbers of now (B3, B17).
 */
export function reviewReport(record: ChangeRecord, final: string): string | undefined {
  const notes = record.decided.some((hunk) => hunk.note !== undefined);
  if (final === record.original && !notes) return undefined;
  const kept = record.decided.filter((hunk) => hunk.state === 'kept').length;
  const lines = [`The user reviewed this change to ${record.path}: ${kept} of ${record.decided.length} changes accepted.`, ...decisions(record.decided)];
  if (final !== record.original) lines.push(`Difference from the proposal (-) to what the file holds now (+):\n${patchText(record.original, final)}`);
  return lines.join('\n');
}

/** Why nothing was written, and the code of the error that says so. */
export function refusalOf({ decided, path }: ChangeRecord): { readonly code: string; readonly text: string } {
  const notesOf = (hunks: readonly ReviewHunk[]): string => [...new Set(hunks.map((hunk) => hunk.note).filter((note) => note !== undefined))].join('; ');
  const givenUp = decided.filter((hunk) => hunk.givenUp === true);
  const why = givenUp.length === 0 ? '' : `${notesOf(givenUp)}; read it again before you change it`;
  if (givenUp.length > 0 && givenUp.length === decided.length) return { code: 'REVIEW_DRIFT', text: `this change to "${path}" was not written: ${why}` };
  const said = notesOf(decided.filter((hunk) => hunk.givenUp !== true));
  const parts = [`the user rejected this change to "${path}"${why === '' ? '; the file is unchanged' : ''}`, ...(said === '' ? [] : [`The user says: ${said}`]), ...(why === '' ? [] : [`${givenUp.length} of ${decided.length} changes were given up: ${why}`])];
  return { code: 'REVIEW_REJECTED', text: parts.join('. ') };
}

/** For a change that had landed: what the user took back since the model was told last, or undefined. */
export function undoReport(record: ChangeRecord): string | undefined {
  const fresh = record.decided.slice(record.told ?? 0);
  if (fresh.every((hunk) => hunk.state === 'kept')) return undefined;
  const undone = fresh.filter((hunk) => hunk.state === 'undone');
  return [
    `The user took back ${undone.length === 1 ? 'a change' : `${undone.length} changes`} you made to ${record.path}.`,
    ...decisions(undone),
    `Difference from what you left (-) to what the file holds now (+):\n${patchText(record.original, record.proposed)}`,
  ].join('\n');
}

/** For a staged change whose call has ended: what was decided since the model was told last, or undefined. */
export function lateReport(record: ChangeRecord, pending: number): string | undefined {
  const fresh = record.decided.slice(record.told ?? 0);
  if (fresh.length === 0) return undefined;
  const kept = fresh.filter((hunk) => hunk.state === 'kept').length;
  const lines = [
    `The user decided on a change to ${record.path} that was still pending when its call ended: ${kept} of ${fresh.length} accepted, ${pending} left.`,
    ...decisions(fresh),
  ];
  if (record.base !== record.original) lines.push(`Difference from the proposal (-) to what the file holds now (+):\n${patchText(record.original, record.base)}`);
  return lines.join('\n');
}

/** The file was changed by the editor while it was saved (format on save). */
export function savedReport(path: string, written: string, saved: string): string {
  return `Saving ${path} changed it (the editor formats on save). Difference from what was written (-) to what the file holds now (+):\n${patchText(written, saved)}`;
}
