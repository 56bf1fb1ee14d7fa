import type { Agent, Session } from '../contract/agent.ts';
import type { AskReason } from '../contract/ask-reason.ts';
import type { CallId } from '../contract/content.ts';
import type { ApprovalOutcome, ApprovalRule } from '../contract/event.ts';

/** G12.2. Arguments are not in the request; a UI finds the call by `callId` (G12.3). */
export interface ApprovalRequest {
  readonly agent: Agent;
  readonly toolName: string;
  readonly callId?: CallId;
  readonly reason?: string;
  /** The same reason as data, for readers of other languages. */
  readonly why?: AskReason;
  readonly signal?: AbortSignal;
}

/** What a policy knows of the request that its decision is about to cause. */
export interface ApprovalOffer {
  /** The reason the policy gave: the offer is for a request with this very reason. */
  readonly reason: string;
  readonly why?: AskReason;
  /** May be allowed for the rest of the session. */
  readonly rule?: ApprovalRule;
}

export interface ApprovalService {
  /** Appends approval/asked and approval/decided around the `approval/request` waterfall. Needs an open turn (throws otherwise). */
  request(request: ApprovalRequest): Promise<ApprovalOutcome>;
  /**
   * What belongs to the request that a policy is about to cause, and has no place in a decision (P4.9). Taken by the next
   * request of that call when it has the same reason, else dropped.
   */
  offer(callId: CallId, offer: ApprovalOffer): void;
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
