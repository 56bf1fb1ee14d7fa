import { assertNever } from '../../contract/never.ts';
import type { ToolResultBlock, ToolSchema } from '../../contract/content.ts';
import { fieldsOf } from './fields.ts';
import { firstSentence } from './match.ts';
import { textOf, type Plan } from './plan.ts';
import { describe } from './slash.ts';

const PLAIN = 'I am the offline mode: no language model is connected, so I only match your words to the tools that are loaded.';
const LONGEST_REPORT = 4000;

/** What is said about a plan, in Markdown. For a call: the line above its card. */
export function replyText(plan: Plan, tools: readonly ToolSchema[]): string {
  switch (plan.kind) {
    case 'call':
      return plan.certainty === 'described'
        ? `No language model is connected. Going by its description, this is for the \`${plan.tool.name}\` tool.`
        : `No language model is connected; your words match the \`${plan.tool.name}\` tool.`;
    case 'ask': {
      const [field] = plan.missing;
      const what = field!.description === '' ? describe(field!) : firstSentence(field!.description).replace(/[.]$/, '');
      const others = plan.missing.slice(1).map((entry) => `\`${entry.name}\``);
      const also = others.length === 0 ? '' : ` (and then ${others.join(', ')})`;
      return `The \`${plan.tool.name}\` tool needs \`${field!.name}\`${also}: ${what}.\n\nAnswer with it, or write it all at once:\n\n${usage(plan.tool)}`;
    }
    case 'problem':
      return `${plan.problem}\n\nThe \`${plan.tool.name}\` tool is used like this:\n\n${usage(plan.tool)}`;
    case 'report':
      return plan.results.map(({ name, result }) => report(name, result)).join('\n\n');
    case 'told':
      return plan.texts.length === 0 ? 'There is nothing to do.' : plan.texts.join('\n\n');
    case 'unknown-tool':
      return `There is no tool \`${plan.name}\`.\n\n${catalog(tools)}`;
    case 'unsure':
      return plan.candidates.length === 0
        ? `${PLAIN} No tool fits this.\n\n${catalog(tools)}`
        : `${PLAIN} Which of these do you mean?\n\n${plan.candidates.map(line).join('\n')}`;
    default:
      return assertNever(plan, 'plan');
  }
}

function report(name: string, result: ToolResultBlock): string {
  const text = textOf({ content: result.content });
  const pictures = result.content.filter((block) => block.type === 'image').length;
  if (result.isError) return `The \`${name}\` tool failed: ${text.replace(/^Error: /, '') || 'it gave no reason.'}`;
  if (text === '') return pictures > 0 ? `The \`${name}\` tool answered with a picture.` : `The \`${name}\` tool is done; it printed nothing.`;
  const cut = text.length > LONGEST_REPORT ? `${text.slice(0, LONGEST_REPORT)}\n… (${text.length - LONGEST_REPORT} more characters: see the card)` : text;
  return cut.includes('\n') ? `The \`${name}\` tool answered:\n\n${fenced(cut)}` : `The \`${name}\` tool answered: ${cut}`;
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function catalog(tools: readonly ToolSchema[]): string {
  if (tools.length === 0) return 'No tools are loaded.';
  return `Name a tool in a sentence, or use it as a command:\n\n${tools.map(line).join('\n')}\n\n`
    + 'For a real conversation, choose a model in the model picker.';
}

function line(tool: ToolSchema): string {
  return `- \`${command(tool)}\` — ${firstSentence(tool.description)}`;
}

/** `/grep pattern [path] [include]`. */
function command(tool: ToolSchema): string {
  const fields = fieldsOf(tool).filter((field) => !field.label);
  const shown = fields.filter((field) => field.required || fields.length <= 4);
  const words = shown.map((field) => (field.required ? `<${field.name}>` : `[${field.name}]`));
  return `/${tool.name} ${words.join(' ')}`.trim();
}

function usage(tool: ToolSchema): string {
  const fields = fieldsOf(tool).filter((field) => !field.label);
  const details = fields.map((field) => {
    const about = firstSentence(field.description);
    return `- \`${field.name}\` (${describe(field)}${field.required ? '' : ', optional'})${about === '' ? '' : `: ${about}`}`;
  });
  return [`\`${command(tool)}\``, '', ...details].join('\n');
}
