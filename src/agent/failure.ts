import type { AgentCancelCause } from '../contract/agent.ts';
import { HarnessError } from '../contract/error.ts';
import type { LlmFailure } from '../contract/event.ts';

/** What a stopped turn's signal carries as its reason. */
export class AgentCancelledError extends HarnessError {
  readonly agentCause: AgentCancelCause;

  constructor(cause: AgentCancelCause) {
    super(cause.kind === 'hook' ? `stopped by a plugin: ${cause.reason}` : `stopped (${cause.kind})`, 'ABORTED');
    this.name = 'AbortError';
    this.agentCause = cause;
  }
}

/** A turn's error for the log: codes of our own errors are kept, anything else is `INTERNAL`. */
export function toFailure(error: unknown): LlmFailure {
  if (error instanceof HarnessError) {
    const failure = (error as { failure?: LlmFailure }).failure;
    return failure ?? { message: error.message, code: error.code };
  }
  return { message: error instanceof Error ? error.message : String(error), code: 'INTERNAL' };
}
