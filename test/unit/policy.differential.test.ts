import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { installedGrammar } from '../../src/headless/grammars.ts';
import { analyzeCommand, type CommandAnalysis } from '../../src/policy/command.ts';
import { createBashParser } from '../../src/policy/grammar-entry.ts';

/** Generated commands; about one in ten is judged harmless and runs. */
const RUNS = Number(process.env['SHELL_RUNS'] ?? 2_500);

const BASH = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());

/** What leaves a trace when it runs. */
const MARKERS = ['touch pwned', '>pwned', 'ls', '$(touch pwned)', '`touch pwned`', 'a[$(touch pwned)]'];
const PROGRAMS = ['echo', 'true', 'ls', 'printf', 'uniq', 'cat', 'sort', 'head', 'git', 'wc', 'find', 'python3', 'rg', 'npm'];
const SPACES = [' ', ' ', ' ', '\t', '\n', '\v', '\f', '\r', '\\ ', '\\\n', '\\\t', '\u00a0', '\u0085', '\u2003', '\u3000', '\ufeff'];
const OPERATORS = [';', '&&', '||', '|', '\n', '&', '|&', '>', '>>', '<', '<<', '<<<', '<>', '>|', '>&1', '2>&1', '&>', '2>/dev/null', '(', ')', '{', '}', '((', '[[', ';;'];
const WORDS = [
  'a', 'b', 'a.txt', '-', '-n', '-v', '-c', '--', '-o', '.', '..', '1', '2', '*', '?', '[', ']', 'a*', '~', '=', 'x=1', '+=', '!', '^', '%n', '%s', 'abc%n', '-va', 'PATH', './bin', '#', '#x',
  '\'', '"', '\'a b\'', '"a b"', '""', '\'\'', '\'-va[$(touch pwned)]\'', '"%n"', '\\', '$', '$x', '`', 'é', '日本', '加', '\u200b', '\u0001', '\u007f', 'if', 'then', 'fi', 'time', 'coproc', 'function',
  'case', 'in', 'esac', 'do', 'done', 'EOF', '@', ',', ':', '%', '/dev/null', 'pwned',
];
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SPACES) }, { weight: 3, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.constantFrom(...OPERATORS) }, { weight: 2, arbitrary: fc.constantFrom(...MARKERS) }, { weight: 1, arbitrary: fc.constantFrom(...PROGRAMS) },
);
const soup = fc.tuple(fc.constantFrom(...PROGRAMS), fc.constantFrom(' ', ' ', ' ', ''), fc.array(piece, { minLength: 1, maxLength: 9 }))
  .map(([program, space, pieces]) => `${program}${space}${pieces.join('')}`);
/** Well formed, with words that make programs do more than look. */
const ARGUMENTS = [
  '-', 'a', 'b', 'link', 'x', 'pwned', '-n', '-v', '-V', '-c', '-o', '-opwned', '--output=pwned', '-f', '-i', '-exec', '-delete', '-fprint', '--pre=bin/ls', '-vPATH', './bin', 'PATH', '\'%n\'', '\'abc%n\'', '%s', '\'-va[$(touch pwned)]\'',
  '\'a[$(touch pwned)]\'', 'log', 'diff', 'status', '--ext-diff', '1', '.',
];
const simple = fc.tuple(fc.constantFrom(...PROGRAMS), fc.array(fc.constantFrom(...ARGUMENTS), { maxLength: 3 })).map(([program, args]) => [program, ...args].join(' '));
const tame = fc.tuple(fc.constantFrom('', '', 'cat a | ', 'echo x | '), simple, fc.constantFrom('', '', '; ls', ' | cat', ' && git status')).map((parts) => parts.join(''));
const command = fc.oneof({ weight: 7, arbitrary: soup }, { weight: 1, arbitrary: tame });
const locale = fc.constantFrom('C', 'C.UTF-8');
/** What once ran unasked. */
const KNOWN = [
  'echo a\\\n#; touch pwned', 'echo a\f#; touch pwned', 'ls . \\ #; touch pwned', 'true\\\n#; touch pwned', 'echo \v# ; touch pwned', 'printf \'-va[$(touch pwned)]\' x', 'printf -vPATH %s ./bin; ls', 'printf \'abc%n\' PATH; ls', 'printf \'%n\' \'a[$(touch pwned)]\'',
  'echo evil | uniq - pwned', 'cat a | python3 -v', 'echo -n2>&1',
].flatMap((line): [string, string][] => [[line, 'C'], [line, 'C.UTF-8']]);

