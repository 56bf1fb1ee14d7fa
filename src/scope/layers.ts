import type { Context } from '@deepseek-ai/cordis';
import { scopeChainOf, scopeOf } from './scope.ts';
import type { ScopeKey } from './scope.ts';

/** What one scope contributes to a registry. An empty layer is dropped. */
export interface ScopeLayer { isEmpty(): boolean }

/** Insertion-ordered values by name; a taken name throws the owner's error. */
export class NamedEntries<V> {
  readonly #taken: (name: string) => Error;
  readonly #entries = new Map<string, V>();

  constructor(duplicateError: (name: string) => Error) {
    this.#taken = duplicateError;
  }

  /** Returns the undo of exactly this insertion; calling it again does nothing. */
  insert(name: string, value: V): () => void {
    if (this.#entries.has(name)) throw this.#taken(name);
    this.#entries.set(name, value);
    let live = true;
    return () => {
      if (live) this.#entries.delete(name);
      live = false;
    };
  }

  get(name: string): V | undefined { return this.#entries.get(name); }
  has(name: string): boolean { return this.#entries.has(name); }
  keys(): IterableIterator<string> { return this.#entries.keys(); }
  values(): IterableIterator<V> { return this.#entries.values(); }
  entries(): IterableIterator<[string, V]> { return this.#entries.entries(); }
  isEmpty(): boolean { return this.#entries.size === 0; }
}

/** Insertion-ordered values without names; equal values are separate registrations. */
export class AnonymousEntries<V> {
  readonly #entries = new Set<{ readonly value: V }>();

  /** Returns the undo of exactly this append; calling it again does nothing. */
  append(value: V): () => void {
    const entry = { value };
    this.#entries.add(entry);
    return () => { this.#entries.delete(entry); };
  }

  *values(): IterableIterator<V> {
    for (const { value } of this.#entries) yield value;
  }

  isEmpty(): boolean { return this.#entries.size === 0; }
}

/**
 * The global layer of a registry and one layer per scope that registered something. Reading never creates a layer.
 * The context of a registration decides both its scope and the fiber that owns it.
 */
export class ScopedLayers<L extends ScopeLayer> {
  readonly global: L;
  readonly #create: (scope: ScopeKey | undefined) => L;
  readonly #changed: () => void;
  readonly #scoped = new Map<ScopeKey, L>();

  constructor(createLayer: (scope: ScopeKey | undefined) => L, onChange: () => void) {
    this.#create = createLayer;
    this.#changed = onChange;
    this.global = createLayer(undefined);
  }

  /** The layer of exactly this scope, ancestors left out. */
  peek(scope: ScopeKey | undefined): L | undefined {
    return scope === undefined ? undefined : this.#scoped.get(scope);
  }

  /** Layers along the scope's chain, farthest ancestor first; the global layer is not among them. */
  chainLayers(scope: ScopeKey | undefined): L[] {
    if (scope === undefined || this.#scoped.size === 0) return [];
    const layers: L[] = [];
    for (const key of scopeChainOf(scope)) {
      const layer = this.#scoped.get(key);
      if (layer) layers.unshift(layer);
    }
    return layers;
  }

  /** Named entries as a scope sees them: nearer layers replace farther ones in place. */
  merge<V>(scope: ScopeKey | undefined, pick: (layer: L) => NamedEntries<V>): Map<string, V> {
    const seen = new Map(pick(this.global).entries());
    for (const layer of this.chainLayers(scope)) for (const [name, value] of pick(layer).entries()) seen.set(name, value);
    return seen;
  }

  /**
   * Runs `action` on the layer of `ctx` as an effect of its fiber and returns the effect's disposer. `onChange`
   * follows each registration and each disposal unless `notify` is false. When the action or a change listener
   * throws, nothing stays registered.
   */
  effect(ctx: Context, action: (layer: L) => () => void, options: { label: string; notify?: boolean }): () => void {
    const scope = scopeOf(ctx);
    const notify = options.notify ?? true;
    const open = (): L => {
      if (scope === undefined) return this.global;
      const layer = this.#scoped.get(scope) ?? this.#create(scope);
      this.#scoped.set(scope, layer);
      return layer;
    };
    const close = (layer: L): void => {
      if (scope !== undefined && layer.isEmpty() && this.#scoped.get(scope) === layer) this.#scoped.delete(scope);
    };
    const changed = this.#changed;
    // of the fiber itself, and no generator: each would make cordis capture one more stack trace per registration
    const dispose = ctx.fiber.effect(() => {
      const layer = open();
      let undo: () => void;
      try {
        undo = action(layer);
      } catch (error) {
        close(layer);
        throw error;
      }
      return () => {
        undo();
        close(layer);
        if (notify) changed();
      };
    }, options.label);
    // told when it is registered for good: a reader reacting to it may already dispose this registration
    if (notify) {
      try {
        changed();
      } catch (error) {
        try {
          void dispose();
        } catch {
          // the same reader throws at the disposal too; the first error is the one to tell
        }
        throw error;
      }
    }
    return dispose;
  }
}
