import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NodeRipgrep } from '../../src/headless/ripgrep.ts';
import { patternComplaint } from '../../src/tools/search/complaint.ts';
import { MatchReader } from '../../src/tools/search/match-reader.ts';
import * as search from '../../src/tools/search/plugin.ts';
import { toolRoom } from '../harness/tool-room.ts';
import type { TestAgent, ToolRoom } from '../harness/tool-room.ts';

interface Match { path: string; lineNumber: number; line: string }

describe('search.output', () => {
  let room: ToolRoom;
  let agent: TestAgent;
  let rg: string;

  beforeEach(async () => {
    room = await toolRoom();
    await room.ctx.plugin(NodeRipgrep, {});
    await room.ctx.plugin(search, { sampleOverCapGlobResults: false });
    rg = await room.ctx.get('ripgrep')!.locate();
    agent = room.agent();
  });
  afterEach(() => room.dispose());

  function put(file: string, content: string | Buffer, dir = room.dir): string {
    const target = path.join(dir, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, content);
    return target;
  }
  const call = (name: string, args: unknown) => room.call(name, args, { agent });
  async function matchesOf(args: object): Promise<Match[]> {
    const result = await call('grep', args);
    if (result.isError) throw new Error(result.error.message);
    return (result.value as unknown as { matches: Match[] }).matches;
  }
  async function pathsOf(args: object): Promise<string[]> {
    const result = await call('glob', args);
    if (result.isError) throw new Error(result.error.message);
    return [...(result.value as { paths: string[] }).paths];
  }
  async function refusal(name: string, args: unknown): Promise<{ code?: string; message: string }> {
    const result = await call(name, args);
    if (!result.isError) throw new Error(`${name} found something`);
    return { message: result.error.message, ...(result.error.info?.code === undefined ? {} : { code: result.error.info.code }) };
  }

  /** What `rg --json` says, which lists every hit of a line but is plain about paths, lines and encodings. */
  function byJson(args: readonly string[]): Match[] {
    const plain = (text: { text?: string; bytes?: string }): Buffer => (text.text === undefined ? Buffer.from(text.bytes!, 'base64') : Buffer.from(text.text));
    let out: string;
    try {
      out = execFileSync(rg, ['--no-config', '--json', ...args], { cwd: room.dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 28 });
    } catch (error) {
      out = (error as { stdout: string }).stdout;
    }
    return out.split('\n').filter((line) => line.startsWith('{"type":"match"')).map((line) => {
      const { data } = JSON.parse(line) as { data: { path: { text?: string; bytes?: string }; lines: { text?: string; bytes?: string }; line_number: number } };
      return {
        path: path.normalize(plain(data.path).toString('utf8')), lineNumber: data.line_number,
        line: data.lines.text === undefined ? '(line is not valid UTF-8)' : data.lines.text.replace(/\r?\n$|\r$/, ''),
      };
    });
  }

  describe('grep', () => {
    it('I5 a dense pattern on a 2 MB line gives one match, at once and whole', async () => {
      const line = 'ab'.repeat(1_000_000);
      put('min.js', `first\n${line}\nlast\n`);
      const matches = await matchesOf({ pattern: '[ab]' });
      assert.equal(matches[0]!.line === line, true);
      assert.deepEqual(matches.map(({ path: file, lineNumber, line: text }) => [file, lineNumber, text.length]), [['min.js', 2, 2_000_000], ['min.js', 3, 4]]);
    });

    it('B10.25 whatever files hold and are called, matches are what rg --json says', async () => {
      let seed = 20;
      const random = (below: number): number => {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
        return (seed >>> 8) % below;
      };
      const pieces = ['hit', 'hit', 'x', ' ', '\n', '\n', '\r\n', '\r', 'é', '文', ':', '"', '\\', '\t', 'y'.repeat(300), 'z'.repeat(70_000)];
      // no long ones beside NULs: whether ripgrep meets a NUL before or after a match depends on what its buffer held before
      const raw = [...pieces.slice(0, -1).map((piece) => Buffer.from(piece)), Buffer.from([0]), Buffer.from([0xff]), Buffer.from([0xc3])];
      const names = ['a', 'b c', 'n\nl', '12:3', 'é', '"q"', '-d', 'back\\slash', ': WARNING: x\n', 'r\r'];
      for (let file = 0; file < 80; file++) {
        const sort = random(4);
        const parts = Array.from({ length: 1 + random(30) }, () => (sort === 0 ? raw[random(raw.length)]! : Buffer.from(pieces[random(sort === 1 ? 10 : pieces.length)]!)));
        const text = Buffer.concat(parts);
        const bytes = sort === 3 ? Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text.toString('utf8'), 'utf16le')]) : text;
        put(path.join(names[random(names.length)]!, `${names[random(names.length)]!}${file}`), bytes);
      }
      const order = (matches: Match[]): string[] => matches.map((match) => JSON.stringify(match)).sort();
      const all = byJson(['--regexp=hit']);
      assert.ok(all.length > 50);
      assert.deepEqual(order(await matchesOf({ pattern: 'hit' })), order(all));
      assert.deepEqual(order(await matchesOf({ pattern: 'hit', path: '.' })), order(all));
      // a file given by name is searched whole, binary or not
      for (const file of await pathsOf({ pattern: '*' })) assert.deepEqual(await matchesOf({ pattern: 'hit', path: file }), byJson(['--regexp=hit', '--', file]), file);
    });

    it('I5 matches of a file that turns out to be binary are kept, and are not taken for the next file', async () => {
      put('a.bin', `hit one\n${'x\n'.repeat(100_000)}\0\n`);
      put('b.txt', 'hit two\n');
      put('c.bin', `hit three\n${'x\n'.repeat(100_000)}\0\n`);
      const lines = (await matchesOf({ pattern: 'hit' })).map(({ path: file, line }) => `${file} ${line}`).sort();
      assert.deepEqual(lines, ['a.bin hit one', 'b.txt hit two', 'c.bin hit three']);
    });

    it('B10.25 output in any pieces is what it was', () => {
      const bytes = Buffer.from('a\n\nb\x001:hit é\r\na\n\nb\x0012:x\x00y\na\n\nb: WARNING: stopped searching binary file after match (found "\\0" byte around offset 9)\nc\x003:ÿ\nd: WARNING: stopped');
      const whole: unknown[] = [];
      new MatchReader((...match) => whole.push(match), (file) => file).take(bytes);
      assert.deepEqual(whole, [['a\n\nb', 1, 'hit é'], ['a\n\nb', 12, 'x\0y'], ['c', 3, 'ÿ']]);
      for (let cut = 0; cut <= bytes.length; cut++) {
        const found: unknown[] = [];
        const reader = new MatchReader((...match) => found.push(match), (file) => file);
        const taken = reader.take(bytes.subarray(0, cut));
        reader.take(bytes.subarray(taken));
        assert.deepEqual(found, whole);
      }
    });

    it('B10.27 output that is no match is an error, not a result', () => {
      assert.throws(() => new MatchReader(() => undefined, (file) => file).take(Buffer.from('a\0b:c\n')), /no line number/);
      assert.equal(new MatchReader(() => undefined, (file) => file).mayRemain(Buffer.from('something else\n')), false);
    });

    it('B10.24 a file called - is searched, an empty path is none', async () => {
      put('-', 'hit\n');
      assert.deepEqual(await matchesOf({ pattern: 'hit', path: '-' }), [{ path: '-', lineNumber: 1, line: 'hit' }]);
      assert.equal((await matchesOf({ pattern: 'hit', path: '' })).length, 1);
    });
  });

  describe('glob', () => {
    it('B10.26 a newline in a name does not make two of it', async () => {
      put('one\ntwo.txt', '');
      put('d\n/three.txt', '');
      assert.deepEqual((await pathsOf({ pattern: '*.txt' })).sort(), ['d\n/three.txt', 'one\ntwo.txt']);
    });

    describe('B10.26 a pattern that leads elsewhere is looked for there', () => {
      let out: string;
      beforeEach(() => {
        out = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dsh-test-[x] ')));
        put('a.c', '', out);
        put('deep/b.c', '', out);
        put('sub/c.c', '');
        put('top.c', '');
      });
      afterEach(() => rmSync(out, { recursive: true, force: true }));

      it('absolute, its folder called like a pattern', async () => {
        const quoted = out.replaceAll(/[[\]]/g, '\\$&');
        assert.deepEqual((await pathsOf({ pattern: `${quoted}/**/*.c` })).sort(), [`${out}/a.c`, `${out}/deep/b.c`]);
        assert.deepEqual(await pathsOf({ pattern: `${quoted}/*.c` }), [`${out}/a.c`]);
        assert.deepEqual(await pathsOf({ pattern: `${quoted}/deep/b.c`, path: 'sub' }), [`${out}/deep/b.c`]);
        const result = await call('glob', { pattern: `${quoted}/*.c` });
        assert.deepEqual(result.isError ? undefined : result.value, { root: out, paths: [`${out}/a.c`] });
      });

      it('through ..', async () => {
        const sibling = `../${path.basename(out).replaceAll(/[[\]]/g, '\\$&')}`;
        assert.deepEqual(await pathsOf({ pattern: `${sibling}/*.c` }), [`${out}/a.c`]);
        assert.deepEqual(await pathsOf({ pattern: `../${sibling}/deep/*.c`, path: 'sub' }), [`${out}/deep/b.c`]);
        assert.deepEqual(await pathsOf({ pattern: '../*.c', path: 'sub' }), ['top.c']);
        assert.deepEqual(await pathsOf({ pattern: 'sub/../*.c' }), ['top.c']);
        assert.deepEqual(await pathsOf({ pattern: '../no-such-folder-here/*.c' }), []);
      });

      it('a leading slash alone means the folder searched', async () => {
        assert.deepEqual(await pathsOf({ pattern: '/*.c' }), ['top.c']);
        assert.deepEqual(await pathsOf({ pattern: '/sub/*.c' }), ['sub/c.c']);
      });

      for (const pattern of ['**/../*.c', '*/..', '{..,sub}/*.c', '..']) {
        it(`${pattern} is refused with the reason`, async () => {
          const { code, message } = await refusal('glob', { pattern });
          assert.equal(code, 'SEARCH_INVALID_PATTERN');
          assert.equal(message, `glob pattern "${pattern}" is not usable: ".." can only stand before the first wildcard`);
        });
      }
    });
  });

  describe('patterns that can\'t be used', () => {
    for (const [name, args] of [['grep', { pattern: '.*a'.repeat(33_334) }], ['grep', { pattern: 'x', include: '*a'.repeat(50_000) }], ['glob', { pattern: '*'.repeat(100_000) }]] as const) {
      it(`I7 a ${'include' in args ? 'filter' : 'pattern'} of 100,000 characters is refused by ${name}`, async () => {
        const { code, message } = await refusal(name, args);
        assert.equal(code, 'SEARCH_INVALID_PATTERN');
        assert.match(message, /^(?:grep|glob) (?:pattern|include) is not usable: it is 10\d{4} characters long, at most 10000 are possible\. Search for less at a time$/);
      });
    }

    it('I7 a NUL is refused before ripgrep is started', async () => {
      assert.deepEqual(await refusal('grep', { pattern: 'a\0b' }), { code: 'SEARCH_INVALID_PATTERN', message: 'grep pattern is not usable: it contains a NUL character' });
      assert.equal((await refusal('glob', { pattern: 'a\0b' })).code, 'SEARCH_INVALID_PATTERN');
    });

    const REASONS: readonly (readonly [string, string])[] = [
      ['(', 'regex parse error:\n    (\nerror: unclosed group'],
      ['a)', 'regex parse error:\n    a)\nerror: unopened group'],
      ['é[z-a]', 'regex parse error:\n    é[z-a]\n      ^^^\nerror: invalid character class range, the start must be <= the end'],
      ['(?=x)', 'regex parse error:\n    (?=x)\n    ^^^\nerror: look-around, including look-ahead and look-behind, is not supported'],
      ['a\nb', 'the literal "\\n" is not allowed in a regex: a pattern matches within one line'],
      ['(\\w{999}){99}', 'compiled regex exceeds size limit of 104857600'],
    ];
    for (const [pattern, reason] of REASONS) {
      it(`I7 B10.27 ${JSON.stringify(pattern)} is told as it was written`, async () => {
        assert.deepEqual(await refusal('grep', { pattern }), { code: 'SEARCH_INVALID_PATTERN', message: `grep pattern rejected by ripgrep: ${reason}` });
      });
    }

    it('I7 of a long pattern the part around the error is told', async () => {
      const { message } = await refusal('grep', { pattern: `${'a'.repeat(4_000)}[z-y]${'b'.repeat(4_000)}` });
      assert.equal(message, `grep pattern rejected by ripgrep: regex parse error:\n    …${'a'.repeat(59)}[z-y]${'b'.repeat(59)}…\n    ${' '.repeat(61)}^^^\nerror: invalid character class range, the start must be <= the end`);
    });

    it('I7 what ripgrep says of files is no word on the pattern', () => {
      assert.equal(patternComplaint('rg: x/regex parse error: Permission denied (os error 13)\n', 'x'), undefined);
      assert.equal(patternComplaint('rg: error building NFA\n', '*'), 'error building NFA');
    });
  });
});
