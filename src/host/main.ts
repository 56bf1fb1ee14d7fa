import { mkdirSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { DiskAttachments } from '../headless/attachments.ts';
import { NodeRipgrep } from '../headless/ripgrep.ts';
import { NodeShell } from '../headless/shell.ts';
import { NodeSpillStore } from '../headless/spill.ts';
import { startRuntime } from '../runtime.ts';
import { lentModules } from '../plugins/modules.ts';
import { Approvals } from './approvals.ts';
import { ChatController } from './chat/controller.ts';
import type { CommandTable } from './command-ids.ts';
import { hostCommands } from './commands.ts';
import { DiffTexts } from './diff-texts.ts';
import { EditorFileSystem } from './documents.ts';
import { disposeLog, writeLog } from './log.ts';
import { Models } from './models.ts';
import { NativeViews } from './native-views.ts';
import { jumpTo } from './navigation.ts';
import { PluginHost } from './plugin-host.ts';
import { ResultsPanel } from './results/panel.ts';
import { reviewCommands } from './review/commands.ts';
import { ReviewEditor } from './review/editor.ts';
import { ReviewFiles } from './review/files.ts';
import { Rewinder } from './review/rewinder.ts';
import { AppliedMarks } from './review/marks.ts';
import { ChangesTree } from './review/tree.ts';
import { ProposalTyping } from './review/typing.ts';
import { ApiKeys } from './secrets.ts';
import { onSettingChange, setting } from './settings.ts';
import { Started } from './started.ts';
import { OptionalTools } from './optional-tools.ts';
import { Terminals } from './terminals.ts';
import { webConfig } from './web.ts';

/** The running host of one window. */
export interface Host {
  readonly ctx: Awaited<ReturnType<typeof startRuntime>>['ctx'];
  readonly chat: ChatController;
  readonly commands: CommandTable;
  readonly reviewFiles: vscode.FileSystemProvider;
  readonly pluginTree: vscode.TreeDataProvider<object>;
  readonly plugins: PluginHost;
  readonly models: Models;
  readonly results: ResultsPanel;
  readonly terminals: Terminals;
  readonly approvals: Approvals;
  dispose(): Promise<void>;
}

/** Absolute folder that new sessions work in: the first workspace folder, else an empty one of ours (never the whole home folder). */
function workspaceFolder(scratch: string): string {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri.fsPath;
  if (folder === undefined) mkdirSync(scratch, { recursive: true });
  return folder ?? scratch;
}

/** Starts the core on VS Code's providers and the native views on the core. What had been started ends again when the rest can't. */
export async function startHost(context: vscode.ExtensionContext): Promise<Host> {
  const started = new Started();
  started.add(disposeLog);
  try {
    return await compose(context, started);
  } catch (error) {
    // what is told is why it could not start
    await started.end().catch(() => undefined);
    throw error;
  }
}

async function compose(context: vscode.ExtensionContext, started: Started): Promise<Host> {
  const testing = context.extensionMode !== vscode.ExtensionMode.Production || process.env['DSH_HOST_TEST'] === '1';
  const sessions = path.join(context.globalStorageUri.fsPath, 'sessions');
  const cwd = () => workspaceFolder(path.join(context.globalStorageUri.fsPath, 'scratch'));
  const keys = new ApiKeys(context.secrets);
  const late: { models?: Models; plugins?: PluginHost; chat?: ChatController } = {};
  const dist = path.join(context.extensionUri.fsPath, 'dist');
  const runtime = await startRuntime({
    sessionsDir: sessions,
    providers: async (mount, root) => {
      await mount(root.plugin(EditorFileSystem));
      await mount(root.plugin(NodeSpillStore, { sessions }));
      await mount(root.plugin(NodeShell, { sessionFile: (id) => path.join(sessions, `${id}.jsonl`) }));
      await mount(root.plugin(NodeRipgrep, { appRoot: vscode.env.appRoot }));
      await mount(root.plugin(DiskAttachments, { directory: path.join(context.globalStorageUri.fsPath, 'attachments') }));
    },
    agents: {
      ...(setting('maxSteps') > 0 ? { maxSteps: setting('maxSteps') } : {}),
      defaultModel: () => late.models?.current(),
    },
    permissions: {
      trusted: () => vscode.workspace.isTrusted,
      defaultPreset: () => setting('permissionPreset'),
      roots: () => (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
      readable: (session) => [path.join(sessions, session.id)],
      codeFiles: (file) => late.plugins?.owns(file) ?? false,
      grammar: { runtime: path.join(dist, 'web-tree-sitter.wasm'), bash: path.join(dist, 'tree-sitter-bash.wasm') },
    },
    web: await webConfig(keys, (subscription) => started.keep(subscription)),
    log: writeLog,
  });
  started.add(() => runtime.dispose());
  const { ctx } = runtime;
  const models = (late.models = started.keep(new Models(ctx, keys, testing)));
  const terminals = started.keep(new Terminals(() => setting('revealTerminal')));
  ctx.on('shell/started', (event) => terminals.started(event));
  ctx.on('shell/output', (event) => terminals.output(event));
  ctx.on('shell/ended', (event) => terminals.ended(event));
  const results = started.keep(new ResultsPanel(context.extensionUri));
  const typing = started.keep(new ProposalTyping(ctx.review));
  const reviewEditor = started.keep(new ReviewEditor(ctx.review, typing));
  const reviewFiles = started.keep(new ReviewFiles(ctx.review, (id, text) => typing.take(id, text)));
  const diffTexts = started.keep(new DiffTexts());
  const plugins = (late.plugins = started.keep(new PluginHost(ctx, lentModules({ vscode }), cwd)));
  const views = new NativeViews({ terminals, results, review: ctx.review, reviewEditor, diffTexts });
  const approvals = new Approvals(ctx, (request) => late.chat?.asked(request));
  const chat = (late.chat = new ChatController({
    ctx, models, approvals, views, reviewEditor, memory: context.workspaceState, extensionUri: context.extensionUri, cwd,
    runCommand: (id) => vscode.commands.executeCommand(VIEW_COMMANDS[id] ?? `dshHost.${id}`),
  }));
  started.add(() => chat.dispose());
  ctx.on('review/staged', (file) => {
    if (setting('openDiffOnReview')) void reviewEditor.announce(file);
  });
  ctx.on('review/drift', (file, lost) => void reviewEditor.drifted(file, lost));
  const commands: CommandTable = { ...hostCommands({ context, ctx, chat, models, plugins }), ...reviewCommands(ctx.review, reviewEditor, new Rewinder(ctx, chat, diffTexts, context.workspaceState)) };
  started.keep(new ChangesTree(ctx.review));
  started.keep(new AppliedMarks(ctx.review));
  started.keep(new OptionalTools(ctx));
  started.keep(vscode.window.registerTerminalLinkProvider(terminals.linkProvider((file, cwd, line, column) => void jumpTo(file, cwd, { line, ...(column === undefined ? {} : { column }) }))));
  started.keep(models.onChange(() => void chat.settingsChanged()));
  started.keep(onSettingChange(['permissionPreset'], () => void chat.settingsChanged()));
  started.keep(onSettingChange(['pluginFile', 'pluginPatches'], () => void plugins.restart()));
  started.keep(vscode.workspace.onDidGrantWorkspaceTrust(() => {
    void plugins.restart();
    void chat.settingsChanged();
  }));
  started.keep(vscode.workspace.onDidChangeWorkspaceFolders(() => void plugins.restart()));
  await models.refresh();
  await plugins.restart();
  await chat.restore();
  return {
    ctx, chat, commands, reviewFiles, pluginTree: plugins.tree as vscode.TreeDataProvider<object>, plugins, models, results, terminals, approvals,
    dispose: () => started.end(),
  };
}

/** Commands a view may run that are not ours. */
const VIEW_COMMANDS: Readonly<Record<string, string>> = {
  manageTrust: 'workbench.trust.manage',
  openFolder: 'vscode.openFolder',
  openInEditor: 'dshHost.openChatInEditor',
  openSettings: 'dshHost.openSettings',
};
