import path from 'node:path';
import type { Context } from '@deepseek-ai/cordis';
import * as vscode from 'vscode';
import type { Agent } from '../../contract/agent.ts';
import type { TranscriptItem, UserItem } from '../../protocol.ts';
import type { RewindItem, RewindOutcome, RewindPlan } from '../../seams/checkpoints.ts';
import type { DiffTexts } from '../diff-texts.ts';

/** The chat, as far as a rewind changes it. */
export interface RewindChat {
  readonly agent: Agent | undefined;
  readonly items: readonly TranscriptItem[];
  openSession(id: string): Promise<void>;
  compose(text: string | undefined, focus: boolean): void;
  stop(): void;
}

type Scope = 'both' | 'files' | 'conversation';

/** A rewind that went on in another session: which one it left, and what it did to files. */
interface Link { readonly left: string; readonly rewind?: string | undefined }

/** Where links are kept, by the session they went on in. */
const MEMORY_KEY = 'dshHost.rewinds';
/** Links kept. */
const LINKS = 50;

interface FileItem extends vscode.QuickPickItem { readonly item: RewindItem }

/**
 * Back to before a message: the files tools changed since, the conversation, or both, after a look at what will change.
 * The conversation goes on in a copy; the one left stays in the list of sessions, so that nothing is lost.
 */
export class Rewinder {
  readonly #ctx: Context;
  readonly #chat: RewindChat;
  readonly #texts: DiffTexts;
  readonly #memory: vscode.Memento;

  constructor(ctx: Context, chat: RewindChat, texts: DiffTexts, memory: vscode.Memento) {
    this.#ctx = ctx;
    this.#chat = chat;
    this.#texts = texts;
    this.#memory = memory;
  }

  /** `messageId`: the transcript item to go back before; asked for when left out. */
  async rewind(messageId?: string): Promise<void> {
    const agent = this.#chat.agent;
    const messages = this.#messages();
    if (agent === undefined || messages.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('There is no message to rewind to.'));
      return;
    }
    const message = messageId === undefined ? await pickMessage(messages) : firstOfTurn(messages, this.#chat.items, messageId);
    if (message === undefined || !(await this.#atRest(agent))) return;
    const place = { sessionId: agent.session.id, turn: message.turn };
    const plan = await this.#ctx.checkpoints.plan(place);
    const scope = await pickScope(plan);
    if (scope === undefined) return;
    const files = scope === 'conversation' ? [] : await this.#pickFiles(plan);
    if (files === undefined) return;
    const outcome = scope === 'conversation' ? undefined : await this.#ctx.checkpoints.rewind(plan, files.map(({ realPath }) => realPath));
    const reviews = this.#ctx.review.files().filter((file) => files.some(({ realPath }) => realPath === file.realPath));
    for (const { id } of reviews) await this.#ctx.review.refresh(id);
    if (scope !== 'files') await this.#rewindConversation(agent, message, outcome);
    await this.#tellOutcome(agent.session.id, outcome, scope);
  }

  /** Takes the newest rewind of this conversation back, of this run or an earlier one. */
  async undo(): Promise<void> {
    const session = this.#chat.agent?.session;
    const own = session === undefined ? undefined : await this.#ctx.checkpoints.lastRewind(session.id);
    const link = session === undefined || own !== undefined ? undefined : await this.#linkOf(session.id, session.header.parentSession);
    if (session !== undefined && own !== undefined) return this.#undo(session.id, own);
    if (link !== undefined) return this.#undo(link.left, link.rewind);
    void vscode.window.showInformationMessage(vscode.l10n.t('There is no rewind to take back.'));
  }

  #links(): Readonly<Record<string, Link>> {
    return this.#memory.get<Record<string, Link>>(MEMORY_KEY) ?? {};
  }

  async #linkOf(id: string, parent: string | undefined): Promise<Link | undefined> {
    const link = this.#links()[id];
    const last = await this.#ctx.checkpoints.lastRewind(link?.left ?? parent ?? id);
    // files can be taken back as long as nothing else was rewound there since
    if (link !== undefined) return { left: link.left, rewind: link.rewind === last ? last : undefined };
    return parent === undefined || last === undefined ? undefined : { left: parent, rewind: last };
  }

