/** What plugins get as `@deepseek-ai/dsh-tools` (R3.3). */
export { ToolRuntime, ToolRuntime as default } from './runtime.ts';
export type { Config } from './runtime.ts';
export { defineTool } from '../contract/define-tool.ts';
export type { DefineToolOptions } from '../contract/define-tool.ts';
export { defineContentToolFixture } from '../contract/fixture.ts';
export type { ContentToolFixtureOptions } from '../contract/fixture.ts';
export { ToolArgsError, parameterSchemaSpecToJsonSchema, validateArgs, valueSchemaSpecToJsonSchema } from '../contract/schema.ts';
export { JsonSchemaError, assertObjectJsonSchema, assertSupportedJsonSchema } from '../contract/json-schema.ts';
export type { JsonSchemaNode, JsonSchemaScalar, JsonSchemaType, ObjectJsonSchema } from '../contract/json-schema.ts';
export { validateJsonSchemaValue } from '../contract/validate.ts';
export type {
  ArrayValueSchemaSpec, BooleanValueSchemaSpec, InferArgs, InferValue, IntegerValueSchemaSpec, JsonValueSchemaSpec,
  NullValueSchemaSpec, NumberValueSchemaSpec, ObjectValueSchemaSpec, OneOfValueSchemaSpec, ParameterJsonSchema,
  ParameterPropertySpec, ParameterSchemaSpec, StringValueSchemaSpec, ValueSchemaAnnotations, ValueSchemaSpec,
} from '../contract/schema-types.ts';
export { TOOL_ABORTED, TOOL_ABORTED_BEFORE_DISPATCH, ToolNotFoundError, ToolOutputError } from './failure.ts';
export { CodeRunFailedError, RUN_CODE_NAME } from './run-code.ts';
export { TOOL_RUNTIME_SCHEDULER } from './scheduler.ts';
export type { ScheduledToolDispatch, ScheduledToolPreparation, ToolRuntimeScheduler } from './scheduler.ts';
export { jsonSchemaToTs, renderToolsSdk } from '../contract/ts-types.ts';
export { jsonSchemaToPy, renderToolsSdkPy } from '../contract/py-types.ts';
export type { CodeDispatchLog } from './events.ts';
export type { JsonValue } from '../contract/json.ts';
export type {
  PostToolDecision, PreToolDecision, ToolDefinition, ToolDispatchExecution, ToolErrorInfo, ToolExecution, ToolExecutionFailure,
  ToolExecutionInput, ToolExecutionMode, ToolExecutionResult, ToolExecutionSuccess, ToolExecutionToken, ToolFailure, ToolGuard,
  ToolOutputDefinition, ToolPresentationMode, ToolRestriction, ToolResult, ToolRunContext,
} from '../contract/tool.ts';
export type {
  DiffCallView, DiffResultView, FileDiff, FileLocation, GenericCallView, GenericResultView, ReadFileLine, ReadResultView,
  SearchFileMatches, SearchLineMatch, SearchMatchesResultView, SearchPathsResultView, SearchResultView, TerminalCallView,
  TerminalResultView, ToolCallKind, ToolCallView, ToolResultView, WebFetchResultView, WebResultView, WebSearchResultView, WebSource,
} from '../contract/presentation.ts';
