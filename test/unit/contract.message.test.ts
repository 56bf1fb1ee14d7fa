import assert from 'node:assert/strict';
import { HarnessError } from '../../src/contract/error.ts';
import { completeUserMessage, createAssistantMessage, createToolResultMessage, createUserMessage } from '../../src/contract/message.ts';
import { assertNever } from '../../src/contract/never.ts';

const text = (value: string) => ({ type: 'text' as const, text: value });
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
function frozenThroughout(value: unknown): boolean {
  return typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozenThroughout));
}

describe('contract messages', () => {
  it('A6.3 createUserMessage gives an id and a role, detached and deep-frozen', () => {
    const content = [text('hi')];
    const message = createUserMessage({ content, source: { kind: 'plugin', plugin: 'p', form: 'snapshot', sections: [{ name: 'n', text: 't' }] } });
    assert.match(message.id, UUID);
    assert.equal(message.role, 'user');
    assert.equal(frozenThroughout(message), true);
    assert.equal(Object.isFrozen(content) || Object.isFrozen(content[0]), false);
    content[0]!.text = 'changed';
    assert.deepEqual(message.content, [text('hi')]);
    assert.notEqual(createUserMessage({ content, source: { kind: 'user' } }).id, message.id);
  });

  it('A6.3 completeUserMessage fills in what is missing and keeps an id that is there', () => {
    const source = { kind: 'plugin' as const, plugin: 'p' };
    const filled = completeUserMessage({ content: [text('hi')], source });
    assert.match(filled.id, UUID);
    assert.deepEqual({ ...filled, id: 'x' }, { content: [text('hi')], source, id: 'x', role: 'user' });
    assert.equal(completeUserMessage({ id: 'mine', role: 'user', content: [], source }).id, 'mine');
    assert.equal(frozenThroughout(filled), true);
  });

  it('L11.3 a tool result message carries one block, and says isError only when it is', () => {
    const good = createToolResultMessage('c1', [text('ok')], false);
    assert.deepEqual(good.content, [{ type: 'tool-result', toolCallId: 'c1', content: [text('ok')] }]);
    assert.deepEqual(good.source, { kind: 'tool', callId: 'c1' });
    assert.deepEqual(createToolResultMessage('c1', [], true).content[0].isError, true);
    assert.equal(frozenThroughout(good), true);
  });

  it('A6.5 an assistant message names provider and model', () => {
    const message = createAssistantMessage([text('x')], { provider: 'p', model: 'm' });
    assert.deepEqual([message.role, message.source], ['assistant', { kind: 'model', provider: 'p', model: 'm' }]);
    assert.equal(frozenThroughout(message), true);
  });

  it('D5.4 HarnessError carries a code, its class name and a cause', () => {
    class QuotaError extends HarnessError {}
    const cause = new Error('why');
    const error = new QuotaError('no more', 'QUOTA', { cause });
    assert.deepEqual([error.name, error.code, error.message, error.cause], ['QuotaError', 'QUOTA', 'no more', cause]);
    assert.ok(error instanceof HarnessError && error instanceof Error);
    assert.equal(new HarnessError('x', 'Y').name, 'HarnessError');
  });

  it('V9.1 assertNever names what escaped its type', () => {
    assert.throws(() => assertNever({ kind: 'odd' } as never, 'card'), /card: odd/);
    assert.throws(() => assertNever(5 as never), /value: 5/);
  });
});
