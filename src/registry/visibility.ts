import type { ToolExecution, ToolPresentationMode } from '../contract/tool.ts';
import { ScopedLayers } from '../scope/layers.ts';
import type { ScopeKey } from '../scope/scope.ts';
import { ToolLayer } from './layer.ts';
import type { ToolEntry } from './layer.ts';
import { RUN_CODE_NAME } from './run-code.ts';

/** Resolves names and modes over the layers: who sees which tool (R3.9–R3.13). */
export class Visibility {
  readonly layers: ScopedLayers<ToolLayer>;
  readonly #defaultMode: ToolPresentationMode;
  readonly #runCode: () => ToolEntry;

  /** `runCode` makes the transport of the code modes; asked only where a mode presents it. */
  constructor(defaultMode: ToolPresentationMode, runCode: () => ToolEntry, onChange: () => void) {
    this.layers = new ScopedLayers((scope) => new ToolLayer(scope), onChange);
    this.#defaultMode = defaultMode;
    this.#runCode = runCode;
  }

  /** The presentation of a scope: the nearest declaration, else the configured mode. */
  mode(scope: ScopeKey | undefined): ToolPresentationMode {
    return this.layers.chainLayers(scope).findLast((layer) => layer.mode !== undefined)?.mode ?? this.#defaultMode;
  }

  /** The entry a name resolves to for a scope, `undefined` when hidden or unknown (R3.10). */
  find(name: string, scope: ScopeKey | undefined): ToolEntry | undefined {
    const chain = this.layers.chainLayers(scope);
    if (name === RUN_CODE_NAME) return this.mode(scope) === 'native' ? undefined : this.#runCode();
    const own = this.layers.peek(scope);
    const mine = own?.tools.get(name);
    if (mine) return mine;
    if (!chain.every((layer) => layer.admits(name))) return undefined;
    return chain.findLast((layer) => layer.tools.has(name))?.tools.get(name) ?? this.layers.global.tools.get(name);
  }

  /** Whether mode `code` keeps the model from calling this name directly (P4.6). */
  collapses(name: string, scope: ScopeKey | undefined, nested: boolean): boolean {
    return !nested && name !== RUN_CODE_NAME && this.mode(scope) === 'code';
  }

  /** The entry a call may run (P4.20). */
  callable(name: string, scope: ScopeKey | undefined, nested: boolean): ToolEntry | undefined {
    return this.collapses(name, scope, nested) ? undefined : this.find(name, scope);
  }

  /** What a scope inherits, before restrictions, in registration order. */
  inherited(scope: ScopeKey | undefined): Map<string, ToolEntry> {
    const own = this.layers.peek(scope);
    const tools = new Map(this.layers.global.tools.entries());
    for (const layer of this.layers.chainLayers(scope)) {
      if (layer !== own) for (const [name, entry] of layer.tools.entries()) tools.set(name, entry);
    }
    return tools;
  }

  /** Every tool a scope sees, in order (R3.11). */
  visible(scope: ScopeKey | undefined): Map<string, ToolEntry> {
    const tools = this.inherited(scope);
    const chain = this.layers.chainLayers(scope);
    for (const name of chain.length > 0 ? [...tools.keys()] : []) {
      if (!chain.every((layer) => layer.admits(name))) tools.delete(name);
    }
    const own = this.layers.peek(scope);
    if (own) for (const [name, entry] of own.tools.entries()) tools.set(name, entry);
    if (this.mode(scope) !== 'native') tools.set(RUN_CODE_NAME, this.#runCode());
    return tools;
  }

  /** Names a scope would see without restrictions, for checking a configured tool order (Y14.6). */
  known(scope: ScopeKey | undefined): string[] {
    const names = new Set(this.inherited(scope).keys());
    for (const name of this.layers.peek(scope)?.tools.keys() ?? []) names.add(name);
    return [...names];
  }

  /** First denial: the global layer, then the caller's chain from far to near (P4.17). */
  denial(exec: Readonly<ToolExecution>, scope: ScopeKey | undefined): string | undefined {
    const reason = this.layers.global.denial(exec);
    if (reason !== undefined || scope === undefined) return reason;
    for (const layer of this.layers.chainLayers(scope)) {
      const scoped = layer.denial(exec);
      if (scoped !== undefined) return scoped;
    }
    return undefined;
  }
}
