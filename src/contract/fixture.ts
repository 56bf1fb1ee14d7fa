import type { ContentBlock } from './content.ts';
import { defineTool } from './define-tool.ts';
import type { DefineToolOptions } from './define-tool.ts';
import type { JsonValue } from './json.ts';
import type { InferArgs, ParameterSchemaSpec } from './schema-types.ts';
import type { ToolDefinition, ToolRunContext } from './tool.ts';

type ContentSchema = { readonly type: 'array'; readonly items: { readonly type: 'json' } };

/** `defineTool`'s options without an output: the body returns content blocks. */
export type ContentToolFixtureOptions<S extends ParameterSchemaSpec> = Omit<DefineToolOptions<S, ContentSchema>, 'output' | 'execute'> & {
  execute(args: InferArgs<S>, exec: ToolRunContext): Promise<ContentBlock[]>;
};

/** A tool for tests whose value is its content (T2.7). A real tool returns data and renders it. */
export function defineContentToolFixture<const S extends ParameterSchemaSpec>(options: ContentToolFixtureOptions<S>): ToolDefinition {
  const { execute, ...rest } = options;
  // Typed by the widest schema: comparing two inferences over an open type parameter is too much for the compiler.
  const full: DefineToolOptions<ParameterSchemaSpec, ContentSchema> = {
    ...(rest as unknown as Omit<DefineToolOptions<ParameterSchemaSpec, ContentSchema>, 'output' | 'execute'>),
    output: {
      schema: { type: 'array', items: { type: 'json' } },
      render: (_args, blocks) => blocks as unknown as ContentBlock[],
    },
    execute: async (args, exec) => (await execute(args as InferArgs<S>, exec)) as unknown as JsonValue[],
  };
  return defineTool(full);
}
