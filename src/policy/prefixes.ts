/** Which commands of one program may be allowed by their first words. */
interface Program {
  /** Subcommands that do one kind of thing, whatever stands behind them. */
  readonly does?: readonly string[];
  /** Subcommands that run what the next word names, as the project defines it. */
  readonly runs?: readonly string[];
  /** Names such a subcommand may be given: where it would take files and programs too, those that projects use. */
  readonly named?: RegExp;
  /** Options that choose how, never what runs: those take programs or other folders. */
  readonly options: RegExp;
  /** Words that are no options; absent: none. */
  readonly operands?: RegExp;
  /** Subcommands for which everything behind `--` goes to what the project defines, or is a path. */
  readonly handsOn?: readonly string[];
}

const SCRIPT = /^[a-z][\w:.-]*$/i;
const USUAL_SCRIPT = /^(?:test|build|lint|check|typecheck|types|format|fmt|compile|coverage|e2e|unit|dev|start|docs|clean|ci)(?:[:-][\w:-]*)?$/i;
const PLAIN = /^[\w./][\w./:,-]*$/;

const PROGRAMS: Readonly<Record<string, Program>> = {
  npm: { does: ['test', 'start'], runs: ['run', 'run-script'], named: SCRIPT, options: /^(?:-s|--silent|--if-present|-ws|--workspaces)$/, operands: PLAIN, handsOn: ['test', 'start', 'run', 'run-script'] },
  pnpm: { does: ['test', 'start'], runs: ['run'], named: SCRIPT, options: /^(?:-s|--silent|--if-present|-r|--recursive)$/, operands: PLAIN, handsOn: ['test', 'start', 'run'] },
  // these two run any program or file that has the name
  yarn: { does: ['test'], runs: ['run'], named: USUAL_SCRIPT, options: /^(?:-s|--silent)$/, operands: PLAIN, handsOn: ['test', 'run'] },
  bun: { does: ['test'], runs: ['run'], named: USUAL_SCRIPT, options: /^--silent$/, operands: PLAIN },
  deno: { runs: ['task'], named: SCRIPT, options: /^(?:-q|--quiet)$/, operands: PLAIN },
  cargo: {
    does: ['build', 'check', 'test', 'clippy', 'fmt', 'bench', 'doc'], handsOn: ['test', 'bench'], operands: PLAIN,
    options: /^(?:-[qvp]|-vv|-j\d*|-r|--(?:release|all|workspace|lib|bins|bin|tests|test|examples|example|benches|all-targets|all-features|no-default-features|features|package|no-run|no-fail-fast|no-deps|doc|quiet|verbose|locked|offline|frozen|check|keep-going))$/,
  },
  go: {
    does: ['build', 'test', 'vet', 'fmt'], operands: PLAIN,
    options: /^-(?:v|race|short|cover|failfast|json|x|run|bench|(?:run|bench|count|timeout|cpu|parallel|p)=[\w.|^$/-]+)$/,
  },
  git: { does: ['add', 'commit'], handsOn: ['add', 'commit'], operands: /(?:)/, options: /^(?:-[AmaquvspF]|-am|--(?:all|update|patch|verbose|quiet|signoff|amend|no-edit|allow-empty|message=.*|intent-to-add))$/ },
  // what else stands there would be another target or goal
  make: { runs: [''], named: SCRIPT, options: /^(?:-[ksBnw]|-j\d*|--(?:silent|keep-going|dry-run|always-make))$/ },
  mvn: { does: ['test', 'compile', 'verify', 'package', 'clean', 'validate'], options: /^(?:-[qoBeX]|-T\d+|--(?:quiet|offline|batch-mode|errors))$/ },
  gradle: { does: ['test', 'build', 'check', 'assemble', 'clean', 'classes'], options: /^(?:-[qi]|--(?:quiet|info|offline|no-daemon|console=plain|stacktrace|rerun-tasks|parallel))$/ },
  dotnet: { does: ['build', 'test', 'restore', 'clean', 'format'], options: /^--(?:no-build|no-restore|nologo)$/ },
};

/**
 * The first words of a command that say what kind of thing it does, when the others only say on what and how; undefined where a word may
 * bring in something else: a package, a program, a remote, another folder. What is not listed is remembered to the letter.
 */
export function prefixOf(words: readonly string[]): readonly string[] | undefined {
  const [name = '', second = '', third = ''] = words;
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name]! : undefined;
  if (program === undefined) return undefined;
  const length = prefixLength(program, second, third);
  return length !== undefined && covers(program, second, words.slice(length)) ? words.slice(0, length) : undefined;
}

function prefixLength({ does = [], runs = [], named = SCRIPT }: Program, second: string, third: string): number | undefined {
  if (does.includes(second)) return 2;
  // a program that is given a name right away
  if (runs.includes('')) return named.test(second) ? 2 : undefined;
  return runs.includes(second) && named.test(third) ? 3 : undefined;
}

function covers({ options, operands, handsOn = [] }: Program, subcommand: string, rest: readonly string[]): boolean {
  const end = rest.indexOf('--');
  const own = end < 0 ? rest : rest.slice(0, end);
  if (end >= 0 && !handsOn.includes(subcommand)) return false;
  return own.every((word) => (word.startsWith('-') ? options.test(word) : operands?.test(word) ?? false));
}
