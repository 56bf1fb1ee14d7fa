import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import { HarnessError } from '../../contract/error.ts';
import type { UserAnswer, UserQuestion, UserQuestionRequest, UserQuestionService } from '../../seams/questions.ts';

export type UserQuestionErrorCode =
  | 'ASK_ABORTED' | 'EMPTY_QUESTIONS' | 'CALLER_NOT_LIVE' | 'DELEGATED_CALLER' | 'BAD_INTENT' | 'NO_PROVIDER' | 'DUPLICATE_PROVIDER';

/** B10.35. */
export class UserQuestionError extends HarnessError {
  constructor(message: string, code: UserQuestionErrorCode, options?: ErrorOptions) {
    super(message, code, options);
  }
}

type Provider = (request: UserQuestionRequest) => Promise<UserAnswer[] | undefined>;

function checkQuestions(questions: readonly UserQuestion[]): void {
  if (questions.length === 0) throw new UserQuestionError('no question was asked: questions must hold at least one', 'EMPTY_QUESTIONS');
  const ids = new Set<string>();
  for (const { id, question, options } of questions) {
    if (id.trim() === '' || question.trim() === '') throw new UserQuestionError('a question needs an id and a text', 'BAD_INTENT');
    if (ids.has(id)) throw new UserQuestionError(`two questions have the id "${id}"`, 'BAD_INTENT');
    ids.add(id);
    const labels = (options ?? []).map(({ label }) => label);
    if (labels.some((label) => label.trim() === '')) throw new UserQuestionError(`question "${id}" has an option without a label`, 'BAD_INTENT');
    if (new Set(labels).size !== labels.length) throw new UserQuestionError(`question "${id}" has two options with the same label`, 'BAD_INTENT');
  }
}

/** One answer a question, in the order of the questions, with nothing in it that was not on offer. */
function fitted(questions: readonly UserQuestion[], answers: readonly UserAnswer[]): UserAnswer[] {
  return questions.map(({ id, options, multi_select: several }) => {
    const answer = answers.find((candidate) => candidate.id === id);
    const selected = (answer?.selected ?? []).filter((label) => (options ?? []).some((option) => option.label === label));
    const custom = answer?.custom;
    return { id, selected: several === true ? selected : selected.slice(0, 1), ...(custom !== undefined && custom !== '' ? { custom } : {}) };
  });
}

/** `ctx.userQuestions`: hands questions to whoever shows them, and waits (B10.35). */
export class UserQuestions extends Service implements UserQuestionService {
  /** A box: what is read off a service itself may be a wrapped copy, and is then no longer the same function. */
  private readonly current: { answer?: Provider } = {};

  constructor(ctx: Context) {
    super(ctx, 'userQuestions');
  }

  async ask(request: UserQuestionRequest): Promise<UserAnswer[]> {
    const { questions, agent, signal } = request;
    checkQuestions(questions);
    const agents = this.ctx.get('agents') as { get?(id: string): unknown } | undefined;
    if (agents?.get !== undefined && agents.get(agent.id) !== agent) {
      throw new UserQuestionError(`agent "${agent.id}" is not running any more: its questions reach nobody`, 'CALLER_NOT_LIVE');
    }
    const { origin, delegationDepth } = agent.session.header;
    if (origin === 'subagent' || delegationDepth > 0) {
      throw new UserQuestionError('a delegated agent cannot ask the user: report the question to the agent that started you', 'DELEGATED_CALLER');
    }
    const provider = this.current.answer;
    if (provider === undefined) throw new UserQuestionError('nobody is there to answer: no interface for questions is open', 'NO_PROVIDER');
    const stopped = (): UserQuestionError => new UserQuestionError('the question was withdrawn before it was answered', 'ASK_ABORTED');
    if (signal.aborted) throw stopped();
    let onAbort: (() => void) | undefined;
    try {
      const answers = await Promise.race([
        provider(request),
        new Promise<never>((_resolve, reject) => {
          onAbort = () => reject(stopped());
          signal.addEventListener('abort', onAbort, { once: true });
        }),
      ]);
      if (answers === undefined) {
        throw new UserQuestionError('the user declined to answer: decide without the answer, or say in your message what you need to know and why', 'ASK_ABORTED');
      }
      return fitted(questions, answers);
    } finally {
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    }
  }

  provide(answer: Provider): () => void {
    const { current } = this;
    if (current.answer !== undefined) throw new UserQuestionError('questions are answered elsewhere already: one provider at a time', 'DUPLICATE_PROVIDER');
    return this.ctx.effect(() => {
      current.answer = answer;
      return () => {
        if (current.answer === answer) delete current.answer;
      };
    }, 'userQuestions.provide');
  }
}
