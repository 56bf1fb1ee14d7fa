import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../contract/agent.ts';
import { createUserMessage } from '../../contract/message.ts';
import '../../agent/events.ts';
import '../../registry/events.ts';

export const name = 'repeat-reminder';
export const inject = ['tools'];

/** Identical calls in a row after which the model is told (O15.8). */
const REMIND_AT: ReadonlySet<number> = new Set([3, 5, 8]);

/** Tells a model that makes the same call again and again (O15.8). */
export function apply(ctx: Context): void {
  const last = new WeakMap<Agent, { key: string; count: number }>();

  ctx.on('tools/post-execute', async (exec, _result, next) => {
    const decision = await next();
    if (exec.agent === undefined || exec.parent !== undefined) return decision;
    const key = keyOf(exec.name, exec.arguments);
    if (key === undefined) return decision;
    const before = last.get(exec.agent);
    const count = before?.key === key ? before.count + 1 : 1;
    last.set(exec.agent, { key, count });
    if (!REMIND_AT.has(count)) return decision;
    const reminder = createUserMessage({
      content: [{
        type: 'text' as const,
        text: `This was call number ${count} in a row of \`${exec.name}\` with the same arguments. Unless something else changed in between, its result will not change either: use what you have, change the arguments, or go another way.`,
      }],
      source: { kind: 'plugin' as const, plugin: name, form: 'notice' as const, summary: `${exec.name} was called ${count} times in a row with the same arguments` },
    });
    return { ...decision, additionalContexts: [...(decision.additionalContexts ?? []), reminder] };
  });
  ctx.on('agent/inbox/claimed', ({ agent, message }) => {
    if (message.source.kind === 'user') last.delete(agent);
  });
}

/** Undefined: the arguments nest deeper than the stack carries, and are not compared. */
function keyOf(tool: string, args: unknown): string | undefined {
  try {
    return `${tool}\n${JSON.stringify(args)}`;
  } catch {
    return undefined;
  }
}
