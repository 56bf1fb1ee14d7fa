import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';

/**
 * `ctx.fs`: the files of the user's machine. Two providers: plain node (headless) and VS Code (host), which reads and
 * edits through open documents. Tools decide what to change, the provider decides how bytes get there, and plugins on
 * the intent waterfalls (observation policy, review) decide whether they do.
 */

/** One file, resolved. */
export interface FileTarget {
  /** Absolute, symlinks kept: what messages and cards show when the tool's argument is not at hand. */
  readonly path: string;
  /** Absolute real path (of the nearest existing ancestor plus the rest): identity for locks, policy, observation (A11, J1). */
  readonly realPath: string;
}

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  /** Bytes. */
  readonly size: number;
  /** Changes whenever content may have changed (disk identity and, for an open document, its version). */
  readonly version: string;
  /** POSIX permission bits. */
  readonly mode: number;
  readonly readonly: boolean;
}

export interface DirectoryEntry { readonly name: string; readonly kind: FileStat['kind'] }

/** A file's text with all that is needed to write it back byte for byte. */
export interface TextFile {
  /** Decoded text with its own line endings, BOM removed. */
  readonly text: string;
  /** Name understood by src/text (`utf8`, `utf8bom`, `utf16le`, `gb18030`, `windows1252` …). */
  readonly encoding: string;
  readonly version: string;
  /** The buffer of an open document, or the bytes on disk. */
  readonly source: 'disk' | 'document';
  /** An open document with edits that are not on disk (A13). */
  readonly dirty: boolean;
}

/** Replaces UTF-16 offsets `start`..`end` of `TextFile.text` by `text`. */
export interface TextSplice { readonly start: number; readonly end: number; readonly text: string }

/** A proposed mutation of one file, before anything was written. */
export interface FileIntent {
  readonly kind: 'create' | 'write' | 'edit';
  readonly target: FileTarget;
  /** The path exactly as the tool was given it: what cards and messages show. */
  readonly displayPath: string;
  readonly toolName: string;
  readonly callId?: CallId;
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
  /** Prior content; null when the file does not exist or is not text. */
  readonly before: TextFile | null;
  /** Version of what is there now, null when absent: what an observation is compared with. */
  readonly version: string | null;
  /** Whole proposed text with final line endings, BOM excluded. */
  readonly after: string;
  /** The splices that lead from `before.text` to `after`, in order, not overlapping. */
  readonly splices: readonly TextSplice[];
}

/**
 * What the waterfalls answer. `apply`: the provider writes `text` (default: the intent's `after`). `applied`: the
 * listener has written already (through the provider's own `commit`) or kept the file as it is, and says what it now
 * holds. `refuse`: nothing is written, the tool fails with `error`.
 */
export type FileDecision =
  | { readonly kind: 'apply'; readonly text?: string }
  | { readonly kind: 'applied'; readonly text: string | null; readonly version: string | null }
  | { readonly kind: 'refuse'; readonly error: Error };

/**
 * A mutation about to start, before the tool looked at the text. Listeners of `fs/mutation-check` refuse by returning an
 * error: what must be told before "not found" or "ambiguous" (B10.10), or before a user is asked anything.
 */
export interface MutationCheck {
  readonly kind: 'create' | 'write' | 'edit';
  readonly target: FileTarget;
  readonly displayPath: string;
  readonly toolName: string;
  readonly callId?: CallId;
  readonly agent?: Agent;
  /** Version of what is there now, null when absent. */
  readonly version: string | null;
}

/** What the disk (or the open document) holds after a mutation. */
export interface FileOutcome {
  readonly operation: 'create' | 'update' | 'none';
  /** Text before and after with own line endings; null when absent or not text. */
  readonly before: string | null;
  readonly after: string | null;
  readonly version: string | null;
  /** The splices from `before` to `after`, when the change was made exactly as proposed. */
  readonly splices?: readonly TextSplice[];
  /** Absolute directories made for a new file, outermost first: what undoing it removes again (B11). */
  readonly createdDirectories?: readonly string[];
}

