import * as vscode from 'vscode';
import { isPreset } from '../../policy/presets.ts';
import type { TranscriptWords } from '../../transcript/words.ts';
import { presetLabel } from '../presets.ts';
import { askWords } from './ask-words.ts';
import { failureWords } from './failure-words.ts';

/** The host's own sentences in a transcript, in the display language. */
export function transcriptWords(): TranscriptWords {
  const { t } = vscode.l10n;
  return {
    stopped: () => t('Stopped.'),
    blocked: () => t('A plugin kept this message from the model.'),
    notSent: (text) => t('Not sent: {0}', text),
    interrupted: () => t('The window was closed while this ran.'),
    maxTokens: () => t('The answer reached the length limit.'),
    failure: failureWords,
    failed: (message) => t('The request failed: {0}', message),
    retrying: (message, attempt, seconds) => t('The request failed ({0}). Try {1} in {2}.', message, attempt + 1, duration(seconds)),
    retried: (message, attempt) => t('The request failed ({0}). Try {1} is under way.', message, attempt + 1),
    askedToWait: (seconds) => t('The server asks to wait {0}.', duration(seconds)),
    lost: () => t('Part of this session could not be read. The unreadable lines were kept in a file beside it.'),
    compacting: () => t('Summarising the earlier conversation…'),
    compacted: () => t('The earlier conversation was summarised for the model.'),
    compactionFailed: (message) => t('The earlier conversation could not be summarised: {0}', message),
    asks: askWords,
    preset: (preset) => t('Permissions: {0}', isPreset(preset) ? presetLabel(preset) : preset),
    setApiKey: () => t('Set API Key'),
    selectModel: () => t('Select Model'),
    retry: () => t('Try Again'),
    goOn: () => t('Go On'),
    stop: () => t('Stop'),
  };
}

function duration(seconds: number): string {
  const { t } = vscode.l10n;
  return seconds < 120 ? t('{0} s', seconds) : t('{0} min', Math.ceil(seconds / 60));
}
