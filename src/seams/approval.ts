import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';
import type { ApprovalOutcome } from '../contract/event.ts';

/** G12.2. Arguments are not in the request; a UI finds the call by `callId` (G12.3). */
export interface ApprovalRequest {
  readonly agent: Agent;
  readonly toolName: string;
  readonly callId?: CallId;
  readonly reason?: string;
  readonly signal?: AbortSignal;
}

export interface ApprovalService {
  /** Appends approval/asked and approval/decided around the `approval/request` waterfall. Needs an open turn (throws otherwise). */
  request(request: ApprovalRequest): Promise<ApprovalOutcome>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { approval: ApprovalService }
  interface Events {
    /** Answered by the host's UI or the headless driver; the default is `unavailable`. `id` is the logged request id. */
    'approval/request'(request: ApprovalRequest & { readonly id: string }, next: () => Promise<ApprovalOutcome>): Promise<ApprovalOutcome>;
  }
}
