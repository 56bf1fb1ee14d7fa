import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { JsonValue } from '../../src/contract/json.ts';
import { openFsRoom, textOf } from '../harness/fs-room.ts';
import type { FsRoom, FsRoomOptions } from '../harness/fs-room.ts';

describe('read', () => {
  let room: FsRoom;
  const open = async (options?: FsRoomOptions): Promise<FsRoom> => {
    room = await openFsRoom(options);
    return room;
  };
  afterEach(() => room.dispose());

  const content = (result: Awaited<ReturnType<FsRoom['call']>>): string =>
    /<content>\n([\s\S]*)\n<\/content>$/.exec(textOf(result))?.[1] ?? assert.fail('no envelope');

  it('B10.1 numbers lines, relative to the session directory (B10.13), beside other reads', async () => {
    await open();
    await room.put('src/a.ts', 'one\ntwo\n');
    const result = await room.must('read', { file_path: 'src/a.ts' });
    assert.equal(textOf(result), '<path>src/a.ts</path>\n<type>file</type>\n<content>\n1: one\n2: two\n\n(End of file - total 2 lines)\n</content>');
    assert.deepEqual(result.value, { path: 'src/a.ts', offset: 1, lines: [{ number: 1, text: 'one' }, { number: 2, text: 'two' }], totalLines: 2 });
    assert.deepEqual(room.root.tools.executionMode({ name: 'read', arguments: { file_path: 'a' } }), { kind: 'parallel' });
  });

  it('B10.1 B10.2 refuses bad arguments by name', async () => {
    await open();
    assert.equal(await room.refuse('read', { file_path: ' ' }), 'file_path must be a non-empty string');
    for (const value of [0, -1, 1.5]) {
      assert.equal(await room.refuse('read', { file_path: 'a', offset: value }), 'offset must be a positive integer');
      assert.equal(await room.refuse('read', { file_path: 'a', limit: value }), 'limit must be a positive integer');
    }
    assert.equal(await room.refuse('read', { file_path: 'a', limit: 2001 }), 'limit must be less than or equal to 2000');
    assert.match(await room.refuse('read', { file_path: 'a\ud800b' }), /half a character/);
    assert.match(await room.refuse('write', { file_path: '\udc00', content: 'x' }), /half a character/, 'it would become another name');
    assert.equal(await room.refuse('read', { file_path: 'a\0b' }), 'cannot access "a\0b": the path contains a NUL character');
  });

  it('B10.2 absent, directory, special, binary, invalid and past the end, each with its code', async () => {
    await open();
    await room.put('d/x', '');
    await room.put('bin', Buffer.from([1, 0, 2]));
    await room.put('bad', Buffer.from([0x61, 0xff]));
    await room.put('three', '1\n2\n3\n');
    await room.put('empty', '');
    const code = async (args: object): Promise<[string, string | undefined]> => {
      const result = await room.call('read', args);
      assert.ok(result.isError);
      return [result.error.message, result.error.info?.code];
    };
    assert.deepEqual(await code({ file_path: 'no' }), ['cannot read "no": not found', 'FS_NOT_FOUND']);
    assert.deepEqual(await code({ file_path: 'three/x' }), ['cannot read "three/x": not found', 'FS_NOT_FOUND']);
    assert.deepEqual(await code({ file_path: 'd' }), ['cannot read "d": not a regular file', 'FS_NOT_REGULAR_FILE']);
    assert.deepEqual(await code({ file_path: '/dev/null' }), ['cannot read "/dev/null": not a regular file', 'FS_NOT_REGULAR_FILE']);
    assert.deepEqual(await code({ file_path: 'bin' }), ['cannot read "bin": binary file', 'FS_NOT_TEXT']);
    assert.deepEqual(await code({ file_path: 'bad' }), ['cannot read "bad": invalid UTF-8 text', 'FS_NOT_TEXT']);
    assert.deepEqual(await code({ file_path: 'three', offset: 4 }), ['offset 4 is out of range for "three" (3 lines)', 'FS_NOT_FOUND']);
    assert.equal(content(await room.must('read', { file_path: 'empty' })), '(End of file - total 0 lines)');
    assert.deepEqual(await code({ file_path: 'empty', offset: 2 }), ['offset 2 is out of range for "empty" (0 lines)', 'FS_NOT_FOUND']);
  });

  (process.platform === 'linux' ? it : it.skip)('a file that the system makes up as it is read is not empty, whatever its size says', async () => {
    await open();
    assert.match(textOf(await room.must('read', { file_path: '/proc/self/status', limit: 1 })), /^<path>\/proc\/self\/status<\/path>\n.*\n.*\n1: Name:/);
    await room.put('empty', '');
    assert.match(textOf(await room.must('read', { file_path: 'empty' })), /total 0 lines/);
  });

  it('B10.3 CR before LF is stripped, a lone CR stays, a final newline adds no line', async () => {
    await open();
    await room.put('a', 'x\r\ny\rz\r\nlast\r');
    const { value } = await room.must('read', { file_path: 'a' });
    assert.deepEqual(value, { path: 'a', offset: 1, lines: [{ number: 1, text: 'x' }, { number: 2, text: 'y\rz' }, { number: 3, text: 'last\r' }], totalLines: 3 });
  });

  it('B10.3 I5 a 2 MB line is cut and says so; the next line is still there', async () => {
    await open();
    await room.put('long', `${'x'.repeat(2_000_000)}\nnext\n`);
    const text = content(await room.must('read', { file_path: 'long' }));
    assert.equal(text, `1: ${'x'.repeat(2000)}... (line truncated to 2000 chars)\n2: next\n\n(End of file - total 2 lines)`);
  });

  it('B10.3 a cut never leaves half a surrogate pair', async () => {
    await open();
    await room.put('smile', `${'x'.repeat(1999)}😀😀`);
    assert.match(content(await room.must('read', { file_path: 'smile' })), /^1: x{1999}\.\.\. \(line truncated/);
  });

  it('B10.4 I3 each footer says what is shown and how to go on', async () => {
    await open({ tools: { readMaxBytes: 20 } });
    await room.put('ten', Array.from({ length: 10 }, (_, i) => `line ${i + 1}`).join('\n'));
    assert.match(content(await room.must('read', { file_path: 'ten', limit: 2 })), /^1: line 1\n2: line 2\n\n\(Showing lines 1-2 of 10\. Use offset=3 to continue\.\)$/);
    assert.match(content(await room.must('read', { file_path: 'ten', offset: 3 })), /^3: line 3\n4: line 4\n5: line 5\n\n\(Output capped\. Showing lines 3-5\. Use offset=6 to continue\.\)$/);
    assert.match(content(await room.must('read', { file_path: 'ten', offset: 9 })), /\(End of file - total 10 lines\)$/);
  });

  it('B10.5 cards: generic call with its part, read result from meta, undefined for anything foreign', async () => {
    await open();
    await room.put('a.tsx', 'x\n');
    const tool = room.root.tools.get('read') ?? assert.fail();
    assert.deepEqual(tool.presentCall?.({ file_path: 'a.tsx' }), { card: 'generic', title: 'Read a.tsx', kind: 'read', locations: [{ path: 'a.tsx', line: 1 }] });
    assert.equal(tool.presentCall?.({ file_path: 'a', offset: 5, limit: 10 })?.title, 'Read a (5 - 14)');
    assert.equal(tool.presentCall?.({ file_path: 'a', limit: 10 })?.title, 'Read a (1 - 10)');
    assert.equal(tool.presentCall?.({ file_path: 'a', offset: 5 })?.title, 'Read a (from line 5)');
    const args = { file_path: 'a.tsx' };
    const { content: blocks, meta } = await room.must('read', args);
    assert.deepEqual(meta, { path: 'a.tsx', offset: 1, lines: [{ number: 1, text: 'x' }], totalLines: 1, lang: 'tsx' });
    const result = { content: blocks, isError: false, meta: meta! };
    assert.deepEqual(tool.presentResult?.(args, result), {
      card: 'read', path: 'a.tsx', offset: 1, lines: [{ number: 1, text: 'x' }], totalLines: 1, lang: 'tsx',
      content: [{ type: 'text', text: '1: x\n\n(End of file - total 1 lines)' }],
    });
    assert.equal(tool.presentResult?.(args, { ...result, isError: true }), undefined);
    assert.equal(tool.presentResult?.(args, { ...result, content: [{ type: 'text', text: 'spilled' }] }), undefined);
    for (const broken of [null, 5, {}, { ...(meta as object), lines: [{ number: 2, text: 'a' }, { number: 1, text: 'b' }] }, { ...(meta as object), path: 3 }]) {
      assert.equal(tool.presentResult?.(args, { ...result, meta: broken as JsonValue }), undefined);
    }
  });

  it('B10.5 the language comes from the extension alone; dotfiles and inherited names have none', async () => {
    await open();
    for (const [name, lang] of [['x.kt', 'kotlin'], ['x.YML', 'yaml'], ['.ts', undefined], ['a.constructor', undefined], ['Makefile', undefined]] as const) {
      await room.put(name, 'x');
      assert.equal(((await room.must('read', { file_path: name })).meta as { lang?: string }).lang, lang, name);
    }
  });

  it('B10.3 a streamed file gives exactly what a small one gives', async () => {
    await open({ tools: { readStreamMinSize: 1 } });
    const plain = await openFsRoom();
    try {
      const lines = Array.from({ length: 30_000 }, (_, i) => `${'é漢😀'.repeat(i % 17)}${'x'.repeat((i * 7919) % 90)} ${i}`);
      const files: Record<string, string | Uint8Array> = {
        'lf.txt': lines.join('\n'), 'crlf.txt': lines.join('\r\n') + '\r\n', 'bom.txt': `\ufeff${lines.join('\n')}`, 'empty.txt': '',
        'long.txt': `a\n${'é'.repeat(1_500_000)}\r\nz`, 'dense.txt': '\n'.repeat(1_200_000), 'utf16.txt': Buffer.from(`\ufeff${lines.slice(0, 10_000).join('\n')}`, 'utf16le'),
      };
      for (const [name, data] of Object.entries(files)) {
        await room.put(name, data);
        await plain.put(name, data);
        for (const offset of name === 'dense.txt' ? [1, 1_199_999] : [1, 3, 9_990, 30_000]) {
          const args = { file_path: name, offset, limit: 50 };
          const [streamed, whole] = [await room.call('read', args), await plain.call('read', args)];
          assert.deepEqual(streamed.content, whole.content, `${name} from ${offset}`);
        }
      }
    } finally {
      await plain.dispose();
    }
  });

  it('B10.2 a streamed file is checked to its last byte', async () => {
    await open({ tools: { readStreamMinSize: 1 } });
    const big = 'abcdefgh\n'.repeat(300_000);
    await room.put('nul', Buffer.concat([Buffer.from(big), Buffer.from([0])]));
    await room.put('cut', Buffer.concat([Buffer.from(big), Buffer.from([0xe6, 0xbc])]));
    await room.put('bad', Buffer.concat([Buffer.from(big), Buffer.from([0xff]), Buffer.from(big)]));
    const split = 1024 * 1024 - 1;
    await room.put('split', Buffer.concat([Buffer.alloc(split, 'a'), Buffer.from('é\nend')]));
    assert.equal(await room.refuse('read', { file_path: 'nul' }), 'cannot read "nul": binary file');
    assert.equal(await room.refuse('read', { file_path: 'cut' }), 'cannot read "cut": invalid UTF-8 text');
    assert.equal(await room.refuse('read', { file_path: 'bad' }), 'cannot read "bad": invalid UTF-8 text');
    assert.match(textOf(await room.must('read', { file_path: 'split', offset: 2 })), /2: end/);
  });

  it('A7 a streamed file in the user\'s encoding is decoded with it', async () => {
    await open({ tools: { readStreamMinSize: 1, readMaxLineLength: 3 }, fs: { encoding: 'gb18030' } });
    await room.put('gbk', Buffer.concat([Buffer.from('a\n'), Buffer.from('c4e3bac3c4e3bac3c4e3bac3c4e3bac3c4e3bac3c4e3bac3c4e3bac3', 'hex')]));
    assert.match(textOf(await room.must('read', { file_path: 'gbk' })), /2: 你好你\.\.\. \(line truncated to 3 chars\)/);
  });

  it('B10.1 an aborted read of a big file stops and says so', async () => {
    await open({ tools: { readStreamMinSize: 1 } });
    const file = await room.put('big', '');
    await fs.writeFile(file, 'x\n'.repeat(4_000_000));
    const controller = new AbortController();
    const pending = room.call('read', { file_path: 'big' }, { signal: controller.signal });
    setImmediate(() => controller.abort());
    const result = await pending;
    assert.ok(result.isError);
    assert.match(result.error.info?.code ?? '', /^ABORTED/);
  });

  it('J1 reads through links, and names what was asked for', async () => {
    await open();
    await room.put('real/a.txt', 'x');
    await fs.symlink('real', path.join(room.directory, 'link'));
    assert.match(textOf(await room.must('read', { file_path: 'link/a.txt' })), /^<path>link\/a\.txt<\/path>/);
    await fs.symlink('loop', path.join(room.directory, 'loop'));
    assert.match(await room.refuse('read', { file_path: 'loop' }), /too many symbolic links/);
  });

  it('E1 E3 E11 odd names are just names', async () => {
    await open();
    for (const name of ['Some Folder/a.js', 'a#b?.txt', "it's/f.txt", '漢字 %20.txt']) {
      await room.put(name, 'ok');
      assert.match(textOf(await room.must('read', { file_path: name })), /1: ok/, name);
    }
  });
});
