import type { CallId } from '../contract/content.ts';

/**
 * `ctx.review`: every change of a turn in the user's hands (design 4). The core keeps the model, the host shows it.
 * Lines are 1-based; texts and lines carry their own line endings.
 */
export type HunkState = 'pending' | 'kept' | 'undone';

export interface ReviewHunk {
  readonly id: string;
  readonly state: HunkState;
  /** 1-based first line on the side before; no old lines: an insertion before that line. */
  readonly oldStart: number;
  readonly oldLines: readonly string[];
  /** 1-based first line on the proposed side. */
  readonly newStart: number;
  readonly newLines: readonly string[];
  /** What the user wrote for the model when rejecting it, or why it was given up. */
  readonly note?: string;
  /** Undone, and not by the user: its lines were changed meanwhile. */
  readonly givenUp?: true;
  /** The user changed these lines after the agent had written them (auto-edit): undoing takes those bytes too, so it is asked. */
  readonly edited?: true;
}

/** `undo`: also take back lines the user edited since. Without it they stay, and are told. */
export interface UndoOptions { readonly edited?: 'undo' }

/**
 * `staged`: the proposal waits, the disk is unchanged (ask preset). `applied`: the disk has it, Keep or Undo is open
 * (auto-edit preset). `decided`: nothing pending.
 */
export type ReviewFileState = 'staged' | 'applied' | 'decided';

/**
 * What went wrong with it last, told where it is shown until the next decision. `failed`: a decision could not be carried
 * out, nothing was written. `drift`: so many proposals were given up, because the file was changed where they were.
 */
export type ReviewProblem = { readonly kind: 'failed'; readonly message: string } | { readonly kind: 'drift'; readonly lost: number };

export interface ReviewFile {
  readonly id: string;
  readonly turn: number;
  readonly sessionId: string;
  readonly callIds: readonly CallId[];
  /** As the tool was given it. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly realPath: string;
  readonly operation: 'create' | 'update';
  readonly state: ReviewFileState;
  /** What a decision is called: a staged change is accepted or rejected, one that landed is kept or undone. Also when decided. */
  readonly landed: boolean;
  /** The left side: staged = what the disk has now, applied = what it had before the agent (and what was kept since). */
  readonly base: string;
  /** The right side as it stands, with what the user typed there. */
  readonly proposed: string;
  /** What the agent proposed, untouched. */
  readonly original: string;
  /** Undecided changes from `base` to `proposed`. */
  readonly hunks: readonly ReviewHunk[];
  /** Decisions taken, in order. */
  readonly decided: readonly ReviewHunk[];
  readonly problem?: ReviewProblem;
}

export interface ReviewService {
  /** Files with something pending, oldest first. */
  files(): readonly ReviewFile[];
  file(id: string): ReviewFile | undefined;
  /** The newest review a call's change is or was in. */
  forCall(callId: CallId): ReviewFile | undefined;
  /**
   * The user typed on the proposed side of a staged file. `since`: the proposal it was typed on; when the review has
   * changed it meanwhile (a hunk was rejected), only what was typed is taken.
   */
  setProposed(id: string, text: string, since?: string): Promise<void>;
  /** The file itself may have changed: pending changes move along with it. */
  refresh(id: string): Promise<void>;
  acceptHunk(fileId: string, hunkId: string): Promise<void>;
  /** `note` is told to the model. Throws HarnessError REVIEW_EDITED when the user edited the lines since, unless told to undo that too. */
  rejectHunk(fileId: string, hunkId: string, note?: string, options?: UndoOptions): Promise<void>;
  accept(fileId: string): Promise<void>;
  /** Every hunk the user has not edited since; throws REVIEW_EDITED when only such are left. */
  reject(fileId: string, note?: string, options?: UndoOptions): Promise<void>;
  /** Fires after any change of `files()`, with the file it is about. */
  onChange(listener: (file: ReviewFile) => void): () => void;
}

declare module '@deepseek-ai/cordis' {
  interface Context { review: ReviewService }
  interface Events {
    /** A proposal was staged and waits for the user: hosts open their diff. */
    'review/staged'(file: ReviewFile): void;
    /** The file changed under a review, just where these proposals were: they are given up, nothing of them is written. */
    'review/drift'(file: ReviewFile, lost: readonly ReviewHunk[]): void;
  }
}
