import type { Context } from '@deepseek-ai/cordis';
import type { JsonSchemaNode } from '../contract/json-schema.ts';
import { ToolArgsError } from '../contract/schema.ts';
import type { ToolDefinition, ToolExecution } from '../contract/tool.ts';
import { validateJsonSchemaValue } from '../contract/validate.ts';
import '../registry/events.ts';
import type { Preflight } from '../seams/preflight.ts';

/**
 * Throws what the call is going to throw, without doing any of it. `args` fit the tool's parameters. `asks-later`: all
 * that the call changes goes through `ctx.fs`.
 */
export type Look<A> = (args: A, exec: ToolExecution) => void | 'asks-later' | Promise<void | 'asks-later'>;

/** Registers a tool, and what can be told of its calls before the user is asked about them. */
export function registerWithLook<A>(ctx: Context, definition: ToolDefinition, look: Look<A>): void {
  ctx.tools.register(definition);
  const parameters = definition.parameters as unknown as JsonSchemaNode;
  ctx.on('tools/preflight', async (exec): Promise<Preflight | undefined> => {
    // another definition of this name may stand in front for this agent
    if (ctx.tools.get(exec.name, exec.agent) !== definition) return undefined;
    try {
      const violations = validateJsonSchemaValue(parameters, exec.arguments, '');
      if (violations.length > 0) throw new ToolArgsError(violations);
      return await look(exec.arguments as A, exec) === 'asks-later' ? { kind: 'asks-later' } : undefined;
    } catch (error) {
      return { kind: 'fails', error: error instanceof Error ? error : new Error(String(error)) };
    }
  });
}
