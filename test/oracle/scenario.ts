/** One scenario, as data: whatever can be said about a call that both registries should answer alike. */

/** A value by its recipe, so that each side gets its own. */
export type Recipe =
  | { readonly json: unknown }
  | { readonly odd: 'undefined' | 'nan' | 'negative-zero' | 'bigint' | 'function' | 'symbol' | 'date' | 'cycle' | 'sparse' | 'getter-throws' | 'map' | 'proto-key' };

export type Thrown = 'error' | 'harness-error' | 'string' | 'message-object' | 'null' | 'unprintable';

export interface BodySpec {
  readonly outcome: { readonly returns: Recipe } | { readonly throws: Thrown };
  /** Contexts deferred before the outcome. */
  readonly defers?: number;
  readonly concludes?: boolean;
  /** Aborts the caller's signal before the outcome. */
  readonly aborts?: boolean;
  /** Takes its own registration back before the outcome. */
  readonly unregisters?: boolean;
  /** Fails this many times before the outcome (for retries). */
  readonly failsFirst?: number;
}

export interface ToolSpec {
  readonly name: string;
  /** In which agent's scope; undefined: everywhere. */
  readonly scope?: 'a' | 'b';
  /** Raw tools check nothing about their arguments. */
  readonly raw?: boolean;
  readonly output: 'string' | 'integer' | 'json' | 'closed-object';
  readonly body: BodySpec;
  readonly render?: 'text' | 'throws' | 'odd' | 'two-blocks';
  readonly meta?: 'value' | 'throws' | 'odd';
  readonly finalize?: 'keep' | 'replace' | 'throws' | 'odd';
  readonly concurrency?: 'yes' | 'truthy' | 'throws';
}

export type PreSpec = 'next' | 'allow' | 'deny' | 'deny-empty' | 'deny-without-reason' | 'ask' | 'ask-reason' | 'throw' | 'nothing' | 'text' | 'unknown-kind'
  | 'abort' | 'rename' | 'late-deny';
export type AroundSpec = 'next' | 'retry' | 'own-success' | 'own-invalid' | 'own-failure' | 'relabel' | 'throw' | 'nothing' | 'swap-signal' | 'swap-aborted'
  | 'abort-after' | 'earlier' | 'with-contexts';
export type PostSpec = 'next' | 'content' | 'value' | 'value-invalid' | 'both' | 'block' | 'block-image' | 'block-empty' | 'contexts' | 'throw' | 'nothing'
  | 'abort' | 'undefined-content' | 'unknown-kind' | 'no-kind';
export type ResultSpec = 'watch' | 'throw' | 'reject';
export type GuardSpec = 'pass' | 'deny' | 'empty' | 'throw';

interface Placed { readonly scope?: 'a' | 'b' | undefined; readonly prepend?: boolean | undefined }
export type ListenerSpec = Placed & (
  | { readonly on: 'pre'; readonly does: PreSpec }
  | { readonly on: 'around'; readonly does: AroundSpec }
  | { readonly on: 'post'; readonly does: PostSpec }
  | { readonly on: 'result'; readonly does: ResultSpec }
  | { readonly on: 'guard'; readonly does: GuardSpec }
);

export interface CallSpec {
  readonly name: string;
  readonly args: Recipe;
  readonly agent?: 'a' | 'b' | undefined;
  readonly nested?: boolean | undefined;
  readonly aborted?: boolean | undefined;
  /** Aborts right after `execute` returned its promise. */
  readonly abortSoon?: boolean | undefined;
  readonly rootCallId?: string | undefined;
}

export interface Scenario {
  readonly tools: readonly ToolSpec[];
  readonly listeners: readonly ListenerSpec[];
  readonly calls: readonly CallSpec[];
  readonly approval?: 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable' | 'throws' | 'abort-cancelled' | undefined;
  /** Whether agent b's scope lies inside agent a's. */
  readonly chained?: boolean | undefined;
  readonly restrict?: { readonly scope: 'a' | 'b'; readonly allow?: readonly string[] | undefined; readonly deny?: readonly string[] | undefined } | undefined;
  readonly mode?: 'native' | 'code' | 'both' | undefined;
  readonly presentAs?: { readonly scope: 'a' | 'b'; readonly mode: 'native' | 'code' | 'both' } | undefined;
}
