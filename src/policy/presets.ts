/**
 * What may happen without asking.
 * `read-only`: nothing is written, run or sent. `ask`: changes are staged for review, commands and the network ask.
 * `auto-edit`: changes land and stay open to undo, commands and the network ask. `full`: nothing asks but what makes
 * code run later (J5), which asks in every preset.
 */
export type PresetId = 'read-only' | 'ask' | 'auto-edit' | 'full';
export const PRESETS: readonly PresetId[] = ['read-only', 'ask', 'auto-edit', 'full'];
export const DEFAULT_PRESET: PresetId = 'ask';

/** Whether a string (a setting, a logged event) names a preset. */
export function isPreset(value: unknown): value is PresetId {
  return PRESETS.includes(value as PresetId);
}
