import type { AskReason } from '../contract/ask-reason.ts';
import type { LlmFailure } from '../contract/event.ts';
import { askText } from '../policy/ask-text.ts';

/** Sentences of the host's own in a transcript. The host hands in localised ones. */
export interface TranscriptWords {
  stopped(): string;
  blocked(): string;
  /** A waiting message was given up; `text` is its first line. */
  notSent(text: string): string;
  interrupted(): string;
  maxTokens(): string;
  /** What went wrong with a request, as part of one of the sentences below. */
  failure(failure: LlmFailure): string;
  failed(message: string): string;
  /** `seconds` until the next try. */
  retrying(message: string, attempt: number, seconds: number): string;
  /** The next try is on its way. */
  retried(message: string, attempt: number): string;
  /** The server wants to be left alone for longer than is waited for. */
  askedToWait(seconds: number): string;
  lost(): string;
  compacting(): string;
  compacted(): string;
  compactionFailed(message: string): string;
  /** Why a call asks. */
  asks(why: AskReason): string;
  /** The user switched to this permission preset. */
  preset(preset: string): string;
  /** Titles of the actions beside a notice. */
  setApiKey(): string;
  selectModel(): string;
  retry(): string;
  goOn(): string;
  stop(): string;
}

export const ENGLISH: TranscriptWords = {
  stopped: () => 'Stopped.',
  blocked: () => 'A plugin kept this message from the model.',
  notSent: (text) => `Not sent: ${text}`,
  interrupted: () => 'The window was closed while this ran.',
  maxTokens: () => 'The answer reached the length limit.',
  failure: ({ message }) => message,
  failed: (message) => `The request failed: ${message}`,
  retrying: (message, attempt, seconds) => `The request failed (${message}). Try ${attempt + 1} in ${duration(seconds)}.`,
  retried: (message, attempt) => `The request failed (${message}). Try ${attempt + 1} is under way.`,
  askedToWait: (seconds) => `The server asks to wait ${duration(seconds)}.`,
  lost: () => 'Part of this session could not be read. The unreadable lines were kept in a file beside it.',
  compacting: () => 'Summarising the earlier conversation…',
  compacted: () => 'The earlier conversation was summarised for the model.',
  compactionFailed: (message) => `The earlier conversation could not be summarised: ${message}`,
  asks: askText,
  preset: (preset) => `Permissions: ${preset}`,
  setApiKey: () => 'Set API Key',
  selectModel: () => 'Select Model',
  retry: () => 'Try Again',
  goOn: () => 'Go On',
  stop: () => 'Stop',
};

function duration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
