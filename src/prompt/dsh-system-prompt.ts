/** What plugins get as `@deepseek-ai/dsh-system-prompt`. */
export { PERSONA_ORDER, PERSONA_SECTION, SystemPrompt, SystemPrompt as default } from './system-prompt.ts';
export type { Config } from './system-prompt.ts';
export { TOOL_ORDER_REST } from './tool-order.ts';
export { joinContextSections, renderContextSections, renderContextSnapshot, renderPrompt } from './render.ts';
export type {
  AssembleContext, AssembledContext, AssembledSection, PromptAssembly, PromptContext, PromptSection, ToolProviderResult,
} from './assembly.ts';
