import assert from 'node:assert/strict';
import { installedGrammar } from '../../src/headless/grammars.ts';
import { analyzeCommand, type CommandAnalysis } from '../../src/policy/command.ts';
import { createBashParser } from '../../src/policy/grammar-entry.ts';
import { commandRule, exactlyAllowed, prefixAllowed } from '../../src/policy/rules.ts';

let parse: Awaited<ReturnType<typeof createBashParser>>;
const analyze = (command: string): CommandAnalysis => parse(command, (root) => analyzeCommand(root));
const harmless = (command: string): boolean => {
  const found = analyze(command);
  return found.certain && found.commands.every((entry) => entry.readOnly);
};

describe('command analysis', () => {
  before(async function () {
    this.timeout(60_000);
    const grammar = installedGrammar();
    assert.ok(grammar);
    parse = await createBashParser(grammar);
  });

  const free = [
    'ls', 'ls -la src', 'cat a.txt', 'git status --short', 'git log --oneline -n 5', 'git diff --stat HEAD^', 'git show HEAD:a.txt', 'git branch -a',
    'pwd && ls', 'cat a.txt | head -20 | wc -l', 'ls 2>/dev/null', 'ls 2>&1', 'grep -n "TODO" src/a.ts', 'find . -name "*.ts" -type f', 'echo "hello world"',
    'ls src/*.ts', 'sort -u a.txt', 'wc -l < a.txt', 'node --version', 'ls # all of them', 'false || true', 'rg -n foo src', 'exit 7', 'tree -L 2', 'ls; pwd',
  ];
  for (const command of free) it(`runs without asking: ${command}`, () => assert.equal(harmless(command), true, JSON.stringify(analyze(command))));

  const asks = [
    // J3: what the shell works out
    'echo ${x@P}', 'echo ${!x}', 'cat <<<$(rm x)', 'ls =(rm x)', 'echo $(rm x)', 'echo `rm x`', 'echo "$(rm x)"', 'cat <(rm x)', 'echo $x', 'echo "$x"', 'echo $((x=1))',
    'cat <<EOF\n$(rm x)\nEOF', "echo $'\\x41'", '(ls)', '{ ls; }', 'f() { ls; }; f', 'if ls; then rm x; fi', 'for i in a; do rm $i; done', 'X=1 ls', 'X=1', '"ls"', 'l\\s', '\\ls', './ls',
    '/bin/ls', '$CMD', 'ls &', 'ls |& cat', 'time ls', 'eval ls', 'exec ls', 'command ls', 'env ls', 'sudo ls', 'xargs rm', 'cd /tmp', 'source a', '. a',
    // can't be parsed, or nothing
    "echo 'a", 'ls |', '&&', '', '   ', 'ls )', 'ls <', 'cat "a',
    // written somewhere
    'ls > out', 'ls >> out', 'ls >| out', 'ls &> out', 'echo x > /dev/sda', 'ls 2> err', 'cat a <> b',
    // programs that only look, with arguments that do more
    'find . -delete', 'find . -exec rm {} ;', 'find . -fprint x', 'sort -o out a', 'sort --output=out a', 'sort --compress-program=x a', 'uniq a b', 'tree -o out', 'git branch new',
    'ls -LR', 'ls -lL', 'ls --dereference -R', 'du -L', 'du -sD x', 'du --files0-from=a', 'wc --files0-from=a', 'wc --files0-from a', 'find -L .', 'find . -L',
    'git -c core.pager=x log', 'git -C / log', 'git diff --output=x', 'git log --ext-diff', 'git show --textconv', 'git diff --no-index /etc/passwd a', 'git grep -O x', 'git push',
    'rg --pre=x foo', 'rg -uu foo', 'rg --hidden KEY', 'rg -g "*" KEY', 'grep -r KEY .', 'grep -R KEY', 'grep --recursive KEY', 'grep -d recurse KEY .', 'printf -v X y', 'date -s now',
    // everything else
    'rm a', 'npm test', 'curl example.org', 'python a.py', 'node -e 1', 'make', 'tee out', 'dd if=a of=b', 'kill 1', 'ls; rm x', 'ls && rm x', 'ls | sh', 'cat a | xargs rm',
    // patterns that may name a link or an option
    '* a', 'cat *', 'cat src/*', 'ls *', 'ls [a]*', 'cat ~/x', 'ls {a,b}',
  ];
  for (const command of asks) it(`J3 asks: ${JSON.stringify(command)}`, () => assert.equal(harmless(command), false, JSON.stringify(analyze(command))));

  it('J3 says why', () => {
    assert.deepEqual(analyze('echo $(rm x)').why, { code: 'syntax', syntax: 'command-substitution' });
    assert.deepEqual(analyze('echo "$x"').why, { code: 'syntax', syntax: 'variable' });
    assert.deepEqual(analyze('for i in a; do rm $i; done').why, { code: 'construct', text: 'for_statement' });
    assert.deepEqual(analyze('ls > out').why, { code: 'writes', text: 'out' });
    assert.deepEqual(analyze('ls &').why, { code: 'operator', text: '&' });
    assert.deepEqual(analyze("echo 'a").why, { code: 'unparsable' });
    assert.equal(analyze('ls').why, undefined);
  });

  describe('remembered commands', () => {
    const rule = (command: string): unknown => commandRule('bash', command, analyze(command));
    it('a prefix is offered only where its words say what runs', () => {
      assert.deepEqual(rule('npm test -- --grep x'), { kind: 'command-prefix', toolName: 'bash', words: ['npm', 'test'] });
      assert.deepEqual(rule('npm run build'), { kind: 'command-prefix', toolName: 'bash', words: ['npm', 'run', 'build'] });
      assert.deepEqual(rule('git commit -m x'), { kind: 'command-prefix', toolName: 'bash', words: ['git', 'commit'] });
      for (const command of ['npm exec rm', 'npm run', 'python x.py', 'rm a', 'node -e 1', 'npm test && rm x', 'npm test $(rm x)', 'npm install x', 'npm -C / test']) {
        assert.equal((rule(command) as { kind: string }).kind, 'command', command);
      }
    });

    it('a prefix covers its own kind and harmless company, nothing else', () => {
      const rules = [{ kind: 'command-prefix' as const, toolName: 'bash', words: ['npm', 'test'] }];
      const allowed = (command: string): boolean => prefixAllowed(rules, 'bash', analyze(command));
      for (const command of ['npm test', 'npm test -- --grep x', 'ls && npm test | head -5']) assert.equal(allowed(command), true, command);
      for (const command of ['npm testing', 'npm run test', 'npm test && rm x', 'npm test > out', 'npm test $(rm x)', 'npm test & rm x', 'X=1 npm test']) assert.equal(allowed(command), false, command);
      assert.equal(prefixAllowed(rules, 'pwsh', analyze('npm test')), false, 'another tool');
    });

    it('an exact command covers itself only', () => {
      const rules = [{ kind: 'command' as const, toolName: 'bash', command: 'rm $x' }];
      assert.equal(exactlyAllowed(rules, 'bash', ' rm $x '), true);
      assert.equal(exactlyAllowed(rules, 'bash', 'rm $x y'), false);
    });
  });
});
