import type { FileTarget } from './fs.ts';

/**
 * `ctx.checkpoints`: what files held before tools changed them, per turn, so that a conversation can be taken back to
 * the state before any message (N1-N5). Only files that tools changed are kept; what commands changed is not covered,
 * and nothing inside a `.git` folder is ever kept or written.
 */

/** Whose change: turns count from 0, as in the session log. */
export interface CheckpointPlace { readonly sessionId: string; readonly turn: number }

export interface RewindItem {
  /** As the tool was given it. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly realPath: string;
  readonly action: 'restore' | 'remove';
  /** The file is not what the last tool left: the user or a command changed it since, or between two changes. */
  readonly drift: boolean;
  /** Texts now and then; null when absent, or no text. */
  readonly now: string | null;
  readonly then: string | null;
}

export interface RewindPlan {
  readonly place: CheckpointPlace;
  /** What would change, in the order of first change. */
  readonly items: readonly RewindItem[];
  /** Files too big to have been kept, by path. */
  readonly uncovered: readonly string[];
}

/** One rewind as it was done. `failed`: files left as they are, with the reason. */
export interface RewindOutcome {
  readonly id: string;
  readonly done: readonly string[];
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

export interface CheckpointService {
  /** Before a tool's change: keeps what the file holds, once per turn. Throws when it can't be kept. */
  before(place: CheckpointPlace, target: FileTarget, displayPath: string): Promise<void>;
  /** After it: remembers what was left. `createdDirectories`: made for a new file. */
  after(place: CheckpointPlace, target: FileTarget, createdDirectories?: readonly string[]): Promise<void>;
  /** What going back to before the first change of `place.turn` would do. Nothing is changed. */
  plan(place: CheckpointPlace): Promise<RewindPlan>;
  /** Does it for the files named by `realPaths`; each goes only if it is still what the plan saw. */
  rewind(plan: RewindPlan, realPaths: readonly string[]): Promise<RewindOutcome>;
  /** Takes a rewind back; files changed since stay as they are, unless `force`. */
  undo(sessionId: string, rewindId: string, options?: { readonly force?: boolean }): Promise<RewindOutcome>;
  /** The newest rewind of a session that can be taken back. */
  lastRewind(sessionId: string): Promise<string | undefined>;
  /** A forked session starts with the checkpoints of the turns it has: those before `place.turn`. */
  copy(place: CheckpointPlace, toSessionId: string): Promise<void>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { checkpoints: CheckpointService }
}
