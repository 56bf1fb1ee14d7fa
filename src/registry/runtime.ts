import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import z from '@deepseek-ai/schemastery';
import type { ToolSchema } from '../contract/content.ts';
import { snapshotJson } from '../contract/snapshot.ts';
import type {
  ToolDefinition, ToolExecutionInput, ToolExecutionMode, ToolExecutionResult, ToolGuard, ToolPresentationMode, ToolRestriction,
} from '../contract/tool.ts';
import type { ToolProviderResult } from '../prompt/assembly.ts';
import type { SystemPrompt } from '../prompt/system-prompt.ts';
import { scopeOf } from '../scope/scope.ts';
import type { ScopeKey } from '../scope/scope.ts';
import { CodeMode } from './code-mode.ts';
import type {} from './events.ts';
import { ToolEntry, modeOf } from './layer.ts';
import type { CompiledRestriction } from './layer.ts';
import { Pipeline } from './pipeline.ts';
import { PolicyEvents } from './policy-events.ts';
import { RUN_CODE_NAME } from './run-code.ts';
import { TOOL_RUNTIME_SCHEDULER, schedulerOf } from './scheduler.ts';
import type { ToolRuntimeScheduler } from './scheduler.ts';
import { Visibility } from './visibility.ts';

export interface Config {
  /** How tools are put before the model where no scope says otherwise (default `native`; C8.1). */
  mode?: ToolPresentationMode;
  /** How many calls of one `run_code` program may overlap (default 10; C8.11). */
  maxParallelSubCalls?: number;
}

/** Keyed by a symbol: cordis hands out proxies of a service, and a symbol goes through them at the least cost. */
const parts: unique symbol = Symbol('parts');
interface Parts { readonly visibility: Visibility; readonly pipeline: Pipeline; readonly codeMode: CodeMode }

/** Checks a definition in the order of R3.6 and works out what is needed of it. */
function entryOf(definition: ToolDefinition): ToolEntry {
  const { name, output, timeoutMs } = definition;
  if (
    typeof output !== 'object' || output === null || typeof output.render !== 'function'
    || (output.presentationMeta !== undefined && typeof output.presentationMeta !== 'function')
  ) {
    throw new TypeError(`tool "${name}" must declare output { schema, render, presentationMeta? }`);
  }
  const entry = new ToolEntry(definition);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new TypeError(`tool "${name}" timeoutMs must be a positive finite number`);
  }
  if (name === RUN_CODE_NAME) {
    throw new Error(`tool name "${RUN_CODE_NAME}" is reserved for the Code Mode presentation transport and cannot be registered or shadowed`);
  }
  return entry;
}

/** `ctx.tools`: who sees which tool, and the way of every call (R3, P4). */
export class ToolRuntime extends Service {
  static inject = ['systemPrompt'];
  static Config: z<Config> = z.object({
    mode: z.union(['native', 'code', 'both'] as const).default('native'),
    maxParallelSubCalls: z.natural().min(1).default(10),
  });

  /** The stages one by one, for a scheduler that lets bodies overlap (O15.3). */
  readonly [TOOL_RUNTIME_SCHEDULER]: ToolRuntimeScheduler;
  private readonly [parts]: Parts;

  constructor(ctx: Context, config: Config = {}) {
    super(ctx, 'tools');
    const events = new PolicyEvents(ctx, this);
    const visibility: Visibility = new Visibility(config.mode ?? 'native', () => codeMode.transport, () => events.changed());
    const pipeline = new Pipeline(ctx, visibility, events);
    const stages = schedulerOf(pipeline);
    const codeMode: CodeMode = new CodeMode(ctx, visibility, stages, events, config.maxParallelSubCalls ?? 10);
    this[parts] = { visibility, pipeline, codeMode };
    this[TOOL_RUNTIME_SCHEDULER] = stages;
    ctx.systemPrompt.tools(({ scope }) => this.wireSchemas(scope));
    if (visibility.mode(undefined) !== 'native') for (const section of codeMode.sections()) ctx.systemPrompt.section(section);
  }

  /**
   * Adds a tool to the calling scope, until the returned function or the calling fiber ends it (R3.4). Throws for a broken
   * output contract, a bad `timeoutMs`, the reserved name, and a name taken in the same layer (R3.6).
   */
  register(definition: ToolDefinition): () => void {
    const entry = entryOf(definition);
    return this[parts].visibility.layers.effect(this.ctx, (layer) => layer.tools.insert(definition.name, entry), { label: `tools.register(${JSON.stringify(definition.name)})` });
  }

