import assert from 'node:assert/strict';
import * as todo from '../../src/tools/todo/plugin.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { TestAgent, ToolRoom } from '../harness/tool-room.ts';

describe('todo.tool', () => {
  let room: ToolRoom;
  let agent: TestAgent;
  beforeEach(async () => {
    room = await toolRoom();
    await room.ctx.plugin(todo, { allowParallelInProgress: false });
    agent = room.agent();
  });
  afterEach(() => room.dispose());
  const write = (...todos: [string, string][]) => room.call('todo_write', { todos: todos.map(([content, status]) => ({ content, status })) }, { agent });

  it('B10.34 the list is logged, trimmed and counted', async () => {
    const result = await write([' a ', 'completed'], ['b', 'in_progress'], ['c', 'pending'], ['d', 'pending']);
    assert.equal(textOf(result), 'Updated todo list: 2 pending, 1 in progress, 1 completed.');
    const todos = [['a', 'completed'], ['b', 'in_progress'], ['c', 'pending'], ['d', 'pending']].map(([content, status]) => ({ content, status }));
    assert.deepEqual(agent.logged, [{ type: 'todo/write', data: { todos } }]);
    assert.deepEqual(!result.isError && result.value, { todos, counts: { pending: 2, inProgress: 1, completed: 1 } });
    assert.equal(textOf(await write()), 'Updated todo list: 0 pending, 0 in progress, 0 completed.');
  });

  it('B10.34 what is refused logs nothing', async () => {
    assert.equal(textOf(await write(['  ', 'pending'])), 'Error: invalid todo: `content` must be a non-empty string');
    assert.equal(textOf(await write(['a', 'pending'], ['a ', 'completed'])), 'Error: invalid todos: duplicate content "a"');
    assert.equal(textOf(await write(['a', 'in_progress'], ['b', 'in_progress'])), 'Error: invalid todos: at most one task may be in_progress (got 2)');
    assert.equal(textOf(await room.call('todo_write', { todos: [] })), 'Error: todo_write requires an owning agent session');
    assert.match(textOf(await write(['a', 'done'])), /^Error: invalid arguments: "todos\[0\]\.status" must be one of/);
    assert.deepEqual(agent.logged, []);
  });

  it('B10.34 several at a time where that is allowed; the config is required', async () => {
    await agent.ctx.plugin(todo, { allowParallelInProgress: true });
    assert.equal((await write(['a', 'in_progress'], ['b', 'in_progress'])).isError, false);
    assert.throws(() => todo.apply(room.ctx, {} as never), /allowParallelInProgress/);
  });

  it('B10.34 the card', () => {
    assert.deepEqual(room.ctx.get('tools')!.get('todo_write')!.presentCall!({ todos: [] }), { card: 'generic', kind: 'other', title: 'Update todo list' });
  });
});
