import { createInterface } from 'node:readline/promises';
import type { Context } from '@deepseek-ai/cordis';
import { createTwoFilesPatch } from 'diff';
import { HarnessError } from '../contract/error.ts';
import type { ApprovalOutcome } from '../contract/event.ts';
import type { ApprovalRequest } from '../seams/approval.ts';
import type { UserAnswer } from '../seams/questions.ts';
import type { ReviewFile } from '../seams/review.ts';
import '../policy/approval.ts';
import type { ApproveMode } from './options.ts';
import { visible } from './visible.ts';

export interface Terminal {
  readonly interactive: boolean;
  /** Shows a text and reads one line; undefined when the input ends instead. Rejects when the signal aborts. */
  question(text: string, signal?: AbortSignal): Promise<string | undefined>;
  /** One line for the person at the terminal. */
  note(text: string): void;
}

export const name = 'headless-answers';
export const inject = ['approval', 'review', 'userQuestions'];

/** Answers approvals and reviews: all of them, none, or what the person at the terminal says. */
export function apply(ctx: Context, config: { mode: ApproveMode; terminal: Terminal }): void {
  const { mode, terminal } = config;
  /** One question at a time. */
  let turn: Promise<unknown> = Promise.resolve();
  const ask = (asked: string, accept: string, signal?: AbortSignal): Promise<string | undefined> => {
    const text = visible(asked);
    const answer = turn.then(async () => {
      if (!terminal.interactive) {
        terminal.note(`${text.split('\n')[0]!}: denied, because there is no terminal to ask on (use --approve all or none)`);
        return undefined;
      }
      return (await terminal.question(`${text} [${accept}] `, signal))?.trim();
    });
    turn = answer.catch(() => undefined);
    return answer;
  };

  ctx.on('approval/request', async (request): Promise<ApprovalOutcome> => {
    if (mode !== 'ask') return mode === 'all' ? 'allowed-once' : 'rejected';
    const answer = await ask(approvalText(request), request.remember ? 'y/n/always' : 'y/n', request.signal).catch((error: unknown) => {
      if (!request.signal?.aborted) throw error;
      return undefined;
    });
    if (request.signal?.aborted) return 'cancelled';
    if (answer === undefined) return 'unavailable';
    if (/^a/i.test(answer) && request.remember) ctx.approval.remember(request.id);
    return /^[ya]/i.test(answer) ? 'allowed-once' : 'rejected';
  });

  ctx.effect(() => ctx.userQuestions.provide(async ({ questions, signal }) => {
    const answers: UserAnswer[] = [];
    for (const question of questions) {
      const options = question.options ?? [];
      const list = options.map((option, i) => `  ${i + 1}. ${option.label}`).join('\n');
      const text = mode === 'ask' ? await ask(`${question.question}\n${list}\n`, `${options.length > 0 ? 'number or own words' : 'own words'}, nothing to skip`, signal) : undefined;
      if (text === undefined) throw new Error('nobody is there to answer: decide without the user, or end the turn');
      if (text === '') return undefined;
      const chosen = options[Number(text) - 1];
      answers.push({ id: question.id, selected: chosen ? [chosen.label] : [], ...(chosen ? {} : { custom: text }) });
    }
    return answers;
  }), 'headless questions');

  ctx.on('review/staged', (file) => {
    const decide = async (): Promise<void> => {
      if (mode === 'all') return ctx.review.accept(file.id);
      if (mode === 'none') return ctx.review.reject(file.id);
      const answer = await ask(`Write ${file.path}?\n${patchText(file)}`, 'y/n');
      if (answer === undefined) return ctx.review.reject(file.id, 'there is nobody to review it');
      return /^y/i.test(answer) ? ctx.review.accept(file.id) : ctx.review.reject(file.id);
    };
    // Not inside the event: whoever staged it is still at it.
    setImmediate(() => void decide().catch(async (error: unknown) => {
      // a stop has decided it meanwhile
      if (error instanceof HarnessError && error.code === 'REVIEW_DECIDED') return;
      const message = error instanceof Error ? error.message : String(error);
      terminal.note(`${file.path}: ${message}`);
      // nobody else will decide it: the call must not wait for ever
      await ctx.review.reject(file.id, `it could not be written: ${message}`);
    }).catch((error: unknown) => terminal.note(`${file.path}: ${error instanceof Error ? error.message : String(error)}`)));
  });
}

function approvalText(request: ApprovalRequest & { readonly remember?: { readonly label: string } }): string {
  const call = request.agent.session.events.findLast((event) => event.type === 'tool/call' && event.data.callId === request.callId);
  const args = call?.type === 'tool/call' ? ` ${call.data.arguments.slice(0, 500)}` : '';
  return `Allow ${request.toolName}${args}?${request.reason === undefined ? '' : ` (${request.reason})`}${request.remember ? `\n"always" allows "${request.remember.label}" in this session.` : ''}`;
}

function patchText(file: ReviewFile): string {
  return createTwoFilesPatch(file.path, file.path, file.base, file.proposed, undefined, undefined, { context: 3 });
}

/**
 * The process's own terminal: questions go to stderr, so that stdout stays clean. `interrupt` is called for Ctrl+C at a
 * question, which the reader of lines would keep to itself.
 */
export function processTerminal(interrupt: () => void): Terminal {
  return {
    interactive: process.stdin.isTTY && process.stderr.isTTY,
    note: (text) => void process.stderr.write(`${text}\n`),
    async question(text, signal) {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      const ended = new AbortController();
      lines.once('SIGINT', () => {
        interrupt();
        ended.abort();
      });
      lines.once('close', () => ended.abort());
      try {
        return await lines.question(text, { signal: signal ? AbortSignal.any([signal, ended.signal]) : ended.signal });
      } catch (error) {
        if (signal?.aborted || !ended.signal.aborted) throw error;
        process.stderr.write('\n');
        return undefined;
      } finally {
        lines.close();
      }
    },
  };
}
