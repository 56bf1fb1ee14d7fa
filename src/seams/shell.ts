import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';

/** `ctx.shell`: commands in a process group of their own, with exact output (design 3, B10.14-B10.21). */

export interface ShellRequest {
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  /** Milliseconds; absent: none (background). */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly callId?: CallId;
  readonly agent?: Agent;
  /** Added to the scrubbed environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One stream's tail; `spillPath` is the file with all of it. */
export interface StreamCapture {
  readonly text: string;
  readonly truncated: boolean;
  readonly spillPath?: string;
  /** Bytes seen in all. */
  readonly totalBytes: number;
}

export interface ShellResult {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  readonly stdout: StreamCapture;
  readonly stderr: StreamCapture;
}

/** A running command. `done` never rejects after a successful start. */
export interface ShellProcess {
  readonly pid: number;
  readonly done: Promise<ShellResult>;
  /** Ends the whole tree (D1): polite first, by force after the grace time. Idempotent. */
  kill(): void;
  /** What came since the last call. */
  readNew(): { stdout: string; stderr: string; dropped: boolean; spillPath?: string };
}

export interface ShellService {
  /** `bash` or `pwsh`: also the tool's name. */
  readonly kind: 'bash' | 'pwsh';
  /** Throws what `start` is going to throw, as far as that can be told without starting anything. */
  check(request: Pick<ShellRequest, 'command' | 'cwd'>): void;
  /** Throws when the shell cannot be started (clear message: which binary, what to do). */
  start(request: ShellRequest): Promise<ShellProcess>;
}

/** Live bytes of a command, for mirrors such as the native terminal. */
export interface ShellOutput { readonly callId: CallId; readonly stream: 'stdout' | 'stderr'; readonly chunk: Uint8Array }

declare module '@deepseek-ai/cordis' {
  interface Context { shell: ShellService }
  interface Events {
    'shell/started'(event: { callId: CallId; command: string; cwd: string; agent: Agent | undefined }): void;
    'shell/output'(event: ShellOutput): void;
    'shell/ended'(event: { callId: CallId; exitCode: number | null; signal: string | null }): void;
  }
}
