import type { CallId } from '../contract/content.ts';

/**
 * `ctx.review`: every change of a turn in the user's hands (design 4). The core keeps the model (ChangeSet), the host
 * shows it. Lines are 1-based; texts carry their own line endings.
 */
export type HunkState = 'pending' | 'kept' | 'undone';

export interface ReviewHunk {
  readonly id: string;
  readonly state: HunkState;
  /** 1-based first line and number of lines on the side before; count 0 = insertion before that line. */
  readonly oldStart: number;
  readonly oldLines: readonly string[];
  /** 1-based first line on the proposed side. */
  readonly newStart: number;
  readonly newLines: readonly string[];
}

/**
 * `staged`: the proposal waits, the disk is unchanged (ask preset). `applied`: the disk has it, Keep or Undo is open
 * (auto-edit preset). `decided`: nothing pending. `drifted`: the file changed since; deciding asks the user first.
 */
export type ReviewFileState = 'staged' | 'applied' | 'decided' | 'drifted';

export interface ReviewFile {
  readonly id: string;
  readonly turn: number;
  readonly sessionId: string;
  readonly callIds: readonly CallId[];
  readonly path: string;
  readonly realPath: string;
  readonly operation: 'create' | 'update';
  readonly state: ReviewFileState;
  /** Text before the first proposal, null for a new file. */
  readonly before: string | null;
  /** The proposed side as it stands, with what the user typed there. */
  readonly proposed: string;
  readonly hunks: readonly ReviewHunk[];
}

export interface ReviewService {
  /** All files with something pending, then decided ones of the running session, oldest first. */
  files(): readonly ReviewFile[];
  file(id: string): ReviewFile | undefined;
  forCall(callId: CallId): ReviewFile | undefined;
  /** The user typed on the proposed side. */
  setProposed(id: string, text: string): void;
  /** Accept/keep or reject/undo one hunk, a file, or everything of a session. `note` is told to the model. */
  acceptHunk(fileId: string, hunkId: string): Promise<void>;
  rejectHunk(fileId: string, hunkId: string, note?: string): Promise<void>;
  accept(fileId: string): Promise<void>;
  reject(fileId: string, note?: string): Promise<void>;
  /** Fires after any change of `files()`. */
  onChange(listener: (file: ReviewFile | undefined) => void): () => void;
}

declare module '@deepseek-ai/cordis' {
  interface Context { review: ReviewService }
  interface Events {
    /** A proposal was staged and waits for the user: hosts open their diff. */
    'review/staged'(file: ReviewFile): void;
  }
}
