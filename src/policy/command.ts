import type { CommandDoubt, ShellSyntax } from '../contract/ask-reason.ts';
import { readPlainly } from './plain-reading.ts';
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
  /** Gets what the command before it prints. */
  readonly piped: boolean;
}

/**
 * What is known about a command line. `certain`: it consists of `commands` alone, with nothing the shell expands,
 * substitutes or redirects except to nowhere. Otherwise `why` says what can't be told (J3).
 */
export interface CommandAnalysis {
  readonly certain: boolean;
  readonly why?: CommandDoubt;
  readonly commands: readonly SimpleCommand[];
  /** Files that are read through `<`. */
  readonly inputs: readonly string[];
}

class Uncertain extends Error {
  readonly doubt: CommandDoubt;
  constructor(doubt: CommandDoubt) {
    super(doubt.code);
    this.doubt = doubt;
  }
}

/** Node types of the grammar that have a name of ours. */
const SYNTAX: Readonly<Record<string, ShellSyntax>> = {
  expansion: 'parameter-expansion', simple_expansion: 'variable', command_substitution: 'command-substitution',
  process_substitution: 'process-substitution', herestring_redirect: 'here-string', heredoc_redirect: 'here-document',
  arithmetic_expansion: 'arithmetic', ansi_c_string: 'ansi-c-string', translated_string: 'translated-string', subshell: 'subshell',
  function_definition: 'function', variable_assignment: 'assignment',
};

function uses(type: string): Uncertain {
  if (type === 'file_redirect') return new Uncertain({ code: 'redirection' });
  const syntax = Object.hasOwn(SYNTAX, type) ? SYNTAX[type] : undefined;
  return new Uncertain(syntax === undefined ? { code: 'construct', text: type } : { code: 'syntax', syntax });
}

/** What was found so far. */
interface Found { readonly commands: SimpleCommand[]; readonly inputs: string[]; /** As in a plain reading. */ readonly redirections: string[] }

/**
 * Reads the syntax tree of `source`. Every node type that is not known here makes the command uncertain, and so does every
 * character that the grammar and a shell could take for different things: then it asks.
 */
export function analyzeCommand(root: SyntaxNode, source: string): CommandAnalysis {
  const found: Found = { commands: [], inputs: [], redirections: [] };
  try {
    if (root.hasError) throw new Uncertain({ code: 'unparsable' });
    visit(root, found);
    if (found.commands.length === 0) throw new Uncertain({ code: 'empty' });
    return { certain: true, commands: confirmed(found, source), inputs: found.inputs };
  } catch (error) {
    if (!(error instanceof Uncertain)) throw error;
    return { certain: false, why: error.doubt, commands: found.commands, inputs: found.inputs };
  }
}

/** The commands, if they are the same when read without the grammar. */
function confirmed({ commands, redirections }: Found, source: string): SimpleCommand[] {
  const plain = readPlainly(source);
  if ('code' in plain) throw new Uncertain(plain);
  const same = plain.commands.length === commands.length
    && commands.every(({ words }, i) => isSame(words, plain.commands[i]!.words))
    && isSame(redirections.toSorted(), plain.redirections.toSorted());
  if (!same) throw new Uncertain({ code: 'ambiguous' });
  return commands.map((command, i) => ({ ...command, piped: plain.commands[i]!.piped }));
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, i) => text === others[i]);
}

/** For shells without a grammar, and when the grammar can't be loaded. */
export function unknownCommand(why: CommandDoubt): CommandAnalysis {
  return { certain: false, why, commands: [], inputs: [] };
}

