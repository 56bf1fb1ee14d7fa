import assert from 'node:assert/strict';
import type { ContentBlock } from '../../src/contract/content.ts';
import type { SessionEventMap } from '../../src/contract/event.ts';
import type { JsonValue } from '../../src/contract/json.ts';
import { createToolResultMessage } from '../../src/contract/message.ts';
import type { ToolCallView, ToolResultView } from '../../src/contract/presentation.ts';
import type { ToolDefinition } from '../../src/contract/tool.ts';
import type { ToolItem } from '../../src/protocol.ts';
import { SessionLog } from '../../src/session/log.ts';
import { summaryOf, withinRoot } from '../../src/transcript/summary.ts';
import { Transcript } from '../../src/transcript/transcript.ts';

type Views = { call?: ToolCallView; result?: ToolResultView };

/** One call of one tool, from its call to its result. */
class Row {
  readonly log = new SessionLog({ header: { type: 'session', version: 0, id: 's', createdAt: 0, delegationDepth: 0 } });
  readonly transcript: Transcript;
  constructor(name: string, args: JsonValue | string, views: Views = {}, cwd = '/home/ada/shop') {
    const definition = { presentCall: () => views.call, presentResult: () => views.result } as unknown as ToolDefinition;
    this.transcript = new Transcript({ tool: () => definition, cwd: () => cwd });
    this.log.onAppend((event) => this.transcript.apply(event));
    this.log.append('turn/start', { turn: 1 });
    this.log.append('step/start', { turn: 1, step: 1 });
    this.log.append('tool/call', { turn: 1, step: 1, callId: 'c', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) });
  }
  settle(content: ContentBlock[] = [{ type: 'text', text: 'done' }], isError = false, more: Partial<SessionEventMap['tool/result']> = {}): this {
    this.log.append('tool/result', { turn: 1, step: 1, message: createToolResultMessage('c', content, isError), ...more });
    return this;
  }
  get item(): ToolItem {
    const item = this.transcript.item('c');
    assert.ok(item?.kind === 'tool');
    return item;
  }
}

const terminal: ToolCallView = { card: 'terminal', title: 'make' };
const diff: ToolCallView = { card: 'diff', title: 'Edit a.txt', diffs: [{ path: 'a.txt', oldText: 'a', newText: 'b' }] };

