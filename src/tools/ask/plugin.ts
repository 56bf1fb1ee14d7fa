import type { Context } from '@deepseek-ai/cordis';
import { defineTool } from '../../contract/define-tool.ts';
import '../../prompt/system-prompt.ts';
import '../../registry/events.ts';
import '../../seams/questions.ts';
import { UserQuestionError } from './service.ts';

export const name = 'tool-ask';
export const inject = ['tools', 'userQuestions', 'systemPrompt'];

/** Registers ask_user_question (B10.35). */
export function apply(ctx: Context): void {
  ctx.tools.register(defineTool({
    name: 'ask_user_question',
    description: [
      'Ask the user one or more questions and wait for the answers.',
      'Offer options where the choice is between known ways; the user may always answer in own words. Ask only what you cannot find out yourself.',
    ].join('\n'),
    parameters: {
      questions: {
        type: 'array', required: true,
        items: {
          type: 'object', additionalProperties: true,
          properties: {
            id: { type: 'string', description: 'A name of your own for the question; its answer carries it.', required: true },
            question: { type: 'string', required: true },
            header: { type: 'string', description: 'Two or three words above the question.' },
            options: {
              type: 'array',
              items: {
                type: 'object', additionalProperties: true,
                properties: { label: { type: 'string', required: true }, description: { type: 'string', description: 'What choosing it means.' } },
              },
            },
            multi_select: { type: 'boolean', description: 'Whether several options may be chosen.' },
          },
        },
      },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          answers: {
            type: 'array', required: true,
            items: {
              type: 'object', additionalProperties: false,
              properties: { id: { type: 'string', required: true }, selected: { type: 'array', items: { type: 'string' }, required: true }, custom: { type: 'string' } },
            },
          },
        },
      },
      render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }],
    },
    async execute(args, exec) {
      if (exec.agent === undefined) throw new UserQuestionError('ask_user_question requires a running agent', 'CALLER_NOT_LIVE');
      const answers = await ctx.userQuestions.ask({ questions: args.questions, agent: exec.agent, callId: exec.callId, signal: exec.signal });
      return { answers };
    },
  }));
  ctx.systemPrompt.section({
    name: 'tools:ask', order: 108,
    text: 'When a decision is the user\'s and you cannot work it out, ask with `ask_user_question` rather than at the end of a message.',
  });
}
