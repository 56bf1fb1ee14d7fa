import assert from 'node:assert/strict';
import { execFile, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { FileDecision, FileIntent, TextFile, TextSplice } from '../../src/seams/fs.ts';
import { makeDirectories, putFile, readWhole, statPath } from '../../src/headless/disk.ts';
import { NodeFileSystem } from '../../src/headless/fs.ts';
import type { FileTarget } from '../../src/seams/fs.ts';
import { PathLock } from '../../src/headless/path-lock.ts';
import { temporaryBeside } from '../../src/headless/temporary.ts';
import { openFsRoom } from '../harness/fs-room.ts';
import type { FsRoom } from '../harness/fs-room.ts';

const run = promisify(execFile);

describe('the node file system', () => {
  let room: FsRoom;
  const at = (name: string): Promise<FileTarget> => room.root.fs.resolve(name, room.directory);
  const context = { displayPath: 'a', toolName: 'test' };
  beforeEach(async () => { room = await openFsRoom({ observation: false }); });
  afterEach(() => room.dispose());

  it('B11 folders are made one by one: what was made is told, and goes again when the rest can\'t be made', async () => {
    const deep = path.join(room.directory, 'a/b/c');
    assert.deepEqual(await makeDirectories(deep), [path.join(room.directory, 'a'), path.join(room.directory, 'a/b'), deep]);
    assert.deepEqual(await makeDirectories(deep), []);
    const many = await Promise.all(Array.from({ length: 5 }, () => makeDirectories(path.join(room.directory, 'x/y'))));
    assert.equal(many.flat().length, 2, 'of several at once each folder is one\'s');
    await assert.rejects(makeDirectories(path.join(room.directory, 'n/e', 'w'.repeat(300))), { code: 'ENAMETOOLONG' });
    await room.put('file', '');
    await assert.rejects(makeDirectories(path.join(room.directory, 'file/x')), { code: 'ENOTDIR' });
    assert.deepEqual((await fs.readdir(room.directory)).sort(), ['a', 'file', 'x']);
  });

  it('B10.3 a file is read to its end, however little it says it holds, and never past the limit', async () => {
    const file = path.join(room.directory, 'more');
    const bytes = Buffer.from('0123456789abcdef'.repeat(5000));
    await fs.writeFile(file, bytes);
    const { version } = (await statPath(file))!;
    for (const size of [0, 1, 4096, bytes.length - 1, bytes.length, bytes.length + 1]) {
      // with a version that has changed since, it is read once more from the start
      for (const known of [{ size, version }, { size, version: 'of before' }]) {
        assert.ok(bytes.equals((await readWhole(file, known)).bytes), `${size}`);
      }
      await assert.rejects(readWhole(file, { size, version }, { limit: bytes.length - 1 }), { code: 'FS_TOO_LARGE' });
    }
    if (process.platform === 'linux') {
      for (const version of [(await statPath('/proc/version'))!.version, 'of before']) {
        assert.match(Buffer.from((await readWhole('/proc/version', { size: 0, version })).bytes).toString(), /^Linux version /);
      }
    }
  });

  (process.platform === 'linux' ? it : it.skip)('a place where nothing can be made fails at once (Node itself would try for ever)', async () => {
    await assert.rejects(makeDirectories('/proc/nowhere/deep'), { code: 'ENOENT' });
  });

  it('J1 the real path of what is not there yet is its nearest existing ancestor plus the rest', async () => {
    await fs.mkdir(path.join(room.directory, 'real'));
    await fs.symlink('real', path.join(room.directory, 'out'));
    assert.deepEqual(await at('out/new/n.txt'), { path: path.join(room.directory, 'out/new/n.txt'), realPath: path.join(room.directory, 'real/new/n.txt') });
    await fs.symlink('/etc', path.join(room.directory, 'x'));
    assert.equal((await at('x/passwd')).realPath, await fs.realpath('/etc/passwd'));
    assert.equal((await at('out/../real/../y')).realPath, path.join(room.directory, 'y'));
  });

  describe('J1 a folder that becomes a link while a change is under review', () => {
    let outside: string;
    beforeEach(async () => {
      outside = path.join(room.directory, 'outside');
      await fs.mkdir(outside);
      await fs.mkdir(path.join(room.directory, 'ws/dir'), { recursive: true });
      await room.put('ws/dir/a', 'one\n');
      await fs.writeFile(path.join(outside, 'a'), 'one\n');
    });
    const swap = async (): Promise<void> => {
      await fs.rename(path.join(room.directory, 'ws/dir'), path.join(room.directory, 'ws/was'));
      await fs.symlink(outside, path.join(room.directory, 'ws/dir'));
    };
    const untouched = async (): Promise<void> => {
      assert.deepEqual(await fs.readdir(outside), ['a']);
      assert.equal(await fs.readFile(path.join(outside, 'a'), 'utf8'), 'one\n');
    };
    const moved = { code: 'FS_STALE_VERSION', message: /leads elsewhere by now/ };

    for (const name of ['ws/dir/n', 'ws/dir/new/folder/n', 'ws/dir/a']) {
      it(`is not written through: ${name}`, async () => {
        const target = await at(name);
        room.root.on('fs/write-intent', async (_intent, next) => { await swap(); return next(); });
        await assert.rejects(room.root.fs.write(target, 'evil', context), moved);
        await untouched();
        assert.equal(await room.text('ws/was/a'), 'one\n');
      });
    }

    it('is not edited through', async () => {
      const target = await at('ws/dir/a');
      room.root.on('fs/edit-intent', async (_intent, next) => { await swap(); return next(); });
      await assert.rejects(room.root.fs.edit(target, () => [{ start: 0, end: 3, text: 'evil' }], context), moved);
      await untouched();
    });

    it('nor by a review that commits, rewinds or removes later', async () => {
      const [there, fresh] = [await at('ws/dir/a'), await at('ws/dir/n')];
      await swap();
      await assert.rejects(room.root.fs.commit(there, 'evil', {}), moved);
      await assert.rejects(room.root.fs.commit(there, null, {}), moved);
      await assert.rejects(room.root.fs.commit(fresh, 'evil', { expect: null }), moved);
      await assert.rejects(room.root.fs.commitBytes(there, Buffer.from('evil'), {}), moved);
      await untouched();
    });

    it('nor at the very last: the place is looked at again when everything is ready to be put there', async () => {
      const [there, fresh] = [await at('ws/dir/a'), await at('ws/dir/n')];
      await swap();
      await assert.rejects(putFile(there.realPath, [Buffer.from('evil')], undefined, 'a'), moved);
      await assert.rejects(putFile(fresh.realPath, [Buffer.from('evil')], null, 'n'), moved);
      await fs.link(path.join(outside, 'a'), path.join(room.directory, 'twin'));
      await assert.rejects(putFile(there.realPath, [Buffer.from('evil')], undefined, 'a'), moved);
      await untouched();
    });
  });

  it('the intent says what would change; the answer may change it, refuse it, or have done it', async () => {
    await room.put('a', 'x\r\ny');
    const intents: FileIntent[] = [];
    let answer: (intent: FileIntent) => FileDecision | Promise<FileDecision> = () => ({ kind: 'apply' });
    room.root.on('fs/edit-intent', async (intent) => { intents.push(intent); return answer(intent); });
    const target = await at('a');
    const edit = (from: string, text: string) => room.root.fs.edit(target, (before) => {
      const start = before.text.indexOf(from);
      return [{ start, end: start + from.length, text }];
    }, context);

    const outcome = await edit('x', 'X');
    assert.equal(outcome.operation, 'update');
    const [intent] = intents;
    assert.deepEqual([intent?.kind, intent?.before?.text, intent?.after, intent?.splices], ['edit', 'x\r\ny', 'X\r\ny', [{ start: 0, end: 1, text: 'X' }]]);

    answer = () => ({ kind: 'apply', text: 'X\r\nreviewed' });
    assert.equal((await edit('y', 'z')).after, 'X\r\nreviewed');
    assert.equal(await room.text('a'), 'X\r\nreviewed');

    answer = () => ({ kind: 'refuse', error: new Error('no thanks') });
    await assert.rejects(edit('X', 'q'), /no thanks/);
    answer = () => ({ kind: 'maybe' } as unknown as FileDecision);
    await assert.rejects(edit('X', 'q'), /unsupported decision; nothing was written/);
    answer = () => undefined as unknown as FileDecision;
    await assert.rejects(edit('X', 'q'), /unsupported decision/);
    assert.equal(await room.text('a'), 'X\r\nreviewed');

    answer = async ({ after, version }) => {
      const written = await room.root.fs.commit(target, `${after}!`, { expect: version });
      return { kind: 'applied', text: `${after}!`, version: written.version };
    };
    assert.equal((await edit('X', 'q')).after, 'q\r\nreviewed!');
    assert.equal(await room.text('a'), 'q\r\nreviewed!');

    answer = ({ before, version }) => ({ kind: 'applied', text: before?.text ?? null, version });
    assert.equal((await edit('q', 'r')).operation, 'none');
  });

  it('B1 a file that changed while its edit was reviewed is not overwritten', async () => {
    const file = await room.put('a', 'one');
    const target = await at('a');
    room.root.on('fs/write-intent', async (_intent, next) => {
      await fs.writeFile(file, 'theirs');
      return next();
    });
    await assert.rejects(room.root.fs.write(target, 'mine', context), { code: 'FS_STALE_VERSION' });
    assert.equal(await room.text('a'), 'theirs');
  });

  it('a file made by somebody else in between is not overwritten by a create', async () => {
    const target = await at('new');
    room.root.on('fs/write-intent', async (_intent, next) => {
      await room.put('new', 'theirs');
      return next();
    });
    await assert.rejects(room.root.fs.write(target, 'mine', context), { code: 'FS_STALE_VERSION' });
    assert.equal(await room.text('new'), 'theirs');
    assert.deepEqual(await fs.readdir(room.directory), ['new']);
  });

  it('B11 a new file taken back takes the directories made for it, and no others', async () => {
    await room.put('n/keep', '');
    const target = await at('n/e/w/x.txt');
    const outcome = await room.root.fs.write(target, 'x', context);
    assert.deepEqual(outcome.createdDirectories, ['n/e', 'n/e/w'].map((name) => path.join(room.directory, name)));
    await room.root.fs.commit(target, null, { expect: outcome.version });
    assert.deepEqual(await fs.readdir(path.join(room.directory, 'n')), ['keep']);
    const again = await room.root.fs.write(target, 'x', context);
    await room.put('n/e/other', '');
    await room.root.fs.commit(target, null, { removeDirectories: again.createdDirectories ?? [] });
    assert.deepEqual(await fs.readdir(path.join(room.directory, 'n/e')), ['other']);
  });

  it('commit checks what must still be there, keeps encoding and other bytes, and takes exact bytes', async () => {
    await room.put('a', Buffer.from('\ufeffone\r\ntwo\n'));
    const target = await at('a');
    const { version } = await room.root.fs.readText(target, 'a');
    await assert.rejects(room.root.fs.commit(target, 'x', { expect: null }), { code: 'FS_STALE_VERSION' });
    await room.root.fs.commit(target, 'one\r\n2\n', { expect: version });
    assert.equal(await room.text('a'), '\ufeffone\r\n2\n');
    const stat = await room.root.fs.stat(target);
    await room.root.fs.commitBytes(target, Buffer.from([0, 1, 2]), { expect: stat?.version ?? null });
    assert.deepEqual([...await room.bytes('a')], [0, 1, 2]);
    await assert.rejects(room.root.fs.commitBytes(target, Buffer.from('x'), { expect: version }), { code: 'FS_STALE_VERSION' });
    await room.root.fs.commit(await at('wide'), 'é', { encoding: 'utf16le' });
    assert.equal((await room.bytes('wide')).toString('hex'), 'fffee900');
  });

  it('an edit that changes nothing writes nothing', async () => {
    const file = await room.put('a', 'x');
    const before = await fs.stat(file, { bigint: true });
    const outcome = await room.root.fs.write(await at('a'), 'x', context);
    assert.equal(outcome.operation, 'none');
    assert.equal((await fs.stat(file, { bigint: true })).ctimeNs, before.ctimeNs);
  });

  it('a full disk leaves the old bytes and no rubbish', async function () {
    const small = path.join(room.directory, 'small');
    await fs.mkdir(small);
    try {
      await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]);
    } catch {
      this.skip();
    }
    try {
      await room.put('small/a', 'old');
      await fs.link(path.join(small, 'a'), path.join(small, 'linked'));
      await room.put('small/b', 'old');
      for (const name of ['small/a', 'small/b', 'small/new']) {
        await assert.rejects(room.root.fs.write(await at(name), 'x'.repeat(200_000), { ...context, displayPath: name }), {
          code: 'FS_NO_SPACE', message: `cannot write "${name}": no space left on the disk; nothing was changed. Free some space, then retry`,
        });
      }
      assert.deepEqual([await room.text('small/a'), await room.text('small/b')], ['old', 'old']);
      assert.deepEqual((await fs.readdir(small)).sort(), ['a', 'b', 'linked']);
    } finally {
      await run('umount', [small]);
    }
  });

  it('a reader never sees half a file while it is rewritten again and again', async () => {
    const file = await room.put('a', 'a'.repeat(300_000));
    const target = await at('a');
    let done = false;
    const seen = new Set<string>();
    const reader = (async () => {
      while (!done) {
        const text = await fs.readFile(file, 'latin1');
        assert.equal(text.length, 300_000);
        seen.add(text[0] ?? '');
        assert.equal(text, (text[0] ?? '').repeat(300_000));
      }
    })();
    for (let round = 0; round < 30; round++) await room.root.fs.write(target, (round % 2 === 0 ? 'b' : 'a').repeat(300_000), context);
    done = true;
    await reader;
    assert.ok(seen.size > 0);
  });

  it('A13 an open document is read and written instead of the disk', async () => {
    const disk = await room.put('a', 'disk');
    let buffer = 'unsaved é\r\ntext';
    let version = 1;
    class WithDocument extends NodeFileSystem {
      override async openDocument(target: FileTarget): Promise<TextFile | undefined> {
        if (!target.path.endsWith('/a')) return undefined;
        return { text: buffer, encoding: 'utf8', version: `document ${version}`, source: 'document', dirty: true };
      }

      protected override async writeDocument(_target: FileTarget, before: TextFile, splices: readonly TextSplice[], after: string) {
        assert.equal(before.text, buffer);
        assert.ok(splices.length > 0);
        buffer = after.replace('format me', 'formatted');
        return { version: `document ${++version}`, text: buffer };
      }
    }
    const other = await openFsRoom({ FileSystem: WithDocument });
    try {
      await fs.writeFile(path.join(other.directory, 'a'), 'disk');
      await other.must('read', { file_path: 'a' });
      await other.must('edit', { file_path: 'a', old_string: 'text', new_string: 'TEXT' });
      assert.equal(buffer, 'unsaved é\r\nTEXT');
      await other.must('write', { file_path: 'a', content: 'unsaved é\nall' });
      assert.equal(buffer, 'unsaved é\r\nall');
      const formatted = await other.must('edit', { file_path: 'a', old_string: 'all', new_string: 'format me' });
      assert.equal((formatted.value as { after: string }).after, 'unsaved é\nformatted', 'B17 the lines after formatting are told');
      version++;
      assert.match(await other.refuse('edit', { file_path: 'a', old_string: 'formatted', new_string: 'x' }), /changed since it was read/);
      assert.equal(await other.text('a'), 'disk');
    } finally {
      await other.dispose();
    }
    assert.equal(await fs.readFile(disk, 'utf8'), 'disk');
  });

  it('a text beyond the size limit is refused by size, and can still be replaced', async () => {
    await room.dispose();
    room = await openFsRoom({ observation: false, fs: { maxTextBytes: 10 } });
    await room.put('a', 'x'.repeat(11));
    assert.match(await room.refuse('edit', { file_path: 'a', old_string: 'x', new_string: 'y' }), /^cannot edit "a": the file is too large/);
    await room.must('write', { file_path: 'a', content: 'small' });
    assert.equal(await room.text('a'), 'small');
  });
});

