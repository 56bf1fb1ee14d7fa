import * as vscode from 'vscode';
import { assertNever } from '../contract/never.ts';
import type { Settings } from './settings.ts';

type Preset = Settings['permissionPreset'];
const PRESETS: readonly Preset[] = ['read-only', 'ask', 'auto-edit', 'full'];

/** The preset's name for the user. */
export function presetLabel(preset: Preset): string {
  switch (preset) {
    case 'read-only': return vscode.l10n.t('Read Only');
    case 'ask': return vscode.l10n.t('Ask');
    case 'auto-edit': return vscode.l10n.t('Auto-Edit');
    case 'full': return vscode.l10n.t('Full Access');
    default: return assertNever(preset);
  }
}

function presetDetail(preset: Preset): string {
  switch (preset) {
    case 'read-only': return vscode.l10n.t('Reads and searches. Writes and commands are refused.');
    case 'ask': return vscode.l10n.t('Edits wait for your review, commands ask.');
    case 'auto-edit': return vscode.l10n.t('Edits land at once and can be undone, commands ask.');
    case 'full': return vscode.l10n.t('Nothing asks, except for protected files.');
    default: return assertNever(preset);
  }
}

/** Lets the user pick what the agent may do without asking; undefined: it stays as it is. */
export async function pickPreset(current: Preset): Promise<Preset | undefined> {
  const picked = await vscode.window.showQuickPick(
    PRESETS.map((preset) => ({ preset, label: presetLabel(preset), detail: presetDetail(preset), ...(preset === current ? { description: vscode.l10n.t('In use') } : {}) })),
    { placeHolder: vscode.l10n.t('Select what the agent may do without asking') },
  );
  return picked?.preset === current ? undefined : picked?.preset;
}
