import { assertNever } from '../contract/never.ts';
import type { LlmFailure, TurnEndReason } from '../contract/event.ts';
import type { NoticeItem } from '../protocol.ts';
import type { TranscriptWords } from './words.ts';

type Notice = Pick<NoticeItem, 'level' | 'text' | 'detail' | 'action'>;

/** Failures that a key, or another model, mends. */
const KEY_CODES = new Set(['MISSING_CREDENTIAL', 'AUTH']);
const MODEL_CODES = new Set(['NO_MODEL', 'UNKNOWN_PROVIDER', 'UNKNOWN_MODEL']);

function errorNotice(error: LlmFailure, words: TranscriptWords, unanswered: string | undefined): Notice {
  const detail = [error.code, error.status === undefined ? '' : `HTTP ${error.status}`, error.requestId ?? ''].filter((part) => part !== '').join(' · ');
  const action: NoticeItem['action'] = KEY_CODES.has(error.code)
    ? { title: words.setApiKey(), message: { type: 'command', id: 'setApiKey' } }
    : MODEL_CODES.has(error.code)
      ? { title: words.selectModel(), message: { type: 'command', id: 'selectModel' } }
      : { title: words.retry(), message: { type: 'send', text: unanswered ?? 'Continue.', mode: 'queue' } };
  const failed = words.failed(words.failure(error));
  const text = error.providerRetryAfterMs === undefined ? failed : `${failed}${/[.!?。]$/.test(failed) ? '' : '.'} ${words.askedToWait(Math.ceil(error.providerRetryAfterMs / 1000))}`;
  return { level: 'error', text, detail, action };
}

/** What the user is told about the end of a turn; undefined when it simply ended. `unanswered` is what to send again. */
export function turnNotice(reason: TurnEndReason, words: TranscriptWords, unanswered: string | undefined): Notice | undefined {
  switch (reason.kind) {
    case 'completed': return undefined;
    case 'aborted': return { level: 'info', text: words.stopped(), ...(reason.reason?.kind === 'hook' && { detail: reason.reason.reason }) };
    case 'blocked': return { level: 'warning', text: words.blocked() };
    case 'interrupted': return { level: 'warning', text: words.interrupted() };
    case 'max-tokens':
      return { level: 'warning', text: words.maxTokens(), action: { title: words.goOn(), message: { type: 'send', text: 'Continue.', mode: 'queue' } } };
    case 'error': return errorNotice(reason.error, words, unanswered);
    default: return assertNever(reason, 'turn end');
  }
}
