import assert from 'node:assert/strict';
import { Started } from '../../src/host/started.ts';

describe('what was started', () => {
  it('ends the last first, each once, and one that fails keeps no other from it', async () => {
    const ended: string[] = [];
    const started = new Started();
    started.add(() => ended.push('runtime'));
    const view = started.keep({ dispose: () => ended.push('view') });
    started.add(async () => {
      await Promise.resolve();
      ended.push('chat');
      throw new Error('the disk is full');
    });
    assert.equal(typeof view.dispose, 'function');
    await assert.rejects(started.end(), (error: AggregateError) => (error.errors[0] as Error).message === 'the disk is full');
    await started.end();
    assert.deepEqual(ended, ['chat', 'view', 'runtime']);
  });
});
