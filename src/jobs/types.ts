import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';

/** J7.3. `done` settles after resources are released and never rejects. */
export interface JobOutcome { readonly status: 'completed' | 'killed' | 'failed'; readonly detail?: string; readonly output?: string }
export interface JobHandle {
  cancel(reason?: string): void;
  readonly done: Promise<JobOutcome>;
  /** What came since the last call. */
  readOutput?(): string;
}
export interface JobStart {
  readonly kind: string;
  readonly label: string;
  readonly owner?: Agent;
  readonly outputLimitBytes?: number;
  /** The call that starts it, so that a UI can show the job's output where that call's is. */
  readonly callId?: CallId;
  run(): JobHandle;
}
export type JobStatus = 'running' | 'stopping' | 'completed' | 'killed' | 'failed';
/** J7.7: always fresh; times in ms since the epoch. */
export interface JobSnapshot {
  readonly id: string; readonly kind: string; readonly label: string; readonly outputLimitBytes?: number; readonly ownerSession?: string;
  readonly status: JobStatus; readonly detail?: string; readonly startedAt: number; readonly finishedAt?: number; readonly reported: boolean;
  readonly callId?: CallId;
}

/** `ctx.jobs` (J7.1-J7.9). */
export interface JobService {
  start(job: JobStart): string;
  list(caller?: Agent): JobSnapshot[];
  get(id: string, caller?: Agent): JobSnapshot;
  /** What a job printed since the last read; a final output again and again (J7.6). */
  read(id: string, caller?: Agent): { text: string; snapshot: JobSnapshot };
  kill(id: string, caller?: Agent, reason?: string): 'requested' | 'already-finished';
  wait(id: string, ms: number, caller?: Agent, signal?: AbortSignal): Promise<JobSnapshot>;
  onJobDone(listener: (job: JobSnapshot, owner: Agent | undefined) => void): () => void;
  onJobsChanged(listener: () => void): () => void;
  attachController(name: string): () => void;
}

declare module '@deepseek-ai/cordis' {
  interface Context { jobs: JobService }
}
