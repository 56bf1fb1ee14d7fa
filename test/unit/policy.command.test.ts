import assert from 'node:assert/strict';
import { installedGrammar } from '../../src/headless/grammars.ts';
import { analyzeCommand, type CommandAnalysis } from '../../src/policy/command.ts';
import { createBashParser } from '../../src/policy/grammar-entry.ts';
import { commandRule, exactlyAllowed, prefixAllowed } from '../../src/policy/rules.ts';

let parse: Awaited<ReturnType<typeof createBashParser>>;
const analyze = (command: string): CommandAnalysis => parse(command, (root) => analyzeCommand(root, command));
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
    'git status && git diff --stat', 'ls -la src | head', 'rg TODO src', 'cat a.txt|head -3', 'ls |\n  head -n 20', '! ls', '2>/dev/null ls', '< a.txt cat', 'cat été.txt', 'cat "設計 図.txt"', 'ls ./src/*.ts',
    'head -20 a.txt; tail -n +5 b.txt', 'sort a.txt | uniq -c', 'uniq a.txt', "printf '%s %-5d|%5.2f\\n' a 3 2", 'cut -d , -f 2 a.txt', 'python3 --version', 'git show HEAD~2:src/a.ts', 'echo a#b', "grep -nE '^(a|b)\\(' x.ts",
  ];
  for (const command of free) it(`runs without asking: ${JSON.stringify(command)}`, () => assert.equal(harmless(command), true, JSON.stringify(analyze(command))));

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
    // what the grammar takes for a blank, or for a comment, and bash does not
    'echo a\\\n#; touch pwned', 'echo a\f#; touch pwned', 'echo a\v#; touch pwned', 'echo a\r#; touch pwned', 'ls . \\ #; touch pwned', 'ls . \\\t#; touch pwned', 'true\\\n#; touch pwned', 'ls \\\n-la', 'ls\r\n',
    'echo a\u00a0b', 'echo a\u2003#; touch pwned', 'echo \u200bx', 'cat \u0001', "cat 'a\u007f'", 'echo 日|cat', 'cat 加', 'echo ] [', 'echo -n2>&1', 'ls ] [ | sh',
    // a builtin that stores what it prints, in a variable whose name is worked out
    "printf '-va[$(touch pwned)]' x", "printf -v'a[$(touch pwned)]' x", "printf '%n' 'a[$(touch pwned)]'", "printf 'abc%n' PATH; ls", 'printf -vPATH %s ./bin; ls', 'printf -- x', 'printf',
    // a stream counts as what is read: what comes behind it is written
    'echo evil | uniq - .vscode/tasks.json', 'uniq -c - out', 'uniq - -',
    // which file that is
    'cat < .en*', 'head -1 < lin*/passwd', 'cat < [a]b', 'ls s*/../..', 'ls a*/../x', 'ls .*', 'ls ..*',
    // not the version, but what it is sent; a version that a file of the workspace names
    'echo x | python3 -v', 'python -v', 'cargo --version', 'go version',
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
    assert.deepEqual(analyze('ls \\\n-la').why, { code: 'escape' });
    assert.deepEqual(analyze('echo a\f#').why, { code: 'character', text: 'U+000C' });
    assert.deepEqual(analyze('echo 日|cat').why, { code: 'character', text: '日 (U+65E5)' });
    assert.deepEqual(analyze('echo ] [').why, { code: 'ambiguous' });
    assert.deepEqual(analyze('cat < .en*').why, { code: 'pattern', text: '.en*' });
    assert.equal(analyze('ls').why, undefined);
  });

  describe('remembered commands', () => {
    const rule = (command: string): unknown => commandRule('bash', command, '/ws', analyze(command));
    it('a prefix is offered only where its words say what runs', () => {
      assert.deepEqual(rule('npm test -- --grep x'), { kind: 'command-prefix', toolName: 'bash', words: ['npm', 'test'] });
      assert.deepEqual(rule('npm run build'), { kind: 'command-prefix', toolName: 'bash', words: ['npm', 'run', 'build'] });
      assert.deepEqual(rule('git commit -m x'), { kind: 'command-prefix', toolName: 'bash', words: ['git', 'commit'] });
      for (const command of ['npm exec rm', 'npm run', 'python x.py', 'rm a', 'node -e 1', 'npm test && rm x', 'npm test $(rm x)', 'npm install x', 'npm -C / test']) {
        assert.equal((rule(command) as { kind: string }).kind, 'command', command);
      }
      assert.deepEqual(rule('rm a '), { kind: 'command', toolName: 'bash', command: 'rm a', cwd: '/ws' });
    });

    it('G12.3 a prefix is for what does one kind of thing: nothing that brings in packages, programs, remotes, other folders, or loses work', () => {
      for (const command of [
        'npm i lodash', 'npm c set x y', 'npm set x', 'npm create vite', 'npm init foo', 'npm explore x -- sh', 'npm link x', 'npm rebuild', 'npm up x', 'npm publish', 'npm pkg set x=y', 'npm x y', 'npm ci',
        'pnpm i x', 'pnpm create x', 'pnpm dlx x', 'bun i x', 'bun x y', 'bun run x.ts', 'bun run node', 'yarn node a.js', 'yarn run node', 'yarn add x', 'yarn build',
        'git submodule update', 'git bisect start', 'git rebase main', 'git difftool', 'git fetch origin', 'git pull', 'git push origin main', 'git checkout .', 'git stash', 'git reset --hard', 'git rm a', 'git log --output=x',
        'cargo r', 'cargo run', 'cargo install x', 'go generate ./a', 'go run a.go', 'go get x', 'deno eval 1', 'deno repl', 'deno run a.ts', 'deno install x', 'dotnet script x', 'dotnet run', 'dotnet tool install x', 'make', 'mvn exec:java', 'gradle run',
      ]) assert.equal((rule(command) as { kind: string }).kind, 'command', command);
    });

    it('G12.3 nor where an option or another word changes what runs', () => {
      for (const command of [
        'npm test --prefix /x', 'npm run build --script-shell=./x', 'npm test --node-options=--require=./x', 'npm test -C x', 'yarn run test --cwd x', 'cargo test --config x', 'cargo build --manifest-path x', 'cargo clippy -- -C linker=x',
        'go test -exec x', 'go build -toolexec=x', 'go vet -vettool=x', 'go build -o x', 'make test SHELL=x', 'make test deploy', 'make test -f x', 'make test --eval=x', 'mvn test exec:java', 'mvn test -Dx=y', 'gradle test -I x', 'gradle test publish',
        'dotnet build x', 'dotnet test -p:x=y', 'git commit -c HEAD', 'git commit --template=x', 'git add --chmod=+x a',
      ]) assert.equal((rule(command) as { kind: string }).kind, 'command', command);
      for (const [command, words] of [
        ['npm test -- --prefix x', ['npm', 'test']], ['npm run build -s', ['npm', 'run', 'build']], ['pnpm run lint', ['pnpm', 'run', 'lint']], ['yarn run test:unit', ['yarn', 'run', 'test:unit']], ['cargo test -p core name -- --nocapture', ['cargo', 'test']],
        ['cargo build --release', ['cargo', 'build']], ['go test -run=TestX ./...', ['go', 'test']], ['make -j4', undefined], ['make test -j4', ['make', 'test']], ['git add -A', ['git', 'add']], ['git commit -am "x y"', ['git', 'commit']], ['deno task test', ['deno', 'task', 'test']],
      ] as const) assert.deepEqual((rule(command) as { words?: string[] }).words, words, command);
    });

    it('a prefix covers its own kind and harmless company, nothing else', () => {
      const rules = [{ kind: 'command-prefix' as const, toolName: 'bash', words: ['npm', 'test'] }];
      const allowed = (command: string): boolean => prefixAllowed(rules, 'bash', analyze(command));
      for (const command of ['npm test', 'npm test -- --grep x', 'ls && npm test | head -5']) assert.equal(allowed(command), true, command);
      for (const command of ['npm testing', 'npm run test', 'npm test && rm x', 'npm test > out', 'npm test $(rm x)', 'npm test & rm x', 'X=1 npm test']) assert.equal(allowed(command), false, command);
      assert.equal(prefixAllowed(rules, 'pwsh', analyze('npm test')), false, 'another tool');
      for (const command of ['npm test --prefix /x', 'npm test --script-shell=./x']) assert.equal(allowed(command), false, command);
      // of a log that was written when more was offered
      assert.equal(prefixAllowed([{ kind: 'command-prefix', toolName: 'bash', words: ['npm', 'i'] }], 'bash', analyze('npm i evil')), false);
    });

    it('G12.3 an exact command covers itself only, in its folder', () => {
      const rules = [{ kind: 'command' as const, toolName: 'bash', command: 'rm $x', cwd: '/ws' }];
      assert.equal(exactlyAllowed(rules, 'bash', ' rm $x ', '/ws'), true);
      assert.equal(exactlyAllowed(rules, 'bash', 'rm $x y', '/ws'), false);
      assert.equal(exactlyAllowed(rules, 'bash', 'rm $x', '/ws/src'), false);
      // of a log that did not say where
      assert.equal(exactlyAllowed([{ ...rules[0], cwd: undefined } as never], 'bash', 'rm $x', '/ws'), false);
    });
  });
});
