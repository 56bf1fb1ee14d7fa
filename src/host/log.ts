import * as vscode from 'vscode';
import type { LogEntry } from '../runtime.ts';

let channel: vscode.LogOutputChannel | undefined;

/** The output channel of the host ("DSH: Show Log"). Made on first use. Never holds keys or file contents. */
export function log(): vscode.LogOutputChannel {
  return (channel ??= vscode.window.createOutputChannel('DSH', { log: true }));
}

/** Takes the core's log entries. */
export function writeLog(entry: LogEntry): void {
  log()[entry.level](entry.name === '' ? entry.text : `[${entry.name}] ${entry.text}`);
}

/** Text for a reader of an unknown thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Logs with the stack, shows the first line to the user with a way to the log. */
export function showError(what: string, error: unknown): void {
  log().error(what, error instanceof Error ? (error.stack ?? error.message) : String(error));
  const openLog = vscode.l10n.t('Show Log');
  void vscode.window.showErrorMessage(`${what}: ${errorText(error)}`, openLog).then((choice) => {
    if (choice === openLog) log().show();
  });
}

export function disposeLog(): void {
  channel?.dispose();
  channel = undefined;
}
