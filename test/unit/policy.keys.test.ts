import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Agent } from '../../src/contract/agent.ts';
import type { AskReason } from '../../src/contract/ask-reason.ts';
import { startHeadless } from '../../src/headless/compose.ts';
import { indexedNames } from '../../src/policy/git-repository.ts';
import type { Runtime } from '../../src/runtime.ts';

/** The empty tree, which every repository knows without having it. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

describe('L1 keys that a command shows without naming them', function () {
  this.timeout(60_000);
  let base: string;
  let ws: string;
  let runtime: Runtime;
  let agent: Agent;
  let asked: (AskReason | undefined)[];
  let calls = 0;

  beforeEach(async () => {
    base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dsh-keys-')));
    ws = path.join(base, 'ws');
    put('src/a.ts', 'hunter\n');
    put('b.txt', 'hunter\n');
    runtime = await startHeadless({ workspace: ws, permissions: { defaultPreset: () => 'ask' } });
    asked = [];
    runtime.ctx.on('approval/request', async (request) => {
      asked.push(request.why);
      return 'rejected';
    });
    ({ agent } = await runtime.ctx.agents.create({ meta: { cwd: ws } }));
    agent.session.append('turn/start', { turn: 1 });
  });
  afterEach(async () => {
    await runtime.dispose();
    rmSync(base, { recursive: true, force: true });
  });

  function put(name: string, content: string): void {
    const file = path.join(ws, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const git = (...args: string[]): void => void execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@example.org', '-c', 'core.hooksPath=/dev/null', ...args], {
    cwd: ws, stdio: 'pipe', env: { PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: '1' },
  });
  async function reasonFor(command: string, workdir?: string): Promise<AskReason | undefined> {
    asked.length = 0;
    await runtime.ctx.tools.execute({
      callId: `c${calls += 1}`, name: 'bash', arguments: { command, description: 'x', ...(workdir === undefined ? {} : { workdir }) }, agent, signal: new AbortController().signal,
    });
    assert.ok(asked.length < 2);
    return asked[0];
  }
  async function free(...commands: string[]): Promise<void> {
    for (const command of commands) assert.equal(await reasonFor(command), undefined, command);
  }
  async function asks(why: AskReason, ...commands: string[]): Promise<void> {
    for (const command of commands) assert.deepEqual(await reasonFor(command), why, command);
  }

  describe('rg', () => {
    const found = (given: string): AskReason => ({ code: 'command-searches-keys', given });

    it('asks where the folders it goes through hold some', async () => {
      await free('rg hunter', 'rg -n hunter src');
      put('certs/server.pem', 'hunter\n');
      await asks(found('certs/server.pem'), 'rg hunter', 'rg -l hunter', 'rg -c -e hunter', 'rg -A 3 hunter', 'ls && rg hunter', 'rg hunter certs', 'rg hunter src certs', 'rg -ne hunter certs');
      await asks(found('./certs/server.pem'), 'rg hunter .', 'rg hunter -m 1 .');
      await free('rg hunter src', 'rg -A3 hunter src b.txt', 'rg --files', 'ls certs | rg pem', 'cat b.txt |\n rg -n hunter', 'echo x | rg x -');
      await asks({ code: 'command-secret-file', given: 'certs/server.pem' }, 'rg hunter certs/server.pem');
    });

    it('asks for hidden ones too when an ignore file brings them back', async () => {
      put('.env', 'KEY=hunter\n');
      put('.aws/credentials', 'hunter\n');
      await free('rg hunter');
      put('.ignore', '!.env\n');
      await asks(found('.env'), 'rg hunter');
      put('.ignore', '!.aws\n');
      await asks(found('.aws/credentials'), 'rg hunter');
    });

    it('does not ask for what it passes over', async () => {
      mkdirSync(path.join(ws, '.git'));
      put('.gitignore', '*.pem\n/private\n');
      put('server.pem', 'x');
      put('private/server.key', 'x');
      await free('rg hunter');
      await asks(found('private/server.key'), 'rg hunter private');
    });
  });

  describe('git', () => {
    const tracked = (given: string): AskReason => ({ code: 'command-tracked-keys', given });

    it('asks before it compares folders, as it does where there is no repository', async () => {
      put('d/.env', 'KEY=1\n');
      mkdirSync(path.join(ws, 'empty'));
      await asks({ code: 'command-compares-folder', given: 'empty' }, 'git diff empty d', 'git diff -- empty d', 'git --no-pager diff -p empty d');
      await asks({ code: 'command-compares-folder', given: 'd' }, 'git diff b.txt d');
      await free('git diff b.txt src/a.ts', 'git diff', 'git diff d', 'git status');
    });

    it('asks before it shows all changes of a repository that keeps some', async () => {
      put('.env', 'KEY=1\n');
      git('init', '-q');
      git('add', '-f', '.');
      git('commit', '-qm', 'one');
      await asks(
        tracked('.env'), `git diff HEAD~0 ${EMPTY_TREE}`, `git diff ${EMPTY_TREE}`, 'git diff', 'git diff HEAD', 'git diff --cached', 'git show', 'git show HEAD', 'git log -p', 'git log --oneline -p -n 3',
        'git diff --stat -p', 'git log -L1,2:b.txt', 'git log -SKEY', 'git diff -- .', "git diff HEAD -- ':(top)'", "git diff -- '*'", 'git diff HEAD:src HEAD:', 'git diff HEAD --',
      );
      await free('git status', 'git log --oneline', 'git diff --stat', 'git show --name-only HEAD', 'git diff -- src', 'git diff HEAD -- b.txt', 'git diff src', 'git show HEAD:b.txt', 'git show HEAD:src', 'git blame b.txt', 'git log -p -- src');
      assert.deepEqual(await reasonFor('git diff', 'src'), tracked('.env'), 'from a folder in it');
      await asks({ code: 'command-secret-file', given: '.env' }, 'git diff -- .env', 'git log -p .env');
      await asks({ code: 'command-secret-file', given: 'HEAD:.env' }, 'git show HEAD:.env');
      git('rm', '-q', '--cached', '.env');
      await free('git diff', 'git diff HEAD', 'git show');
    });

    it('finds them in a linked work tree', async () => {
      put('server.key', 'KEY\n');
      git('init', '-q');
      git('add', '.');
      git('commit', '-qm', 'one');
      git('worktree', 'add', '-q', 'tree');
      assert.deepEqual(await reasonFor('git diff', 'tree'), tracked('server.key'));
    });

    it('reads every form of index it says it reads, and no other', () => {
      const names = Array.from({ length: 40 }, (_, i) => `dir${i % 7}/${'x'.repeat(i * 3)}${i}.ts`).concat('.env', 'ünï/cödé', `${'long/'.repeat(900)}end`).sort();
      const root = ws;
      for (const format of ['sha1', 'sha256']) {
        ws = path.join(root, format);
        mkdirSync(ws);
        git('init', '-q', `--object-format=${format}`);
        const index = (): string[] | undefined => indexedNames(readFileSync(path.join(ws, '.git/index')));
        const empty = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: ws, input: '' }).toString().trim();
        execFileSync('git', ['update-index', '--index-info'], { cwd: ws, input: names.map((name) => `100644 ${empty}\t${name}\n`).join('') });
        assert.deepEqual(index()?.sort(), names, `${format} 2`);
        put('later', '');
        git('add', '-N', 'later');
        assert.equal(readFileSync(path.join(ws, '.git/index')).readUInt32BE(4), 3);
        assert.deepEqual(index()?.sort(), [...names, 'later'].sort(), `${format} 3`);
        git('update-index', '--index-version', '4');
        assert.deepEqual(index()?.sort(), [...names, 'later'].sort(), `${format} 4`);
        git('update-index', '--split-index');
        assert.equal(index(), undefined, `${format} split`);
      }
      assert.equal(indexedNames(Buffer.from('DIRC')), undefined);
      assert.equal(indexedNames(Buffer.alloc(0)), undefined);
    });

    it('asks when it can\'t be told', async () => {
      git('init', '-q');
      git('add', '.');
      git('update-index', '--split-index');
      await asks({ code: 'command-uncertain', doubt: { code: 'not-analysed' } }, 'git diff');
      await free('git status');
    });
  });

  it('a link is gone through before the way up, for what is compared too', async () => {
    put('other/deep/x', '');
    put('other/d/.env', 'KEY');
    symlinkSync('../other/deep', path.join(ws, 'src/link'));
    await asks({ code: 'command-compares-folder', given: 'src/link/../d' }, 'diff src/link/../d src');
  });
});
