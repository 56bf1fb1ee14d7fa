/**
 * Why policy asks the user, as data: whoever shows it makes the words. `given` is a path as the call names it. Every
 * reason is also logged as an English text, which readers that know no codes show (L11.2).
 */
export type AskReason =
  /** Sends data; `target` is an address or what is searched for. */
  | { readonly code: 'network'; readonly target: string }
  /** A tool that is not ours, by what its card says. */
  | { readonly code: 'tool-runs' | 'tool-edits' | 'tool-deletes' | 'tool-moves' }
  /** A search whose file pattern takes in files that hold keys (L1). */
  | { readonly code: 'secret-pattern'; readonly pattern: string }
  | { readonly code: 'secret-file' | 'outside' | 'makes-code-run'; readonly given: string; readonly realPath: string }
  | { readonly code: 'command' }
  | { readonly code: 'command-uncertain'; readonly doubt: CommandDoubt }
  | { readonly code: 'command-makes-code-run' | 'command-secret-file' | 'command-outside'; readonly given: string }
  /** Its working directory is outside. */
  | { readonly code: 'command-runs-outside'; readonly realPath: string }
  /** It names more than `limit` paths. */
  | { readonly code: 'command-many-paths'; readonly limit: string }
  /** Git would take files lying in `folder` for its repository, whose configuration runs programs. */
  | { readonly code: 'command-planted-repository'; readonly folder: string }
  /** A comparison that shows every file of a folder. */
  | { readonly code: 'command-compares-folder'; readonly given: string }
  /** It goes through files that nobody named, and `given` is one of them that may hold keys: found by a search, or kept in the repository (L1). */
  | { readonly code: 'command-searches-keys' | 'command-tracked-keys'; readonly given: string };

/** What keeps a command from being judged (J3). */
export type CommandDoubt =
  | { readonly code: 'unparsable' | 'empty' | 'redirection' | 'escape' | 'expansion' | 'no-program' }
  /** Only bash is analysed; the grammar is not there; the analysis failed; it can be read in more than one way. */
  | { readonly code: 'shell' | 'no-grammar' | 'not-analysed' | 'ambiguous' }
  | { readonly code: 'syntax'; readonly syntax: ShellSyntax }
  /** `text` is a piece of the command: an operator, a program's name, a redirection's target, a word, a pattern. */
  | { readonly code: 'operator' | 'program' | 'writes' | 'expands' | 'pattern'; readonly text: string }
  /** `text` is a character that not every shell reads the same way, or its number. */
  | { readonly code: 'character'; readonly text: string }
  /** `text` names a construct of the grammar. */
  | { readonly code: 'construct'; readonly text: string };

export type ShellSyntax =
  | 'parameter-expansion' | 'variable' | 'command-substitution' | 'process-substitution' | 'here-string' | 'here-document' | 'arithmetic'
  | 'ansi-c-string' | 'translated-string' | 'subshell' | 'function' | 'assignment';

/** The texts each code comes with. */
const REASON_FIELDS: Record<AskReason['code'], readonly string[]> = {
  network: ['target'], 'tool-runs': [], 'tool-edits': [], 'tool-deletes': [], 'tool-moves': [],
  'secret-pattern': ['pattern'], 'secret-file': ['given', 'realPath'], outside: ['given', 'realPath'], 'makes-code-run': ['given', 'realPath'],
  command: [], 'command-uncertain': [], 'command-makes-code-run': ['given'], 'command-secret-file': ['given'], 'command-outside': ['given'],
  'command-runs-outside': ['realPath'], 'command-many-paths': ['limit'], 'command-planted-repository': ['folder'], 'command-compares-folder': ['given'],
  'command-searches-keys': ['given'], 'command-tracked-keys': ['given'],
};
const DOUBT_FIELDS: Record<CommandDoubt['code'], readonly string[]> = {
  unparsable: [], empty: [], redirection: [], escape: [], expansion: [], 'no-program': [], shell: [], 'no-grammar': [], 'not-analysed': [], ambiguous: [],
  syntax: [], operator: ['text'], program: ['text'], writes: ['text'], expands: ['text'], pattern: ['text'], construct: ['text'], character: ['text'],
};
const SYNTAX: Record<ShellSyntax, true> = {
  'parameter-expansion': true, variable: true, 'command-substitution': true, 'process-substitution': true, 'here-string': true, 'here-document': true,
  arithmetic: true, 'ansi-c-string': true, 'translated-string': true, subshell: true, function: true, assignment: true,
};

function fits(table: Readonly<Record<string, readonly string[]>>, value: unknown): value is Record<string, unknown> & { code: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const record = value as Record<string, unknown>;
  return typeof record.code === 'string' && Object.hasOwn(table, record.code) && table[record.code]!.every((field) => typeof record[field] === 'string');
}

function isDoubt(value: unknown): boolean {
  return fits(DOUBT_FIELDS, value) && (value.code !== 'syntax' || (typeof value.syntax === 'string' && Object.hasOwn(SYNTAX, value.syntax)));
}

/** Whether a logged value is a reason this build knows: another build may have written the log. */
export function isAskReason(value: unknown): value is AskReason {
  return fits(REASON_FIELDS, value) && (value.code !== 'command-uncertain' || isDoubt(value.doubt));
}