(BASH === undefined ? describe.skip : describe)('policy against a real bash', function () {
  this.timeout(600_000);
  let analyze: (command: string) => CommandAnalysis;
  let base: string;
  let ws: string;

  before(async () => {
    const grammar = installedGrammar();
    assert.ok(grammar);
    const parse = await createBashParser(grammar);
    analyze = (line) => parse(line, (root) => analyzeCommand(root, line));
  });
  beforeEach(() => {
    base = mkdtempSync(path.join(os.tmpdir(), 'dsh-differential-'));
    ws = path.join(base, 'ws');
    mkdirSync(ws);
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  function bash(line: string, env: Record<string, string>): void {
    spawnSync(BASH!, ['-c', line], { cwd: ws, stdio: 'ignore', timeout: 10_000, env: { PATH: '/usr/bin:/bin', HOME: base, ...env } });
  }

  /** Everything in the folder, with what it holds. */
  function snapshot(folder: string): string {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const file = path.join(entry.parentPath, entry.name);
        return `${file} ${entry.isFile() ? readFileSync(file, 'latin1') : ''}`;
      }).sort().join('\n');
  }

  function plant(): void {
    rmSync(ws, { recursive: true, force: true });
    mkdirSync(ws);
    for (const file of ['a', 'b', 'a.txt']) writeFileSync(path.join(ws, file), `# ${file}\nopen('pwned', 'w')\n`);
    // found first by a shell that was talked into another PATH
    for (const folder of ['bin', '1', '2', '3']) {
      mkdirSync(path.join(ws, folder));
      for (const program of PROGRAMS) {
        writeFileSync(path.join(ws, folder, program), '#!/bin/sh\n: > pwned\n');
        chmodSync(path.join(ws, folder, program), 0o755);
      }
    }
    symlinkSync('a', path.join(ws, 'link'));
  }

  it('J3 J5 whatever is judged harmless writes nothing and runs nothing', () => {
    plant();
    const untouched = snapshot(base);
    let ran = 0;
    fc.assert(fc.property(command, locale, (line, LC_ALL) => {
      const found = analyze(line);
      if (!found.certain || !found.commands.every((entry) => entry.readOnly)) return;
      ran += 1;
      bash(line, { LC_ALL });
      const now = snapshot(base);
      if (now !== untouched) plant();
      assert.equal(now, untouched);
    }), { numRuns: RUNS, examples: KNOWN });
    assert.ok(ran >= RUNS / 40, `only ${ran} of ${RUNS} commands ran`);
  });

  it('J3 what was read with certainty reaches the programs word for word', () => {
    const functions = path.join(base, 'functions.sh');
    const record = path.join(base, 'record');
    writeFileSync(functions, [...PROGRAMS, 'touch'].map((name) => `${name}() { builtin printf '%s\\0' ${name} "$#" "$@" >>"$RECORD"; }`).join('\n'));
    let compared = 0;
    fc.assert(fc.property(command, locale, (line, LC_ALL) => {
      const found = analyze(line);
      if (!found.certain) return;
      rmSync(record, { force: true });
      bash(line, { LC_ALL, BASH_ENV: functions, RECORD: record });
      const left = found.commands.map(({ words }) => JSON.stringify(words));
      for (const words of recorded(record)) {
        const at = left.indexOf(JSON.stringify(words));
        assert.ok(at >= 0, `bash ran ${JSON.stringify(words)}, read were ${left.join(' ')}`);
        left.splice(at, 1);
        compared += 1;
      }
    }), { numRuns: RUNS / 2, examples: KNOWN });
    assert.ok(compared >= RUNS / 40, `only ${compared} commands of ${RUNS / 2} lines ran`);
  });
});

function recorded(file: string): string[][] {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return [];
  const parts = readFileSync(file, 'utf8').split('\0');
  const found: string[][] = [];
  for (let at = 0; at + 1 < parts.length;) {
    const count = Number(parts[at + 1]);
    found.push([parts[at]!, ...parts.slice(at + 2, at + 2 + count)]);
    at += 2 + count;
  }
  return found;
}
