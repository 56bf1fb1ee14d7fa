import type { ToolExecution } from '../contract/tool.ts';

/**
 * What a tool says of its call before policy asks the user about it, having done nothing but look: nobody is asked for
 * what can't succeed. Whatever was looked at is looked at again when the call runs.
 */
export type Preflight =
  /** The call fails, whatever the user would answer. */
  | { readonly kind: 'fails'; readonly error: Error }
  /** All the call changes goes through `ctx.fs`, whose intents ask when everything else is known to be in order. */
  | { readonly kind: 'asks-later' };

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** Serial, filtered by the agent's scope; the first answer counts. Only the tool that would run answers. */
    'tools/preflight'(exec: ToolExecution): Preflight | undefined | Promise<Preflight | undefined>;
  }
}