  async #undo(sessionId: string, id: string | undefined): Promise<void> {
    if (id !== undefined) {
      let outcome = await this.#ctx.checkpoints.undo(sessionId, id);
      if (outcome.failed.length > 0) {
        const anyway = vscode.l10n.t('Take Back Anyway');
        const names = outcome.failed.map((file) => file.path).join(', ');
        const answer = await vscode.window.showWarningMessage(vscode.l10n.t('Changed since the rewind and left as they are: {0}', names), anyway);
        if (answer === anyway) outcome = await this.#ctx.checkpoints.undo(sessionId, id, { force: true });
        if (outcome.failed.length > 0 && answer === anyway) void vscode.window.showErrorMessage(failures(outcome));
      }
    }
    if (this.#chat.agent?.session.id !== sessionId) await this.#chat.openSession(sessionId);
  }

  /** First message of each turn, oldest first: a turn is what can be taken back. */
  #messages(): UserItem[] {
    const turns = new Map<number, UserItem>();
    for (const item of this.#chat.items) if (item.kind === 'user' && !turns.has(item.turn)) turns.set(item.turn, item);
    return [...turns.values()];
  }

  /** Nothing may write while files go back. */
  async #atRest(agent: Agent): Promise<boolean> {
    if (agent.status !== 'running') return true;
    const stop = vscode.l10n.t('Stop and Rewind');
    if ((await vscode.window.showWarningMessage(vscode.l10n.t('The agent is running.'), { modal: true }, stop)) !== stop) return false;
    this.#chat.stop();
    await agent.whenIdle();
    return true;
  }

  async #pickFiles(plan: RewindPlan): Promise<readonly RewindItem[] | undefined> {
    if (plan.items.length === 0) return [];
    const diff: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('diff'), tooltip: vscode.l10n.t('Show What Changes') };
    const all: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('diff-multiple'), tooltip: vscode.l10n.t('Show All Changes') };
    const picker = vscode.window.createQuickPick<FileItem>();
    picker.title = vscode.l10n.t('Files to Rewind');
    picker.placeholder = coverage(plan);
    picker.canSelectMany = true;
    picker.ignoreFocusOut = true;
    picker.buttons = [all];
    picker.items = plan.items.map((item) => ({
      item, label: item.path, buttons: [diff],
      description: item.action === 'remove' ? vscode.l10n.t('did not exist, will be deleted') : '',
      ...(item.drift ? { detail: `$(warning) ${vscode.l10n.t('Changed by you or by a command too: these changes would go as well.')}` } : {}),
    }));
    picker.selectedItems = picker.items.filter(({ item }) => !item.drift);
    try {
      return await new Promise<readonly RewindItem[] | undefined>((resolve) => {
        picker.onDidAccept(() => resolve(picker.selectedItems.map(({ item }) => item)));
        picker.onDidHide(() => resolve(undefined));
        picker.onDidTriggerItemButton(({ item }) => void this.#show([item.item]));
        picker.onDidTriggerButton(() => void this.#show(plan.items));
        picker.show();
      });
    } finally {
      picker.dispose();
    }
  }

  async #show(items: readonly RewindItem[]): Promise<void> {
    const sides = items.map((item) => this.#texts.sides(`rewind ${item.realPath}`, { path: item.file, before: item.now ?? '', after: item.then ?? '' }));
    const [only] = sides;
    if (only === undefined) return;
    if (sides.length === 1) {
      await vscode.commands.executeCommand('vscode.diff', only.left, only.right, vscode.l10n.t('{0} (Now ↔ After the Rewind)', path.basename(items[0]!.file)), { preview: true, preserveFocus: true } satisfies vscode.TextDocumentShowOptions);
      return;
    }
    await vscode.commands.executeCommand('vscode.changes', vscode.l10n.t('Now ↔ After the Rewind'), sides.map(({ left, right }, i) => [vscode.Uri.file(items[i]!.file), left, right]));
  }

  /** The whole turns before the message, in a session of its own; the message waits in the composer. */
  async #rewindConversation(agent: Agent, message: UserItem, outcome: RewindOutcome | undefined): Promise<void> {
    const { session } = agent;
    const start = session.events.find((event) => event.type === 'turn/start' && event.data.turn === message.turn);
    const fork = this.#ctx.sessions.fork(session, { upTo: start?.seq ?? 0 });
    await this.#ctx.checkpoints.copy({ sessionId: session.id, turn: message.turn }, fork.id);
    await this.#ctx.sessions.close(fork);
    const link: Link = { left: session.id, rewind: outcome !== undefined && outcome.done.length > 0 ? outcome.id : undefined };
    await this.#memory.update(MEMORY_KEY, Object.fromEntries([...Object.entries(this.#links()), [fork.id, link] as const].slice(-LINKS)));
    await this.#chat.openSession(fork.id);
    this.#chat.compose(message.text, true);
  }

  async #tellOutcome(sessionId: string, outcome: RewindOutcome | undefined, scope: Scope): Promise<void> {
    if (outcome !== undefined && outcome.failed.length > 0) void vscode.window.showWarningMessage(failures(outcome));
    const undo = vscode.l10n.t('Undo Rewind');
    const count = outcome?.done.length ?? 0;
    const text = scope === 'conversation' ? vscode.l10n.t('The conversation was rewound. Files are as they were.')
      : count === 1 ? vscode.l10n.t('1 file was rewound.') : vscode.l10n.t('{0} files were rewound.', count);
    const answer = await vscode.window.showInformationMessage(text, undo);
    if (answer === undo) await this.#undo(sessionId, count === 0 ? undefined : outcome?.id);
  }
}

