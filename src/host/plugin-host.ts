import os from 'node:os';
import path from 'node:path';
import type { Context, Fiber } from '@deepseek-ai/cordis';
import * as vscode from 'vscode';
import { patchLayers, type PatchLayers } from '../plugins/layers.ts';
import { PluginSet, type PluginInfo } from '../plugins/plugin-set.ts';
import { log } from './log.ts';
import { PluginDiagnostics, PluginTree } from './plugin-tree.ts';
import { setting } from './settings.ts';

/** The workspace's plugins: loaded in trusted workspaces only, shown in their view and in the Problems view. */
export class PluginHost implements vscode.Disposable {
  readonly tree: PluginTree;
  readonly #ctx: Context;
  readonly #modules: Readonly<Record<string, unknown>>;
  readonly #folder: () => string;
  readonly #diagnostics = new PluginDiagnostics();
  #fiber: Fiber | undefined;
  #work: Promise<void> = Promise.resolve();
  /** The problem each failed plugin was last announced with. */
  readonly #told = new Map<string, string>();
  #asking = false;
  #disposed = false;

  constructor(ctx: Context, modules: Readonly<Record<string, unknown>>, folder: () => string) {
    this.#ctx = ctx;
    this.#modules = modules;
    this.#folder = folder;
    this.tree = new PluginTree(() => this.set);
  }

  get set(): PluginSet | undefined {
    return this.#ctx.get('plugins');
  }

  /** Absolute path of the plugin file. */
  get file(): string {
    return path.resolve(this.#folder(), setting('pluginFile'));
  }

  /** Whether a file runs as soon as it is saved: writing it asks, in every preset (J5). */
  owns(realPath: string): boolean {
    return realPath === this.file || (this.set?.owns(realPath) ?? false);
  }

  /** Unloads everything and loads what the workspace has now. */
  restart(): Promise<void> {
    this.#work = this.#work.then(async () => {
      await this.#fiber?.dispose();
      this.#fiber = undefined;
      if (!vscode.workspace.isTrusted || (vscode.workspace.workspaceFolders?.length ?? 0) === 0) {
        this.#show();
        return;
      }
      const home = process.env['DSH_HOME'] ?? path.join(os.homedir(), '.dsh');
      const { file: pluginFile } = this;
      const patches = (): PatchLayers => patchLayers({ pluginFile, home, named: setting('pluginPatches') });
      const fiber = this.#ctx.plugin(PluginSet, { file: pluginFile, patches, modules: this.#modules, watch: true });
      this.#fiber = fiber;
      await fiber;
      this.set?.onChange(() => this.#show());
      this.#show();
    }).catch((error: unknown) => log().error('plugins', String(error)));
    return this.#work;
  }

  #show(): void {
    if (this.#disposed) return;
    const list = this.set?.list() ?? [];
    this.tree.refresh();
    this.#diagnostics.update(list);
    void vscode.commands.executeCommand('setContext', 'dshHost.showPlugins', list.length > 0);
    const ids = new Set(list.map((plugin) => plugin.id));
    for (const id of this.#told.keys()) if (!ids.has(id)) this.#told.delete(id);
    for (const plugin of list) this.#announce(plugin);
  }

  /** A failure is told once, in the log and by one message at a time that leads to the line; the view and the Problems have them all. */
  #announce(plugin: PluginInfo): void {
    if (plugin.status.state !== 'failed') {
      if (plugin.status.state === 'active') this.#told.delete(plugin.id);
      return;
    }
    const { problem } = plugin.status;
    const key = `${problem.file}:${problem.line}: ${problem.message}`;
    if (this.#told.get(plugin.id) === key) return;
    this.#told.set(plugin.id, key);
    log().error(`plugin ${plugin.id}: ${key}`, problem.stack ?? '');
    if (this.#asking) return;
    this.#asking = true;
    const open = vscode.l10n.t('Go to Line');
    void vscode.window.showErrorMessage(vscode.l10n.t("Plugin '{0}': {1}", plugin.name, problem.message), open).then((choice) => {
      this.#asking = false;
      if (choice === open) void vscode.commands.executeCommand('dshHost.openPluginSource', { kind: 'plugin', plugin });
    });
  }

  dispose(): void {
    this.#disposed = true;
    this.#diagnostics.dispose();
    this.tree.dispose();
  }
}
