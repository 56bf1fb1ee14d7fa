import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '@deepseek-ai/cordis';
import * as vscode from 'vscode';
import type { PluginInfo } from '../plugins/plugin-set.ts';
import { l10nBundle, page, tabIcon } from './chat/html.ts';
import type { ChatController } from './chat/controller.ts';
import type { CommandId, CommandTable } from './command-ids.ts';
import { log } from './log.ts';
import type { Models } from './models.ts';
import { jumpTo } from './navigation.ts';
import type { PluginHost } from './plugin-host.ts';
import { sourceOf } from './plugin-tree.ts';
import { pickPreset } from './presets.ts';

export interface CommandParts {
  readonly context: vscode.ExtensionContext;
  readonly ctx: Context;
  readonly chat: ChatController;
  readonly models: Models;
  readonly plugins: PluginHost;
}

function pluginOfNode(argument: unknown): PluginInfo | undefined {
  return (argument as { kind?: unknown; plugin?: PluginInfo } | undefined)?.plugin;
}

/** What the commands outside the review do. */
export function hostCommands(parts: CommandParts): Omit<CommandTable, Extract<CommandId, `review.${string}`>> {
  const { context, ctx, chat, models, plugins } = parts;
  const openChat = async () => {
    await vscode.commands.executeCommand('dshHost.chat.focus');
    chat.compose(undefined, true);
  };
  return {
    openChat,
    openChatInEditor: async () => {
      const panel = vscode.window.createWebviewPanel('dshHost.chatEditor', vscode.l10n.t('DSH Chat'), vscode.ViewColumn.Active, {
        enableScripts: true, retainContextWhenHidden: true, enableFindWidget: true, localResourceRoots: [vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview')],
      });
      panel.iconPath = tabIcon(context.extensionUri);
      chat.attachPanel(panel);
      panel.webview.html = page(panel.webview, context.extensionUri, { kind: 'chat', l10n: await l10nBundle(), locale: vscode.env.language });
    },
    newSession: async () => {
      await chat.newSession();
      await openChat();
    },
    showSessions: () => showSessions(chat),
    deleteSession: (id) => (typeof id === 'string' ? chat.deleteSession(id) : undefined),
    exportSession: () => exportSession(context, chat),
    stop: () => chat.stop(),
    addSelection: (uri) => addSelection(chat, uri instanceof vscode.Uri ? uri : undefined, openChat),
    selectModel: () => models.pick(),
    selectPreset: async () => {
      const preset = await pickPreset(chat.preset);
      if (preset !== undefined) await chat.setPreset(preset);
    },
    setApiKey: (provider) => models.setKey(typeof provider === 'string' ? provider : undefined),
    removeApiKey: () => models.removeKey(),
    showLog: () => log().show(),
    openSettings: () => vscode.commands.executeCommand('workbench.action.openSettings', '@ext:dsh-host.dsh-host'),
    showPlugins: async () => {
      await vscode.commands.executeCommand('setContext', 'dshHost.showPlugins', true);
      await vscode.commands.executeCommand('dshHost.plugins.focus');
    },
    reloadPlugins: () => ctx.get('plugins')?.reload(),
    reloadPlugin: (node) => ctx.get('plugins')?.reload(pluginOfNode(node)?.id),
    openPluginSource: async (node) => {
      const plugin = pluginOfNode(node);
      if (plugin === undefined) return;
      const { file, line, column } = sourceOf(plugin);
      await jumpTo(file, path.dirname(plugins.file), { line, ...(column === undefined ? {} : { column }) });
    },
    openToolGuide: () => vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.joinPath(context.extensionUri, 'docs', 'tool-authoring.md')),
    showChanges: () => vscode.commands.executeCommand('dshHost.changes.focus'),
  };
}

/** Characters of a title that leave room for the time beside it: what a picker has no room for it cuts at the end. */
const TITLE_LENGTH = 56;

function shortTitle(title: string): string {
  const chars = [...(title === '' ? vscode.l10n.t('Untitled') : title)];
  return chars.length > TITLE_LENGTH ? `${chars.slice(0, TITLE_LENGTH - 1).join('').trimEnd()}…` : chars.join('');
}

async function showSessions(chat: ChatController): Promise<void> {
  await chat.refreshSessions();
  const remove: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: vscode.l10n.t('Delete Session') };
  const quickPick = vscode.window.createQuickPick<vscode.QuickPickItem & { id: string }>();
  quickPick.placeholder = vscode.l10n.t('Select a session to open');
  quickPick.matchOnDescription = true;
  const show = () => {
    quickPick.items = chat.meta.sessions.map(({ id, title, time }) => ({ id, label: shortTitle(title), description: new Date(time).toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' }), buttons: [remove] }));
  };
  quickPick.onDidTriggerItemButton(async ({ item }) => {
    quickPick.hide();
    await chat.deleteSession(item.id);
  });
  quickPick.onDidAccept(async () => {
    const id = quickPick.selectedItems[0]?.id;
    quickPick.hide();
    if (id !== undefined) {
      await chat.openSession(id);
      await vscode.commands.executeCommand('dshHost.chat.focus');
    }
  });
  quickPick.onDidHide(() => quickPick.dispose());
  show();
  quickPick.show();
}

/** Saves the session's log as it is: readable, and replayable by the headless driver. */
async function exportSession(context: vscode.ExtensionContext, chat: ChatController): Promise<void> {
  const session = chat.agent?.session;
  if (session === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There is no session to export yet.'));
    return;
  }
  const target = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.file(path.join(session.cwd, `dsh-session-${session.id.slice(0, 8)}.jsonl`)), filters: { [vscode.l10n.t('Session log')]: ['jsonl'] } });
  if (target === undefined) return;
  await session.flush();
  await copyFile(path.join(context.globalStorageUri.fsPath, 'sessions', `${session.id}.jsonl`), target.fsPath);
}

/** Mentions the selection, or the file, in the composer. Lines are 1-based. */
async function addSelection(chat: ChatController, uri: vscode.Uri | undefined, openChat: () => Promise<void>): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const target = uri ?? editor?.document.uri;
  if (target === undefined) return;
  const file = vscode.workspace.asRelativePath(target);
  const selection = editor !== undefined && editor.document.uri.toString() === target.toString() && !editor.selection.isEmpty ? editor.selection : undefined;
  const lines = selection === undefined ? '' : `:${selection.start.line + 1}-${selection.end.line + 1}`;
  await openChat();
  chat.compose(`@${file}${lines} `, true);
}
