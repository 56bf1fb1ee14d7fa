import { HarnessError } from '../../contract/error.ts';

export type WebErrorCode =
  | 'WEB_PROVIDER_UNAVAILABLE' | 'WEB_PROVIDER_AMBIGUOUS' | 'WEB_PROVIDER_CONFIGURED_MISSING' | 'WEB_PROVIDER_CONFIGURED_UNAVAILABLE'
  | 'WEB_DUPLICATE_PROVIDER' | 'WEB_INVALID_URL' | 'WEB_BLOCKED_URL' | 'WEB_REDIRECT_BLOCKED' | 'WEB_UNSUPPORTED_CONTENT_TYPE'
  | 'WEB_FETCH_TOO_LARGE' | 'WEB_FETCH_TIMEOUT' | 'WEB_ABORTED' | 'WEB_PROVIDER_ERROR';

/** B10.32. */
export class WebError extends HarnessError {
  constructor(message: string, code: WebErrorCode, options?: ErrorOptions) {
    super(message, code, options);
  }
}
