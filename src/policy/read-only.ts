type Check = (args: readonly string[]) => boolean;

const any: Check = () => true;
/** Every word that starts with `-` must match; `operands` bounds the others. */
function options(pattern: RegExp, operands = Number.POSITIVE_INFINITY): Check {
  return (args) => args.every((arg) => !/^-./.test(arg) || pattern.test(arg)) && args.filter((arg) => !arg.startsWith('-')).length <= operands;
}

/** No word matches. */
function without(pattern: RegExp): Check {
  return (args) => !args.some((arg) => pattern.test(arg));
}

const GIT_OPTIONS = new RegExp(`^(?:-\\d+|-[nspqbvaruzwM]|-[UnLS]\\S*|--|--(?:${[
  'stat', 'short', 'oneline', 'name-only', 'name-status', 'cached', 'staged', 'porcelain(?:=\\w+)?', 'branch', 'graph', 'all', 'decorate(?:=\\w+)?',
  'pretty=.*', 'format=.*', 'since=.*', 'until=.*', 'author=.*', 'grep=.*', 'max-count=\\d+', 'abbrev-commit', 'no-color', 'color=never', 'numstat',
  'shortstat', 'show-toplevel', 'show-current', 'is-inside-work-tree', 'abbrev-ref', 'verify', 'patch', 'no-patch', 'first-parent', 'merges',
  'no-merges', 'follow', 'word-diff', 'ignore-all-space', 'untracked-files(?:=\\w+)?', 'diff-filter=\\w+', 'no-ext-diff', 'no-textconv', 'summary',
].join('|')}))$`);

const GIT: Readonly<Record<string, Check>> = {
  status: options(GIT_OPTIONS), log: options(GIT_OPTIONS), diff: options(GIT_OPTIONS), show: options(GIT_OPTIONS),
  'rev-parse': options(GIT_OPTIONS), 'ls-files': options(GIT_OPTIONS), blame: options(GIT_OPTIONS),
  // a name would make a branch
  branch: options(/^(?:-[arv]{1,3}|--(?:list|show-current|all|remotes|no-color))$/, 0),
  remote: options(/^-v$/, 0),
};

const VERSION: Check = (args) => args.length === 1 && /^(?:--version|-v|-V)$/.test(args[0]!);

/** Programs that only look, with the arguments they may have for that. What is not here asks. */
const TABLE: Readonly<Record<string, Check>> = {
  pwd: any, cat: any, head: any, tail: any, basename: any, dirname: any, realpath: any, readlink: any, stat: any, which: any,
  echo: any, true: any, false: any, whoami: any, id: any, uname: any, nl: any, cut: any, tr: any, rev: any, tac: any, cmp: any,
  df: any, seq: any, type: any, sleep: any, exit: any,
  // not through links on the way: they lead where nobody looked
  ls: without(/^-[^-]*L|^--de/), du: without(/^-[^-]*[LD]|^--de|^--fi/),
  // not of files that a file names
  wc: without(/^--fi/),
  // not recursive, and not of folders (permissions.ts): that would show files nobody named
  diff: options(/^-(?:[uUcCqsbBwitaEyp0-9]+|-(?:unified(?:=\d+)?|brief|side-by-side|ignore-all-space|color=never|label=.*))$/),
  printf: (args) => args[0] !== '-v',
  date: (args) => args.every((arg) => arg.startsWith('+') || arg === '-u'),
  sort: options(/^-[bdfginrRuVk0-9,.t]+$/),
  uniq: options(/^-[cdui]+$/, 1),
  // not recursive: that would read files nobody named
  grep: options(/^(?:-[EFGPivwxclLnHhoqsabABCm0-9e]+|--(?:color=never|line-number|ignore-case|count|only-matching|fixed-strings|extended-regexp|context=\d+))$/),
  rg: options(/^(?:-[nivwxclFeoSNABCmtTH0-9]+|--(?:files|line-number|ignore-case|count|only-matching|fixed-strings|type=\w+|no-heading|color=never|max-count=\d+|context=\d+|files-with-matches))$/),
  find: options(/^-(?:name|iname|path|ipath|type|maxdepth|mindepth|size|mtime|mmin|newer|not|o|a|print|prune|empty|regex|iregex|P)$/),
  tree: options(/^(?:-[aLdIfhsp]+|--(?:noreport|dirsfirst|gitignore))$/),
  git: (args) => {
    const [first, ...rest] = args[0] === '--no-pager' ? args.slice(1) : args;
    return first !== undefined && Object.hasOwn(GIT, first) ? GIT[first]!(rest) : VERSION(args);
  },
  node: VERSION, npm: VERSION, npx: VERSION, python: VERSION, python3: VERSION, go: (args) => args.length === 1 && args[0] === 'version',
  cargo: VERSION, rustc: VERSION, java: VERSION, gcc: VERSION, make: VERSION,
};

/** Whether a simple command is known to change, run and send nothing. Which files it reads is another question. */
export function isReadOnly(words: readonly string[]): boolean {
  const [program, ...args] = words;
  return program !== undefined && Object.hasOwn(TABLE, program) && TABLE[program]!(args);
}
