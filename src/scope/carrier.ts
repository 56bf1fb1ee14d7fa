import { Context } from '@deepseek-ai/cordis';
import { isWithinScope, scopeOf } from './scope.ts';
import type { ScopeKey } from './scope.ts';

declare const subject: unique symbol;
/** What a scoped event is dispatched on: it only routes. The subject `T` itself travels in the event's arguments. */
export type Scoped<T extends object> = object & { readonly [subject]: T };

type Filter = (ctx: Context) => boolean;
const keys = new WeakMap<object, { key: ScopeKey | undefined }>();

/**
 * Receiver for a scope-filtered dispatch (P4.8): reaches untagged listeners, and tagged ones whose scope is `key`
 * or encloses it. The filter of `base`, if it has one, applies as well.
 */
export function scopeTarget<T extends object>(base: T, key: ScopeKey | undefined): Scoped<T> {
  const outer = (base as { [Context.filter]?: Filter })[Context.filter];
  const carrier = {
    [Context.filter](ctx: Context): boolean {
      if (outer && !outer.call(base, ctx)) return false;
      const listener = scopeOf(ctx);
      return listener === undefined || isWithinScope(key, listener);
    },
  };
  keys.set(carrier, { key });
  return carrier as unknown as Scoped<T>;
}

/** Whether `scopeTarget` made this value. */
export function isScopeCarrier(value: unknown): value is Scoped<object> {
  return typeof value === 'object' && value !== null && keys.has(value);
}

/** The scope a carrier routes to; `undefined` for an unscoped carrier and for anything else. */
export function carrierKeyOf(value: unknown): ScopeKey | undefined {
  return typeof value === 'object' && value !== null ? keys.get(value)?.key : undefined;
}
