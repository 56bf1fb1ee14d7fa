import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import z from '@deepseek-ai/schemastery';
import type { ToolSchema } from '../contract/content.ts';
import { scopeTarget } from '../scope/carrier.ts';
import type { Scoped } from '../scope/carrier.ts';
import { AnonymousEntries, NamedEntries, ScopedLayers } from '../scope/layers.ts';
import type { ScopeKey } from '../scope/scope.ts';
import type {
  AssembleContext, PromptAssembly, PromptContext, PromptSection, ToolProvider, VariableProvider,
} from './assembly.ts';
import { VARIABLE_NAME } from './render.ts';
import { checkToolOrder, orderTools } from './tool-order.ts';

declare module '@deepseek-ai/cordis' {
  interface Context { systemPrompt: SystemPrompt }
  interface Events {
    /** Has the last word on an assembly (Y14.6). Scope-filtered. */
    'system-prompt/assemble'(
      this: Scoped<SystemPrompt>, assembly: PromptAssembly, context: AssembleContext, next: () => Promise<PromptAssembly>,
    ): Promise<PromptAssembly>;
    /** A contribution came or went, in whichever scope. */
    'system-prompt/change'(): void;
  }
}

/** Name of the section that a composition may shadow with a persona of its own (Y14.2). */
export const PERSONA_SECTION = 'deployment:persona';
export const PERSONA_ORDER = 0;
const IDENTITY = 'You are a coding agent running in DSH Host.';

export interface Config {
  /** Adds the section `harness:identity` (default true). */
  includeHarnessIdentity?: boolean;
  /** Lets contexts through (default true). */
  includeRuntimeContext?: boolean;
  /** Text of the persona section. */
  persona?: string;
  /** Tool names in the order the model gets them, with `<unlisted-tools>` once. */
  toolOrder?: string[];
}

class PromptLayer {
  readonly sections: NamedEntries<PromptSection>;
  readonly contexts: NamedEntries<PromptContext>;
  readonly variables: NamedEntries<VariableProvider>;
  readonly providers = new AnonymousEntries<ToolProvider>();
  readonly suppressors = new AnonymousEntries<true>();

  constructor(scope: ScopeKey | undefined) {
    const taken = (what: string) => (name: string) => new Error(
      `prompt ${what} "${name}" is already registered${scope === undefined ? ' (for one agent only, register through its `agent.ctx`)' : ' in this scope'}`,
    );
    this.sections = new NamedEntries(taken('section'));
    this.contexts = new NamedEntries(taken('context'));
    this.variables = new NamedEntries(taken('variable'));
  }

  isEmpty(): boolean {
    return this.sections.isEmpty() && this.contexts.isEmpty() && this.variables.isEmpty()
      && this.providers.isEmpty() && this.suppressors.isEmpty();
  }
}

function assertOrder(what: string, { name, order }: { name: string; order: number }): void {
  if (!Number.isFinite(order)) throw new TypeError(`prompt ${what} "${name}" order must be a finite number`);
}

function byOrder(a: { order: number }, b: { order: number }): number {
  return a.order - b.order;
}

/** `ctx.systemPrompt`: collects what the head of a model request is made of (Y14). */
export class SystemPrompt extends Service {
  static Config: z<Config> = z.object({
    includeHarnessIdentity: z.boolean().default(true),
    includeRuntimeContext: z.boolean().default(true),
    persona: z.string().default(''),
    toolOrder: z.array(z.string()).default(undefined as unknown as string[]),
  });

  // Not #private: cordis hands out proxies of a service, on which private names do not resolve.
  private readonly layers: ScopedLayers<PromptLayer>;
  private readonly toolOrder: readonly string[] | undefined;

  constructor(ctx: Context, config: Config = {}) {
    super(ctx, 'systemPrompt');
    this.layers = new ScopedLayers((scope) => new PromptLayer(scope), () => ctx.emit('system-prompt/change'));
    this.toolOrder = checkToolOrder(config.toolOrder);
    if (config.includeHarnessIdentity ?? true) this.section({ name: 'harness:identity', order: -100, text: IDENTITY });
    this.section({ name: PERSONA_SECTION, order: PERSONA_ORDER, text: config.persona ?? '' });
    if (config.includeRuntimeContext === false) this.suppressRuntimeContext();
  }

