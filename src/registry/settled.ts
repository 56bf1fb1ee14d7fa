import type { ToolExecutionResult } from '../contract/tool.ts';

const settled = new WeakSet<ToolExecutionResult>();

/** Marks a result whose members are deep-frozen lossless JSON: it needs no further pass (P4.33). */
export function settle<T extends ToolExecutionResult>(result: T): T {
  Object.freeze(result);
  settled.add(result);
  return result;
}

/** Whether `settle` has seen this very result. */
export function isSettled(result: ToolExecutionResult): boolean {
  return settled.has(result);
}
