type Check = (args: readonly string[]) => boolean;

const any: Check = () => true;
/** Every word that starts with `-` must match; `operands` bounds the others, `-` (a stream) among them. */
function options(pattern: RegExp, operands = Number.POSITIVE_INFINITY): Check {
  return (args) => args.every((arg) => !/^-./.test(arg) || pattern.test(arg)) && args.filter((arg) => !/^-./.test(arg)).length <= operands;
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

/**
 * One word that asks a program for its version. Each program has its own: `python -v` runs what it is sent. Programs that
 * take their version from a file of the workspace are not here.
 */
const version = (...words: readonly string[]): Check => (args) => args.length === 1 && ['--version', ...words].includes(args[0]!);
const GIT_VERSION = version('-v');

/** What `printf` may be told to print: nothing it would store in a variable (`-v`, `%n`), whose name the shell works out first. */
const FORMAT = /^(?!-)(?:[^%]|%%|%[-+ #0]*\d*(?:\.\d+)?[sbqdiuoxXcfFeEgG])*$/;

/**
 * Programs that only look, with the options they may have for that. What is not here asks. Options that follow links, or take the
 * names of further files from a file, are left out: those nobody has looked at.
 */
const TABLE: Readonly<Record<string, Check>> = {
  pwd: options(/^-P$/, 0), true: any, false: any, echo: any, exit: any, sleep: any, seq: any, basename: any, dirname: any, whoami: any, id: any, uname: any,
  type: any, which: any, realpath: any, readlink: any, stat: any, tr: any, rev: any, tac: any, cmp: any, df: any,
  ls: options(/^-(?:[1aAbBcCdDfFgGhiklmnNopqQrRsStuUvwxXZ]+|-(?:all|almost-all|directory|recursive|reverse|size|inode|classify|file-type|full-time|human-readable|group-directories-first|no-group|numeric-uid-gid|color=(?:never|auto)|sort=\w+|time=\w+|format=\w+|time-style=\S+))$/),
  cat: options(/^-(?:[AbeEnstTuv]+|-(?:number|number-nonblank|show-all|show-ends|show-tabs|show-nonprinting|squeeze-blank))$/),
  head: options(/^-(?:[nqvz]+|[nc]?-?\d+[kKmM]?|c|-(?:lines|bytes)=-?\d+|-quiet|-verbose)$/),
  tail: options(/^-(?:[fFnqrvz]+|[nc]?[-+]?\d+[kKmM]?|c|-(?:lines|bytes)=[-+]?\d+|-follow|-quiet|-verbose)$/),
  wc: options(/^-(?:[clmwL]+|-(?:lines|words|bytes|chars|max-line-length))$/),
  nl: options(/^-[bdfhilnpsvw]\S*$/), cut: options(/^-(?:[bcdfnsz]\S*|-(?:complement|only-delimited|(?:delimiter|fields|characters|bytes|output-delimiter)=.*))$/),
  du: options(/^-(?:[abchkmsSx0]+|d\d*|-(?:all|bytes|apparent-size|total|summarize|human-readable|one-file-system|max-depth=\d+|exclude=.*))$/),
  // not recursive, and not of folders (traps.ts): that would show files nobody named
  diff: options(/^-(?:[uUcCqsbBwitaEyp0-9]+|-(?:unified(?:=\d+)?|brief|side-by-side|ignore-all-space|color=never|label=.*))$/),
  printf: ([format]) => format !== undefined && FORMAT.test(format),
  date: (args) => args.every((arg) => arg.startsWith('+') || arg === '-u'),
  sort: options(/^-[bdfginrRuVk0-9,.t]+$/),
  // a second one is where it writes
  uniq: options(/^-[cdui]+$/, 1),
  // not recursive: that would read files nobody named
  grep: options(/^(?:-[EFGPivwxclLnHhoqsabABCm0-9e]+|--(?:color=never|line-number|ignore-case|count|only-matching|fixed-strings|extended-regexp|context=\d+))$/),
  // what it finds by itself is looked at first (traps.ts)
  rg: options(/^(?:-[nivwxclFeoSNABCmtTH0-9]+|--(?:files|line-number|ignore-case|count|only-matching|fixed-strings|type=\w+|no-heading|color=never|max-count=\d+|context=\d+|files-with-matches))$/),
  find: options(/^-(?:name|iname|path|ipath|type|maxdepth|mindepth|size|mtime|mmin|newer|not|o|a|print|prune|empty|regex|iregex|P)$/),
  tree: options(/^(?:-[aLdIfhsp]+|--(?:noreport|dirsfirst|gitignore))$/),
  git: (args) => {
    const [first, ...rest] = args[0] === '--no-pager' ? args.slice(1) : args;
    return first !== undefined && Object.hasOwn(GIT, first) ? GIT[first]!(rest) : GIT_VERSION(args);
  },
  node: version('-v'), npm: version('-v'), npx: version('-v'), python: version('-V'), python3: version('-V'), java: version('-version'),
  gcc: version('-v'), make: version('-v'),
};

/** Whether a simple command is known to change, run and send nothing. Which files it reads is another question. */
export function isReadOnly(words: readonly string[]): boolean {
  const [program, ...args] = words;
  return program !== undefined && Object.hasOwn(TABLE, program) && TABLE[program]!(args);
}
