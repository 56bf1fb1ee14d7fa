import type { ToolSchema } from '../../contract/content.ts';
import { fieldsOf } from './fields.ts';

/** How sure a match is: the tool was named in so many words, its name is the sentence's verb or a word in it, or only its description fits. */
export type Certainty = 'named' | 'verb' | 'word' | 'described';
export interface Match { readonly tool: ToolSchema; readonly certainty: Certainty; readonly rest: string }

const STOP = new Set(('a an and are as at be by can could do does for from have how i in into is it its me my of on or our please some '
  + 'that the then there this to use using want was we what when where which who will with would you your tool tools').split(' '));

/** The tool a sentence is about, with the words that name it taken out of `rest`; or tools it may be about. */
export function matchTool(text: string, tools: readonly ToolSchema[]): Match | readonly ToolSchema[] {
  const byName = tools.flatMap((tool) => nameMatch(text, tool) ?? []);
  const best = (['named', 'verb', 'word'] as const).flatMap((certainty) => {
    const hits = byName.filter((hit) => hit.certainty === certainty).sort((a, b) => a.at - b.at || b.tool.name.length - a.tool.name.length);
    return hits.slice(0, 1);
  })[0];
  if (best) return best;
  return describedMatch(text, tools);
}

function nameMatch(text: string, tool: ToolSchema): (Match & { at: number }) | undefined {
  const names = [...new Set([tool.name, tool.name.replace(/[_-]+/g, ' ')])].map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const name = `(?<![\\p{L}\\p{N}_-])["'\`]?(?:${names.join('|')})["'\`]?(?![\\p{L}\\p{N}_-])`;
  const link = '(?:\\s*[:,]|\\s+(?:to|for|on|with|and)(?![\\p{L}\\p{N}_]))?';
  const forms: [Certainty, string][] = [
    ['named', `(?:please\\s+)?(?:use|run|call|invoke|try|execute)\\s+(?:the\\s+)?${name}(?:\\s+tool)?${link}`],
    ['named', `(?:with|using|via|through|by)\\s+(?:the\\s+)?${name}(?:\\s+tool)?`],
    ['named', `(?:the\\s+)?${name}\\s+tool${link}`],
    ['verb', `^\\s*(?:please\\s+|(?:can|could|would|will)\\s+you\\s+(?:please\\s+)?)?${name}(?:\\s*:)?`],
    ['word', name],
  ];
  for (const [certainty, form] of forms) {
    const hit = new RegExp(form, 'iu').exec(text);
    if (!hit) continue;
    const before = text.slice(0, hit.index);
    let after = text.slice(hit.index + hit[0].length);
    // "use the greet tool to greet Ada": what follows "to" is the verb, not the object
    if (/\bto$/i.test(hit[0])) after = after.replace(/^\s*\p{L}+(?=\s)/u, '');
    return { tool, certainty, rest: `${before} ${after}`.trim(), at: hit.index };
  }
  return undefined;
}

/** By the rarest words that a tool's name, description and parameters share with the sentence. */
function describedMatch(text: string, tools: readonly ToolSchema[]): Match | readonly ToolSchema[] {
  const vocabularies = tools.map((tool) => ({
    tool,
    main: stems(`${tool.name.replace(/[_-]+/g, ' ')} ${firstSentence(tool.description)}`),
    more: stems(`${tool.description} ${fieldsOf(tool).map((field) => `${field.name} ${field.description}`).join(' ')}`),
  }));
  const wanted = stems(text);
  const scored = vocabularies.map(({ tool, main, more }) => {
    let score = 0;
    for (const stem of wanted) {
      const spread = vocabularies.filter((other) => other.main.has(stem)).length;
      if (main.has(stem)) score += Math.log(1 + tools.length / spread);
      else if (more.has(stem)) score += 0.3;
    }
    return { tool, score };
  }).filter(({ score }) => score > 0.9).sort((a, b) => b.score - a.score);
  const [first, second] = scored;
  if (first && first.score >= 1.6 && first.score > 1.4 * (second?.score ?? 0)) {
    return { tool: first.tool, certainty: 'described', rest: text };
  }
  return scored.slice(0, 3).map(({ tool }) => tool);
}

/** A description's first sentence. */
export function firstSentence(text: string): string {
  return /^[\s\S]*?[.!?](?=\s|$)/.exec(text.trim())?.[0].replace(/\s+/g, ' ') ?? text.trim().split('\n')[0] ?? '';
}

function stems(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length > 1 && !STOP.has(word)).map(stem));
}

function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ies|ing|ed|es|s)$/, '') : word.replace(/s$/, '');
}