describe('the lock of a path', () => {
  it('A11 runs one after the other, others beside it, and gives up waiting on abort', async () => {
    const lock = new PathLock();
    const log: string[] = [];
    let release = (): void => {};
    const first = lock.run('/a', undefined, () => new Promise<void>((resolve) => { release = () => { log.push('first'); resolve(); }; }));
    const controller = new AbortController();
    const aborted = lock.run('/a', controller.signal, async () => { log.push('aborted'); });
    const second = lock.run('/a', undefined, async () => { log.push('second'); });
    await lock.run('/b', undefined, async () => { log.push('other'); });
    controller.abort();
    await assert.rejects(aborted, { code: 'ABORTED' });
    release();
    await Promise.all([first, second]);
    assert.deepEqual(log, ['other', 'first', 'second']);
    await assert.rejects(lock.run('/a', undefined, async () => { throw new Error('x'); }), /x/);
    await lock.run('/a', undefined, async () => { log.push('free'); });
    assert.equal(log.at(-1), 'free');
  });
});

describe('the lock of a path where case is ignored', () => {
  it('E5 A11 a drive letter in either case is one path, and elsewhere two', async () => {
    for (const [foldCase, order] of [[true, ['first', 'second']], [false, ['second', 'first']]] as const) {
      const lock = new PathLock(foldCase);
      const log: string[] = [];
      let release = (): void => {};
      const held = new Promise<void>((resolve) => { release = resolve; });
      const first = lock.run('C:\\a.txt', undefined, async () => { await held; log.push('first'); });
      const second = lock.run('c:\\a.txt', undefined, async () => { log.push('second'); });
      if (!foldCase) await second;
      release();
      await Promise.all([first, second]);
      assert.deepEqual(log, order);
    }
  });
});

