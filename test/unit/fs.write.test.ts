import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { JsonValue } from '../../src/contract/json.ts';
import type { FileDecision, FileIntent } from '../../src/seams/fs.ts';
import * as editor from '../../src/tools/fs/str-replace-editor.ts';
import { bareAgent, openFsRoom, textOf } from '../harness/fs-room.ts';
import type { FsRoom, FsRoomOptions } from '../harness/fs-room.ts';

describe('write', () => {
  let room: FsRoom;
  const open = async (options?: FsRoomOptions): Promise<FsRoom> => {
    room = await openFsRoom(options);
    return room;
  };
  afterEach(() => room.dispose());

  it('B10.6 B10.7 creates a file and its directories, and says so', async () => {
    await open();
    const result = await room.must('write', { file_path: 'n/e/w.txt', content: 'a\n' });
    assert.equal(textOf(result), '<path>n/e/w.txt</path>\n<type>file</type>\n<content>\nCreated file\n</content>');
    assert.deepEqual(result.value, { path: 'n/e/w.txt', operation: 'create', before: null, after: 'a\n' });
    assert.deepEqual(result.meta, { diffs: [] });
    assert.equal(await room.text('n/e/w.txt'), 'a\n');
    assert.deepEqual(await fs.readdir(path.join(room.directory, 'n/e')), ['w.txt'], 'nothing is left beside it');
  });

  it('B10.6 B10.7 replaces a file that was read', async () => {
    await open();
    await room.put('a', 'one\r\ntwo\r\n');
    await room.must('read', { file_path: 'a' });
    const result = await room.must('write', { file_path: 'a', content: 'one\nTWO\n' });
    assert.match(textOf(result), /Updated file/);
    assert.deepEqual(result.value, { path: 'a', operation: 'update', before: 'one\ntwo\n', after: 'one\nTWO\n' });
    assert.deepEqual(result.meta, { diffs: [{ path: 'a', oldText: 'one\ntwo', newText: 'one\nTWO' }] });
    assert.equal(await room.text('a'), 'one\r\nTWO\r\n');
    await room.must('write', { file_path: 'a', content: 'again\n' });
    assert.equal(await room.text('a'), 'again\r\n', 'a write counts as seen');
  });

  it('A5 an existing BOM stays', async () => {
    await open();
    await room.put('a', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('sécurisé')]));
    await room.must('read', { file_path: 'a' });
    await room.must('write', { file_path: 'a', content: 'nouveau\n' });
    assert.equal((await room.bytes('a')).toString('hex'), 'efbbbf' + Buffer.from('nouveau\n').toString('hex'));
  });

  it('A5 a BOM the model gives with its text is the one the file has', async () => {
    await open();
    for (const [name, mark] of [['utf8', 'efbbbf'], ['utf16', 'fffe']] as const) {
      await room.put(name, Buffer.concat([Buffer.from(mark, 'hex'), Buffer.from('old', name === 'utf8' ? 'utf8' : 'utf16le')]));
      await room.must('read', { file_path: name });
      await room.must('write', { file_path: name, content: '\ufeffnew' });
      assert.equal((await room.bytes(name)).toString('hex'), mark + Buffer.from('new', name === 'utf8' ? 'utf8' : 'utf16le').toString('hex'), name);
    }
    await room.must('write', { file_path: 'fresh', content: '\ufeffx' });
    assert.equal((await room.bytes('fresh')).toString('hex'), 'efbbbf78', 'a new file has what was given');
  });

  it('an address is no path, and ~ is the home folder', async () => {
    await open();
    assert.match(await room.refuse('write', { file_path: 'file:///tmp/x', content: 'x' }), /^file_path must be a path, not an address/);
    assert.match(await room.refuse('read', { file_path: 'https://example.org/a' }), /not an address/);
    assert.equal((await room.root.fs.resolve('~/a/../b', room.directory)).path, path.join(os.homedir(), 'b'));
    await room.must('write', { file_path: './~', content: 'x' });
    assert.equal(await room.text('~'), 'x');
  });

  it('A7 a GB18030 file stays GB18030 through write, edit and a new file', async () => {
    await open({ fs: { encoding: 'gb18030' } });
    await room.put('a', Buffer.from('c4e3bac30a61', 'hex'));
    await room.must('read', { file_path: 'a' });
    await room.must('write', { file_path: 'a', content: '你好\nb 漢' });
    assert.equal((await room.bytes('a')).toString('hex'), 'c4e3bac30a6220 9d68'.replace(' ', ''));
    await room.must('edit', { file_path: 'a', old_string: 'b ', new_string: '好' });
    assert.equal((await room.bytes('a')).toString('hex'), 'c4e3bac30abac39d68');
    await room.must('write', { file_path: 'new', content: '你' });
    assert.equal((await room.bytes('new')).toString('hex'), 'c4e3');
  });

  it('A7 UTF-16 with a mark stays UTF-16', async () => {
    await open();
    await room.put('a', Buffer.from('\ufeffab', 'utf16le'));
    await room.must('read', { file_path: 'a' });
    await room.must('write', { file_path: 'a', content: 'ü' });
    assert.equal((await room.bytes('a')).toString('hex'), 'fffefc00');
  });

  it('a NUL character is refused by every tool that writes: what it made could not be read again', async () => {
    await open({ plugins: [editor] });
    const binary = /has a NUL character in line 2, which would make "a" a binary file/;
    assert.match(await room.refuse('write', { file_path: 'a', content: 'one\nt\0o\n' }), binary);
    assert.match(await room.refuse('str_replace_editor', { command: 'create', path: 'a', file_text: 'one\nt\0o\n' }), binary);
    await assert.rejects(room.text('a'), 'nothing is written');
    await room.put('a', 'one\n');
    await room.must('read', { file_path: 'a' });
    assert.match(await room.refuse('edit', { file_path: 'a', old_string: 'one', new_string: '\n\0' }), binary);
    assert.match(await room.refuse('str_replace_editor', { command: 'str_replace', path: 'a', old_str: 'one', new_str: '\n\0' }), binary);
    assert.match(await room.refuse('str_replace_editor', { command: 'insert', path: 'a', insert_line: 1, new_str: '\n\0' }), binary);
    assert.equal(await room.text('a'), 'one\n');
  });

  it('a character the encoding lacks is refused, nothing is written', async () => {
    await open({ fs: { encoding: 'windows1252' } });
    await room.put('a', 'plain');
    await room.must('read', { file_path: 'a' });
    assert.equal(
      await room.refuse('write', { file_path: 'a', content: 'pl😀in' }),
      'cannot write "a": the new text contains "😀" (U+1F600), which Windows-1252 cannot hold',
    );
    assert.equal(await room.text('a'), 'plain');
  });

  it('A15 keeps the mode', async () => {
    await open();
    const file = await room.put('s.sh', 'echo\n');
    await fs.chmod(file, 0o755);
    await room.must('read', { file_path: 's.sh' });
    await room.must('write', { file_path: 's.sh', content: 'echo 2\n' });
    assert.equal((await fs.stat(file)).mode & 0o7777, 0o755);
  });

  it('A17 empties a file', async () => {
    await open();
    const file = await room.put('f', 'x\r\n');
    await room.must('read', { file_path: 'f' });
    await room.must('write', { file_path: 'f', content: '' });
    assert.equal((await fs.stat(file)).size, 0);
    await room.must('write', { file_path: 'fresh', content: '' });
    assert.equal((await room.bytes('fresh')).length, 0);
  });

  it('a symlink stays one, its target is written; hard links stay linked', async () => {
    await open();
    await room.put('real', 'a\n');
    await fs.symlink('real', path.join(room.directory, 'soft'));
    await fs.link(path.join(room.directory, 'real'), path.join(room.directory, 'hard'));
    await room.must('read', { file_path: 'soft' });
    await room.must('write', { file_path: 'soft', content: 'b\n' });
    assert.ok((await fs.lstat(path.join(room.directory, 'soft'))).isSymbolicLink());
    assert.equal(await room.text('hard'), 'b\n');
    assert.equal((await fs.stat(path.join(room.directory, 'hard'))).nlink, 2);
  });

  it('J1 writing through a dangling link makes the file it points to', async () => {
    await open();
    await fs.symlink('later/x.txt', path.join(room.directory, 'out'));
    const target = await room.root.fs.resolve('out', room.directory);
    assert.equal(target.realPath, path.join(room.directory, 'later/x.txt'));
    await room.must('write', { file_path: 'out', content: 'x' });
    assert.equal(await room.text('later/x.txt'), 'x');
  });

  it('B10.8 refuses without a read, after a change, after a removal; each with its code', async () => {
    await open();
    const file = await room.put('a', 'one');
    const failure = async (): Promise<[string, string | undefined]> => {
      const result = await room.call('write', { file_path: 'a', content: 'x' });
      assert.ok(result.isError);
      return [result.error.message, result.error.info?.code];
    };
    assert.deepEqual(await failure(), ['cannot overwrite existing "a" without reading it first — read the file, then retry', 'FS_NOT_OBSERVED']);
    await room.must('read', { file_path: './a' });
    await fs.writeFile(file, 'two');
    assert.deepEqual(await failure(), ['cannot write "a": file changed since it was read — re-read the file, then retry', 'FS_STALE_VERSION']);
    await room.must('read', { file_path: 'a' });
    await fs.rm(file);
    const [gone, code] = await failure();
    assert.match(gone, /^cannot write "a": file no longer exists — /);
    assert.equal(code, 'FS_STALE_VERSION');
    assert.match(await room.refuse('read', { file_path: 'a' }), /not found/);
    await room.must('write', { file_path: 'a', content: 'x' });
  });

  it('B10.8 B10.2 directories and special files are refused, a blank path too', async () => {
    await open();
    await room.put('d/x', '');
    assert.equal(await room.refuse('write', { file_path: 'd', content: '' }), 'cannot write "d": not a regular file');
    assert.equal(await room.refuse('write', { file_path: '/dev/null', content: '' }), 'cannot write "/dev/null": not a regular file');
    assert.equal(await room.refuse('write', { file_path: '', content: '' }), 'file_path must be a non-empty string');
    assert.equal(await room.refuse('write', { file_path: 'd/x/y', content: '' }), 'cannot write "d/x/y": a parent of this path is a file, not a directory');
  });

  it('B10.8 without the policy plugin writes are unconditional; a binary file has no text before', async () => {
    await open({ observation: false });
    await room.put('bin', Buffer.from([0, 1]));
    const { value } = await room.must('write', { file_path: 'bin', content: 'text' });
    assert.deepEqual(value, { path: 'bin', operation: 'update', before: null, after: 'text' });
  });

  it('B10.12 what one agent saw counts for its session only, and never for a call without an agent', async () => {
    await open();
    await room.put('a', 'x');
    await room.must('read', { file_path: 'a' });
    const other = bareAgent(room.directory);
    assert.match(await room.refuse('write', { file_path: 'a', content: 'y' }, { agent: other }), /without reading it first/);
    const absolute = path.join(room.directory, 'a');
    assert.match(await room.refuse('write', { file_path: absolute, content: 'y' }, { agent: null }), /without reading it first/);
  });

  it('a read-only file is refused, whoever we are', async () => {
    await open();
    const file = await room.put('ro', 'x');
    await fs.chmod(file, 0o444);
    await room.must('read', { file_path: 'ro' });
    assert.equal(await room.refuse('write', { file_path: 'ro', content: 'y' }), 'cannot write "ro": the file is read-only (mode 444)');
    assert.equal(await room.text('ro'), 'x');
  });

  it('B10.7 a text of 10 MiB or more is left out of the result', async () => {
    await open({ observation: false });
    const big = 'x'.repeat(10 * 1024 * 1024);
    await room.put('a', 'small');
    const { value, meta } = await room.must('write', { file_path: 'a', content: big });
    assert.equal((value as { before: string | null }).before, null);
    assert.deepEqual(meta, { diffs: [] });
  });

  it('B10.9 cards: pending diff of the content, settled hunks from meta, whole content for a new file, none for an error', async () => {
    await open();
    const tool = room.root.tools.get('write') ?? assert.fail();
    const args = { file_path: 'a', content: 'x\r\ny' };
    assert.deepEqual(tool.presentCall?.(args), {
      card: 'diff', title: 'Write a', diffs: [{ path: 'a', oldText: null, newText: 'x\ny' }], locations: [{ path: 'a' }],
    });
    const result = (meta: JsonValue, isError = false) => tool.presentResult?.(args, { content: [], isError, meta });
    const diffs = [{ path: 'a', oldText: 'x', newText: 'z' }];
    assert.deepEqual(result({ diffs }), { card: 'diff', diffs });
    assert.deepEqual(result({ diffs: [] }), { card: 'diff', diffs: [{ path: 'a', oldText: null, newText: 'x\ny' }] });
    assert.deepEqual(result({ diffs: [{ path: 1 }] }), { card: 'diff', diffs: [{ path: 'a', oldText: null, newText: 'x\ny' }] });
    assert.equal(result({ diffs }, true), undefined);
  });

  it('B10.9 an insertion into an empty file has no old text', async () => {
    await open();
    await room.put('a', '');
    await room.must('read', { file_path: 'a' });
    assert.deepEqual((await room.must('write', { file_path: 'a', content: 'x\n' })).meta, { diffs: [{ path: 'a', oldText: null, newText: 'x' }] });
  });

  it('B10.23 escalation fields are refused where nothing confines', async () => {
    await open();
    const args = { file_path: 'a', content: '' };
    assert.equal(await room.refuse('write', { ...args, sandbox_permissions: 'danger-full-access' }), 'invalid escalation: sandbox_permissions requires a justification');
    assert.equal(await room.refuse('write', { ...args, justification: 'x' }), 'invalid escalation: justification is only valid together with sandbox_permissions');
    assert.equal(await room.refuse('write', { ...args, sandbox_permissions: 'danger-full-access', justification: ' ' }), 'invalid justification: expected a non-empty sentence');
    assert.equal(
      await room.refuse('write', { ...args, sandbox_permissions: 'danger-full-access', justification: 'x' }),
      'sandbox_permissions is not available in this composition (no sandboxing executor to escalate)',
    );
  });

  it('B10.39 disposing the plugin takes tools and prompt sections away', async () => {
    await open();
    const before = await room.root.systemPrompt.assemble({});
    assert.deepEqual(before.sections.filter(({ name }) => name.startsWith('tools:')).map(({ name }) => name), ['tools:read', 'tools:write', 'tools:edit']);
    assert.deepEqual(room.root.tools.schemas().map(({ name }) => name), ['read', 'write', 'edit']);
    await room.toolFiber.dispose();
    assert.deepEqual(room.root.tools.schemas(), []);
    assert.deepEqual((await room.root.systemPrompt.assemble({})).sections.filter(({ name }) => name.startsWith('tools:')), []);
  });

  it('B1 nobody is asked to review what could not be written afterwards', async () => {
    await open();
    const asked: string[] = [];
    const note = (intent: FileIntent, next: () => Promise<FileDecision>): Promise<FileDecision> => {
      asked.push(intent.displayPath);
      return next();
    };
    room.root.on('fs/write-intent', note);
    room.root.on('fs/edit-intent', note);
    await room.put('a.txt', 'one\n');
    await room.put('w.txt', Buffer.from([0x53, 0xf8, 0x6b]));
    assert.match(await room.refuse('write', { file_path: 'a.txt/b.txt', content: 'x' }), /a parent of this path is a file/);
    assert.match(await room.refuse('write', { file_path: 'a.txt/b/c.txt', content: 'x' }), /a parent of this path is a file/);
    assert.match(await room.refuse('write', { file_path: 'new.txt', content: '\ud800' }), /unpaired surrogate/);
    await room.must('read', { file_path: 'a.txt' });
    assert.match(await room.refuse('edit', { file_path: 'a.txt', old_string: 'one', new_string: '\udc00' }), /unpaired surrogate/);
    assert.deepEqual(asked, []);
    assert.deepEqual((await fs.readdir(room.directory)).sort(), ['a.txt', 'w.txt']);
    await room.dispose();
    await open({ fs: { encoding: 'windows1252' } });
    room.root.on('fs/edit-intent', note);
    await room.put('w.txt', Buffer.from([0x53, 0xf8, 0x6b]));
    await room.must('read', { file_path: 'w.txt' });
    assert.match(await room.refuse('edit', { file_path: 'w.txt', old_string: 'S', new_string: '中' }), /Windows-1252 cannot hold/);
    assert.deepEqual(asked, []);
  });

  it('A21 a notebook is never replaced by what is none', async () => {
    await open();
    const notebook = JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 });
    await room.must('write', { file_path: 'n.ipynb', content: notebook });
    assert.match(await room.refuse('write', { file_path: 'n.ipynb', content: 'print(1)' }), /not a valid notebook/);
    assert.match(await room.refuse('write', { file_path: 'm.ipynb', content: '{}' }), /not a valid notebook/);
    assert.equal(await room.text('n.ipynb'), notebook);
    await room.must('write', { file_path: 'n.ipynb', content: '' });
    assert.equal(await room.text('n.ipynb'), '', 'A17 emptying it is meant');
  });
});
