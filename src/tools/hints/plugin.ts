import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../contract/agent.ts';
import type { ContentBlock } from '../../contract/content.ts';
import { createUserMessage } from '../../contract/message.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import { jsonErrorPosition } from '../../model/json-position.ts';
import '../../registry/events.ts';

export const name = 'argument-hints';
export const inject = ['tools'];

/**
 * Tells the model what the contract's own texts leave out: where the JSON of its arguments breaks (O15.2), which of them the
 * tool does not have, since a parameter root is open (S1.8), which tool it may have meant. A failed call gets it at the end of its error; a
 * call that succeeded without it gets a notice, once for each tool and name.
 */
export function apply(ctx: Context): void {
  const told = new WeakMap<Agent, Set<string>>();

  ctx.on('tools/post-execute', async (exec, result, next) => {
    const decision = await next();
    // a program of run_code reads messages, not contents
    if (decision.kind !== 'accept' || exec.parent !== undefined) return decision;
    const definition = ctx.tools.get(exec.name, exec.agent);
    const stray = strayNames(exec.arguments, definition);
    const hint = definition === undefined ? nameHint(exec.name, ctx.tools.schemas(exec.agent).map((schema) => schema.name))
      : typeof exec.arguments === 'string' ? jsonHint(exec.arguments) : stray && strayHint(exec.name, stray);
    if (hint === undefined) return decision;
    if (result.isError) return 'value' in decision ? decision : { ...decision, content: withLine(decision.content ?? result.content, hint) };
    if (exec.agent === undefined || stray === undefined) return decision;
    const known = told.get(exec.agent) ?? new Set();
    told.set(exec.agent, known);
    const key = `${exec.name} ${stray.names.join(' ')}`;
    if (known.has(key)) return decision;
    known.add(key);
    const notice = createUserMessage({
      content: [{ type: 'text' as const, text: hint }],
      source: { kind: 'plugin' as const, plugin: name, form: 'notice' as const, summary: `${exec.name} has no parameter "${stray.names[0]!}"`.slice(0, 120) },
    });
    return { ...decision, additionalContexts: [...(decision.additionalContexts ?? []), notice] };
  });
}

/** A tool that is not there, by a name that is nearly one's. */
function nameHint(given: string, names: readonly string[]): string | undefined {
  const bare = plain(given);
  const meant = names.find((tool) => plain(tool) === bare) ?? names.find((tool) => alike(given, tool));
  return meant === undefined ? undefined : `Did you mean \`${meant}\`?`;
}

/** Characters shown of the place where JSON breaks. */
const NEAR = 24;

/** What is left behind the break when the text simply ends: nothing, or the beginning of an escape or a word. */
const CUT = /^(?:\s*|\\(?:u[0-9a-fA-F]{0,3})?|tr?u?|fa?l?s?|nu?l?|-)$/;

function jsonHint(raw: string): string {
  const at = jsonErrorPosition(raw);
  if (at === undefined) return 'The arguments are a string that holds JSON: send the object itself.';
  const lines = raw.split('\n');
  const place = `line ${at.line}, column ${at.column}`;
  const rest = [(lines[at.line - 1] ?? '').slice(at.column - 1), ...lines.slice(at.line)].join('\n');
  if (CUT.test(rest)) return `The arguments are not JSON: they end too early (${place}), as if the call had been cut off. Make the call again, in smaller parts if it is long.`;
  return `The arguments are not JSON: they break at ${place}, before ${JSON.stringify(rest.slice(0, NEAR))}. Line breaks, quotes and backslashes in a string need a backslash.`;
}

interface Stray { readonly names: readonly string[]; readonly parameters: readonly string[] }

/** Arguments the tool says nothing about. Only where its schema is as `defineTool` makes them: others may mean to be open. */
function strayNames(args: unknown, definition: ToolDefinition | undefined): Stray | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args) || definition === undefined) return undefined;
  const { type, properties, ...more } = definition.parameters;
  if (type !== 'object' || typeof properties !== 'object' || properties === null || Object.keys(more).some((key) => key !== 'required')) return undefined;
  const names = Object.keys(args).filter((key) => !Object.hasOwn(properties, key));
  return names.length === 0 ? undefined : { names, parameters: Object.keys(properties) };
}

function strayHint(tool: string, { names, parameters }: Stray): string {
  const said = names.slice(0, 5).map((given) => {
    const meant = parameters.find((parameter) => alike(given, parameter));
    return `${JSON.stringify(given.slice(0, 60))}${meant === undefined ? '' : ` (did you mean "${meant}"?)`}`;
  });
  const list = parameters.length === 0 ? 'It takes no arguments.' : `Its parameters are: ${parameters.join(', ')}.`;
  return `\`${tool}\` has no parameter ${said.join(', ')}${names.length > 5 ? ', …' : ''}: what was given for it had no effect. ${list}`;
}

/** The same name in another spelling, or one inside the other (`path`, `file_path`; `timeout`, `timeoutMs`). */
function alike(given: string, parameter: string): boolean {
  const [a, b] = [plain(given), plain(parameter)];
  return a.length > 2 && b !== '' && (a.includes(b) || b.includes(a));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function withLine(content: readonly ContentBlock[], line: string): ContentBlock[] {
  const last = content.at(-1);
  return last?.type === 'text' ? [...content.slice(0, -1), { type: 'text', text: `${last.text}\n${line}` }] : [...content, { type: 'text', text: line }];
}
