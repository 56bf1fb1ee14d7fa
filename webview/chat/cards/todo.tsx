import type { ComponentChildren } from 'preact';
import type { TodoItem } from '../../../src/contract/event.ts';
import type { CardView, ToolItem } from '../../../src/protocol.ts';
import { formatNumber } from '../../ui/l10n.ts';
import { Card } from '../card.tsx';
import { TodoList, progressOf } from '../todo-list.tsx';

/** A step of the checklist: what was worked on then. The list as it is now stands above the composer. */
export function TodoCard({ item, view, todos, foot }: { item: ToolItem; view: Extract<CardView, { card: 'generic' }>; todos: readonly TodoItem[]; foot: ComponentChildren }) {
  const { done, current } = progressOf(todos);
  return (
    <Card id={item.id} icon="checklist" title={view.title || item.name} status={item.status} open={item.status === 'failed'}
      {...(current === undefined ? {} : { detail: current.content })}
      badges={<span class="card-meta">{formatNumber(done)}/{formatNumber(todos.length)}</span>}>
      <TodoList todos={todos} />
      {foot}
    </Card>
  );
}
