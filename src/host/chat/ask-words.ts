import * as vscode from 'vscode';
import type { AskReason, CommandDoubt, ShellSyntax } from '../../contract/ask-reason.ts';
import { assertNever } from '../../contract/never.ts';

/** Why a call asks, in the display language. */
export function askWords(why: AskReason): string {
  const { t } = vscode.l10n;
  switch (why.code) {
    case 'network': return t('It sends data to the network: {0}', why.target);
    case 'tool-runs': return t('The tool says that it runs something.');
    case 'tool-edits': return t('The tool says that it changes files.');
    case 'tool-deletes': return t('The tool says that it deletes something.');
    case 'tool-moves': return t('The tool says that it moves something.');
    case 'secret-pattern': return t('"{0}" takes in files that may hold keys.', why.pattern);
    case 'secret-file': return t('"{0}" may hold keys: {1}', why.given, why.realPath);
    case 'outside': return t('"{0}" is outside the workspace: {1}', why.given, why.realPath);
    case 'makes-code-run': return t('"{0}" can make code run: {1}', why.given, why.realPath);
    case 'command': return t('It runs a command.');
    case 'command-uncertain': return t('What the command does cannot be judged: {0}', doubtWords(why.doubt));
    case 'command-makes-code-run': return t('The command names {0}, which can make code run.', why.given);
    case 'command-secret-file': return t('The command names {0}, which may hold keys.', why.given);
    case 'command-outside': return t('The command names {0}, which is outside the workspace.', why.given);
    case 'command-runs-outside': return t('The command runs outside the workspace: {0}', why.realPath);
    case 'command-many-paths': return t('The command names more than {0} paths, too many to judge.', why.limit);
    case 'command-planted-repository': return t('Git would take the files in {0} for its repository, whose configuration can run programs.', why.folder);
    case 'command-compares-folder': return t('It compares every file in {0}, hidden ones too.', why.given);
    case 'command-searches-keys': return t('It searches files nobody named, among them {0}, which may hold keys.', why.given);
    case 'command-tracked-keys': return t('It can show files of the repository nobody named, among them {0}, which may hold keys.', why.given);
    default: return assertNever(why, 'reason to ask');
  }
}

function doubtWords(doubt: CommandDoubt): string {
  const { t } = vscode.l10n;
  switch (doubt.code) {
    case 'unparsable': return t('it cannot be parsed');
    case 'empty': return t('it is empty');
    case 'redirection': return t('it uses a redirection');
    case 'escape': return t('it uses an escape');
    case 'expansion': return t('it uses an expansion');
    case 'no-program': return t('it names no program');
    case 'shell': return t('only bash commands are analysed');
    case 'no-grammar': return t('the grammar of the shell is not loaded');
    case 'not-analysed': return t('the analysis failed');
    case 'ambiguous': return t('it can be read in more than one way');
    case 'syntax': return t('it uses {0}', syntaxWords(doubt.syntax));
    case 'construct': return t('it uses {0}', `\`${doubt.text.replaceAll('_', ' ')}\``);
    case 'operator': return t('it uses {0}', `\`${doubt.text}\``);
    case 'program': return t('the program {0} is not a plain name', `\`${doubt.text}\``);
    case 'writes': return t('it writes to {0}', `\`${doubt.text}\``);
    case 'expands': return t('the shell would expand {0}', `\`${doubt.text}\``);
    case 'pattern': return t('the pattern {0} may match anything', `\`${doubt.text}\``);
    case 'character': return t('not every shell reads the character {0} alike', doubt.text);
    default: return assertNever(doubt, 'doubt');
  }
}

function syntaxWords(syntax: ShellSyntax): string {
  const { t } = vscode.l10n;
  switch (syntax) {
    case 'parameter-expansion': return t('a parameter expansion');
    case 'variable': return t('a variable');
    case 'command-substitution': return t('a command substitution');
    case 'process-substitution': return t('a process substitution');
    case 'here-string': return t('a here-string');
    case 'here-document': return t('a here-document');
    case 'arithmetic': return t('arithmetic');
    case 'ansi-c-string': return t('a $\'…\' string');
    case 'translated-string': return t('a $"…" string');
    case 'subshell': return t('a subshell');
    case 'function': return t('a function');
    case 'assignment': return t('a variable assignment');
    default: return assertNever(syntax, 'shell syntax');
  }
}
