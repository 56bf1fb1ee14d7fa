import assert from 'node:assert/strict';
import iconv from 'iconv-lite';
import { LiveDecoder } from '../../src/headless/live-decoder.ts';
import { JobList } from '../../src/host/chat/job-list.ts';
import { fileLinks } from '../../src/host/file-links.ts';
import type { Agent } from '../../src/contract/agent.ts';
import type { JobSnapshot } from '../../src/jobs/types.ts';
import type { JobItem } from '../../src/protocol.ts';

describe('places in terminal output', () => {
  const places = (line: string): [string, number, number | undefined][] => fileLinks(line).map(({ file, line: row, column }) => [file, row, column]);

  it('finds path:line and path:line:column, wherever they stand', () => {
    assert.deepEqual(places('src/a.ts:12:3 - error TS2322'), [['src/a.ts', 12, 3]]);
    assert.deepEqual(places('    at run (/home/me/x.js:7:11)'), [['/home/me/x.js', 7, 11]]);
    assert.deepEqual(places('  --> src/main.rs:4:9'), [['src/main.rs', 4, 9]]);
    assert.deepEqual(places('./Makefile:4: *** missing separator'), [['./Makefile', 4, undefined]]);
    assert.deepEqual(places('a.c:1:2: b.c:3:4:'), [['a.c', 1, 2], ['b.c', 3, 4]]);
    assert.deepEqual(places('C:\\src\\é\\a.ts:5'), [['C:\\src\\é\\a.ts', 5, undefined]]);
  });

  it('E1 a quoted path may have spaces; compilers may use parentheses', () => {
    assert.deepEqual(places('error in "Some Folder/a.js:12:1"'), [['Some Folder/a.js', 12, 1]]);
    assert.deepEqual(places('src/a.ts(12,3): error'), [['src/a.ts', 12, 3]]);
  });

  it('addresses, times and hosts are no places', () => {
    for (const line of ['http://example.com/a.js:12', '12:30:45', 'localhost:3000', '127.0.0.1:8080', 'ratio 3.5:1', 'std::vec', 'exit code: 3', ':12']) assert.deepEqual(places(line), [], line);
  });

  it('says where in the line a place stands', () => {
    const line = 'see "x/y.ts:3" and z.ts:4';
    assert.deepEqual(fileLinks(line).map(({ start, length }) => line.slice(start, start + length)), ['x/y.ts:3', 'z.ts:4']);
  });

  it('lines made to cost are over soon', () => {
    for (const unit of ['a.', 'a:', '(', '"a:1', 'a(', 'x/']) fileLinks(unit.repeat(2_000));
    assert.deepEqual(fileLinks(`${'x'.repeat(5_000)}/a.ts:1`), []);
  });
});

describe('live output', () => {
  it('C9 GBK split inside a character is what it was, in any pieces', () => {
    const bytes = iconv.encode('你好，世界\n好\n', 'gb18030');
    for (let size = 1; size < 6; size++) {
      const decoder = new LiveDecoder({});
      let text = '';
      for (let at = 0; at < bytes.length; at += size) text += decoder.push(bytes.subarray(at, at + size));
      assert.equal(text + decoder.end(), '你好，世界\n好\n', `pieces of ${size}`);
    }
  });

  it('C9 a prompt is there at once, and half a character at the very end is not lost', () => {
    const decoder = new LiveDecoder({});
    assert.equal(decoder.push(Buffer.from('Name: ')), 'Name: ');
    assert.equal(decoder.push(Buffer.from('é').subarray(0, 1)), '');
    assert.equal(decoder.push(Buffer.from('é').subarray(1)), 'é');
    assert.equal(decoder.push(Buffer.from([0xe4])), '');
    assert.notEqual(decoder.end(), '');
  });
});

describe('the list of background jobs', () => {
  const job = (fields: Partial<JobSnapshot>): JobSnapshot => ({ id: 'bash-1', kind: 'bash', label: 'watch', status: 'running', startedAt: 1, reported: false, ...fields });

  it('each has the end of what its call prints; calls that are no jobs are forgotten when they end', async () => {
    let jobs: JobSnapshot[] = [];
    const posts: (readonly JobItem[])[] = [];
    const list = new JobList(() => jobs, (items) => posts.push(items));
    list.started('c1', {} as Agent);
    list.started('c2', {} as Agent);
    jobs = [job({ callId: 'c1' }), job({ id: 'x-1', kind: 'x' })];
    list.refresh();
    assert.deepEqual(posts.pop(), [
      { id: 'bash-1', kind: 'bash', label: 'watch', status: 'running', startedAt: 1, callId: 'c1' },
      { id: 'x-1', kind: 'x', label: 'watch', status: 'running', startedAt: 1 },
    ]);
    list.output({ callId: 'c2', stream: 'stdout', chunk: Buffer.from('not a job') });
    list.output({ callId: 'c1', stream: 'stdout', chunk: Buffer.from('x'.repeat(5_000)) });
    list.output({ callId: 'c1', stream: 'stdout', chunk: Buffer.from('\nready\n') });
    while (posts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(posts[0]?.[0]?.tail?.length, 2_000);
    assert.ok(posts[0]?.[0]?.tail?.endsWith('\nready\n'));
    list.ended('c2');
    list.ended('c1');
    jobs = [job({ callId: 'c1', status: 'completed', detail: 'exit code: 0' })];
    list.refresh();
    assert.equal(list.items[0]?.detail, 'exit code: 0');
    assert.ok(list.items[0]?.tail?.endsWith('ready\n'), 'the end stays');
    list.dispose();
  });
});
