import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { SessionEvent } from '../../src/contract/event.ts';
import { drive } from '../../src/headless/drive.ts';
import type { ToolItem } from '../../src/protocol.ts';

interface Outcome { readonly code: number; readonly out: string; readonly err: string; readonly events: SessionEvent[] }

describe('drive', function () {
  this.timeout(60_000);
  let base: string;
  let ws: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'dsh-drive-')));
    ws = path.join(base, 'ws');
    await mkdir(ws);
    await writeFile(path.join(ws, 'a.txt'), 'one\r\ntwo\r\n');
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  /** Answers of the person at the terminal; none: there is no terminal. */
  async function run(argv: string[], answers?: string[], seen?: (text: string) => void, signal?: AbortSignal, ask?: () => Promise<string | undefined>): Promise<Outcome> {
    let out = '';
    let err = '';
    const code = await drive(argv, {
      out: (text) => { out += text; seen?.(text); },
      err: (text) => { err += text; },
      cwd: base,
      ...(signal ? { signal } : {}),
      terminal: {
        interactive: answers !== undefined,
        note: (text) => { err += `${text}\n`; },
        question: async (text) => {
          err += text;
          return ask ? ask() : answers?.shift() ?? 'n';
        },
      },
    });
    const events = argv.includes('--json') ? out.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as SessionEvent) : [];
    return { code, out, err, events };
  }
  async function script(model: unknown[], user: string[] = ['go']): Promise<string> {
    const file = path.join(base, 'script.json');
    await writeFile(file, JSON.stringify({ user, model }));
    return file;
  }
  const call = (name: string, args: unknown): unknown => ({ toolCalls: [{ name, arguments: args }] });
  const results = (events: SessionEvent[]): { text: string; isError: boolean }[] => events.flatMap((event) => (event.type === 'tool/result'
    ? [{ text: event.data.message.content[0].content.map((block) => (block.type === 'text' ? block.text : '')).join(''), isError: event.data.message.content[0].isError === true }]
    : []));

  const EDIT = [
    call('read', { file_path: 'a.txt' }),
    call('edit', { file_path: 'a.txt', old_string: 'two', new_string: 'TWO' }),
    call('bash', { command: 'printf done > b.txt; exit 7', description: 'Write b' }),
    { text: 'Finished.' },
  ];

  it('edits a file and runs a command with the same tools and policy, as JSON lines', async () => {
    const { code, events, err } = await run(['--workspace', ws, '--script', await script(EDIT), '--approve', 'all', '--json']);
    assert.equal(code, 0, err);
    assert.equal(await readFile(path.join(ws, 'a.txt'), 'utf8'), 'one\r\nTWO\r\n', 'A1 byte for byte');
    assert.equal(await readFile(path.join(ws, 'b.txt'), 'utf8'), 'done');
    assert.deepEqual(events.map((event) => event.seq), events.map((_, i) => i), 'L11.1 contiguous');
    assert.deepEqual(results(events).map((result) => result.isError), [false, false, false]);
    assert.match(results(events)[2]!.text, /\[exit code: 7\]/);
    assert.ok(events.some((event) => event.type === 'approval/asked'), 'the command asked');
    const end = events.at(-1)!;
    assert.ok(end.type === 'turn/end' && end.data.reason.kind === 'completed');
  });

  it('--approve none: nothing is written and nothing runs, the model is told, the turn completes', async () => {
    const { code, events } = await run(['--workspace', ws, '--script', await script(EDIT), '--approve', 'none', '--json']);
    assert.equal(code, 0);
    assert.equal(await readFile(path.join(ws, 'a.txt'), 'utf8'), 'one\r\ntwo\r\n');
    assert.deepEqual(await readdir(ws), ['a.txt']);
    assert.deepEqual(results(events).map((result) => result.isError), [false, true, true]);
    assert.match(results(events)[2]!.text, /the user rejected tool "bash"/);
  });

  it('a change that was accepted but cannot be written ends its call instead of hanging the run', async () => {
    // somebody puts a file where the folder should go while the change waits
    const model = [{ toolCalls: [
      { name: 'write', arguments: { file_path: 'late/f.txt', content: 'x' } },
    ] }, { text: 'Over.' }];
    const file = await script(model);
    const { code, events, err } = await run(['--workspace', ws, '--script', file, '--approve', 'ask', '--json'], [], undefined, undefined, async () => {
      await writeFile(path.join(ws, 'late'), 'in the way');
      return 'y';
    });
    assert.equal(code, 0, err);
    assert.match(results(events)[0]!.text, /could not be written.*a parent of this path is a file/);
  });

  it('--replay says when a file holds no session', async () => {
    const log = path.join(base, 'junk.jsonl');
    await writeFile(log, 'hello\nworld\n');
    const { code, err } = await run(['--replay', log]);
    assert.equal(code, 2);
    assert.match(err, /"junk\.jsonl" holds no session that can be read/);
    assert.equal(await readFile(log, 'utf8'), 'hello\nworld\n');
  });

  it('stops quietly when nobody reads its output any more', async () => {
    const file = await script([call('bash', { command: 'sleep 1', description: 'Wait' }), ...Array.from({ length: 20 }, () => call('bash', { command: 'echo x', description: 'Say' })), { text: 'Over.' }]);
    const root = path.resolve(import.meta.dirname, '../..');
    const told = await new Promise<string>((resolve) => {
      const line = `"${process.execPath}" --import tsx src/headless/drive.ts --workspace "${ws}" --script "${file}" --approve all | true`;
      execFile('/bin/sh', ['-c', line], { cwd: root }, (_error, _out, err) => resolve(err));
    });
    assert.doesNotMatch(told, /EPIPE|Unhandled/);
  });

  it('--approve ask without a terminal denies with a note; with one it asks', async () => {
    const file = await script(EDIT);
    const blind = await run(['--workspace', ws, '--script', file]);
    assert.equal(blind.code, 0);
    assert.match(blind.err, /no terminal to ask on/);
    assert.deepEqual(await readdir(ws), ['a.txt']);
    const seen = await run(['--workspace', ws, '--script', file], ['y', 'n']);
    assert.match(seen.err, /-two\r?\n\+TWO/, 'the review shows the change');
    assert.match(seen.err, /Allow bash .*exit 7/);
    assert.equal(await readFile(path.join(ws, 'a.txt'), 'utf8'), 'one\r\nTWO\r\n');
    assert.deepEqual(await readdir(ws), ['a.txt']);
  });

  it('human-readable output tells what was said, done and how it ended', async () => {
    const { code, out } = await run(['--workspace', ws, '--script', await script(EDIT, ['Change two']), '--approve', 'all']);
    assert.equal(code, 0);
    assert.match(out, /^> Change two$/m);
    assert.match(out, /^\[edit\] .*completed$/m);
    assert.match(out, /exit code 7/);
    assert.match(out, /^Finished\.$/m);
  });

  it('--approve ask: an input that ends answers nothing; a stop at a question ends the run without noise', async () => {
    const file = await script([call('bash', { command: 'touch made', description: 'x' }), call('write', { file_path: 'n.txt', content: 'x' }), { text: 'Done.' }]);
    const argv = ['--workspace', ws, '--script', file];
    const ended = await run(argv, [], undefined, undefined, async () => undefined);
    assert.equal(ended.code, 0);
    assert.match(ended.out, /\[bash\] .*failed\n.*no approval channel is available/);
    assert.match(ended.out, /\[write\] .*stopped\n.*there is nobody to review it/);
    for (const answers of [[], ['n']]) {
      const stop = new AbortController();
      const stopped = await run(argv, [], undefined, stop.signal, async () => {
        const answer = answers.shift();
        if (answer === undefined) stop.abort();
        return answer;
      });
      assert.equal(stopped.code, 1);
      assert.match(stopped.out, /\(Stopped\.\)\n$/);
      assert.doesNotMatch(stopped.err, /decided already|failed|Abort/);
    }
    assert.deepEqual(await readdir(ws), ['a.txt']);
  });

  it('what is printed for people cannot repaint the terminal, nor turn what is asked around', async () => {
    await writeFile(path.join(ws, 'a.txt'), 'one\u001b[2Jtwo\u202ethree\u009b1m\u0007\r\nfour\ttab\n');
    const file = await script([call('read', { file_path: 'a.txt' }), call('bash', { command: 'touch \u202ex', description: 'x' }), { text: 'Done\u001b]0;title\u0007.' }]);
    const { out, err } = await run(['--workspace', ws, '--script', file], ['n']);
    assert.match(out, /1: one⟨U\+001B⟩\[2Jtwo⟨U\+202E⟩three⟨U\+009B⟩1m⟨U\+0007⟩\n {4}2: four\ttab\n/);
    assert.match(err, /Allow bash .*touch ⟨U\+202E⟩x/);
    assert.doesNotMatch(out + err, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  it('arguments that nest deeper than any stack are an error like another', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const file = await script([call('nope', deep), call('todo_write', `{"todos":${deep}}`), { text: 'Done.' }]);
    const { code, out, err } = await run(['--workspace', ws, '--script', file]);
    assert.equal(code, 0);
    assert.equal(err, '');
    assert.match(out, /\[nope\] nope — failed\n {4}unknown tool "nope"/);
    assert.match(out, /\[todo_write\] todo_write — failed\n {4}invalid arguments: /);
  });

  it('--session keeps the log and goes on with it; --replay shows its cards and changes nothing', async () => {
    const log = path.join(base, 'logs', 'talk.jsonl');
    const first = await run(['--workspace', ws, '--script', await script(EDIT), '--approve', 'all', '--session', log]);
    assert.equal(first.code, 0, first.err);
    const second = await run(['--workspace', ws, '--script', await script([{ text: 'Again.' }], ['more']), '--session', log, '--json']);
    assert.equal(second.code, 0, second.err);
    assert.ok(second.events[0]!.seq > 10, 'only what is new is printed');
    const before = await readFile(log, 'utf8');
    await rm(path.join(ws, 'b.txt'));
    const replayed = await run(['--replay', log, '--json']);
    assert.equal(replayed.code, 0, replayed.err);
    const cards = replayed.out.trim().split('\n').map((line) => JSON.parse(line) as ToolItem);
    assert.deepEqual(cards.map((card) => [card.name, card.view.card, card.status]), [['read', 'read', 'completed'], ['edit', 'diff', 'completed'], ['bash', 'terminal', 'completed']]);
    const terminal = cards[2]!.view;
    assert.ok(terminal.card === 'terminal' && terminal.exitCode === 7);
    assert.equal(await readFile(log, 'utf8'), before, 'the log is untouched');
    assert.deepEqual(await readdir(ws), ['a.txt'], 'nothing was executed');
    assert.match((await run(['--replay', log])).out, /\[bash\]/);
  });

  it('exit 1: a failing model, a script that ends too early, a cut stream', async () => {
    const failing = await run(['--workspace', ws, '--script', await script([{ error: { status: 401, message: 'no such key' } }])]);
    assert.equal(failing.code, 1);
    assert.match(failing.out, /no such key/);
    assert.equal((await run(['--workspace', ws, '--script', await script([call('read', { file_path: 'a.txt' })])])).code, 1);
    const cut = await run(['--workspace', ws, '--script', await script([{ text: 'abcdef', chunks: 1, cutAt: 2 }]), '--json']);
    assert.equal(cut.code, 1);
  });

  it('O15.6 a failure that may heal is tried again in the same step', async () => {
    const { code, events } = await run(['--workspace', ws, '--script', await script([{ error: { status: 503 } }, { text: 'Up again.' }]), '--json']);
    assert.equal(code, 0);
    assert.deepEqual(events.filter((event) => event.type === 'llm/retry').length, 1);
    assert.equal(events.filter((event) => event.type === 'step/start').length, 1);
  });

  it('O15.2 malformed arguments reach the tool as they are, and the model can go on', async () => {
    const { code, events } = await run(['--workspace', ws, '--script', await script([call('read', '{"file_path"'), { text: 'Sorry.' }]), '--json']);
    assert.equal(code, 0);
    assert.match(results(events)[0]!.text, /invalid arguments/);
  });

  it('J1 a write through a link that leads outside asks, also in auto-edit', async () => {
    await symlink(base, path.join(ws, 'up'));
    const file = await script([call('write', { file_path: 'up/x.txt', content: 'x' }), { text: 'ok' }]);
    const { events } = await run(['--workspace', ws, '--script', file, '--approve', 'none', '--preset', 'auto-edit', '--json']);
    assert.equal(events.filter((event) => event.type === 'approval/asked').length, 1);
    assert.ok(!(await readdir(base)).includes('x.txt'));
  });

  it('a stop in mid-turn is recorded and nothing is left running', async () => {
    const stop = new AbortController();
    const file = await script([call('bash', { command: 'sleep 30', description: 'Wait' }), { text: 'never' }]);
    const { code, events } = await run(['--workspace', ws, '--script', file, '--approve', 'all', '--json'], undefined, (text) => {
      if (text.includes('"tool/call"')) setTimeout(() => stop.abort(), 200);
    }, stop.signal);
    assert.equal(code, 1);
    const end = events.findLast((event) => event.type === 'turn/end');
    assert.ok(end?.type === 'turn/end' && end.data.reason.kind === 'aborted');
  });

  const wrong: [string, string[], RegExp][] = [
    ['no workspace', ['--script', 'x'], /--workspace DIR is missing/],
    ['no script', ['--workspace', '.'], /--script FILE is missing/],
    ['a workspace that is no directory', ['--workspace', 'script.json', '--script', 'script.json'], /is not a directory/],
    ['an unknown mode', ['--workspace', '.', '--script', 'x', '--approve', 'maybe'], /--approve must be all, none or ask, not "maybe"/],
    ['an unknown option', ['--nope'], /--nope/],
    ['a session that is no log', ['--workspace', '.', '--script', 'x', '--session', 'x.txt'], /must name a \.jsonl file/],
    ['a missing script', ['--workspace', '.', '--script', 'none.json'], /none\.json: the script can't be read \(ENOENT\)/],
    ['a replay of nothing', ['--replay', 'none.jsonl'], /"none\.jsonl" was not found/],
    ['replay with more', ['--replay', 'x.jsonl', '--workspace', '.'], /not with --workspace/],
  ];
  for (const [name, argv, message] of wrong) {
    it(`exit 2 and one line: ${name}`, async () => {
      await script([]);
      const { code, out, err } = await run(argv);
      assert.equal(code, 2, err);
      assert.match(err, message);
      assert.equal(err.trim().split('\n').length, 1);
      assert.equal(out, '');
    });
  }

  it('exit 2 and one line, before anything is played: a session that can\'t be kept, or belongs elsewhere', async () => {
    const file = await script([call('bash', { command: 'touch played', description: 'x' }), { text: 'Done.' }]);
    await writeFile(path.join(base, 'file'), 'x');
    await writeFile(path.join(base, 'noise.jsonl'), 'noise\n');
    await mkdir(path.join(base, 'folder.jsonl'));
    const elsewhere = path.join(base, 'elsewhere');
    await mkdir(elsewhere);
    const argv = ['--script', file, '--approve', 'all', '--session'];
    assert.equal((await run(['--workspace', elsewhere, ...argv, 'other.jsonl'])).code, 0);
    const bad: [session: string, message: RegExp][] = [
      ['file/s.jsonl', /can't be written to ".*": a parent of this path is a file/], ['folder.jsonl', /it is a directory/], [`${'n'.repeat(300)}.jsonl`, /the path is too long/],
      ['noise.jsonl', /does not say which folder it works in/], ['other.jsonl', /works in ".*elsewhere": give that as --workspace/],
      // where Node's own way of making folders never ends
      ...(process.platform === 'linux' ? [['/proc/nowhere/s.jsonl', /can't be written to/] as [string, RegExp]] : []),
    ];
    for (const [session, message] of bad) {
      const { code, out, err } = await run(['--workspace', ws, ...argv, session]);
      assert.equal(code, 2, `${session}: ${err}`);
      assert.match(err, message);
      assert.equal(err.trim().split('\n').length, 1);
      assert.equal(out, '');
    }
    assert.deepEqual((await readdir(ws)).sort(), ['a.txt']);
    assert.equal(await readFile(path.join(base, 'noise.jsonl'), 'utf8'), 'noise\n', 'what is no log stays as it is');
    // nothing is in it: it may become one
    await writeFile(path.join(base, 'empty.jsonl'), '');
    assert.equal((await run(['--workspace', ws, ...argv, 'empty.jsonl'])).code, 0);
  });

  it('a log that can\'t be written ends the run before a tool runs: another run keeps the same one', async () => {
    const file = await script([call('bash', { command: 'touch played', description: 'x' }), { text: 'Done.' }]);
    await writeFile(path.join(base, 's.jsonl.lock'), JSON.stringify({ pid: process.pid, host: os.hostname() }));
    const { code, err } = await run(['--workspace', ws, '--script', file, '--approve', 'all', '--session', 's.jsonl']);
    assert.equal(code, 1);
    assert.match(err, /^drive: the session's log can't be written: session "s" is open in another window/);
    assert.equal(err.trim().split('\n').length, 1);
    assert.deepEqual(await readdir(ws), ['a.txt']);
  });

  it('exit 2 and one line that names the place: a broken script', async () => {
    await writeFile(path.join(base, 'bad.json'), '{\n  "user": ["a"],\n  "model": [ { "txt": "x" } ]\n}');
    const { code, err } = await run(['--workspace', ws, '--script', 'bad.json']);
    assert.equal(code, 2);
    assert.match(err, /^drive: bad\.json: model\[0\]: unknown key "txt"/);
  });

  it('as a program: npm run drive ends by itself with the code', async () => {
    const file = await script(EDIT);
    const root = path.resolve(import.meta.dirname, '../..');
    const code = await new Promise<number>((resolve) => {
      execFile(process.execPath, ['--import', 'tsx', 'src/headless/drive.ts', '--workspace', ws, '--script', file, '--approve', 'all', '--json'], { cwd: root }, (error, stdout) => {
        assert.ok(stdout.trim().split('\n').every((line) => typeof JSON.parse(line) === 'object'));
        resolve(error ? Number(error.code) : 0);
      });
    });
    assert.equal(code, 0);
    assert.equal(await readFile(path.join(ws, 'b.txt'), 'utf8'), 'done');
  });
});