export interface MutationContext {
  readonly displayPath: string;
  readonly toolName: string;
  readonly callId?: CallId;
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

export interface FileSystemService {
  /** Relative paths resolve against the session's cwd (B10.13). Never throws for an absent file. */
  resolve(path: string, cwd: string): Promise<FileTarget>;
  /** null: absent. */
  stat(target: FileTarget): Promise<FileStat | null>;
  /** Raw bytes on disk from `start` (inclusive) to `end` (exclusive). Each chunk is only valid until the next is asked for. */
  readBytes(target: FileTarget, range?: { start?: number; end?: number }, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Whole text. Throws HarnessError FS_NOT_FOUND, FS_NOT_REGULAR_FILE, FS_NOT_TEXT (B10.2). */
  readText(target: FileTarget, displayPath: string, signal?: AbortSignal): Promise<TextFile>;
  /** The open document's text when the file is open with a buffer, else undefined: what streaming readers ask first. */
  openDocument(target: FileTarget): Promise<TextFile | undefined>;
  /** Entries of a directory, by name. Links are told by what they point to; a dangling one is `other`. */
  readDirectory(target: FileTarget): Promise<readonly DirectoryEntry[]>;
  /** Encoding of files without a byte-order mark (`utf8` unless the user chose another): for streaming readers. */
  encodingFor(target: FileTarget): string;
  /** Replaces the whole text, creating parents (B10.6). Serialised per real path (A11). */
  write(target: FileTarget, content: string, context: MutationContext): Promise<FileOutcome>;
  /**
   * Computes splices from the current text under the path's lock, then runs the intent waterfall and writes.
   * `compute` may throw to refuse (not found, ambiguous).
   */
  edit(target: FileTarget, compute: (before: TextFile) => readonly TextSplice[], context: MutationContext): Promise<FileOutcome>;
  /**
   * Writes now, without asking anyone: for review plugins that decided already. `expect` is the version that must
   * still be there (null: absent); a mismatch throws FS_STALE_VERSION and writes nothing. `text` null removes the file.
   */
  commit(target: FileTarget, text: string | null, options: {
    expect?: string | null; encoding?: string; splices?: readonly TextSplice[]; signal?: AbortSignal;
    /** With `text` null: absolute directories to remove afterwards, when empty; default those made for this file (B11). */
    removeDirectories?: readonly string[];
  }): Promise<{
    version: string | null; createdDirectories?: readonly string[];
    /** What the file holds now, when saving changed it (format on save, B17). */
    text?: string;
  }>;
  /** Like `commit`, with exact bytes: undoing over content that was no text. */
  commitBytes(target: FileTarget, bytes: Uint8Array, options: { expect?: string | null; signal?: AbortSignal }): Promise<{ version: string | null }>;
}

/** B10.12: what an agent has seen of a file. */
export type FileObservation = { kind: 'present'; version: string } | { kind: 'absent' };

declare module '@deepseek-ai/cordis' {
  interface Context { fs: FileSystemService }
  interface Events {
    /**
     * Serial, before a mutation is computed, under the path's lock; the first error returned refuses. All events of this
     * seam are filtered by the agent's scope.
     */
    'fs/mutation-check'(check: MutationCheck): Error | undefined | Promise<Error | undefined>;
    /** A read, write or edit showed the agent this state. */
    'fs/observed'(target: FileTarget, observation: FileObservation, agent: Agent | undefined): void;
    /** kind create or write. */
    'fs/write-intent'(intent: FileIntent, next: () => Promise<FileDecision>): Promise<FileDecision>;
    /** kind edit. */
    'fs/edit-intent'(intent: FileIntent, next: () => Promise<FileDecision>): Promise<FileDecision>;
  }
}
