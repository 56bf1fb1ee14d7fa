import * as l10n from '@vscode/l10n';
import type { TodoItem } from '../../src/contract/event.ts';
import { Icon } from '../ui/icon.tsx';

const ICON: Record<TodoItem['status'], string> = { pending: 'circle-large-outline', in_progress: 'record', completed: 'pass' };

/** The agent's checklist, as it stands. */
export function TodoList({ todos }: { todos: readonly TodoItem[] }) {
  const names: Record<TodoItem['status'], string> = { pending: l10n.t('To do'), in_progress: l10n.t('In progress'), completed: l10n.t('Done') };
  return (
    <ul class="todos">
      {todos.map((todo, at) => (
        <li key={at} class={`todo todo-${todo.status}`}><Icon name={ICON[todo.status]} label={names[todo.status]} /><span>{todo.content}</span></li>
      ))}
    </ul>
  );
}

/** How many are done, and what is worked on or comes next. */
export function progressOf(todos: readonly TodoItem[]): { done: number; current: TodoItem | undefined } {
  return {
    done: todos.filter((todo) => todo.status === 'completed').length,
    current: todos.find((todo) => todo.status === 'in_progress') ?? todos.find((todo) => todo.status === 'pending'),
  };
}
