import * as vscode from 'vscode';
import { isPreset } from '../../policy/presets.ts';
import type { TranscriptWords } from '../../transcript/words.ts';
import { presetLabel } from '../presets.ts';
import { askWords } from './ask-words.ts';

/** The host's own sentences in a transcript, in the display language. */
export function transcriptWords(): TranscriptWords {
  const { t } = vscode.l10n;
  return {
    stopped: () => t('Stopped.'),
    blocked: () => t('A plugin kept this message from the model.'),
    interrupted: () => t('The window was closed while this ran.'),
    maxTokens: () => t('The answer reached the length limit.'),
    failed: (message) => t('The request failed: {0}', message),
    retrying: (message, attempt, seconds) => t('The request failed ({0}). Try {1} in {2} s.', message, attempt + 1, seconds),
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
  };
}
