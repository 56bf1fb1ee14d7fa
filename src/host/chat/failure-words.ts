import * as vscode from 'vscode';
import type { LlmFailure } from '../../contract/event.ts';

/**
 * What went wrong with a request, in the display language. The message is ours or the server's, and English as a rule:
 * where the code says what kind of failure it is, other languages get that first and the message behind it.
 */
export function failureWords({ code, message }: LlmFailure): string {
  const kind = /^en\b/i.test(vscode.env.language) ? undefined : kindOf(code);
  return kind === undefined ? message : `${kind} (${message})`;
}

function kindOf(code: string): string | undefined {
  const { t } = vscode.l10n;
  switch (code) {
    case 'MISSING_CREDENTIAL': return t('there is no API key for this model');
    case 'AUTH': return t('the key was refused');
    case 'QUOTA': return t('the account has no credit left');
    case 'RATE_LIMIT': return t('too many requests');
    case 'CONTEXT_WINDOW_EXCEEDED': return t('the conversation is longer than the model takes');
    case 'INVALID_REQUEST': return t('the server did not accept the request');
    case 'SERVER': return t('the server has a problem');
    case 'TIMEOUT': return t('the server did not answer in time');
    case 'TRANSPORT': return t('the server cannot be reached');
    case 'EMPTY_RESPONSE': return t('the model answered with nothing');
    case 'STREAM_CLOSED': return t('the answer broke off');
    case 'MALFORMED_RESPONSE': case 'BAD_STREAM': return t('the answer could not be read');
    case 'NO_MODEL': case 'UNKNOWN_PROVIDER': case 'UNKNOWN_MODEL': return t('the selected model is not there');
    case 'STEP_LIMIT': return t('the turn reached the limit of requests');
    default: return undefined;
  }
}
