import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeRipgrep, ripgrepPlaces } from '../../src/headless/ripgrep.ts';
import * as search from '../../src/tools/search/plugin.ts';
import type { SpillText } from '../../src/seams/spill.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { TestAgent, ToolRoom } from '../harness/tool-room.ts';

describe('search.tools', () => {
  let room: ToolRoom;
  let agent: TestAgent;

  beforeEach(async () => {
    room = await toolRoom();
    await room.ctx.plugin(NodeRipgrep, {});
    await room.ctx.plugin(search, { sampleOverCapGlobResults: false });
    agent = room.agent();
  });
  afterEach(() => room.dispose());

  function put(file: string, content: string | Buffer): string {
    const target = path.join(room.dir, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, content);
    return target;
  }
  const call = (name: string, args: unknown, options = {}) => room.call(name, args, { agent, ...options });
  function storeSpills(): SpillText[] {
    const saved: SpillText[] = [];
    room.ctx.provide('spillStore', {
      saveText: async (text) => {
        saved.push(text);
        return { locator: `/spill/${text.suggestedName}`, retrievalHint: 'Read it.' };
      },
      directory: async () => room.dir,
    });
    return saved;
  }

  describe('grep', () => {
    it('B10.25 matches come by file with line numbers', async () => {
      put('a.txt', 'one TODO\ntwo\nthree TODO\n');
      put('s p/b.txt', 'TODO\r\n');
      const result = await call('grep', { pattern: 'TODO', path: '.' });
      assert.ok(!result.isError);
      const text = textOf(result);
      assert.match(text, /^Found 3 matches\n\n/);
      assert.ok(text.includes('a.txt\nLine 1: one TODO\nLine 3: three TODO'));
      assert.ok(text.includes('s p/b.txt\nLine 1: TODO'));
      assert.deepEqual((result.meta as { total: number; truncated: boolean }).total, 3);
    });

    it('B10.25 one match is "1 match", none is said', async () => {
      put('a.txt', 'x\n');
      assert.equal(textOf(await call('grep', { pattern: 'x' })), 'Found 1 match\n\na.txt\nLine 1: x');
      const none = await call('grep', { pattern: 'y' });
      assert.equal(textOf(none), 'No matches found');
      assert.deepEqual(none.meta, { shape: 'matches', files: [], truncated: false, total: 0 });
    });

    it('I3 a capped result says how many there are, and where all of it is', async () => {
      put('big.txt', 'hit\n'.repeat(10_000));
      const bare = textOf(await call('grep', { pattern: 'hit' }));
      assert.match(bare, /^Found 250 of 10000 matches\n/);
      assert.match(bare, /\n\n\(The complete result could not be saved; narrow pattern, path, or include to see more\.\)$/);
      const saved = storeSpills();
      const result = await call('grep', { pattern: 'hit' });
      assert.match(textOf(result), /\n\n\(Full grep result stored at: \/spill\/grep\.txt\. Read it\.\)$/);
      assert.equal(saved[0]!.content.match(/Line \d+: hit/g)!.length, 10_000);
      assert.deepEqual(saved[0]!.owner, { sessionId: 'session-agent-1' });
      assert.ok(!result.isError && (result.value as { matches: unknown[] }).matches.length === 10_000);
      const meta = result.meta as { files: { matches: unknown[] }[]; truncated: boolean; total: number };
      assert.deepEqual([meta.files[0]!.matches.length, meta.truncated, meta.total], [250, true, 10_000]);
    });

    it('B10.28 nested calls and replaced results spill nothing', async () => {
      put('big.txt', 'hit\n'.repeat(300));
      const saved = storeSpills();
      await call('grep', { pattern: 'hit' }, { parent: Symbol('outer') });
      room.ctx.on('tools/post-execute', async () => ({ kind: 'accept', content: [{ type: 'text', text: 'mine' }] }));
      assert.equal(textOf(await call('grep', { pattern: 'hit' })), 'mine');
      assert.deepEqual(saved, []);
    });

    it('B10.28 card data keeps one file at least and the total', async () => {
      await agent.ctx.plugin(search, { sampleOverCapGlobResults: false, searchMetaMaxBytes: 50 });
      put('a.txt', 'hit '.repeat(30));
      put('b.txt', 'hit');
      const meta = (await call('grep', { pattern: 'hit' })).meta as { files: unknown[]; truncated: boolean; total: number };
      assert.deepEqual([meta.files.length, meta.truncated, meta.total], [1, true, 2]);
    });

    it('I5 a 2 MB line is cut, with a way to see the rest', async () => {
      put('min.js', `${'é'.repeat(1_000_000)}needle\n`);
      const result = await call('grep', { pattern: 'needle' });
      const text = textOf(result);
      assert.ok(text.length < 3_000);
      assert.match(text, /é \(line truncated\)\n\n\(Lines are cut after 2000 bytes\. To see/);
      assert.ok(!text.includes('\ufffd'));
      assert.ok(JSON.stringify(result.meta).length < 5_000);
    });

    it('I7 a pattern may start with a dash', async () => {
      put('a.txt', 'sed -n 3p\n');
      assert.match(textOf(await call('grep', { pattern: '-n' })), /Line 1: sed -n 3p/);
    });

    for (const pattern of ['(', 'a\nb', '[z-a]']) {
      it(`I7 ${JSON.stringify(pattern)} is refused with ripgrep's reason`, async () => {
        const result = await call('grep', { pattern });
        assert.ok(result.isError);
        assert.equal(result.error.info?.code, 'SEARCH_INVALID_PATTERN');
        assert.match(result.error.message, /^grep pattern rejected by ripgrep: /);
      });
    }

    it('B10.24 include is one positive glob', async () => {
      put('a.ts', 'x\n');
      put('a.js', 'x\n');
      put('a.md', 'x\n');
      const text = textOf(await call('grep', { pattern: 'x', include: '*.{ts,js}' }));
      assert.match(text, /^Found 2 matches/);
      assert.ok(!text.includes('a.md'));
      for (const include of ['!*.ts', '*.ts,*.js']) assert.equal((await call('grep', { pattern: 'x', include })).isError, true);
      assert.equal((await call('grep', { pattern: '' })).isError, true);
    });

    it('B10.25 a line in another encoding is not guessed at', async () => {
      put('l1.txt', Buffer.from([0x78, 0xe9, 0x0a]));
      assert.match(textOf(await call('grep', { pattern: 'x' })), /Line 1: \(line is not valid UTF-8\)/);
    });

    it('B10.24 ignore files are respected', async () => {
      mkdirSync(path.join(room.dir, '.git'));
      put('.gitignore', 'out/\n');
      put('out/a.txt', 'x');
      assert.equal(textOf(await call('grep', { pattern: 'x' })), 'No matches found');
    });

    describe('L1 files that may hold keys', () => {
      const NOTE = '(Not searched, because they may hold keys: certs/server.pem. To search one, name it in path.)';
      beforeEach(() => {
        put('a.txt', 'hunter\n');
        put('certs/server.pem', 'hunter\n');
      });

      it('are left out, and a result with nothing says which, whatever is searched for', async () => {
        const found = await call('grep', { pattern: 'hunter' });
        assert.equal(textOf(found), 'Found 1 match\n\na.txt\nLine 1: hunter');
        assert.ok(!found.isError);
        assert.deepEqual(found.value, { matches: [{ path: 'a.txt', lineNumber: 1, line: 'hunter' }] });
        assert.equal((found.meta as { total: number }).total, 1);
        assert.ok(!JSON.stringify(found).includes('server.pem'));
        const none = await call('grep', { pattern: 'nowhere' });
        assert.deepEqual(none.isError ? undefined : none.value, { matches: [], leftOut: ['certs/server.pem'] });
        // what is said must not tell what is in them
        assert.equal(textOf(await call('grep', { pattern: 'nowhere' })), `No matches found\n\n${NOTE}`);
        assert.equal(textOf(await call('grep', { pattern: 'hunter', path: 'certs' })), `No matches found\n\n${NOTE}`);
      });

      it('are searched when one is named', async () => {
        for (const args of [{ path: 'certs/server.pem' }, { include: '*.pem' }, { include: '*.{pem,txt}' }]) {
          assert.match(textOf(await call('grep', { pattern: 'hunter', ...args })), /certs\/server\.pem\nLine 1: hunter$/);
        }
        put('.kube/config', 'hunter\n');
        assert.match(textOf(await call('grep', { pattern: 'hunter', path: '.kube' })), /^Found 1 match\n\n\.kube\/config/);
      });

      it('are left out of what an include takes in without meaning them', async () => {
        for (const include of ['server*', 'certs/**', '**/s*']) {
          assert.equal(textOf(await call('grep', { pattern: 'hunter', include })), `No matches found\n\n${NOTE}`, include);
        }
        assert.equal(textOf(await call('grep', { pattern: 'hunter', include: '*.txt' })), 'Found 1 match\n\na.txt\nLine 1: hunter');
      });

      it('are not told where nothing would have read them: hidden, ignored, elsewhere; templates are searched', async () => {
        mkdirSync(path.join(room.dir, '.git'));
        put('.gitignore', 'certs\n*.key\n');
        put('.env', 'hunter\n');
        put('x.key', 'hunter\n');
        put('.env.example', 'hunter\n');
        assert.equal(textOf(await call('grep', { pattern: 'hunter' })), 'Found 1 match\n\na.txt\nLine 1: hunter');
        assert.match(textOf(await call('grep', { pattern: 'hunter', include: '*.example' })), /^Found 1 match\n\n\.env\.example/);
        // an ignore file may bring hidden ones back
        put('.ignore', '!.env\n!.npmrc\n');
        assert.match(textOf(await call('grep', { pattern: 'nowhere' })), /^No matches found\n\n\(Not searched, because they may hold keys: \.env\. /);
      });

      it('are told by the first few names; nothing of them is stored', async () => {
        for (let i = 0; i < 8; i++) put(`k${i}.KEY`, 'hunter\n');
        put('big.txt', 'hunter\n'.repeat(300));
        const note = /\n\n\(Not searched, because they may hold keys: certs\/server\.pem, k0\.KEY, k1\.KEY, k2\.KEY, k3\.KEY and 4 more\. To search one, name it in path\.\)$/;
        assert.match(textOf(await call('grep', { pattern: 'nowhere' })), note);
        const saved = storeSpills();
        assert.match(textOf(await call('grep', { pattern: 'hunter' })), /^Found 250 of 301 matches/);
        assert.ok(!saved[0]!.content.includes('KEY'));
      });
    });

    it('B10.27 a path that is not there fails, one outside is shown absolute', async () => {
      const gone = await call('grep', { pattern: 'x', path: 'nope' });
      assert.ok(gone.isError && gone.error.info?.code === 'SEARCH_FAILED');
      const other = await toolRoom();
      writeFileSync(path.join(other.dir, 'o.txt'), 'x\n');
      assert.ok(textOf(await call('grep', { pattern: 'x', path: other.dir })).includes(`${path.join(other.dir, 'o.txt')}\nLine 1: x`));
      await other.dispose();
    });

    it('a broken link beside the files costs nothing', async () => {
      put('a.txt', 'x\n');
      symlinkSync('/nowhere/at/all', path.join(room.dir, 'link'));
      mkdirSync(path.join(room.dir, 'locked'));
      chmodSync(path.join(room.dir, 'locked'), 0);
      assert.match(textOf(await call('grep', { pattern: 'x', path: '.' })), /^Found 1 match/);
      assert.equal(textOf(await call('grep', { pattern: 'zzz', path: 'a.txt' })), 'No matches found');
    });

    it('B10.27 an endless result ends with an error', async () => {
      put('big.txt', `${'x'.repeat(200)}\n`.repeat(100_000));
      const result = await call('grep', { pattern: '^x+$' });
      assert.ok(result.isError);
      assert.equal(result.error.info?.code, 'SEARCH_RAW_OUTPUT_OVERFLOW');
    });

    it('I9 a stop ends ripgrep before it is reported', async () => {
      const stop = new AbortController();
      const fifo = path.join(room.dir, 'never');
      (await import('node:child_process')).execFileSync('mkfifo', [fifo]);
      const pending = call('grep', { pattern: `x${process.pid}`, path: 'never' }, { signal: stop.signal });
      const running = () => readdirSync('/proc').some((pid) => {
        try {
          return /^\d+$/.test(pid) && Number(pid) !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`--regexp=x${process.pid}`);
        } catch {
          return false;
        }
      });
      while (!running()) await sleep(5);
      stop.abort();
      const result = await pending;
      assert.ok(result.isError);
      assert.equal(result.error.info?.code, 'SEARCH_ABORTED');
      assert.equal(running(), false);
    });

    it('B10.28 cards: a search call, its matches, nothing for an error', async () => {
      put('a.txt', 'x\n');
      const grep = room.ctx.get('tools')!.get('grep')!;
      const args = { pattern: 'x', path: 'src', include: '*.ts' };
      assert.deepEqual(grep.presentCall!(args), { card: 'generic', kind: 'search', rawInput: 'x', title: 'Grep x in src (*.ts)' });
      const result = await call('grep', { pattern: 'x' });
      assert.deepEqual(grep.presentResult!(args, { content: result.content, isError: false, meta: result.meta! }), {
        card: 'search', shape: 'matches', files: [{ path: 'a.txt', matches: [{ lineNumber: 1, line: 'x' }] }], truncated: false, total: 1,
      });
      assert.equal(grep.presentResult!(args, { content: [], isError: true }), undefined);
      assert.equal(grep.presentResult!(args, { content: [], isError: false, meta: { shape: 'matches', files: [{}], truncated: false, total: 1 } }), undefined);
    });
  });

  describe('glob', () => {
    it('I1 hidden folders are found, ignored files too, version control is not', async () => {
      put('.github/workflows/ci.yml', '');
      put('.gitignore', '*.yml\n');
      put('.git/x.yml', '');
      put('sub/.hg/y.yml', '');
      assert.equal(textOf(await call('glob', { pattern: '.github/workflows/*.yml' })), '.github/workflows/ci.yml');
      assert.equal(textOf(await call('glob', { pattern: '*.yml' })), '.github/workflows/ci.yml');
      assert.equal(textOf(await call('glob', { pattern: '*.none' })), 'No files found');
    });

    it('B10.26 the oldest comes first, whatever the name', async () => {
      for (const [file, time] of [['a.c', 3], ['b.c', 1], ['d/c.c', 2]] as const) utimesSync(put(file, ''), time, time);
      assert.equal(textOf(await call('glob', { pattern: '*.c' })), 'b.c\nd/c.c\na.c');
    });

    it('B10.26 a pattern is read from the directory given', async () => {
      put('d/e/f.c', '');
      const result = await call('glob', { pattern: 'e/*.c', path: 'd' });
      assert.ok(!result.isError);
      assert.deepEqual(result.value, { root: path.join(room.dir, 'd'), paths: ['d/e/f.c'] });
      assert.equal(textOf(await call('glob', { pattern: `${room.dir}/d/**/*.c` })), 'd/e/f.c');
      const file = await call('glob', { pattern: '*', path: 'd/e/f.c' });
      assert.ok(file.isError && file.error.info?.code === 'SEARCH_FAILED');
    });

    it('B10.26 more than a hundred: the first hundred, the total, the place of all', async () => {
      for (let i = 0; i < 150; i++) put(`f${String(i).padStart(3, '0')}.c`, '');
      const bare = textOf(await call('glob', { pattern: '*.c' }));
      assert.match(bare, /\n\n\(Showing 100 of 150 paths\. The complete result could not be saved/);
      const saved = storeSpills();
      const result = await call('glob', { pattern: '*.c' });
      assert.match(textOf(result), /\n\n\(Showing 100 of 150 paths\. Full sorted result stored at: \/spill\/glob\.txt\. Read it\.\)$/);
      assert.equal(saved[0]!.content.trim().split('\n').length, 150);
      assert.deepEqual([(result.meta as { total: number }).total, (result.meta as { truncated: boolean }).truncated], [150, true]);
    });

    it('B10.26 a sample takes from every top-level entry', async () => {
      await agent.ctx.plugin(search, { sampleOverCapGlobResults: true });
      for (let i = 0; i < 150; i++) put(`many/f${i}.c`, '');
      put('few/one.c', '');
      const text = textOf(await call('glob', { pattern: '*.c' }));
      assert.ok(text.includes('few/one.c'));
      assert.match(text, /Showing 100 of 151/);
    });

    it('I7 a broken glob is refused with the reason, ! is a letter', async () => {
      const result = await call('glob', { pattern: '{a' });
      assert.ok(result.isError && result.error.info?.code === 'SEARCH_INVALID_PATTERN');
      put('!x', '');
      put('y', '');
      assert.equal(textOf(await call('glob', { pattern: '!x' })), '!x');
      assert.equal((await call('glob', { pattern: ' ' })).isError, true);
    });
  });

  describe('ripgrep', () => {
    it('I7 every layout of an editor is looked at', () => {
      const places = ripgrepPlaces({ appRoot: '/app', env: { PATH: '/bin:rel', DSH_RIPGREP: '/mine/rg' }, platform: 'linux', arch: 'x64', packagesFrom: false });
      assert.deepEqual(places, [
        '/mine/rg',
        '/app/node_modules/@vscode/ripgrep/bin/rg',
        '/app/node_modules/@vscode/ripgrep-universal/bin/linux-x64/rg',
        '/app/node_modules/@vscode/ripgrep-linux-x64/bin/rg',
        '/app/node_modules/vscode-ripgrep/bin/rg',
        '/app/node_modules.asar.unpacked/@vscode/ripgrep/bin/rg',
        '/app/node_modules.asar.unpacked/@vscode/ripgrep-universal/bin/linux-x64/rg',
        '/app/node_modules.asar.unpacked/@vscode/ripgrep-linux-x64/bin/rg',
        '/app/node_modules.asar.unpacked/vscode-ripgrep/bin/rg',
        '/bin/rg',
      ]);
    });

    it('I7 each layout is used when the binary is there', async () => {
      for (const layout of ['node_modules/@vscode/ripgrep/bin/rg', `node_modules/@vscode/ripgrep-universal/bin/${process.platform}-${process.arch}/rg`, 'node_modules.asar.unpacked/@vscode/ripgrep/bin/rg']) {
        const other = await toolRoom();
        const binary = path.join(other.dir, layout);
        mkdirSync(path.dirname(binary), { recursive: true });
        writeFileSync(binary, '#!/bin/sh\n', { mode: 0o755 });
        await other.ctx.plugin(NodeRipgrep, { appRoot: other.dir, env: {}, packagesFrom: false });
        assert.equal(await other.ctx.get('ripgrep')!.locate(), binary);
        await other.dispose();
      }
    });

    it('I7 no binary anywhere: the error lists the places', async () => {
      const other = await toolRoom();
      await other.ctx.plugin(NodeRipgrep, { appRoot: '/nowhere', env: { PATH: '/none' }, packagesFrom: false });
      await assert.rejects(other.ctx.get('ripgrep')!.locate(), (error: Error) => /no ripgrep/.test(error.message) && error.message.includes('\n- /none/rg') && error.message.includes('/nowhere/node_modules/@vscode/ripgrep/bin/rg'));
      await other.dispose();
    });
  });
});