  /** Filters what the calling scope inherits (R3.12); several restrictions intersect. */
  restrict(filter: ToolRestriction): () => void {
    const { ctx } = this;
    const { visibility } = this[parts];
    const scope = scopeOf(ctx);
    if (scope === undefined) {
      throw new Error('tools.restrict() requires a scoped context (agent.ctx): filtering the global tools would hide them from every agent');
    }
    const { allow, deny } = filter;
    if (allow === undefined && deny === undefined) throw new Error('tools.restrict() needs `allow` or `deny`: an empty filter restricts nothing');
    const names = [...(allow ?? []), ...(deny ?? [])];
    if (names.includes(RUN_CODE_NAME)) {
      throw new Error(`tools.restrict() cannot name "${RUN_CODE_NAME}", the Code Mode transport: restrict the tools behind it instead`);
    }
    const known = visibility.inherited(scope);
    const unknown = names.filter((name) => !known.has(name));
    if (unknown.length > 0) {
      throw new Error(
        `tools.restrict() names unknown global tool${unknown.length > 1 ? 's' : ''} ${unknown.map((name) => `"${name}"`).join(', ')}; `
        + `known global tools: ${[...known.keys()].sort().join(', ') || '(none)'}`,
      );
    }
    const restriction: CompiledRestriction = { ...(allow && { allow: new Set(allow) }), ...(deny && { deny: new Set(deny) }) };
    return visibility.layers.effect(ctx, (layer) => layer.restrictions.append(restriction), { label: 'tools.restrict()' });
  }

  /** Adds a last check that can only deny (P4.17), for every call or for those of the calling scope. */
  guard(guard: ToolGuard): () => void {
    return this[parts].visibility.layers.effect(this.ctx, (layer) => layer.guards.append(guard), { label: 'tools.guard()', notify: false });
  }

  /** Chooses the presentation of the calling scope, once (R3.13). */
  presentAs(mode: ToolPresentationMode): () => void {
    const { ctx } = this;
    const { visibility, codeMode } = this[parts];
    if (scopeOf(ctx) === undefined) {
      throw new Error('tools.presentAs() requires a scoped context (agent.ctx): for every agent, set `mode` in the configuration of the tools plugin');
    }
    const prompt = ctx.get('systemPrompt') as SystemPrompt;
    return ctx.effect(function* () {
      yield visibility.layers.effect(ctx, (layer) => {
        if (layer.mode !== undefined) {
          throw new Error(
            `tools.presentAs("${mode}") conflicts with "${layer.mode}" already declared for this scope; one composition selects one presentation`,
          );
        }
        layer.mode = mode;
        return () => { layer.mode = undefined; };
      }, { label: 'tools.presentAs()' });
      if (mode !== 'native') for (const section of codeMode.sections()) yield prompt.section(section);
    }, 'tools.presentAs()');
  }

  /** The definition a name stands for, as `scope` sees it (R3.10). */
  get(name: string, scope?: ScopeKey): ToolDefinition | undefined {
    return this[parts].visibility.find(name, scope)?.definition;
  }

  /** One detached `{name, description, parameters}` per visible tool (R3.11). */
  schemas(scope?: ScopeKey): ToolSchema[] {
    const schemas: ToolSchema[] = [];
    for (const { definition: { name, description }, parameters } of this[parts].visibility.visible(scope).values()) {
      schemas.push({ name, description, parameters: snapshotJson(parameters) as Record<string, unknown> });
    }
    return schemas;
  }

  /** Whether a call may overlap with its siblings (R3.15). */
  executionMode(input: Pick<ToolExecutionInput, 'name' | 'arguments' | 'agent' | 'parent'>): ToolExecutionMode {
    return modeOf(this[parts].visibility.callable(input.name, input.agent, input.parent !== undefined), input.arguments);
  }

  /** Runs one call through the whole pipeline. Whatever a tool or listener does is told in the result (R3.16). */
  execute(input: ToolExecutionInput): Promise<ToolExecutionResult> {
    return this[parts].pipeline.run(input);
  }

  /** What the prompt tells the model about, by presentation mode (C8.1). Frozen: the prompt makes its own copies. */
  private wireSchemas(scope: ScopeKey | undefined): ToolProviderResult {
    const { visibility, codeMode } = this[parts];
    const mode = visibility.mode(scope);
    if (mode !== 'native') codeMode.requireRuntime(mode);
    const schemas = [...visibility.visible(scope).values()]
      .filter(({ definition }) => mode !== 'code' || definition.name === RUN_CODE_NAME)
      .map(({ definition: { name, description }, parameters }) => ({ name, description, parameters }));
    if (mode === 'code') return { schemas, knownNames: [RUN_CODE_NAME] };
    return { schemas, knownNames: mode === 'both' ? [...visibility.known(scope), RUN_CODE_NAME] : visibility.known(scope) };
  }
}

export default ToolRuntime;
