import type { Context } from '@deepseek-ai/cordis';
import { defineTool } from '../../contract/define-tool.ts';
import type { TodoItem } from '../../contract/event.ts';
import '../../prompt/system-prompt.ts';
import '../../registry/events.ts';

export interface Config {
  /** Whether several tasks may be in progress at a time (B10.34). */
  readonly allowParallelInProgress: boolean;
}

export const name = 'tool-todo';
export const inject = ['tools', 'systemPrompt'];

const ITEMS = {
  type: 'array', required: true,
  items: {
    type: 'object', additionalProperties: false,
    properties: {
      content: { type: 'string', description: 'The task in a few words.', required: true },
      status: { type: 'string', enum: ['pending', 'in_progress', 'completed'], required: true },
    },
  },
} as const;

function checked(todos: readonly TodoItem[], parallel: boolean): TodoItem[] {
  const list = todos.map(({ content, status }) => ({ content: content.trim(), status }));
  const seen = new Set<string>();
  for (const { content } of list) {
    if (content === '') throw new Error('invalid todo: `content` must be a non-empty string');
    if (seen.has(content)) throw new Error(`invalid todos: duplicate content "${content}"`);
    seen.add(content);
  }
  const active = list.filter(({ status }) => status === 'in_progress').length;
  if (!parallel && active > 1) throw new Error(`invalid todos: at most one task may be in_progress (got ${active})`);
  return list;
}

/** Registers todo_write (B10.34). */
export function apply(ctx: Context, config: Config): void {
  if (typeof config?.allowParallelInProgress !== 'boolean') throw new TypeError('tool-todo: allowParallelInProgress must be true or false');
  const parallel = config.allowParallelInProgress;
  ctx.tools.register(defineTool({
    name: 'todo_write',
    description: [
      'Replace the task list the user sees. Always send the whole list.',
      `Use it for work of several steps: mark a task in_progress when you begin it${parallel ? '' : ' (one at a time)'} and completed as soon as it is done.`,
    ].join('\n'),
    parameters: { todos: { ...ITEMS, description: 'The whole list, in order.' } },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          todos: ITEMS,
          counts: {
            type: 'object', additionalProperties: false, required: true,
            properties: { pending: { type: 'integer', required: true }, inProgress: { type: 'integer', required: true }, completed: { type: 'integer', required: true } },
          },
        },
      },
      render: (_args, { counts }) => [{
        type: 'text', text: `Updated todo list: ${counts.pending} pending, ${counts.inProgress} in progress, ${counts.completed} completed.`,
      }],
    },
    async execute(args, exec) {
      const todos = checked(args.todos, parallel);
      if (exec.agent === undefined) throw new Error('todo_write requires an owning agent session');
      exec.agent.session.append('todo/write', { todos });
      const count = (status: TodoItem['status']): number => todos.filter((todo) => todo.status === status).length;
      return { todos, counts: { pending: count('pending'), inProgress: count('in_progress'), completed: count('completed') } };
    },
    presentCall: () => ({ card: 'generic', kind: 'other', title: 'Update todo list' }),
  }));
  ctx.systemPrompt.section({ name: 'tools:todo', order: 107, text: 'Keep a list with `todo_write` when a job has more than two or three steps, and keep it true while you work.' });
}
