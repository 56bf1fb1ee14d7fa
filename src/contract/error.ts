/**
 * An error whose `code` a program may rely on (D5.4). Only instances of this very class reach a result's
 * `error.info` (P4.36), so plugins must be handed this module, never a copy.
 */
export class HarnessError extends Error {
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }
}
