import type { Agent } from '../contract/agent.ts';
import type { ToolSchema } from '../contract/content.ts';
import type { ScopeKey } from '../scope/scope.ts';

/** What one assembly is for. Without a scope only global contributions take part. */
export interface AssembleContext {
  scope?: ScopeKey;
  /** The agent whose request is assembled; usually also the scope. */
  agent?: Agent;
  /** Ends this one assembly; not to be kept. */
  signal?: AbortSignal;
}

type Text = string | ((context: AssembleContext) => string);

/** A piece of the system prompt (Y14.1). Sections go by ascending `order`: identity −100, persona 0, tool guidance 100–199. */
export interface PromptSection {
  readonly name: string;
  readonly order: number;
  readonly text: Text;
  /** Makes this section the whole system prompt; two of them fail the assembly (Y14.4). */
  readonly complete?: boolean;
}

/** A piece of the runtime-context snapshot that goes to the model as a message (Y14.5). */
export interface PromptContext { readonly name: string; readonly order: number; readonly text: Text }

/** Tools of one provider. `knownNames` also counts tools hidden from this scope, for checking `toolOrder` (Y14.6). */
export interface ToolProviderResult { readonly schemas: readonly ToolSchema[]; readonly knownNames?: readonly string[] }
export type ToolProvider = (context: AssembleContext) => ToolProviderResult;
export type VariableProvider = (context: AssembleContext) => string | undefined;

export interface AssembledSection { name: string; text: string }
export interface AssembledContext { name: string; text: string }

/** Everything a request's head is made of; texts are not interpolated yet. Listeners of the waterfall may change it. */
export interface PromptAssembly {
  sections: AssembledSection[];
  contexts: AssembledContext[];
  tools: ToolSchema[];
  variables: Record<string, string | undefined>;
}
