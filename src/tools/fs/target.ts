import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../contract/agent.ts';
import type { ToolRunContext } from '../../contract/tool.ts';
import { scopeTarget } from '../../scope/carrier.ts';
import type { FileObservation, FileTarget, MutationContext } from '../../seams/fs.ts';

/** Where relative paths start: the session's directory (B10.13); `fallback` for a call without an agent. */
export function directoryOf(exec: ToolRunContext, fallback: string): string {
  return exec.agent?.session.cwd ?? fallback;
}

export function assertPath(path: string, parameter: string): void {
  if (path.trim() === '') throw new Error(`${parameter} must be a non-empty string`);
}

/** Who asks for a mutation: what locks, intents and reviews are told. */
export function mutationContext(exec: ToolRunContext, displayPath: string): MutationContext {
  return {
    displayPath, toolName: exec.name, callId: exec.callId, signal: exec.signal,
    ...(exec.agent !== undefined && { agent: exec.agent }),
  };
}

/** Tells policies what the agent has seen (B10.12). */
export function observe(ctx: Context, target: FileTarget, observation: FileObservation, agent: Agent | undefined): void {
  ctx.emit(scopeTarget(ctx, agent), 'fs/observed', target, observation, agent);
}

/** The escalation fields, which this composition does not offer (B10.23). */
export function refuseEscalation(args: object): void {
  const { sandbox_permissions: mode, justification } = args as { sandbox_permissions?: unknown; justification?: unknown };
  if (mode === undefined && justification === undefined) return;
  if (justification === undefined) throw new Error('invalid escalation: sandbox_permissions requires a justification');
  if (mode === undefined) throw new Error('invalid escalation: justification is only valid together with sandbox_permissions');
  if (typeof justification !== 'string' || justification.trim() === '') {
    throw new Error('invalid justification: expected a non-empty sentence');
  }
  throw new Error('sandbox_permissions is not available in this composition (no sandboxing executor to escalate)');
}
