import type { Context } from '@deepseek-ai/cordis';
import type { ApprovalOutcome } from '../contract/event.ts';
import type { UserAnswer, UserQuestionRequest } from '../seams/questions.ts';

interface Waiting<T> { readonly id: string; settle(value: T): void }

/**
 * Approvals and questions that wait for the user. A view only tells which button was pressed; what is granted is
 * decided here, by the request's own id (J9). Nothing here takes the focus (B9).
 */
export class Approvals {
  readonly #approvals = new Map<string, Waiting<ApprovalOutcome>>();
  readonly #questions = new Map<string, Waiting<UserAnswer[] | undefined> & { readonly request: UserQuestionRequest }>();
  readonly #onQuestion: (request: UserQuestionRequest) => void;

  /** Attaches to `ctx`; everything ends with its fiber. `onQuestion` draws the card. */
  constructor(ctx: Context, onQuestion: (request: UserQuestionRequest) => void) {
    this.#onQuestion = onQuestion;
    ctx.on('approval/request', (request) => this.#wait(request.id, request.signal));
    ctx.inject(['userQuestions'], (inner) => {
      inner.effect(() => inner.userQuestions.provide((request) => this.#ask(request)), 'question cards');
    });
    ctx.effect(() => () => {
      for (const waiting of this.#approvals.values()) waiting.settle('cancelled');
    }, 'pending approvals');
  }

  #wait(id: string, signal: AbortSignal | undefined): Promise<ApprovalOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: ApprovalOutcome) => {
        this.#approvals.delete(id);
        signal?.removeEventListener('abort', cancel);
        resolve(outcome);
      };
      const cancel = () => settle('cancelled');
      if (signal?.aborted === true) return settle('cancelled');
      signal?.addEventListener('abort', cancel, { once: true });
      this.#approvals.set(id, { id, settle });
    });
  }

  /** False when that request is not (any longer) waiting. */
  decide(id: string, allow: boolean): boolean {
    const waiting = this.#approvals.get(id);
    waiting?.settle(allow ? 'allowed-once' : 'rejected');
    return waiting !== undefined;
  }

  /** What waits was asked under rules that no longer hold. */
  rejectAll(): void {
    for (const waiting of [...this.#approvals.values()]) waiting.settle('rejected');
  }

  #ask(request: UserQuestionRequest): Promise<UserAnswer[] | undefined> {
    const { callId } = request;
    if (callId === undefined) return Promise.reject(new Error('the question has no call to be asked on'));
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#questions.delete(callId);
        reject(request.signal.reason instanceof Error ? request.signal.reason : new Error('the question was cancelled'));
      };
      if (request.signal.aborted) return cancel();
      request.signal.addEventListener('abort', cancel, { once: true });
      const settle = (answers: UserAnswer[] | undefined) => {
        this.#questions.delete(callId);
        request.signal.removeEventListener('abort', cancel);
        resolve(answers);
      };
      this.#questions.set(callId, { id: callId, request, settle });
      this.#onQuestion(request);
    });
  }

  /** False when that question is not waiting, or the answers are not for its questions. */
  answer(callId: string, answers: readonly UserAnswer[]): boolean {
    const waiting = this.#questions.get(callId);
    if (waiting === undefined) return false;
    const asked = new Set(waiting.request.questions.map((question) => question.id));
    if (answers.length !== asked.size || !answers.every((answer) => asked.has(answer.id))) return false;
    waiting.settle([...answers]);
    return true;
  }

  /** The user declines to answer. False when that question is not waiting. */
  skip(callId: string): boolean {
    const waiting = this.#questions.get(callId);
    waiting?.settle(undefined);
    return waiting !== undefined;
  }
}
