import type { ToolResultBlock, ToolSchema } from '../../contract/content.ts';
import type { Message } from '../../contract/message.ts';
import { coerce, type Field } from './fields.ts';
import { matchTool, type Certainty } from './match.ts';
import { fillSentence } from './sentence.ts';
import { fillSlash, misfit, readSlash, type Filled } from './slash.ts';

/** What the offline model does about a conversation. */
export type Plan =
  | { readonly kind: 'call'; readonly tool: ToolSchema; readonly args: Record<string, unknown>; readonly certainty: Certainty | 'slash' }
  | { readonly kind: 'ask'; readonly tool: ToolSchema; readonly missing: readonly Field[]; readonly args: Record<string, unknown> }
  | { readonly kind: 'problem'; readonly tool: ToolSchema; readonly problem: string }
  | { readonly kind: 'report'; readonly results: readonly { readonly name: string; readonly result: ToolResultBlock }[] }
  /** Nobody said anything: a plugin did (a background job is over, say). */
  | { readonly kind: 'told'; readonly texts: readonly string[] }
  | { readonly kind: 'unknown-tool'; readonly name: string }
  | { readonly kind: 'unsure'; readonly candidates: readonly ToolSchema[] };

/** How an `ask` reply begins: the next answer is read as the value it asks for. */
export const ASKING = /^The `([^`]+)` tool needs `([^`]+)`/;

/** Decides from the conversation alone; nothing is remembered between requests. */
export function planReply(messages: readonly Message[], tools: readonly ToolSchema[]): Plan {
  const results = latestResults(messages);
  if (results) return { kind: 'report', results };
  const told = newsOnly(messages);
  if (told) return { kind: 'told', texts: told };
  const spoken = messages.filter((message) => message.role === 'assistant' || message.source.kind === 'user');
  return planFor(spoken, tools);
}

function planFor(spoken: readonly Message[], tools: readonly ToolSchema[]): Plan {
  const at = spoken.findLastIndex((message) => message.role === 'user');
  const text = at < 0 ? '' : textOf(spoken[at]!);
  const earlier = pendingAsk(spoken.slice(0, at), tools);
  const slash = readSlash(text);
  if (slash) {
    const tool = tools.find((entry) => entry.name === slash.name) ?? tools.find((entry) => entry.name.toLowerCase() === slash.name.toLowerCase());
    return tool ? planFilled(tool, fillSlash(tool, slash.rest), 'slash') : { kind: 'unknown-tool', name: slash.name };
  }
  const match = text.trim() === '' ? [] : matchTool(text, tools);
  const newRequest = 'tool' in match && (match.certainty === 'named' || match.certainty === 'verb');
  if (earlier && !newRequest) {
    const [field] = earlier.missing;
    const value = coerce(field!, /^\s*(["'`])([\s\S]*)\1\s*$/.exec(text)?.[2] ?? text.trim());
    if (value === undefined) return { kind: 'problem', tool: earlier.tool, problem: misfit(field!, text.trim()) };
    return planFilled(earlier.tool, { args: { ...earlier.args, [field!.name]: value }, missing: earlier.missing.slice(1) }, 'slash');
  }
  if (!('tool' in match)) return { kind: 'unsure', candidates: match };
  return planFilled(match.tool, fillSentence(match.tool, match.rest, text), match.certainty);
}

function planFilled(tool: ToolSchema, filled: Filled, certainty: Certainty | 'slash'): Plan {
  if (filled.problem !== undefined) return { kind: 'problem', tool, problem: filled.problem };
  if (filled.missing.length > 0) return { kind: 'ask', tool, missing: filled.missing, args: filled.args };
  return { kind: 'call', tool, args: filled.args, certainty };
}

/** What the reply before this message asked for, worked out again from what came before it. */
function pendingAsk(spoken: readonly Message[], tools: readonly ToolSchema[]): Extract<Plan, { kind: 'ask' }> | undefined {
  const last = spoken.at(-1);
  if (last?.role !== 'assistant' || !ASKING.test(textOf(last))) return undefined;
  const plan = planFor(spoken.slice(0, -1), tools);
  return plan.kind === 'ask' ? plan : undefined;
}

/** The results of the last assistant turn's calls, when nothing was said since. */
function latestResults(messages: readonly Message[]): Extract<Plan, { kind: 'report' }>['results'] | undefined {
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  if (at < 0) return undefined;
  const later = messages.slice(at + 1);
  if (later.some((message) => message.source.kind === 'user')) return undefined;
  const results = later.flatMap((message) => message.content.filter((block): block is ToolResultBlock => block.type === 'tool-result'));
  if (results.length === 0) return undefined;
  const names = new Map(messages[at]!.content.flatMap((block) => (block.type === 'tool-call' ? [[block.id, block.name] as const] : [])));
  return results.map((result) => ({ name: names.get(result.toolCallId) ?? 'tool', result }));
}

/** What plugins said since the last answer when the user said nothing: their words must not run again. */
function newsOnly(messages: readonly Message[]): readonly string[] | undefined {
  const later = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1);
  if (later.length === messages.length || later.some((message) => message.source.kind === 'user')) return undefined;
  const news = later.filter(({ source }) => source.kind === 'plugin' && source.form !== 'snapshot' && source.form !== 'instructions');
  return news.map(textOf);
}

/** A message's text. */
export function textOf(message: Pick<Message, 'content'>): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n').trim();
}
