import assert from 'node:assert/strict';
import { openFsRoom, textOf } from '../harness/fs-room.ts';
import type { FsRoom, FsRoomOptions } from '../harness/fs-room.ts';
import { DiskAttachments } from '../../src/headless/attachments.ts';
import { imageHeader } from '../../src/headless/image-header.ts';
import * as editor from '../../src/tools/fs/str-replace-editor.ts';

describe('str_replace_editor', () => {
  let room: FsRoom;
  const open = async (options: FsRoomOptions = {}): Promise<void> => {
    room = await openFsRoom({ ...options, plugins: [editor] });
  };
  const run = async (args: object): Promise<string> => textOf(await room.must('str_replace_editor', args));
  const refuse = (args: object): Promise<string> => room.refuse('str_replace_editor', args);
  afterEach(() => room.dispose());

  it('B10.37 view numbers lines, takes a range, and clips', async () => {
    await open();
    await room.put('a', 'one\r\ntwo\nthree');
    assert.equal(await run({ command: 'view', path: 'a' }), '     1  one\n     2  two\n     3  three');
    assert.equal(await run({ command: 'view', path: 'a', view_range: [2, -1] }), '     2  two\n     3  three');
    assert.equal(await run({ command: 'view', path: 'a', view_range: [2, 2] }), '     2  two');
    assert.match(await refuse({ command: 'view', path: 'a', view_range: [4, 5] }), /out of range \(1 to 3/);
    assert.match(await refuse({ command: 'view', path: 'a', view_range: [1] }), /must be \[first, last\]/);
    assert.equal(await refuse({ command: 'view', path: 'no' }), 'cannot read "no": not found');
    await room.put('big', 'x'.repeat(20_000));
    const clipped = await run({ command: 'view', path: 'big' });
    assert.match(clipped, /^ {5}1 {2}x+\n\(clipped: 16000 of 20008 characters shown; use view_range/);
  });

  it('B10.37 view lists a directory two levels deep', async () => {
    await open();
    await room.put('b/c/d.txt', '');
    await room.put('b/x.txt', '');
    await room.put('a.txt', '');
    await room.put('.hidden/y', '');
    assert.equal(await run({ command: 'view', path: '.' }), 'a.txt\nb/\nb/c/\nb/x.txt');
  });

  it('B10.37 create, str_replace and insert write through the same engine', async () => {
    await open();
    assert.equal(await run({ command: 'create', path: 'n/a', file_text: 'x\n' }), 'The file n/a has been created.');
    await room.put('crlf', 'one\r\ntwo\r\nthree');
    await run({ command: 'view', path: 'crlf' });
    await run({ command: 'str_replace', path: 'crlf', old_str: 'one\ntwo', new_str: 'one\n2' });
    await run({ command: 'insert', path: 'crlf', insert_line: 1, new_str: 'a\nb' });
    assert.equal(await room.text('crlf'), 'one\r\na\r\nb\r\n2\r\nthree');
    await run({ command: 'insert', path: 'crlf', insert_line: 5, new_str: 'end\n' });
    await run({ command: 'insert', path: 'crlf', insert_line: 0, new_str: 'top' });
    assert.equal(await room.text('crlf'), 'top\r\none\r\na\r\nb\r\n2\r\nthree\r\nend');
    assert.match(await refuse({ command: 'insert', path: 'crlf', insert_line: 8, new_str: 'x' }), /insert_line 8 is out of range for "crlf" \(0 to 7\)/);
    await run({ command: 'str_replace', path: 'crlf', old_str: 'top\n' });
    assert.equal(await room.text('crlf'), 'one\r\na\r\nb\r\n2\r\nthree\r\nend');
  });

  it('B10.37 A19 refuses what is missing, absent or ambiguous, in its own words', async () => {
    await open();
    await room.put('a', 'x\nx\n');
    await run({ command: 'view', path: 'a' });
    assert.equal(await refuse({ command: 'create', path: 'b' }), 'file_text is required for command create');
    assert.equal(await refuse({ command: 'str_replace', path: 'a' }), 'old_str is required for command str_replace');
    assert.equal(await refuse({ command: 'insert', path: 'a', new_str: 'x' }), 'insert_line is required for command insert');
    assert.equal(await refuse({ command: 'str_replace', path: 'a', old_str: 'x', new_str: 'y' }), 'old_str matched 2 times in "a"; provide a more specific old_str (lines 1, 2)');
    assert.equal(await refuse({ command: 'str_replace', path: 'a', old_str: 'z', new_str: 'y' }), 'old_str was not found in "a"');
    assert.match(await refuse({ command: 'undo', path: 'a' }), /"command" must be one of \["view","create","str_replace","insert"\]/);
  });

  it('B10.8 read before write holds here too', async () => {
    await open();
    await room.put('a', 'x');
    assert.match(await refuse({ command: 'create', path: 'a', file_text: '' }), /without reading it first/);
    assert.match(await refuse({ command: 'str_replace', path: 'a', old_str: 'x', new_str: 'y' }), /requires reading/);
  });

  it('B10.37 cards: view generic/read, create and str_replace diff, insert generic/edit', async () => {
    await open();
    const tool = room.root.tools.get('str_replace_editor') ?? assert.fail();
    const card = (args: object) => {
      const view = tool.presentCall?.(args) ?? assert.fail();
      return [view.card, 'kind' in view ? view.kind : undefined, tool.presentResult?.(args, { content: [], isError: false })?.card];
    };
    assert.deepEqual(card({ command: 'view', path: 'a' }), ['generic', 'read', undefined]);
    assert.deepEqual(card({ command: 'create', path: 'a', file_text: 'x' }), ['diff', undefined, 'diff']);
    assert.deepEqual(card({ command: 'str_replace', path: 'a', old_str: 'x' }), ['diff', undefined, 'diff']);
    assert.deepEqual(card({ command: 'insert', path: 'a', insert_line: 1, new_str: 'x' }), ['generic', 'edit', undefined]);
  });
});

describe('read_image', () => {
  let room: FsRoom;
  afterEach(() => room.dispose());
  const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAADElEQVR4nGNggAEAAAgAAYWx0lkAAAAASUVORK5CYII=', 'base64');

  const open = async (modalities: ('text' | 'image')[]): Promise<void> => {
    room = await openFsRoom();
    await room.root.plugin(DiskAttachments, { directory: `${room.directory}/.pictures` });
    room.root.provide('llm', { resolveModel: async (provider: string, id: string) => ({ provider, id, name: 'Model M', inputModalities: modalities }) });
    Object.assign(room.agent.session, { events: [{ type: 'request/context', data: { provider: 'p', model: 'm' } }] });
    await new Promise((resolve) => setTimeout(resolve));
  };

  it('B10.36 is only there with a store for pictures', async () => {
    room = await openFsRoom();
    assert.equal(room.root.tools.get('read_image'), undefined);
  });

  it('B10.36 keeps the picture and shows it', async () => {
    await open(['text', 'image']);
    await room.put('p/shot.png', PNG);
    const result = await room.must('read_image', { file_path: 'p/shot.png' });
    const [text, image] = result.content;
    assert.deepEqual(text, { type: 'text', text: `<path>p/shot.png</path>\n<type>image</type>\n<content>\nimage/png, 3 x 2 pixels, ${PNG.length} bytes\n</content>` });
    assert.ok(image?.type === 'image');
    const { attachmentId, ...rest } = image.attachment;
    assert.deepEqual(rest, { mediaType: 'image/png', bytes: PNG.length, width: 3, height: 2, name: 'shot.png' });
    assert.deepEqual(Buffer.from(await room.root.attachments.readImage({ attachmentId })), PNG);
    assert.equal(await room.root.attachments.dataUrl(attachmentId), `data:image/png;base64,${PNG.toString('base64')}`);
    assert.equal(await room.root.attachments.dataUrl('../../etc/passwd'), undefined);
  });

  it('B10.36 needs a model that sees, the right ending, and a real picture', async () => {
    await open(['text']);
    await room.put('a.png', PNG);
    assert.equal(await room.refuse('read_image', { file_path: 'a.png' }), 'the model "Model M" does not take pictures; choose one that does to use read_image');
    await room.dispose();
    await open(['text', 'image']);
    await room.put('a.txt', PNG);
    await room.put('a.gif', PNG);
    await room.put('b.png', 'text');
    assert.equal(await room.refuse('read_image', { file_path: 'a.txt' }), 'cannot read "a.txt": not a png, jpg, jpeg, webp or gif file');
    assert.match(await room.refuse('read_image', { file_path: 'a.gif' }), /the picture is image\/png, not image\/gif/);
    assert.match(await room.refuse('read_image', { file_path: 'b.png' }), /not a PNG, JPEG, WebP or GIF picture/);
    assert.equal(await room.refuse('read_image', { file_path: 'no.png' }), 'cannot read "no.png": not found');
  });

  it('B10.36 reads the size of every format', () => {
    const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([10, 0, 20, 0])]);
    const vp8 = Buffer.alloc(30);
    vp8.write('RIFF', 0); vp8.write('WEBPVP8 ', 8); vp8.writeUInt16LE(640, 26); vp8.writeUInt16LE(480, 28);
    const vp8l = Buffer.alloc(30);
    vp8l.write('RIFF', 0); vp8l.write('WEBPVP8L', 8); vp8l.writeUInt32LE((99) | (49 << 14), 21);
    const vp8x = Buffer.alloc(30);
    vp8x.write('RIFF', 0); vp8x.write('WEBPVP8X', 8); vp8x.writeUIntLE(1999, 24, 3); vp8x.writeUIntLE(999, 27, 3);
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc4, 0, 3, 9, 0xff, 0xc2, 0, 11, 8, 0, 5, 0, 7, 3, 0, 0, 0]);
    assert.deepEqual(imageHeader(gif), { mediaType: 'image/gif', width: 10, height: 20 });
    assert.deepEqual(imageHeader(vp8), { mediaType: 'image/webp', width: 640, height: 480 });
    assert.deepEqual(imageHeader(vp8l), { mediaType: 'image/webp', width: 100, height: 50 });
    assert.deepEqual(imageHeader(vp8x), { mediaType: 'image/webp', width: 2000, height: 1000 });
    assert.deepEqual(imageHeader(jpeg), { mediaType: 'image/jpeg', width: 7, height: 5 });
    for (let length = 0; length < jpeg.length; length++) imageHeader(jpeg.subarray(0, length));
    for (let length = 0; length < PNG.length; length++) imageHeader(PNG.subarray(0, length));
    assert.equal(imageHeader(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0, 0, 0, 0, 0])), undefined);
  });
});
