import type { Agent, Session } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';
import type { ApprovalOutcome, ApprovalRule } from '../contract/event.ts';

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
  /**
   * A policy's suggestion for the request it is about to cause: `rule` may be allowed for the rest of the session. Taken
   * by the next request of that call, or dropped with it.
   */
  offer(callId: CallId, rule: ApprovalRule): void;
  /** The user took the offer of the request with this id. False when it is not waiting or offered nothing. */
  remember(id: string): boolean;
  /** What the user allowed for the rest of this session. */
  rules(session: Session): readonly ApprovalRule[];
}

declare module '@deepseek-ai/cordis' {
  interface Context { approval: ApprovalService }
  interface Events {
    /** Answered by the host's UI or the headless driver; the default is `unavailable`. `id` is the logged request id. */
    'approval/request'(request: ApprovalRequest & { readonly id: string; readonly remember?: { readonly label: string } }, next: () => Promise<ApprovalOutcome>): Promise<ApprovalOutcome>;
  }
}
