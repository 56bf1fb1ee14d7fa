import { Context } from '@deepseek-ai/cordis';
import type { ToolDefinition, ToolExecutionInput, ToolExecutionResult } from '../../src/contract/tool.ts';
import * as ourPrompt from '../../src/prompt/dsh-system-prompt.ts';
import * as ourTools from '../../src/registry/dsh-tools.ts';
import { publishedPrompt, publishedTools } from '../oracle/published.ts';
import { measure, report } from './measure.ts';

type Tools = typeof ourTools;
interface Registry { register(tool: ToolDefinition): () => void; schemas(): unknown[]; execute(input: ToolExecutionInput): Promise<ToolExecutionResult> }

const row = {
  type: 'object', additionalProperties: false,
  properties: { id: { type: 'integer', required: true }, name: { type: 'string', required: true }, done: { type: 'boolean', required: true } },
} as const;

function smallTool({ defineTool }: Tools, name = 'greet'): ToolDefinition {
  return defineTool({
    name, description: 'Greets somebody.', parameters: { name: { type: 'string', required: true, description: 'Whom.' } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: async (args) => `Hello, ${args.name}!`,
  });
}

function rowsTool({ defineTool }: Tools): ToolDefinition {
  return defineTool({
    name: 'rows', description: 'Gives back new records.', parameters: { rows: { type: 'array', items: row, required: true } },
    output: { schema: { type: 'array', items: row }, render: (_args, value) => [{ type: 'text', text: `${value.length} rows` }] },
    execute: async ({ rows }) => rows.map(({ id, name, done }) => ({ id: id + 1, name, done: !done })),
  });
}

/** A registry with both tools, as a plugin sees it. */
async function open(tools: Tools, prompt: typeof ourPrompt): Promise<Registry> {
  const root = new Context();
  await root.plugin(prompt.SystemPrompt, {});
  await root.plugin(tools.ToolRuntime, {});
  let registry: Registry | undefined;
  await root.plugin({ name: 'bench', inject: ['tools'], apply(ctx: Context) { registry = ctx.tools as Registry; } });
  registry!.register(smallTool(tools));
  registry!.register(rowsTool(tools));
  return registry!;
}

async function succeed(pending: Promise<ToolExecutionResult>): Promise<void> {
  const result = await pending;
  if (result.isError) throw new Error(result.error.message);
}

const clone = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

// What calling, listing and registering tools cost, here and in the published package.
const ours = await open(ourTools, ourPrompt);
const theirs = await open(publishedTools, publishedPrompt);
const { signal } = new AbortController();
const small = { name: 'Ada' };
const rows = { rows: Array.from({ length: 1000 }, (_, id) => ({ id, name: `row ${id}`, done: id % 2 === 0 })) };
const call = (registry: Registry, name: string, args: unknown) => () => succeed(registry.execute({ callId: 'c', name, arguments: args, signal }));

report(await measure('dispatch/small', {
  ours: call(ours, 'greet', small), theirs: call(theirs, 'greet', small), floor: () => [clone(small), clone('Hello, Ada!')],
}));
report(await measure('dispatch/records', {
  ours: call(ours, 'rows', rows), theirs: call(theirs, 'rows', rows), floor: () => [clone(rows), clone(rows)],
}));

function registerAll(registry: Registry, tools: Tools, count: number): () => void {
  const undo = Array.from({ length: count }, (_, at) => registry.register(smallTool(tools, `tool-${at}`)));
  return () => { for (const dispose of undo) dispose(); };
}

for (const count of [250, 500, 1000]) {
  report(await measure(`register-and-dispose/${count}`, { ours: () => registerAll(ours, ourTools, count)(), theirs: () => registerAll(theirs, publishedTools, count)() }));
}
for (const count of [250, 500, 1000]) {
  const undo = [registerAll(ours, ourTools, count), registerAll(theirs, publishedTools, count)];
  report(await measure(`schemas/${count}`, { ours: () => ours.schemas(), theirs: () => theirs.schemas() }));
  for (const dispose of undo) dispose();
}
