import { assertNever } from '../contract/never.ts';
import type { ApprovalRule } from '../contract/event.ts';
import type { CommandAnalysis } from './command.ts';

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

/** Programs whose first word that is no option says what they do; everything else is remembered to the letter. */
const SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  npm: ['run', 'run-script'], pnpm: ['run'], yarn: ['run'], bun: ['run'], deno: ['task'], cargo: [], go: [], git: [], make: [], dotnet: [], mvn: [], gradle: [],
};
/** Subcommands that run whatever stands behind them: never remembered as a prefix. */
const OPEN_ENDED = new Set(['exec', 'x', 'dlx', 'run', 'eval', 'config', 'install', 'add']);

/** The widest rule that may be offered for a command: a prefix when its words say what it does, else the very command. */
export function commandRule(toolName: string, command: string, analysis: CommandAnalysis): ApprovalRule {
  const exact: ApprovalRule = { kind: 'command', toolName, command: command.trim() };
  const unknown = analysis.commands.filter((entry) => !entry.readOnly);
  if (!analysis.certain || unknown.length !== 1) return exact;
  const { words } = unknown[0]!;
  const runners = Object.hasOwn(SUBCOMMANDS, words[0]!) ? SUBCOMMANDS[words[0]!]! : undefined;
  const [, second, third] = words;
  if (!runners || second === undefined || !/^[a-z][\w:-]*$/i.test(second)) return exact;
  if (runners.includes(second)) {
    return third !== undefined && /^[a-z][\w:.-]*$/i.test(third) ? { kind: 'command-prefix', toolName, words: [words[0]!, second, third] } : exact;
  }
  return OPEN_ENDED.has(second) ? exact : { kind: 'command-prefix', toolName, words: [words[0]!, second] };
}

/** Whether the user allowed this tool, or this command to the letter. */
export function exactlyAllowed(rules: readonly ApprovalRule[], toolName: string, command: string): boolean {
  return rules.some((rule) => rule.toolName === toolName && (rule.kind === 'tool' || (rule.kind === 'command' && rule.command === command.trim())));
}

/** Whether allowed prefixes cover a command: only what was read with certainty, every part of it. */
export function prefixAllowed(rules: readonly ApprovalRule[], toolName: string, analysis: CommandAnalysis): boolean {
  return analysis.certain && analysis.commands.every((entry) => entry.readOnly || rules.some((rule) => (
    rule.kind === 'command-prefix' && rule.toolName === toolName && rule.words.every((word, i) => entry.words[i] === word)
  )));
}
