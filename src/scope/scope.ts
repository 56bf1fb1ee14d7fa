import type { Context, Fiber } from '@deepseek-ai/cordis';

/** Identity of a scope, compared by reference. An agent is its own key (R3.9). */
export type ScopeKey = object;

/** The only handle that may move a key under another parent. */
export interface ScopeParentBinding {
  /** Throws when the new parent is the key itself or one of its descendants. */
  rebind(parent: ScopeKey): void;
}

/** A registration scope: `ctx` tags everything registered through it. */
export interface Scope {
  ctx: Context;
  /** Starts disposal; resolves only for the first caller's own work. Use it inside a composite effect. */
  rawDispose: () => Promise<void> | void;
  /** Disposes everything the scope owns. Every caller waits for the same completion. */
  dispose(): Promise<void>;
}

export interface CreateScopeOptions { parent?: ScopeKey }

const tag: unique symbol = Symbol('scope');
const parents = new WeakMap<ScopeKey, ScopeKey>();

function link(key: ScopeKey, parent: ScopeKey): void {
  let ancestor: ScopeKey | undefined = parent;
  while (ancestor !== undefined) {
    if (ancestor === key) throw new Error('a scope cannot be its own ancestor: choose a parent outside this scope');
    ancestor = parents.get(ancestor);
  }
  parents.set(key, parent);
}

/**
 * Places `key` below `parent`: it inherits the parent's registrations, and the parent's listeners see its events.
 * Works once per key; later moves go through the returned binding.
 */
export function bindScopeParent(key: ScopeKey, parent: ScopeKey): ScopeParentBinding {
  if (parents.has(key)) throw new Error('this scope already has a parent: move it through the binding returned when it was bound');
  link(key, parent);
  return { rebind: (next) => link(key, next) };
}

/** The enclosing scope, or `undefined` for an outermost one. */
export function scopeParentOf(key: ScopeKey): ScopeKey | undefined {
  return parents.get(key);
}

/** `[key, parent, grandparent, …]`; empty for `undefined`. */
export function scopeChainOf(key: ScopeKey | undefined): ScopeKey[] {
  const chain: ScopeKey[] = [];
  for (let at = key; at !== undefined; at = parents.get(at)) chain.push(at);
  return chain;
}

/** Whether `ancestor` is `key` or encloses it. */
export function isWithinScope(key: ScopeKey | undefined, ancestor: ScopeKey): boolean {
  for (let at = key; at !== undefined; at = parents.get(at)) if (at === ancestor) return true;
  return false;
}

/** The scope that registrations through this context land in, or `undefined` for the global one. */
export function scopeOf(ctx: Context): ScopeKey | undefined {
  return (ctx as Context & { [tag]?: ScopeKey })[tag];
}

/** Fiber body of every scope: it only owns what is registered through its context. */
function scope(): void {}

async function settle(fiber: Fiber): Promise<void> {
  await fiber.dispose();
  while (fiber.inertia) await fiber.inertia;
}

/** Opens a scope below an active context. It sees the same services as `ctx` and dies with it (R3.9). */
export function createScope(ctx: Context, key: ScopeKey, options: CreateScopeOptions = {}): Scope {
  if (options.parent !== undefined) bindScopeParent(key, options.parent);
  const fiber = ctx.plugin(scope);
  let done: Promise<void> | undefined;
  return {
    ctx: fiber.ctx.extend({ [tag]: key }),
    rawDispose: fiber.dispose,
    dispose: () => (done ??= settle(fiber)),
  };
}
