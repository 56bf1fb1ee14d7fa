import type { ToolDefinition, ToolExecution, ToolExecutionMode, ToolGuard, ToolPresentationMode } from '../contract/tool.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { frozenJson } from '../contract/snapshot.ts';
import { compileJsonSchema } from '../contract/json-schema.ts';
import type { ValueValidator } from '../contract/json-schema.ts';
import { AnonymousEntries, NamedEntries } from '../scope/layers.ts';
import type { ScopeKey } from '../scope/scope.ts';

/** A registered definition, with what is worked out once per registration. Making one checks the output schema (S1.27). */
export class ToolEntry {
  readonly definition: ToolDefinition;
  readonly #violations: ValueValidator;
  #parameters: JsonObject | undefined;

  constructor(definition: ToolDefinition) {
    this.definition = definition;
    this.#violations = compileJsonSchema(definition.output.schema);
  }

  /** Violations of the output schema, `[]` when the value keeps it (P4.22). */
  violations(value: JsonValue): string[] {
    return this.#violations(value, 'value');
  }

  /** The parameters as frozen lossless JSON; throws when they are not (R3.7). */
  get parameters(): JsonObject {
    return this.#parameters ??= this.#project();
  }

  #project(): JsonObject {
    const { name, parameters } = this.definition;
    let json: JsonValue | undefined;
    let cause: unknown;
    try {
      json = frozenJson(parameters);
    } catch (error) {
      cause = error;
    }
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new Error(`tool "${name}" parameters must be lossless JSON before schema projection`, { cause });
    }
    return json;
  }
}

/** Whether a call of this tool may overlap with others: only where its classifier says exactly `true` (R3.15). */
export function modeOf(entry: ToolEntry | undefined, args: unknown): ToolExecutionMode {
  try {
    return entry?.definition.isConcurrencySafe?.(args) === true ? { kind: 'parallel' } : { kind: 'exclusive' };
  } catch {
    return { kind: 'exclusive' };
  }
}

/** A restriction with its names in sets (R3.12). */
export interface CompiledRestriction { readonly allow?: ReadonlySet<string>; readonly deny?: ReadonlySet<string> }

/** Everything one scope contributes to `ctx.tools`. */
export class ToolLayer {
  readonly tools: NamedEntries<ToolEntry>;
  readonly restrictions = new AnonymousEntries<CompiledRestriction>();
  readonly guards = new AnonymousEntries<ToolGuard>();
  /** What `presentAs` chose for this scope (R3.13). */
  mode: ToolPresentationMode | undefined;

  constructor(scope: ScopeKey | undefined) {
    this.tools = new NamedEntries((name) => new Error(scope === undefined
      ? `tool "${name}" is already registered (for a per-agent variant, register through that agent's \`agent.ctx\` instead)`
      : `tool "${name}" is already registered in this scope`));
  }

  isEmpty(): boolean {
    return this.tools.isEmpty() && this.restrictions.isEmpty() && this.guards.isEmpty() && this.mode === undefined;
  }

  /** Whether every restriction of this layer lets an inherited tool through. */
  admits(name: string): boolean {
    if (this.restrictions.isEmpty()) return true;
    for (const { allow, deny } of this.restrictions.values()) {
      if (allow?.has(name) === false || deny?.has(name) === true) return false;
    }
    return true;
  }

  /** First denial of this layer's guards; anything but `undefined` denies (P4.17). */
  denial(exec: Readonly<ToolExecution>): string | undefined {
    if (this.guards.isEmpty()) return undefined;
    for (const guard of this.guards.values()) {
      const reason: unknown = guard(exec);
      if (typeof reason === 'string') return reason;
      if (reason !== undefined) return `a guard denied tool "${exec.name}" without giving a reason`;
    }
    return undefined;
  }
}
