import * as vscode from 'vscode';

/** One endpoint of `dshHost.providers`. */
export interface ProviderSetting {
  readonly id: string;
  readonly name?: string;
  readonly baseUrl: string;
  readonly models?: readonly string[];
  /** Tokens. */
  readonly contextWindow?: number;
  readonly needsKey?: boolean;
}

/** Every setting of ours with its type; names match package.json (a test compares them). */
export interface Settings {
  readonly model: string;
  readonly providers: readonly ProviderSetting[];
  readonly permissionPreset: 'read-only' | 'ask' | 'auto-edit' | 'full';
  readonly pluginFile: string;
  /** Paths, absolute or relative to the plugin file. */
  readonly pluginPatches: readonly string[];
  /** Empty: the only service that is set up. */
  readonly webSearch: string;
  readonly searxngUrl: string;
  /** 0: no limit. */
  readonly maxSteps: number;
  readonly openDiffOnReview: boolean;
  readonly revealTerminal: boolean;
  readonly strReplaceEditor: boolean;
}

export const SECTION = 'dshHost';

/** Reads one setting as it is now. */
export function setting<K extends keyof Settings>(key: K, scope?: vscode.ConfigurationScope): Settings[K] {
  return vscode.workspace.getConfiguration(SECTION, scope).get(key) as Settings[K];
}

/** Writes a setting where the user would expect it: the user's own settings. */
export async function updateSetting<K extends keyof Settings>(key: K, value: Settings[K]): Promise<void> {
  await vscode.workspace.getConfiguration(SECTION).update(key, value, vscode.ConfigurationTarget.Global);
}

export function onSettingChange(keys: readonly (keyof Settings)[], listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (keys.some((key) => event.affectsConfiguration(`${SECTION}.${key}`))) listener();
  });
}