describe('rows of calls', () => {
  it('B10.34 the card of a todo list has the list, while it is written and after; a list that is no list is text', () => {
    const todos = [{ content: ' Read ', status: 'completed' }, { content: 'Mend', status: 'in_progress' }];
    const call: ToolCallView = { card: 'generic', title: 'Update todo list' };
    const row = new Row('todo_write', { todos }, { call });
    const shown = (item: ToolItem): unknown => (item.view.card === 'generic' ? item.view.todos : 'no generic card');
    const list = [{ content: 'Read', status: 'completed' }, { content: 'Mend', status: 'in_progress' }];
    assert.deepEqual(shown(row.item), list);
    assert.deepEqual(shown(row.settle().item), list);
    const wrong: JsonValue[] = [{ todos: [] }, { todos: [{ content: 'x', status: 'later' }] }, { todos: 'all' }, {}];
    for (const args of wrong) assert.equal(shown(new Row('todo_write', args, { call }).item), undefined);
    assert.equal(shown(new Row('other', { todos }, { call }).item), undefined);
  });

  it('G12.2 a call that the user rejected was stopped; one that was refused by a rule failed', () => {
    for (const [outcome, status] of [['rejected', 'stopped'], ['unavailable', 'failed']] as const) {
      const row: Row = new Row('bash', { command: 'make' }, { call: terminal });
      row.log.append('approval/asked', { id: 'a', toolName: 'bash', callId: 'c' });
      row.log.append('approval/decided', { id: 'a', outcome });
      assert.equal(row.settle([{ type: 'text', text: 'Error: no' }], true).item.status, status);
    }
  });

  it('V9.3 a settled call is drawn by its result view, whatever its call view was', () => {
    for (const call of [terminal, diff]) {
      const row = new Row('x', {}, { call, result: { card: 'generic', content: [{ type: 'text', text: 'only text' }] } });
      assert.equal(row.item.view.card, call.card);
      const { view } = row.settle().item;
      assert.ok(view.card === 'generic' && view.content === 'only text');
      assert.equal(view.title, call.title, 'the pending title stays (V9.2)');
    }
  });

  it('V9.3 a settled call without a result view is generic, also when it was a command or a diff', () => {
    for (const call of [terminal, diff]) {
      const { view } = new Row('x', {}, { call }).settle([{ type: 'text', text: 'raw' }]).item;
      assert.ok(view.card === 'generic' && view.content === 'raw', call.card);
    }
  });

  it('V9.3 a settled diff is one only by its result view, and shows that view\'s files', () => {
    const result: ToolResultView = { card: 'diff', diffs: [{ path: 'b.txt', oldText: null, newText: 'new' }] };
    const before = new Row('x', {}, { call: diff, result });
    assert.deepEqual(before.item.view.card === 'diff' && before.item.view.files.map(({ path }) => path), ['a.txt']);
    const { view } = before.settle().item;
    assert.deepEqual(view.card === 'diff' && view.files.map(({ path }) => path), ['b.txt']);
    const { view: fromGeneric } = new Row('x', {}, { result }).settle().item;
    assert.equal(fromGeneric.card, 'diff');
  });

  it('V9.7 a row runs, then is done, failed or stopped', () => {
    const row = new Row('x', {});
    assert.ok(['pending', 'running'].includes(row.item.status), row.item.status);
    assert.equal(row.settle().item.status, 'completed');
    assert.equal(new Row('x', {}).settle(undefined, true).item.status, 'failed');
    for (const code of ['interrupted', 'ABORTED', 'ABORTED_BEFORE_DISPATCH', 'TOOL_OUTCOME_UNKNOWN', 'TOOL_NOT_STARTED']) {
      assert.equal(new Row('x', {}).settle(undefined, true, { error: { name: 'E', code } }).item.status, 'stopped', code);
    }
    assert.equal(new Row('x', {}).settle(undefined, true, { error: { name: 'E', code: 'INVALID_ARGS' } }).item.status, 'failed');
  });

  it('V9.7 a failure without content shows its name and code', () => {
    assert.equal(new Row('x', {}).settle([], true, { error: { name: 'QuotaError', code: 'QUOTA' } }).item.error, 'QuotaError: QUOTA');
    assert.equal(new Row('x', {}).settle([{ type: 'text', text: 'Error: told' }], true, { error: { name: 'QuotaError', code: 'QUOTA' } }).item.error, 'told');
  });

  it('V9.7 a tool that says nothing of its call is summed up from its arguments', () => {
    const detail = (args: JsonValue | string) => {
      const { view } = new Row('custom', args).item;
      assert.ok(view.card === 'generic' && view.title === 'custom');
      return view.detail;
    };
    assert.equal(detail({ command: 'ls', description: 'List files' }), 'List files');
    assert.equal(detail({ command: 'ls\n  -l' }), 'ls -l');
    assert.equal(detail({ file_path: '/home/ada/shop/src/a.ts' }), 'src/a.ts');
    assert.equal(detail({ path: 'src/a.ts', query: 'x' }), 'src/a.ts');
    assert.equal(detail({ url: 'https://a.test/' }), 'https://a.test/');
    assert.equal(detail({ queries: ['tea', 'milk'] }), 'tea, milk');
    assert.equal(detail({ pattern: 'x'.repeat(500) })?.length, 120);
    for (const args of [{}, { other: 'x' }, { command: '' }, { command: 7 }, [], 'not json'] as JsonValue[]) assert.equal(detail(args), undefined, JSON.stringify(args));
    const { view } = new Row('custom', { command: 'ls' }).settle().item;
    assert.ok(view.card === 'generic' && view.detail === 'ls', 'and stays when it is done');
    assert.equal(summaryOf(null), undefined);
  });

  it('V9.7 titles name what is in the workspace by its path within; commands stay to the letter', () => {
    const title = (call: ToolCallView, result?: ToolResultView) => {
      const row = new Row('x', {}, { call, ...(result && { result }) });
      return result ? row.settle().item.view.title : row.item.view.title;
    };
    assert.equal(title({ card: 'generic', title: 'Read /home/ada/shop/src/a.ts (2 lines)' }), 'Read src/a.ts (2 lines)');
    assert.equal(title({ ...diff, title: 'Edit "/home/ada/shop/a b.ts"' } as ToolCallView), 'Edit "a b.ts"');
    assert.equal(title(diff, { card: 'generic', title: 'Wrote /home/ada/shop/x' }), 'Wrote x');
    assert.equal(title({ card: 'terminal', title: 'cat /home/ada/shop/a' }), 'cat /home/ada/shop/a');
    for (const text of ['/home/ada/shopping/a', 'x/home/ada/shop/a', '/home/ada/shop', '/home/ada/shop/', 'https://h/home/ada/shop/a']) assert.equal(withinRoot(text, '/home/ada/shop'), text);
    assert.equal(withinRoot('C:\\w (x)\\a.ts', 'C:\\w (x)'), 'a.ts');
    assert.equal(withinRoot('/a', '/'), '/a');
    assert.equal(withinRoot('/a', undefined), '/a');
  });
});
