import { isReadOnly } from './read-only.ts';

/** A node of a parsed command, as the grammar gives it. */
export interface SyntaxNode {
  readonly type: string;
  readonly text: string;
  readonly hasError: boolean;
  readonly isMissing: boolean;
  readonly isNamed: boolean;
  readonly children: readonly (SyntaxNode | null)[];
}

/** One simple command, its words as the shell would pass them. */
export interface SimpleCommand {
  readonly words: readonly string[];
  /** Known not to write, run or send anything. */
  readonly readOnly: boolean;
}

/**
 * What is known about a command line. `certain`: it consists of `commands` alone, with nothing the shell expands,
 * substitutes or redirects except to nowhere. Otherwise `why` says what can't be told (J3).
 */
export interface CommandAnalysis {
  readonly certain: boolean;
  readonly why?: string;
  readonly commands: readonly SimpleCommand[];
  /** Files that are read through `<`. */
  readonly inputs: readonly string[];
}

class Uncertain extends Error {}

const WHAT: Readonly<Record<string, string>> = {
  expansion: 'a parameter expansion', simple_expansion: 'a variable', command_substitution: 'a command substitution',
  process_substitution: 'a process substitution', herestring_redirect: 'a here-string', heredoc_redirect: 'a here-document',
  arithmetic_expansion: 'arithmetic', ansi_c_string: 'a $\'…\' string', translated_string: 'a $"…" string', subshell: 'a subshell',
  function_definition: 'a function', variable_assignment: 'a variable assignment', file_redirect: 'a redirection',
};

/** Reads a syntax tree. Every node type that is not known here makes the command uncertain: then it asks. */
export function analyzeCommand(root: SyntaxNode): CommandAnalysis {
  const commands: SimpleCommand[] = [];
  const inputs: string[] = [];
  try {
    if (root.hasError) throw new Uncertain('it can\'t be parsed');
    visit(root, commands, inputs);
    if (commands.length === 0) throw new Uncertain('it is empty');
    return { certain: true, commands, inputs };
  } catch (error) {
    if (!(error instanceof Uncertain)) throw error;
    return { certain: false, why: error.message, commands, inputs };
  }
}

/** For shells without a grammar, and when the grammar can't be loaded. */
export function unknownCommand(why: string): CommandAnalysis {
  return { certain: false, why, commands: [], inputs: [] };
}

function visit(node: SyntaxNode, commands: SimpleCommand[], inputs: string[]): void {
  if (node.isMissing) throw new Uncertain('it can\'t be parsed');
  switch (node.type) {
    case 'program':
    case 'list':
    case 'pipeline':
    case 'negated_command':
      for (const child of children(node)) {
        if (child.isNamed) visit(child, commands, inputs);
        else if (!['&&', '||', ';', '|', '\n', '!', ''].includes(child.text.trim())) throw new Uncertain(`it uses \`${child.text}\``);
      }
      return;
    case 'comment':
      return;
    case 'redirected_statement':
      for (const child of children(node)) {
        if (child.type === 'file_redirect') redirect(child, inputs);
        else visit(child, commands, inputs);
      }
      return;
    case 'command':
      commands.push(simple(node, inputs));
      return;
    default:
      throw new Uncertain(`it uses ${WHAT[node.type] ?? node.type.replaceAll('_', ' ')}`);
  }
}

function simple(node: SyntaxNode, inputs: string[]): SimpleCommand {
  const words: string[] = [];
  let patterns = false;
  for (const child of children(node)) {
    if (child.type === 'command_name') {
      const [name] = children(child);
      // a name in quotes or pieces hides which program runs
      if (name?.type !== 'word' || !/^[A-Za-z0-9_.][A-Za-z0-9_.+-]*$/.test(name.text)) throw new Uncertain(`the program \`${child.text}\` is not a plain name`);
      words.push(name.text);
    } else if (child.type === 'file_redirect') redirect(child, inputs);
    else {
      words.push(word(child));
      patterns ||= hasPattern(child);
    }
  }
  if (words.length === 0) throw new Uncertain('it names no program');
  return { words, readOnly: isReadOnly(words) && (!patterns || NAMES_ONLY.has(words[0]!)) };
}

/** What these print of a file is its name and size: a pattern may match a link that leads elsewhere. */
const NAMES_ONLY = new Set(['ls', 'echo', 'du', 'stat']);

function hasPattern(node: SyntaxNode): boolean {
  return node.type === 'concatenation' ? children(node).some(hasPattern) : node.type === 'word' && /[*?[]/.test(node.text);
}

/** Only what goes nowhere, to another stream, or comes from a file. */
function redirect(node: SyntaxNode, inputs: string[]): void {
  const parts = children(node);
  const operator = parts.find((part) => !part.isNamed)?.text ?? '';
  const target = parts.filter((part) => part.isNamed && part.type !== 'file_descriptor');
  if (target.length !== 1) throw new Uncertain('it uses a redirection');
  const text = target[0]!.type === 'number' ? target[0]!.text : word(target[0]!);
  if ((operator === '>&' || operator === '<&') && /^\d$/.test(text)) return;
  if ((operator === '>' || operator === '&>' || operator === '>>') && text === '/dev/null') return;
  if (operator === '<') {
    inputs.push(text);
    return;
  }
  throw new Uncertain(`it writes to \`${text}\``);
}

/** The text of one word, when nothing in it is left for the shell to work out. */
function word(node: SyntaxNode): string {
  switch (node.type) {
    case 'number':
    case 'word':
      return plain(node.text);
    case 'raw_string':
      return node.text.slice(1, -1);
    case 'string': {
      const inner = node.text.slice(1, -1);
      if (children(node).some((child) => child.isNamed && child.type !== 'string_content')) {
        throw new Uncertain(`it uses ${WHAT[children(node).find((child) => child.isNamed && child.type !== 'string_content')!.type] ?? 'an expansion'}`);
      }
      if (/[$`\\!]/.test(inner)) throw new Uncertain('it uses an expansion');
      return inner;
    }
    case 'concatenation':
      return children(node).map(word).join('');
    default:
      throw new Uncertain(`it uses ${WHAT[node.type] ?? node.type.replaceAll('_', ' ')}`);
  }
}

function plain(text: string): string {
  if (/[\\$`"']/.test(text)) throw new Uncertain('it uses an escape');
  if (/^[~=]/.test(text) || /[{}!]/.test(text)) throw new Uncertain(`the shell would expand \`${text}\``);
  // a pattern that starts a word may match a file whose name is an option
  if (/^[*?[]/.test(text)) throw new Uncertain(`the pattern \`${text}\` may match anything`);
  if (/[*?[\]()<>|&;]/.test(text) && /^-/.test(text)) throw new Uncertain(`the shell would expand \`${text}\``);
  return text;
}

function children(node: SyntaxNode): SyntaxNode[] {
  return node.children.filter((child): child is SyntaxNode => child !== null);
}
