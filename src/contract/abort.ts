import { HarnessError } from './error.ts';

/** What a body throws when its signal was aborted while it worked (B10.18, J7.11). */
export class AbortError extends HarnessError {
  constructor(message = 'tool call aborted', options?: ErrorOptions) {
    super(message, 'ABORTED', options);
  }
}
