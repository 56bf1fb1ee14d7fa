import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Api } from '../../src/extension.ts';
import type { Host } from '../../src/host/main.ts';
import type { ToolItem } from '../../src/protocol.ts';

/** Helpers for tests inside the real extension host: the running host, its workspace, and turns driven by a script. */

export const workspace = (): string => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  assert.ok(folder, 'the tests need a workspace folder');
  return folder;
};

export async function runningHost(): Promise<Host> {
  const extension = vscode.extensions.getExtension<Api>('dsh-host.dsh-host');
  assert.ok(extension, 'the extension is there');
  const api = await extension.activate();
  assert.ok(api.host, 'the extension runs in test mode');
  return api.host();
}

/** Writes a file of the workspace and returns its absolute path. */
export function put(name: string, content: string | Uint8Array): string {
  const file = path.join(workspace(), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

export async function until<T>(what: () => T | undefined | false, ms = 20_000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const value = what();
    if (value !== undefined && value !== false) return value;
    assert.ok(Date.now() < end, `never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Every test file has a copy of this module: the time keeps the names of one apart from those of the next. */
let scripts = Date.now();

/** Starts a session of its own and a turn that the script plays; does not wait for its end. */
export async function play(host: Host, model: readonly object[], text = 'Go.'): Promise<void> {
  const file = put(`.script-${++scripts}.json`, JSON.stringify({ user: [text], model }));
  await vscode.workspace.getConfiguration('dshHost').update('model', `scripted:${file}`, vscode.ConfigurationTarget.Global);
  // the host of a loaded machine hears of a setting a moment later than it was written
  await until(() => vscode.workspace.getConfiguration('dshHost').get('model') === `scripted:${file}`);
  await host.chat.newSession();
  await host.chat.send(text);
}

/** The turn that `play` started has ended. */
export async function idle(host: Host): Promise<void> {
  await until(() => host.chat.agent?.status === 'idle' && host.chat.agent.session.events.some((event) => event.type === 'turn/end'));
}

export const cards = (host: Host): ToolItem[] => host.chat.items.filter((item): item is ToolItem => item.kind === 'tool');

/** Allows every approval until the returned function is called. */
export function allowAll(host: Host): () => void {
  const timer = setInterval(() => {
    for (const { ask } of cards(host)) if (ask?.kind === 'approval') host.approvals.decide(ask.id, true);
  }, 20);
  return () => clearInterval(timer);
}

export const call = (name: string, args: object, text = ''): object => ({ text, toolCalls: [{ name, arguments: args }] });
export const say = (text: string): object => ({ text });
