import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Frame, Locator } from 'playwright-core';
import { ModelServer, type Answer } from './model-server.ts';
import { openVSCode, runCommand, waitForWorkbench, webviewFrame, type OpenOptions, type VSCode } from './vscode.ts';

export const call = (name: string, args: Record<string, unknown>, text = ''): Answer => ({ text, toolCalls: [{ name, arguments: args }] });
export const say = (text: string): Answer => ({ text });

/** A real VS Code with our chat, a model server that answers as told, and the workspace's files. */
export class Journey {
  readonly server: ModelServer;
  readonly vscode: VSCode;
  chat!: Frame;

  private constructor(server: ModelServer, vscode: VSCode) {
    this.server = server;
    this.vscode = vscode;
  }

  static async open(options: OpenOptions): Promise<Journey> {
    const server = await ModelServer.start();
    const vscode = await openVSCode({
      ...options,
      settings: {
        'workbench.colorTheme': 'Default Dark Modern', 'files.hotExit': 'onExitAndWindowClose',
        'dshHost.providers': [{ id: 'local', name: 'Local', baseUrl: server.baseURL, models: ['scripted'], needsKey: false }],
        'dshHost.model': 'local/scripted',
        ...options.settings,
      },
    });
    const journey = new Journey(server, vscode);
    await journey.openChat();
    return journey;
  }

  async openChat(): Promise<void> {
    await runCommand(this.vscode.page, 'DSH: Open Chat');
    this.chat = await webviewFrame(this.vscode.page, '.composer-input');
    await this.chat.locator('.composer-input').waitFor();
  }

  /** As a user reloads: editors and their unsaved text are kept by VS Code itself. */
  async reloadWindow(): Promise<void> {
    const { page } = this.vscode;
    const loaded = page.waitForEvent('load');
    await runCommand(page, 'Developer: Reload Window');
    await loaded;
    await waitForWorkbench(page);
  }

  async close(): Promise<void> {
    await this.vscode.close();
    await this.server.close();
  }

  async ask(text: string, ...answers: Answer[]): Promise<void> {
    this.server.push(...answers);
    const field = this.chat.locator('.composer-input');
    await field.fill(text);
    await field.press('Enter');
  }

  card(title: string): Locator {
    return this.chat.locator('.card', { has: this.chat.locator(`.card-toggle[title*="${title}"]`) }).last();
  }

  async done(text: string): Promise<void> {
    await this.chat.getByText(text, { exact: true }).last().waitFor();
  }

  file(name: string): string {
    return path.join(this.vscode.workspace, name);
  }

  bytes(name: string): string {
    return readFileSync(this.file(name), 'latin1');
  }

  /** Presses keys one after the other, as a user without a mouse does. */
  async keys(...keys: string[]): Promise<void> {
    for (const key of keys) await this.vscode.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.vscode.page.keyboard.type(text);
  }

  /** Waits until the file holds what it should; fails with what it holds instead. */
  async holds(name: string, expected: string | null): Promise<void> {
    const now = () => (existsSync(this.file(name)) ? this.bytes(name) : null);
    for (let i = 0; i < 100 && now() !== expected; i++) await this.vscode.page.waitForTimeout(100);
    assert.equal(now(), expected);
  }

  /** The pending changes as they are on disk, file → text. */
  stored(): Map<string, string> {
    const sessions = path.join(this.vscode.profileDir, 'user', 'User', 'globalStorage', 'dsh-host.dsh-host', 'sessions');
    const files = existsSync(sessions) ? readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((name) => /[\\/]reviews[\\/][^\\/]+\.json$/.test(name)) : [];
    return new Map(files.map((name) => [path.join(sessions, name), readFileSync(path.join(sessions, name), 'utf8')]));
  }

  /** Waits until a condition outside the page holds. */
  async until(what: () => boolean): Promise<void> {
    for (let i = 0; i < 300 && !what(); i++) await this.vscode.page.waitForTimeout(100);
    assert.ok(what(), `never came: ${what}`);
  }

  async caretAt(line: number): Promise<void> {
    await this.vscode.page.locator('.statusbar-item', { hasText: new RegExp(`Ln ${line}, `) }).waitFor();
  }

  /** Waits until the keys go to an editor. */
  async inEditor(): Promise<void> {
    await this.vscode.page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
  }

  /** Text of the newest message the model was sent, all of them joined. */
  lastRequest(): string {
    return JSON.stringify(this.server.requests.at(-1)?.body.messages.slice(-3));
  }

  /** Ids of this VS Code's extension host processes: their environment names the profile. */
  extensionHosts(): number[] {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=extensionHost') && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(this.vscode.profileDir);
      } catch {
        return false;
      }
    });
  }
}
