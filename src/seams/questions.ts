import type { Agent } from '../contract/agent.ts';
import type { CallId } from '../contract/content.ts';

/** B10.35. */
export interface UserQuestion {
  readonly id: string;
  readonly question: string;
  readonly header?: string;
  readonly options?: readonly { readonly label: string; readonly description?: string }[];
  readonly multi_select?: boolean;
}
/** `selected` holds option labels, `custom` free text. */
export interface UserAnswer { readonly id: string; readonly selected: string[]; readonly custom?: string }

export interface UserQuestionRequest {
  readonly questions: readonly UserQuestion[];
  readonly agent: Agent;
  readonly callId?: CallId;
  readonly signal: AbortSignal;
}

/** `ctx.userQuestions`: blocks until the provider answers; UserQuestionError codes as in B10.35. */
export interface UserQuestionService {
  ask(request: UserQuestionRequest): Promise<UserAnswer[]>;
  /**
   * One provider at a time (DUPLICATE_PROVIDER); returns the disposer. It resolves to undefined when the user declines to
   * answer: `ask` rejects then (ASK_ABORTED).
   */
  provide(answer: (request: UserQuestionRequest) => Promise<UserAnswer[] | undefined>): () => void;
}

declare module '@deepseek-ai/cordis' {
  interface Context { userQuestions: UserQuestionService }
}