describe('a host killed while it writes', () => {
  it('D3 what it left beside the file goes at the next write there: its own at once, what nobody can be asked about when it is old; nothing else does', async () => {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'fs-left-'));
    try {
      const here = path.basename(temporaryBeside(path.join(directory, 'a')));
      const dead = spawnSync(process.execPath, ['-e', '']).pid;
      const names = {
        old: '.a.dsh-01234567-1a-89abcdef.tmp', young: '.a.dsh-01234567-1a-76543210.tmp', foreign: '.a.01234567-1a-89abcdef.tmp', visible: 'a.dsh-01234567-1a-89abcdef.tmp',
        living: here, dead: here.replace(`-${process.pid.toString(36)}-`, `-${dead.toString(36)}-`),
      };
      const hourAgo = new Date(Date.now() - 3_600_000);
      for (const [kind, name] of Object.entries(names)) {
        await fs.writeFile(path.join(directory, name), kind);
        if (!['young', 'living', 'dead'].includes(kind)) await fs.utimes(path.join(directory, name), hourAgo, hourAgo);
      }
      await putFile(path.join(directory, 'b'), [Buffer.from('x')], null, 'b');
      assert.deepEqual((await fs.readdir(directory)).sort(), [names.foreign, names.young, names.visible, names.living, 'b'].sort());
    } finally {
      await fs.rm(directory, { recursive: true, force: true });
    }
  });

  it('leaves the whole old or the whole new file, at any moment', async function () {
    this.timeout(60_000);
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'fs-kill-'));
    const file = path.join(directory, 'a');
    const length = 2_000_000;
    await fs.writeFile(file, 'a'.repeat(length));
    const script = `
      import { putFile } from ${JSON.stringify(new URL('../../src/headless/disk.ts', import.meta.url).href)};
      process.send('ready');
      for (let i = 0; ; i++) await putFile(${JSON.stringify(file)}, [Buffer.alloc(${length}, i % 2 === 0 ? 'b' : 'a')], undefined, 'a');
    `;
    const main = path.join(directory, 'main.mjs');
    await fs.writeFile(main, script);
    try {
      for (let round = 0; round < 8; round++) {
        const child = fork(main, { execArgv: ['--import', 'tsx'], cwd: process.cwd() });
        await once(child, 'message');
        await new Promise((resolve) => setTimeout(resolve, 7 * round));
        child.kill('SIGKILL');
        await once(child, 'exit');
        const text = await fs.readFile(file, 'latin1');
        assert.equal(text.length, length);
        assert.equal(text, (text[0] ?? '').repeat(length));
      }
    } finally {
      await fs.rm(directory, { recursive: true, force: true });
    }
  });
});
