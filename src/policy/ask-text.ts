import type { AskReason, CommandDoubt, ShellSyntax } from '../contract/ask-reason.ts';
import { assertNever } from '../contract/never.ts';

/** A reason in English: for the log, the model, and the driver. */
export function askText(why: AskReason): string {
  switch (why.code) {
    case 'network': return `it sends data to the network: ${why.target}`;
    case 'tool-runs': return 'the tool says that it will execute';
    case 'tool-edits': return 'the tool says that it will edit';
    case 'tool-deletes': return 'the tool says that it will delete';
    case 'tool-moves': return 'the tool says that it will move';
    case 'secret-pattern': return `"${why.pattern}" takes in files that hold keys (.env)`;
    case 'secret-file': return `"${why.given}" may hold keys: ${why.realPath}`;
    case 'outside': return `"${why.given}" is outside the workspace: ${why.realPath}`;
    case 'makes-code-run': return `"${why.given}" can make code run: ${why.realPath}`;
    case 'command': return 'it runs a command';
    case 'command-uncertain': return `it runs a command that can't be judged: ${doubtText(why.doubt)}`;
    case 'command-makes-code-run': return `the command names ${why.given}, which can make code run`;
    case 'command-secret-file': return `the command names ${why.given}, which may hold keys`;
    case 'command-outside': return `the command names ${why.given}, which is outside the workspace`;
    case 'command-runs-outside': return `the command runs outside the workspace: ${why.realPath}`;
    case 'command-many-paths': return `the command names more than ${why.limit} paths, too many to judge`;
    case 'command-planted-repository': return `git would take the files in ${why.folder} for its repository, whose configuration can run programs`;
    case 'command-compares-folder': return `it compares every file in ${why.given}, hidden ones too`;
    case 'command-searches-keys': return `it searches files nobody named, ${why.given} too, which may hold keys`;
    case 'command-tracked-keys': return `it can show files of the repository nobody named, ${why.given} too, which may hold keys`;
    default: return assertNever(why, 'reason to ask');
  }
}

function doubtText(doubt: CommandDoubt): string {
  switch (doubt.code) {
    case 'unparsable': return 'it can\'t be parsed';
    case 'empty': return 'it is empty';
    case 'redirection': return 'it uses a redirection';
    case 'escape': return 'it uses an escape';
    case 'expansion': return 'it uses an expansion';
    case 'no-program': return 'it names no program';
    case 'shell': return 'only bash commands are analysed';
    case 'no-grammar': return 'no grammar is loaded';
    case 'not-analysed': return 'it could not be analysed';
    case 'ambiguous': return 'it can be read in more than one way';
    case 'syntax': return `it uses ${SYNTAX[doubt.syntax]}`;
    case 'construct': return `it uses ${doubt.text.replaceAll('_', ' ')}`;
    case 'operator': return `it uses \`${doubt.text}\``;
    case 'program': return `the program \`${doubt.text}\` is not a plain name`;
    case 'writes': return `it writes to \`${doubt.text}\``;
    case 'expands': return `the shell would expand \`${doubt.text}\``;
    case 'pattern': return `the pattern \`${doubt.text}\` may match anything`;
    case 'character': return `not every shell reads the character ${doubt.text} alike`;
    default: return assertNever(doubt, 'doubt');
  }
}

const SYNTAX: Readonly<Record<ShellSyntax, string>> = {
  'parameter-expansion': 'a parameter expansion', variable: 'a variable', 'command-substitution': 'a command substitution',
  'process-substitution': 'a process substitution', 'here-string': 'a here-string', 'here-document': 'a here-document', arithmetic: 'arithmetic',
  'ansi-c-string': 'a $\'…\' string', 'translated-string': 'a $"…" string', subshell: 'a subshell', function: 'a function', assignment: 'a variable assignment',
};