  /** Adds a section for the calling scope; a scoped one replaces the global one of the same name (Y14.1). */
  section(section: PromptSection): () => void {
    assertOrder('section', section);
    return this.layers.effect(this.ctx, (layer) => layer.sections.insert(section.name, section), { label: 'systemPrompt.section()' });
  }

  /** Adds a piece of runtime context for the calling scope (Y14.5). */
  context(context: PromptContext): () => void {
    assertOrder('context', context);
    return this.layers.effect(this.ctx, (layer) => layer.contexts.insert(context.name, context), { label: 'systemPrompt.context()' });
  }

  /** Leaves all runtime context out for the calling scope, until disposed. */
  suppressRuntimeContext(): () => void {
    return this.layers.effect(this.ctx, (layer) => layer.suppressors.append(true), { label: 'systemPrompt.suppressRuntimeContext()' });
  }

  /** Adds a source of tool schemas, asked at each assembly. Global and scoped providers add up. */
  tools(provider: ToolProvider): () => void {
    return this.layers.effect(this.ctx, (layer) => layer.providers.append(provider), { label: 'systemPrompt.tools()' });
  }

  /** Defines `{{name}}` for the calling scope; `undefined` makes a reference to it fail (Y14.3). */
  variable(name: string, provider: VariableProvider): () => void {
    if (!VARIABLE_NAME.test(name)) throw new Error(`invalid prompt variable name "${name}": it must match ${VARIABLE_NAME.source}`);
    return this.layers.effect(this.ctx, (layer) => layer.variables.insert(name, provider), { label: 'systemPrompt.variable()' });
  }

  /** Collects everything `context.scope` sees and runs `system-prompt/assemble` over it. Rejects when a provider throws. */
  async assemble(context: AssembleContext = {}): Promise<PromptAssembly> {
    const { scope } = context;
    const layers = [this.layers.global, ...this.layers.chainLayers(scope)];
    const resolve = ({ name, text }: PromptSection | PromptContext) => ({ name, text: typeof text === 'function' ? text(context) : text });

    const variables: PromptAssembly['variables'] = {};
    for (const layer of layers) for (const [name, provide] of layer.variables.entries()) variables[name] = provide(context);

    const tools: ToolSchema[] = [];
    const known = new Set<string>();
    for (const layer of layers) {
      for (const provide of layer.providers.values()) {
        const { schemas, knownNames } = provide(context);
        for (const { name, description, parameters } of schemas) tools.push({ name, description, parameters: structuredClone(parameters) });
        for (const name of knownNames ?? schemas.map((schema) => schema.name)) known.add(name);
      }
    }

    const sections = [...this.layers.merge(scope, (layer) => layer.sections).values()].sort(byOrder);
    const complete = sections.filter((section) => section.complete === true);
    if (complete.length > 1) {
      const names = complete.map(({ name }) => `"${name}"`).join(', ');
      throw new Error(`multiple complete prompt sections are active: ${names}; only one may be the whole prompt`);
    }
    const suppressed = layers.some((layer) => !layer.suppressors.isEmpty());
    const resolved = sections.map(resolve);
    const whole = complete[0] && { ...resolved[sections.indexOf(complete[0])]! };
    const contexts = suppressed ? [] : [...this.layers.merge(scope, (layer) => layer.contexts).values()].sort(byOrder).map(resolve);
    const assembly: PromptAssembly = { sections: resolved, contexts, tools: orderTools(tools, this.toolOrder, known), variables };

    const final = await this.ctx.waterfall(
      scopeTarget<SystemPrompt>(this, scope), 'system-prompt/assemble', assembly, context, () => Promise.resolve(assembly),
    );
    // Listeners may shape the rest, but neither add to a complete prompt nor bring suppressed context back (Y14.4).
    return { ...final, ...(whole && { sections: [whole] }), ...(suppressed && { contexts: [] }) };
  }
}

export default SystemPrompt;
