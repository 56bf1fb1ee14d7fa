import type { ContentBlock } from '../contract/content.ts';
import { HarnessError } from '../contract/error.ts';
import type { ToolErrorInfo, ToolExecutionFailure } from '../contract/tool.ts';
import { settle } from './settled.ts';

/** Code of a call cancelled after its body had started (P4.32). */
export const TOOL_ABORTED = 'ABORTED';
/** Code of a call cancelled before its body started (P4.31). */
export const TOOL_ABORTED_BEFORE_DISPATCH = 'ABORTED_BEFORE_DISPATCH';

/** The name is not visible to the caller, or `run_code` is the only way to reach it (P4.6, P4.20). */
export class ToolNotFoundError extends HarnessError {
  constructor(toolName: string, reachableFrom?: string) {
    super(`unknown tool "${toolName}"${reachableFrom === undefined ? '' : `: ${reachableFrom}`}`, 'UNKNOWN_TOOL');
  }
}

/** A value, its rendering or its card data breaks the tool's own output contract (P4.22). */
export class ToolOutputError extends HarnessError {
  readonly violations: string[];

  constructor(toolName: string, violations: string[]) {
    super(`tool "${toolName}" returned invalid output: ${violations.join('; ')}`, 'INVALID_TOOL_OUTPUT');
    this.violations = violations;
  }
}

/** Text of anything that was thrown; never throws itself (P4.36). */
export function thrownMessage(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message);
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string') return thrown.message;
    return String(thrown);
  } catch {
    return '<unprintable thrown value>';
  }
}

function thrownInfo(thrown: unknown): ToolErrorInfo | undefined {
  try {
    return thrown instanceof HarnessError ? { name: String(thrown.name), code: String(thrown.code) } : undefined;
  } catch {
    return undefined;
  }
}

/** Failed result with the standard text block, frozen. */
export function failure(message: string, info?: ToolErrorInfo, additionalContexts?: ToolExecutionFailure['additionalContexts']): ToolExecutionFailure {
  const result: ToolExecutionFailure = {
    isError: true,
    error: Object.freeze(info ? { message, info: Object.freeze(info) } : { message }),
    content: Object.freeze([Object.freeze({ type: 'text', text: `Error: ${message}` })]) as unknown as ContentBlock[],
  };
  // Contexts came from outside and still have to be checked; without them nothing is left to check.
  return additionalContexts && additionalContexts.length > 0 ? Object.freeze({ ...result, additionalContexts }) : settle(result);
}

/** Failed result for something thrown (P4.36). */
export function failureOf(thrown: unknown): ToolExecutionFailure {
  return failure(thrownMessage(thrown), thrownInfo(thrown));
}

/** Cancelled result that keeps the contexts already handed over (P4.31, P4.32). */
export function aborted(bodyStarted: boolean, additionalContexts?: ToolExecutionFailure['additionalContexts']): ToolExecutionFailure {
  return bodyStarted
    ? failure('tool call aborted', { name: 'AbortError', code: TOOL_ABORTED }, additionalContexts)
    : failure('tool call aborted before dispatch', { name: 'AbortError', code: TOOL_ABORTED_BEFORE_DISPATCH }, additionalContexts);
}

/** `error.message` of a result that a policy blocked with this feedback (P4.28). */
export function feedbackMessage(feedback: readonly ContentBlock[]): string {
  return feedback.map((block) => (block.type === 'text' ? block.text : `[${block.type} content]`)).join('\n')
    || 'tool result blocked by post-execute policy';
}
