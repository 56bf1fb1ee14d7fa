import { assertNever } from '../contract/never.ts';
import type { ApprovalRule } from '../contract/event.ts';
import type { CommandAnalysis } from './command.ts';
import { prefixOf } from './prefixes.ts';

/** What a rule allows, in as few words as a button has room for. */
export function ruleLabel(rule: ApprovalRule): string {
  switch (rule.kind) {
    case 'tool':
      return rule.toolName;
    case 'command':
      return rule.command;
    case 'command-prefix':
      return `${rule.words.join(' ')} …`;
    default:
      return assertNever(rule, 'approval rule');
  }
}

/**
 * The widest rule that may be offered for a command: a prefix when its words say what it does, else the very command in this very
 * folder. `cwd` is a real path.
 */
export function commandRule(toolName: string, command: string, cwd: string, analysis: CommandAnalysis): ApprovalRule {
  const unknown = analysis.commands.filter((entry) => !entry.readOnly);
  const words = analysis.certain && unknown.length === 1 ? prefixOf(unknown[0]!.words) : undefined;
  return words === undefined ? { kind: 'command', toolName, command: command.trim(), cwd } : { kind: 'command-prefix', toolName, words: [...words] };
}

/** Whether the user allowed this tool, or this command to the letter in this folder: elsewhere the same words mean other files. */
export function exactlyAllowed(rules: readonly ApprovalRule[], toolName: string, command: string, cwd: string): boolean {
  return rules.some((rule) => rule.toolName === toolName && (
    rule.kind === 'tool' || (rule.kind === 'command' && rule.command === command.trim() && rule.cwd === cwd)
  ));
}

/**
 * Whether allowed prefixes cover a command: only what was read with certainty, every part of it, and only as far as such a rule
 * would be offered for it today: a log may hold wider ones.
 */
export function prefixAllowed(rules: readonly ApprovalRule[], toolName: string, analysis: CommandAnalysis): boolean {
  return analysis.certain && analysis.commands.every((entry) => {
    if (entry.readOnly) return true;
    const words = prefixOf(entry.words);
    return words !== undefined && rules.some((rule) => (
      rule.kind === 'command-prefix' && rule.toolName === toolName && rule.words.length === words.length && rule.words.every((word, i) => words[i] === word)
    ));
  });
}
