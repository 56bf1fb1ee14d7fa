import { createHash } from 'node:crypto';
import { applyHunks, diffLines, type Hunk } from '../text/hunk.ts';
import { meet } from './rebase.ts';
import type { HunkState, ReviewFile, ReviewHunk, ReviewProblem } from '../seams/review.ts';

/** What is kept of one file's review between sessions of the host. */
export interface ChangeRecord {
  readonly id: string;
  readonly turn: number;
  readonly sessionId: string;
  readonly callIds: readonly string[];
  readonly path: string;
  readonly file: string;
  readonly realPath: string;
  readonly operation: 'create' | 'update';
  readonly state: 'staged' | 'applied';
  readonly toolName: string;
  readonly encoding: string | undefined;
  /** Version of the file that `base` (staged) or `proposed` (applied) was read from; null: absent. */
  readonly version: string | null;
  readonly base: string;
  readonly proposed: string;
  /** Staged: the proposal, untouched. Applied: what the agent left, with what the user changed elsewhere since. */
  readonly original: string;
  readonly decided: readonly ReviewHunk[];
  /** The user typed the proposal back to what the file has: nothing differs, and it is still theirs to decide. */
  readonly typedBack?: boolean;
  /** How many of `decided` the model knows of. */
  readonly told?: number;
  /** Directories made for this new file, outermost first: undoing it removes them (B11). */
  readonly createdDirectories?: readonly string[];
  /** The file held these bytes, which are no text (base64): undoing brings them back. */
  readonly bytesBefore?: string;
  readonly problem?: ReviewProblem | undefined;
}

/** Hunks with ids that stay the same while their lines do, whatever happens elsewhere in the file. */
export function pendingHunks(base: string, proposed: string): ReviewHunk[] {
  const seen = new Map<string, number>();
  return diffLines(base, proposed).map((hunk) => {
    const key = createHash('sha1').update(hunk.oldLines.join('')).update('\0').update(hunk.newLines.join('')).digest('hex').slice(0, 12);
    const nth = seen.get(key) ?? 0;
    seen.set(key, nth + 1);
    return { ...hunk, id: nth === 0 ? key : `${key}.${nth}`, state: 'pending' as const };
  });
}

/** One file under review: pure state. `base` and `proposed` determine what is pending; deciding makes them meet. */
export class Change {
  readonly #record: ChangeRecord;
  #hunks: readonly ReviewHunk[] | undefined;

  constructor(record: ChangeRecord) {
    this.#record = record;
  }

  get record(): ChangeRecord {
    return this.#record;
  }

  get hunks(): readonly ReviewHunk[] {
    return (this.#hunks ??= this.#pending());
  }

  #pending(): ReviewHunk[] {
    const { base, proposed, original, state } = this.#record;
    const hunks = pendingHunks(base, proposed);
    if (state === 'staged' || original === proposed) return hunks;
    const edits = diffLines(original, proposed);
    return hunks.map((hunk) => (edits.some((edit) => meet(hunk, edit)) ? { ...hunk, edited: true as const } : hunk));
  }

  /** A file that the user may look at: nothing of it is live. */
  get view(): ReviewFile {
    const { id, turn, sessionId, callIds, path, file, realPath, operation, state, base, proposed, original, decided, problem } = this.#record;
    return {
      id, turn, sessionId, callIds, path, file, realPath, operation, base, proposed, original, decided,
      state: this.isDecided ? 'decided' : state, landed: state === 'applied', hunks: this.hunks, ...(problem && { problem }),
    };
  }

  /** A new file without content has no lines to decide on, but creating it must be decided all the same. */
  get #emptyCreate(): boolean {
    const { operation, state, proposed, base, decided } = this.#record;
    return operation === 'create' && state === 'staged' && proposed === '' && base === '' && decided.length === 0;
  }

  get isDecided(): boolean {
    return this.hunks.length === 0 && !this.#emptyCreate && this.#record.typedBack !== true;
  }

  with(fields: Partial<ChangeRecord>): Change {
    return new Change({ ...this.#record, ...fields });
  }

  hunk(id: string): ReviewHunk | undefined {
    return this.hunks.find((hunk) => hunk.id === id);
  }

  /** `base` with those pending hunks in it that `pick` takes. */
  baseWith(pick: (hunk: ReviewHunk) => boolean): string {
    return applyHunks(this.#record.base, this.hunks as readonly Hunk[], (_hunk, index) => pick(this.hunks[index] as ReviewHunk));
  }

  /** The decisions list with `hunks` added. */
  decide(hunks: readonly ReviewHunk[], state: HunkState, note?: string): readonly ReviewHunk[] {
    const trimmed = note?.trim();
    return [...this.#record.decided, ...hunks.map((hunk) => ({ ...hunk, state, ...(trimmed ? { note: trimmed } : {}) }))];
  }

  /** The decisions list with proposals that nobody decided on: `why` they are not written. */
  giveUp(hunks: readonly Hunk[], why: string): readonly ReviewHunk[] {
    return this.decide(hunks as readonly ReviewHunk[], 'undone', why).map((hunk, at) => (at < this.#record.decided.length ? hunk : { ...hunk, givenUp: true as const }));
  }

  /** So many more proposals were given up: told with the change. */
  gaveUp(count: number): Change {
    if (count === 0) return this;
    const { problem } = this.#record;
    return this.with({ problem: { kind: 'drift', lost: count + (problem?.kind === 'drift' ? problem.lost : 0) } });
  }
}