function failures(outcome: RewindOutcome): string {
  return vscode.l10n.t('Not rewound: {0}', outcome.failed.map(({ path: file, reason }) => `${file} (${reason})`).join(', '));
}

/** N3, N5: what a rewind does not do is said where it is chosen. */
function coverage(plan: RewindPlan): string {
  const commands = vscode.l10n.t('Changes made by commands are not covered.');
  return plan.uncovered.length === 0 ? commands : `${commands} ${vscode.l10n.t('Too big to be kept: {0}', plan.uncovered.join(', '))}`;
}

async function pickMessage(messages: readonly UserItem[]): Promise<UserItem | undefined> {
  const picked = await vscode.window.showQuickPick(
    [...messages].reverse().map((message) => ({ message, label: message.text.replace(/\s+/g, ' ').slice(0, 120), description: new Date(message.time).toLocaleTimeString(vscode.env.language) })),
    { title: vscode.l10n.t('Rewind to Before…'), placeHolder: vscode.l10n.t('Select a message') },
  );
  return picked?.message;
}

/** A message sent while the agent ran belongs to the turn it came into. */
function firstOfTurn(messages: readonly UserItem[], items: readonly TranscriptItem[], id: string): UserItem | undefined {
  const item = items.find((candidate) => candidate.kind === 'user' && candidate.id === id);
  return item === undefined ? undefined : messages.find(({ turn }) => turn === item.turn);
}

async function pickScope(plan: RewindPlan): Promise<Scope | undefined> {
  const files = plan.items.length === 1 ? vscode.l10n.t('1 file changes') : vscode.l10n.t('{0} files change', plan.items.length);
  const items: (vscode.QuickPickItem & { scope: Scope })[] = [
    { scope: 'both', label: vscode.l10n.t('Files and Conversation'), description: files },
    { scope: 'files', label: vscode.l10n.t('Files Only'), description: files },
    { scope: 'conversation', label: vscode.l10n.t('Conversation Only'), description: vscode.l10n.t('files stay as they are') },
  ];
  const shown = plan.items.length === 0 ? items.filter(({ scope }) => scope === 'conversation') : items;
  const picked = await vscode.window.showQuickPick(shown, { title: vscode.l10n.t('Rewind'), placeHolder: coverage(plan) });
  return picked?.scope;
}
