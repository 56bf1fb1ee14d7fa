/** What plugins get as `@deepseek-ai/dsh-scope`. */
export { AnonymousEntries, NamedEntries, ScopedLayers } from './layers.ts';
export type { ScopeLayer } from './layers.ts';
export { carrierKeyOf, isScopeCarrier, scopeTarget } from './carrier.ts';
export type { Scoped } from './carrier.ts';
export { bindScopeParent, createScope, scopeChainOf, scopeOf, scopeParentOf } from './scope.ts';
export type { CreateScopeOptions, Scope, ScopeKey, ScopeParentBinding } from './scope.ts';
