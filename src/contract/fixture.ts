import type { ContentBlock } from './content.ts';
import { defineTool } from './define-tool.ts';
import type { DefineToolOptions } from './define-tool.ts';
import type { InferArgs, ParameterSchemaSpec } from './schema-types.ts';
import type { ToolDefinition, ToolRunContext } from './tool.ts';

type NoParameters = Record<string, never>;
type ContentSchema = { readonly type: 'array'; readonly items: { readonly type: 'json' } };

/** `defineTool`'s options without an output: the body returns content blocks. */
export type ContentToolFixtureOptions<S extends ParameterSchemaSpec> = Omit<DefineToolOptions<S, ContentSchema>, 'output' | 'execute'> & {
  execute(args: InferArgs<S>, exec: ToolRunContext): Promise<ContentBlock[]>;
};

/** A tool for tests whose value is its content (T2.7). A real tool returns data and renders it. */
export function defineContentToolFixture<const S extends ParameterSchemaSpec>(options: ContentToolFixtureOptions<S>): ToolDefinition {
  const { execute, ...rest } = options;
  const output: DefineToolOptions<NoParameters, ContentSchema>['output'] = {
    schema: { type: 'array', items: { type: 'json' } },
    render: (_args, blocks) => blocks as unknown as ContentBlock[],
  };
  // The compiler gives up on comparing two inferences over an open type parameter, so this goes by the shape alone.
  const define = defineTool as unknown as (options: object) => ToolDefinition;
  return define({ ...rest, output, execute });
}
