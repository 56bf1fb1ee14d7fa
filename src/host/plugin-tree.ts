import * as vscode from 'vscode';
import { assertNever } from '../contract/never.ts';
import type { PluginInfo, PluginSet } from '../plugins/plugin-set.ts';
import type { PluginStatus } from '../plugins/plugin-entry.ts';

type Node = { readonly kind: 'plugin'; readonly plugin: PluginInfo } | { readonly kind: 'tool'; readonly name: string };

/** The "Plugins" view: what is loaded, waiting (for what) or failed (where), with its tools. */
export class PluginTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #set: () => PluginSet | undefined;

  constructor(set: () => PluginSet | undefined) {
    this.#set = set;
  }

  refresh(): void {
    this.#changed.fire(undefined);
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return (this.#set()?.list() ?? []).map((plugin) => ({ kind: 'plugin', plugin }));
    return node.kind === 'plugin' ? node.plugin.tools.map((name) => ({ kind: 'tool', name })) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === 'tool') {
      const item = new vscode.TreeItem(node.name);
      item.iconPath = new vscode.ThemeIcon('tools');
      return item;
    }
    const { plugin } = node;
    const item = new vscode.TreeItem(plugin.id, plugin.tools.length > 0 ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None);
    item.id = plugin.id;
    item.contextValue = `plugin.${plugin.status.state}`;
    item.iconPath = iconOf(plugin.status);
    item.description = describe(plugin.status);
    item.tooltip = tooltip(plugin);
    item.accessibilityInformation = { label: `${plugin.id}, ${item.description}` };
    item.command = { command: 'dshHost.openPluginSource', title: vscode.l10n.t('Open Source'), arguments: [node] };
    return item;
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

function describe(status: PluginStatus): string {
  switch (status.state) {
    case 'loading': return vscode.l10n.t('loading');
    case 'active': return vscode.l10n.t('loaded');
    case 'waiting': return vscode.l10n.t('waiting for {0}', status.missing.join(', '));
    case 'failed': return status.running ? vscode.l10n.t('failed, the version before it still runs: {0}', status.problem.message) : vscode.l10n.t('failed: {0}', status.problem.message);
    case 'disabled': return vscode.l10n.t('disabled');
    default: return assertNever(status);
  }
}

function iconOf(status: PluginStatus): vscode.ThemeIcon {
  switch (status.state) {
    case 'loading': return new vscode.ThemeIcon('loading~spin');
    case 'active': return new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'));
    case 'waiting': return new vscode.ThemeIcon('clock');
    case 'failed': return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
    case 'disabled': return new vscode.ThemeIcon('circle-slash');
    default: return assertNever(status);
  }
}

function tooltip(plugin: PluginInfo): string {
  const lines = [plugin.name, plugin.file ?? '', `${plugin.place.file}:${plugin.place.line}`];
  if (plugin.status.state === 'failed') {
    const { problem } = plugin.status;
    lines.push('', problem.file === undefined ? problem.message : `${problem.file}:${problem.line ?? 1}: ${problem.message}`);
  }
  return lines.filter((line, index) => line !== '' || index > 1).join('\n');
}

/** Where "Open Source" leads: the place of the problem, else the plugin's file, else its row. Lines are 1-based. */
export function sourceOf(plugin: PluginInfo): { file: string; line: number; column?: number } {
  if (plugin.status.state === 'failed' && plugin.status.problem.file !== undefined) {
    const { file, line, column } = plugin.status.problem;
    return { file, line: line ?? 1, ...(column === undefined ? {} : { column }) };
  }
  return plugin.file === undefined ? plugin.place : { file: plugin.file, line: 1 };
}

/** Problems of failed plugins in VS Code's own Problems view and at the line in the editor. */
export class PluginDiagnostics implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('dsh');

  update(plugins: readonly PluginInfo[]): void {
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const plugin of plugins) {
      if (plugin.status.state !== 'failed') continue;
      const { file, line, column } = sourceOf(plugin);
      const start = new vscode.Position(Math.max(line - 1, 0), Math.max((column ?? 1) - 1, 0));
      const diagnostic = new vscode.Diagnostic(new vscode.Range(start, start.with(undefined, column === undefined ? Number.MAX_SAFE_INTEGER : column)), plugin.status.problem.message);
      diagnostic.source = 'dsh';
      byFile.set(file, [...(byFile.get(file) ?? []), diagnostic]);
    }
    this.#collection.clear();
    for (const [file, diagnostics] of byFile) this.#collection.set(vscode.Uri.file(file), diagnostics);
  }

  dispose(): void {
    this.#collection.dispose();
  }
}
