import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import { openFsRoom, textOf } from '../harness/fs-room.ts';
import type { FsRoom, FsRoomOptions } from '../harness/fs-room.ts';

describe('edit', () => {
  let room: FsRoom;
  const open = async (options?: FsRoomOptions): Promise<FsRoom> => {
    room = await openFsRoom(options);
    return room;
  };
  afterEach(() => room.dispose());

  /** Puts, reads and edits; returns the bytes. */
  const edited = async (content: string | Uint8Array, from: string, to: string, all?: boolean): Promise<Buffer> => {
    await room.put('a', content);
    await room.must('read', { file_path: 'a' });
    await room.must('edit', { file_path: 'a', old_string: from, new_string: to, ...(all !== undefined && { replace_all: all }) });
    return room.bytes('a');
  };

  it('D1 a change that lands while its call is stopped is told with the stop, and one stopped before is not made', async () => {
    await open();
    await room.put('a', 'one\n');
    await room.must('read', { file_path: 'a' });
    const stopAt = async (event: 'fs/observed' | 'fs/mutation-check', name: string, args: object): Promise<string> => {
      const stop = new AbortController();
      const off = room.root.on(event, () => stop.abort());
      const result = await room.call(name, args, { signal: stop.signal });
      off();
      assert.ok(result.isError && result.error.info?.code === 'ABORTED');
      return result.error.message;
    };
    assert.equal(await stopAt('fs/observed', 'edit', { file_path: 'a', old_string: 'one', new_string: 'two' }), 'tool call aborted: "a" had been changed by then');
    assert.equal(await room.text('a'), 'two\n');
    assert.equal(await stopAt('fs/mutation-check', 'edit', { file_path: 'a', old_string: 'two', new_string: 'three' }), 'tool call aborted');
    assert.equal(await room.text('a'), 'two\n');
    assert.equal(await stopAt('fs/observed', 'write', { file_path: 'b', content: '' }), 'tool call aborted: "b" had been created by then');
    assert.equal(await room.text('b'), '');
  });

  it('A1 only the named line changes, byte for byte', async () => {
    await open();
    assert.equal((await edited('a\r\nb\r\nc\r\n', 'b', 'B')).toString(), 'a\r\nB\r\nc\r\n');
  });

  it('A3 an LF old_string matches a CRLF file', async () => {
    await open();
    assert.equal((await edited('x\r\none\r\ntwo\r\ny', 'one\ntwo\n', 'three\nfour\nfive\n')).toString(), 'x\r\nthree\r\nfour\r\nfive\r\ny');
  });

  it('A5 edit keeps a BOM', async () => {
    await open();
    assert.equal((await edited('\ufeffa b', 'b', 'c')).toString(), '\ufeffa c');
  });

  it('A9 Windows-1252 bytes of other lines stay', async () => {
    await open({ fs: { encoding: 'windows1252' } });
    assert.equal((await edited(Buffer.from([0x53, 0xf8, 0x6b, 0x0a, 0x78, 0x0a, 0x9d]), 'x', 'yø')).toString('hex'), '53f86b0a79f80a9d');
  });

  it('A9 without the user\'s encoding such a file is refused, its bytes stay', async () => {
    await open({ observation: false });
    await room.put('a', Buffer.from([0x53, 0xf8, 0x6b, 0x0a, 0x78]));
    assert.equal(await room.refuse('edit', { file_path: 'a', old_string: 'x', new_string: 'y' }), 'cannot edit "a": invalid UTF-8 text');
    assert.equal((await room.bytes('a')).toString('hex'), '53f86b0a78');
  });

  it('A11 edits of one file in one turn all land, whatever it is called', async () => {
    await open();
    await room.put('a', Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`).join(''));
    await fs.symlink('a', path.join(room.directory, 'link'));
    await room.must('read', { file_path: 'a' });
    const edit = (file_path: string, line: number) => room.call('edit', { file_path, old_string: `line ${line}\n`, new_string: `LINE ${line}\n` });
    const results = await Promise.all([edit('a', 50), edit('a', 75), edit('./a', 10), edit('link', 20), edit(path.join(room.directory, 'a'), 30)]);
    assert.deepEqual(results.map((result) => result.isError), [false, false, false, false, false]);
    const lines = (await room.text('a')).split('\n');
    assert.deepEqual([50, 75, 10, 20, 30].map((line) => lines[line - 1]), ['LINE 50', 'LINE 75', 'LINE 10', 'LINE 20', 'LINE 30']);
    assert.equal(lines.filter((line) => line.startsWith('line')).length, 95);
  });

  it('A15 edit keeps +x', async () => {
    await open();
    const file = await room.put('a', 'one');
    await fs.chmod(file, 0o755);
    await room.must('read', { file_path: 'a' });
    await room.must('edit', { file_path: 'a', old_string: 'one', new_string: 'two' });
    assert.equal((await fs.stat(file)).mode & 0o7777, 0o755);
  });

  it('A19 exact only: near misses are not found, several are refused with number and lines', async () => {
    await open();
    await room.put('a', 'if (x) {\n  foo();\n}\nif (x) {\n  foo();\n}\n');
    await room.must('read', { file_path: 'a' });
    const failure = async (old_string: string): Promise<[string, string | undefined]> => {
      const result = await room.call('edit', { file_path: 'a', old_string, new_string: 'y' });
      assert.ok(result.isError);
      return [result.error.message, result.error.info?.code];
    };
    assert.deepEqual(await failure('if (x)  {'), ['old_string was not found in "a"', 'FS_EDIT_NOT_FOUND']);
    assert.deepEqual(await failure('foo();'), [
      'old_string matched 2 times in "a"; provide a more specific old_string or set replace_all to true (lines 2, 5)', 'FS_AMBIGUOUS_EDIT',
    ]);
  });

  it('B10.10 replace_all replaces every occurrence', async () => {
    await open();
    assert.equal((await edited('a b\r\na a\r\n', 'a', 'xx\ny', true)).toString(), 'xx\r\ny b\r\nxx\r\ny xx\r\ny\r\n');
  });

  it('B10.10 rejects what cannot be an edit', async () => {
    await open();
    const args = { file_path: 'a', old_string: 'x', new_string: 'y' };
    assert.equal(await room.refuse('edit', { ...args, file_path: ' ' }), 'file_path must be a non-empty string');
    assert.equal(await room.refuse('edit', { ...args, old_string: '' }), 'old_string must be a non-empty string');
    assert.equal(await room.refuse('edit', { ...args, new_string: 'x' }), 'old_string and new_string must differ');
  });

  it('B10.10 B10.12 unread, changed, vanished and absent are told before "not found in"', async () => {
    await open();
    const file = await room.put('a', 'text');
    const args = { file_path: 'a', old_string: 'no such text', new_string: 'y' };
    const failure = async (): Promise<[string, string | undefined]> => {
      const result = await room.call('edit', args);
      assert.ok(result.isError);
      return [result.error.message, result.error.info?.code];
    };
    assert.deepEqual(await failure(), ['edit requires reading "a" first — read the file, then retry', 'FS_NOT_OBSERVED']);
    await room.must('read', { file_path: 'a' });
    await fs.writeFile(file, 'other');
    const stale = ['cannot edit "a": file changed since it was read — re-read the file, then retry', 'FS_STALE_VERSION'];
    assert.deepEqual(await failure(), stale);
    await room.must('read', { file_path: 'a' });
    await fs.rm(file);
    assert.deepEqual(await failure(), stale);
    assert.match(await room.refuse('read', { file_path: 'a' }), /not found/);
    assert.deepEqual(await failure(), ['cannot edit "a": not found', 'FS_NOT_FOUND']);
  });

  it('B10.10 binary and absent files are refused without the policy too', async () => {
    await open({ observation: false });
    await room.put('bin', Buffer.from([0x61, 0]));
    assert.equal(await room.refuse('edit', { file_path: 'bin', old_string: 'a', new_string: 'b' }), 'cannot edit "bin": binary file');
    assert.equal(await room.refuse('edit', { file_path: 'no', old_string: 'a', new_string: 'b' }), 'cannot edit "no": not found');
    assert.equal(await room.refuse('edit', { file_path: '.', old_string: 'a', new_string: 'b' }), 'cannot edit ".": not a regular file');
  });

  it('B10.11 tells what was done, with hunks in meta', async () => {
    await open();
    await room.put('a', 'one\r\ntwo\r\n');
    await room.must('read', { file_path: 'a' });
    const args = { file_path: 'a', old_string: 'two', new_string: '2' };
    const result = await room.must('edit', args);
    assert.equal(textOf(result), 'The file a has been updated successfully.');
    assert.deepEqual(result.value, { path: 'a', before: 'one\ntwo\n', after: 'one\n2\n' });
    const diffs = [{ path: 'a', oldText: 'one\ntwo', newText: 'one\n2' }];
    assert.deepEqual(result.meta, { diffs });
    const tool = room.root.tools.get('edit') ?? assert.fail();
    assert.deepEqual(tool.presentCall?.(args), {
      card: 'diff', title: 'Edit a', diffs: [{ path: 'a', oldText: 'two', newText: '2' }], locations: [{ path: 'a' }],
    });
    assert.deepEqual(tool.presentResult?.(args, { content: result.content, isError: false, meta: { diffs } }), { card: 'diff', diffs });
    assert.equal(tool.presentResult?.(args, { content: [], isError: false, meta: { diffs: [] } }), undefined);
    assert.equal(tool.presentResult?.(args, { content: [], isError: false }), undefined);
    assert.equal(tool.presentResult?.(args, { content: [], isError: true, meta: { diffs } }), undefined);
    const all = await room.must('edit', { file_path: 'a', old_string: 'o', new_string: 'O', replace_all: true });
    assert.equal(textOf(all), 'The file a has been updated. All occurrences were successfully replaced.');
  });

  it('a file made read-only in between is refused before anything is computed', async () => {
    await open();
    const file = await room.put('a', 'x');
    await fs.chmod(file, 0o400);
    await room.must('read', { file_path: 'a' });
    assert.equal(await room.refuse('edit', { file_path: 'a', old_string: 'x', new_string: 'y' }), 'cannot edit "a": the file is read-only (mode 400)');
    await fs.chmod(file, 0o600);
  });
});

describe('edit of notebooks', () => {
  let room: FsRoom;
  afterEach(() => room.dispose());

  const notebook = (first: unknown): string => `${JSON.stringify({
    cells: [
      { cell_type: 'code', execution_count: null, id: 'a', metadata: {}, outputs: [], source: first },
      { cell_type: 'markdown', id: 'b', metadata: {}, source: '# "Title"\n\ntext' },
    ],
    metadata: { kernelspec: { name: 'python3' } }, nbformat: 4, nbformat_minor: 5,
  }, null, 1)}\n`;

  const openNotebook = async (content: string): Promise<void> => {
    room = await openFsRoom();
    await room.put('n.ipynb', content);
    await room.must('read', { file_path: 'n.ipynb' });
  };
  const edit = { file_path: 'n.ipynb' };

  it('A21 text of one cell is edited in the cell, every other byte stays', async () => {
    await openNotebook(notebook(['import os\n', 'print("hi")\n', 'x = 1']));
    await room.must('edit', { ...edit, old_string: 'print("hi")\nx = 1', new_string: 'print("hi")\nx = 2\ny = 3' });
    assert.equal(await room.text('n.ipynb'), notebook(['import os\n', 'print("hi")\n', 'x = 2\n', 'y = 3']));
    await room.must('edit', { ...edit, old_string: '# "Title"\n', new_string: '# "New"\n' });
    assert.ok((await room.text('n.ipynb')).includes('"source": "# \\"New\\"\\n\\ntext"'));
  });

  it('A21 JSON as read may be edited, but never into something that is no notebook', async () => {
    await openNotebook(notebook(['a = 1\n']));
    await room.must('edit', { ...edit, old_string: '    "a = 1\\n"', new_string: '    "a = 2\\n"' });
    assert.equal(await room.text('n.ipynb'), notebook(['a = 2\n']));
    assert.match(await room.refuse('edit', { ...edit, old_string: '"a = 2\\n"', new_string: '"a = 2\n"' }), /would not be a valid notebook/);
    assert.equal(await room.text('n.ipynb'), notebook(['a = 2\n']));
  });

  it('A21 the same text in two cells is refused with the number', async () => {
    await openNotebook(notebook(['text "q"']));
    assert.match(await room.refuse('edit', { ...edit, old_string: 'text', new_string: 'y' }), /matched 2 times/);
    assert.match(await room.refuse('edit', { ...edit, old_string: 'nowhere', new_string: 'y' }), /not found in "n\.ipynb"/);
  });

  it('A21 a cell emptied keeps the notebook valid', async () => {
    await openNotebook(notebook(['only "q" here']));
    await room.must('edit', { ...edit, old_string: 'only "q" here', new_string: '' });
    assert.deepEqual(JSON.parse(await room.text('n.ipynb')).cells[0].source, []);
  });
});