function visit(node: SyntaxNode, found: Found): void {
  if (node.isMissing) throw new Uncertain({ code: 'unparsable' });
  switch (node.type) {
    case 'program':
    case 'list':
    case 'pipeline':
    case 'negated_command':
      for (const child of children(node)) {
        if (child.isNamed) visit(child, found);
        else if (!['&&', '||', ';', '|', '\n', '!', ''].includes(child.text.trim())) throw new Uncertain({ code: 'operator', text: child.text });
      }
      return;
    case 'comment':
      return;
    case 'redirected_statement':
      for (const child of children(node)) {
        if (child.type === 'file_redirect') redirect(child, found);
        else visit(child, found);
      }
      return;
    case 'command':
      found.commands.push(simple(node, found));
      return;
    default:
      throw uses(node.type);
  }
}

function simple(node: SyntaxNode, found: Found): SimpleCommand {
  const words: string[] = [];
  let patterns = false;
  for (const child of children(node)) {
    if (child.type === 'command_name') {
      const [name] = children(child);
      // a name in quotes or pieces hides which program runs
      if (name?.type !== 'word' || !/^[A-Za-z0-9_.][A-Za-z0-9_.+-]*$/.test(name.text)) throw new Uncertain({ code: 'program', text: child.text });
      words.push(name.text);
    } else if (child.type === 'file_redirect') redirect(child, found);
    else {
      const text = word(child);
      // one that steps back may do so from a link, which it finds itself
      if (hasPattern(child) && /(?:^|\/)\.\.?[*?[]|[*?[].*\/\.\.(?:\/|$)/s.test(text)) throw new Uncertain({ code: 'pattern', text });
      words.push(text);
      patterns ||= hasPattern(child);
    }
  }
  if (words.length === 0) throw new Uncertain({ code: 'no-program' });
  return { words, readOnly: isReadOnly(words) && (!patterns || NAMES_ONLY.has(words[0]!)), piped: false };
}

/** What these print of a file is its name and size: a pattern may match a link that leads elsewhere. */
const NAMES_ONLY = new Set(['ls', 'echo', 'du', 'stat']);

function hasPattern(node: SyntaxNode): boolean {
  return node.type === 'concatenation' ? children(node).some(hasPattern) : node.type === 'word' && /[*?[]/.test(node.text);
}

/** Only what goes nowhere, to another stream, or comes from a file. */
function redirect(node: SyntaxNode, found: Found): void {
  const parts = children(node);
  const operator = parts.find((part) => !part.isNamed)?.text ?? '';
  const target = parts.filter((part) => part.isNamed && part.type !== 'file_descriptor');
  if (target.length !== 1) throw new Uncertain({ code: 'redirection' });
  const text = target[0]!.type === 'number' ? target[0]!.text : word(target[0]!);
  // which file that is nobody has looked at
  if (hasPattern(target[0]!)) throw new Uncertain({ code: 'pattern', text });
  found.redirections.push(`${operator} ${text}`);
  if ((operator === '>&' || operator === '<&') && /^\d$/.test(text)) return;
  if ((operator === '>' || operator === '&>' || operator === '>>') && text === '/dev/null') return;
  if (operator === '<') {
    found.inputs.push(text);
    return;
  }
  throw new Uncertain({ code: 'writes', text });
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
      const part = children(node).find((child) => child.isNamed && child.type !== 'string_content');
      if (part) throw uses(part.type);
      if (/[$`\\!]/.test(inner)) throw new Uncertain({ code: 'expansion' });
      return inner;
    }
    case 'concatenation':
      return children(node).map(word).join('');
    default:
      throw uses(node.type);
  }
}

function plain(text: string): string {
  if (/[\\$`"']/.test(text)) throw new Uncertain({ code: 'escape' });
  if (/^[~=]/.test(text) || /[{}!]/.test(text)) throw new Uncertain({ code: 'expands', text });
  // a pattern that starts a word may match a file whose name is an option
  if (/^[*?[]/.test(text)) throw new Uncertain({ code: 'pattern', text });
  if (/[*?[\]()<>|&;]/.test(text) && /^-/.test(text)) throw new Uncertain({ code: 'expands', text });
  return text;
}

function children(node: SyntaxNode): SyntaxNode[] {
  return node.children.filter((child): child is SyntaxNode => child !== null);
}
