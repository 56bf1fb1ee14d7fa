import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../contract/agent.ts';
import { HarnessError } from '../../contract/error.ts';
import type { ToolExecution } from '../../contract/tool.ts';
import { scopeTarget } from '../../scope/carrier.ts';
import type { FileObservation, FileTarget, MutationContext } from '../../seams/fs.ts';

/** Where relative paths start: the session's directory (B10.13); `fallback` for a call without an agent. */
export function directoryOf(exec: ToolExecution, fallback: string): string {
  return exec.agent?.session.cwd ?? fallback;
}

export function assertPath(path: string, parameter: string): void {
  if (path.trim() === '') throw new Error(`${parameter} must be a non-empty string`);
  // as a relative path it would make folders of that name
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) throw new Error(`${parameter} must be a path, not an address: "${path.slice(0, 200)}"`);
}

/**
 * A text tool makes no binary files: nothing of ours could open the file again. NULs in a model's text are broken escapes
 * as a rule; a command can write them where they are meant.
 */
export function assertText(text: string, parameter: string, shownPath: string): void {
  const at = text.indexOf('\0');
  if (at < 0) return;
  const line = text.slice(0, at).split('\n').length;
  throw new HarnessError(
    `${parameter} has a NUL character in line ${line}, which would make "${shownPath}" a binary file that can't be read or edited again; leave it out, or write such a file with a command`,
    'FS_NOT_TEXT',
  );
}

/** Who asks for a mutation: what locks, intents and reviews are told. */
export function mutationContext(exec: ToolExecution, displayPath: string): MutationContext {
  return {
    displayPath, toolName: exec.name, callId: exec.callId, signal: exec.signal,
    ...(exec.agent !== undefined && { agent: exec.agent }),
  };
}

/** Tells policies what the agent has seen (B10.12). */
export function observe(ctx: Context, target: FileTarget, observation: FileObservation, agent: Agent | undefined): void {
  ctx.emit(scopeTarget(ctx, agent), 'fs/observed', target, observation, agent);
}

/** The error for a file that is not there; the agent knows it from now on. */
export function notFound(ctx: Context, target: FileTarget, shownPath: string, agent: Agent | undefined): HarnessError {
  observe(ctx, target, { kind: 'absent' }, agent);
  return new HarnessError(`cannot read "${shownPath}": not found`, 'FS_NOT_FOUND');
}

/**
 * Throws what reading a file as text is going to throw: it is absent, no regular file, closed to us, no text. From
 * `bigBytes` on its text is not looked at.
 */
export async function assertReadable(ctx: Context, shownPath: string, exec: ToolExecution, cwd: string, bigBytes: number): Promise<void> {
  const target = await ctx.fs.resolve(shownPath, directoryOf(exec, cwd));
  const stat = await ctx.fs.stat(target);
  if (stat === null) throw notFound(ctx, target, shownPath, exec.agent);
  if (stat.kind !== 'file') throw new HarnessError(`cannot read "${shownPath}": not a regular file`, 'FS_NOT_REGULAR_FILE');
  // nothing is in an empty file, or the system makes it up as it is read, and may let a reader wait
  if (stat.size > 0 && stat.size < bigBytes) await ctx.fs.readText(target, shownPath, exec.signal);
}
