import type { JsonValue } from '../../contract/json.ts';
import type { FileDiff } from '../../contract/presentation.ts';
import { unifiedLfHunks, unifiedSpliceHunks } from '../../text/hunk.ts';
import type { UnifiedHunk } from '../../text/hunk.ts';
import type { Splice } from '../../text/splice.ts';

/** Characters of diff text kept in the log per call; a change beyond it is shown by its whole texts or not at all. */
const MAX_META_LENGTH = 512 * 1024;

/** One diff a unified hunk of two LF texts, with three lines of context (B10.9). Null sides, and changes too big to log, give none. */
export function hunkDiffs(path: string, before: string | null, after: string): FileDiff[] {
  return before === null ? [] : toDiffs(path, unifiedLfHunks(before, after));
}

/** The same from what changed in an LF text: the whole texts are never compared. */
export function spliceDiffs(path: string, before: string, splices: readonly Splice[]): FileDiff[] {
  return toDiffs(path, unifiedSpliceHunks(before, splices));
}

function toDiffs(path: string, hunks: readonly UnifiedHunk[]): FileDiff[] {
  let length = 0;
  const diffs: FileDiff[] = [];
  for (const hunk of hunks) {
    length += hunk.oldText.length + hunk.newText.length;
    if (length > MAX_META_LENGTH) return [];
    diffs.push({ path, oldText: hunk.oldCount === 0 ? null : hunk.oldText, newText: hunk.newText });
  }
  return diffs;
}

/** The diffs in logged meta; undefined when it is not what `hunkDiffs` wrote. */
export function diffsOfMeta(meta: JsonValue | undefined): FileDiff[] | undefined {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta) || !Array.isArray(meta.diffs)) return undefined;
  const diffs: FileDiff[] = [];
  for (const diff of meta.diffs) {
    if (typeof diff !== 'object' || diff === null || Array.isArray(diff)) return undefined;
    const { path, oldText, newText } = diff;
    if (typeof path !== 'string' || typeof newText !== 'string' || (oldText !== null && typeof oldText !== 'string')) return undefined;
    diffs.push({ path, oldText, newText });
  }
  return diffs;
}
