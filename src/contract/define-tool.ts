import type { ContentBlock } from './content.ts';
import type { JsonValue } from './json.ts';
import type { ToolCallView, ToolResultView } from './presentation.ts';
import { ToolArgsError, parameterSchemaSpecToJsonSchema, valueSchemaSpecToJsonSchema } from './schema.ts';
import type { InferArgs, InferValue, ParameterSchemaSpec, ValueSchemaSpec } from './schema-types.ts';
import type { ToolDefinition, ToolExecution, ToolExecutionResult, ToolOutputDefinition, ToolResult, ToolRunContext } from './tool.ts';
import { violationsOf } from './validate.ts';

/** What a tool author writes (T2.1). */
export interface DefineToolOptions<S extends ParameterSchemaSpec, O extends ValueSchemaSpec> {
  /** Unique among the tools an agent sees. */
  readonly name: string;
  /** Told to the model. */
  readonly description: string;
  readonly parameters: S;
  readonly output: {
    /** What every successful call returns. */
    readonly schema: O;
    /** The value as the model reads it. */
    render(args: InferArgs<S>, value: InferValue<NoInfer<O>>): ContentBlock[];
    /** What `presentResult` needs beyond the content; logged. */
    presentationMeta?(args: InferArgs<S>, value: InferValue<NoInfer<O>>): JsonValue;
  };
  /** Advice for timeout policies, in ms (T2.3). */
  readonly timeoutMs?: number;
  /** Whether this call may run beside others of its batch. */
  isConcurrencySafe?(args: InferArgs<S>): boolean;
  /** The tool's work. Must observe `exec.signal`. Sees valid arguments only (T2.4). */
  execute(args: InferArgs<S>, exec: ToolRunContext): Promise<InferValue<NoInfer<O>>>;
  /** Last word on the content of any outcome, also of failed calls: arguments are as the model sent them (P4.30). */
  finalizeContent?(exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>): ContentBlock[] | undefined;
  /** How a pending call looks; undefined means generic (T2.5). Pure (V9.6). */
  presentCall?(args: InferArgs<S>): ToolCallView | undefined;
  /** How a settled call looks; undefined means generic (T2.5). Pure (V9.6). */
  presentResult?(args: InferArgs<S>, result: ToolResult): ToolResultView | undefined;
}

/**
 * Makes a `ToolDefinition` for `ctx.tools.register` out of a typed description (T2.2). Throws `JsonSchemaError` for a
 * schema outside the language, and an `Error` for a `timeoutMs` that is not positive and finite. Callbacks are captured
 * here and called without `this`.
 */
export function defineTool<const S extends ParameterSchemaSpec, const O extends ValueSchemaSpec>(options: DefineToolOptions<S, O>): ToolDefinition {
  type Args = InferArgs<S>;
  type Output = InferValue<NoInfer<O>>;
  const { name, description, timeoutMs, execute, isConcurrencySafe, finalizeContent, presentCall, presentResult } = options;
  const { render, presentationMeta } = options.output;
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new Error(`defineTool(${name}): timeoutMs must be a positive finite number`);
  }
  const parameters = parameterSchemaSpecToJsonSchema(options.parameters);
  const output: ToolOutputDefinition = {
    schema: valueSchemaSpecToJsonSchema(options.output.schema),
    render: (args, value) => render(args as Args, value as Output),
    ...(presentationMeta && { presentationMeta: (args: unknown, value: JsonValue) => presentationMeta(args as Args, value as Output) }),
  };
  const fits = (args: unknown): args is Args => violationsOf(parameters, args, '').length === 0;
  return {
    name,
    description,
    parameters: parameters as unknown as Record<string, unknown>,
    output,
    async execute(args, exec) {
      const violations = violationsOf(parameters, args, '');
      if (violations.length > 0) throw new ToolArgsError(violations);
      return execute(args as Args, exec);
    },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(isConcurrencySafe && { isConcurrencySafe: (args: unknown) => fits(args) && isConcurrencySafe(args) }),
    ...(finalizeContent && {
      finalizeContent: (exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>) => finalizeContent(exec, result),
    }),
    ...(presentCall && { presentCall: (args: unknown) => (fits(args) ? presentCall(args) : undefined) }),
    ...(presentResult && { presentResult: (args: unknown, result: ToolResult) => (fits(args) ? presentResult(args, result) : undefined) }),
  };
}
