import type { Context } from '@deepseek-ai/cordis';
import * as vscode from 'vscode';
import type { Agent } from '../../contract/agent.ts';
import { assertNever } from '../../contract/never.ts';
import type { ChatMeta, ChatState, Question, SessionSummary, TranscriptItem, ViewToHost } from '../../protocol.ts';
import type { UserQuestion, UserQuestionRequest } from '../../seams/questions.ts';
import type { Approvals } from '../approvals.ts';
import { errorText, log, showError } from '../log.ts';
import type { Models } from '../models.ts';
import type { NativeViews } from '../native-views.ts';
import { jumpTo, openLink } from '../navigation.ts';
import type { PresetId } from '../../policy/presets.ts';
import { presetLabel } from '../presets.ts';
import type { ReviewEditor } from '../review/editor.ts';
import { setting } from '../settings.ts';
import { callRecord, readNow } from './call-record.ts';
import { tabIcon } from './html.ts';
import { JobList } from './job-list.ts';
import { findMentions } from './mentions.ts';
import { Outbox } from './outbox.ts';
import { OutputDecoders } from './output-decoders.ts';
import { pendingReviews } from './pending.ts';
import { ChatPort } from './port.ts';
import { SessionSlot } from './session-slot.ts';
import { tellOfWriting } from './writing.ts';

/** Items a view gets at first, and per request for older ones. */
const PAGE = 200;
/** Registrations are taken together. Milliseconds. */
const TOOLS_MS = 50;
/** How long everything else waits for the session that was shown last. Milliseconds. */
const RESTORE_MS = 300;
/** Which session this window showed last. */
const MEMORY_KEY = 'dshHost.session';
export interface ChatParts {
  readonly ctx: Context;
  readonly models: Models;
  readonly approvals: Approvals;
  readonly views: NativeViews;
  readonly reviewEditor: ReviewEditor;
  readonly memory: vscode.Memento;
  readonly extensionUri: vscode.Uri;
  /** Absolute folder new sessions work in. */
  readonly cwd: () => string;
  readonly runCommand: (id: string) => Thenable<unknown>;
}

/** The chat of this window: one session at a time, any number of views that draw it. */
export class ChatController implements vscode.Disposable {
  readonly #parts: ChatParts;
  readonly #ports = new Set<ChatPort>();
  readonly #outbox: Outbox;
  readonly #slot: SessionSlot;
  #sessions: readonly SessionSummary[] = [];
  readonly #jobs: JobList;
  #modelName = '';
  readonly #decoders = new OutputDecoders();
  #toolTimer: ReturnType<typeof setTimeout> | undefined;
  #stopping = false;
  #disposed = false;
  /** Chosen before the session has its first message. */
  #nextPreset: PresetId | undefined;
  #draft: string | undefined;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    this.#outbox = new Outbox((ops, meta) => {
      for (const port of this.#ports) {
        if (ops.length > 0) port.send({ type: 'patch', ops });
        if (meta !== undefined) port.send({ type: 'meta', meta });
      }
    });
    const { ctx } = parts;
    this.#jobs = new JobList(() => ctx.get('jobs')?.list(this.#slot.agent) ?? [], (jobs) => this.#outbox.meta({ jobs }));
    this.#slot = new SessionSlot({
      ctx, cwd: parts.cwd,
      changed: (patches, meta) => {
        this.#outbox.patches(patches);
        if (Object.keys(meta).length > 0) this.#outbox.meta(meta);
      },
    });
    ctx.on('agent/status', () => this.#statusChanged());
    ctx.on('tools/change', () => this.#toolsChanged());
    ctx.on('session/list-change', () => void this.refreshSessions());
    ctx.on('shell/output', (event) => {
      this.#jobs.output(event);
      const text = this.#decoders.decode(event);
      if (text !== '') this.#outbox.patches(this.#slot.transcript.output(event.callId, text));
    });
    ctx.on('shell/started', (event) => this.#jobs.started(event.callId, event.agent));
    ctx.on('shell/ended', (event) => {
      this.#jobs.ended(event.callId);
      this.#outbox.patches(this.#slot.transcript.output(event.callId, this.#decoders.end(event.callId)));
    });
    tellOfWriting(ctx, (session, copy) => {
      if (session === this.#slot.session) void parts.memory.update(MEMORY_KEY, copy);
    });
    ctx.inject(['jobs'], (inner) => {
      inner.effect(() => inner.jobs.onJobsChanged(() => this.#jobs.refresh()), 'chat jobs');
    });
    ctx.effect(() => ctx.review.onChange((file) => {
      this.#outbox.patches(this.#slot.transcript.review(file));
      this.#outbox.meta({ reviews: pendingReviews(ctx.review.files()) });
    }), 'chat reviews');
  }

  // ── views ──────────────────────────────────────────────────────────────────────────────────────────────────────

  attachView(view: vscode.WebviewView): void {
    this.#attach(view.webview, (listener) => view.onDidDispose(listener));
  }

  attachPanel(panel: vscode.WebviewPanel): void {
    panel.iconPath = tabIcon(this.#parts.extensionUri);
    this.#attach(panel.webview, (listener) => panel.onDidDispose(listener));
  }

  #attach(webview: vscode.Webview, onDispose: (listener: () => void) => unknown): void {
    const port = new ChatPort(webview, () => this.#state(), (message, from) => void this.#receive(message, from));
    const listening = port.open();
    this.#ports.add(port);
    onDispose(() => {
      listening.dispose();
      this.#ports.delete(port);
    });
  }

  /** Puts text into the composer of every view and moves the focus there, after the user's own gesture. */
  compose(text: string | undefined, focus: boolean): void {
    const ready = [...this.#ports].filter((port) => port.ready);
    if (ready.length === 0 && text !== undefined) this.#draft = this.#draft === undefined ? text : `${this.#draft}\n\n${text}`;
    for (const port of ready) port.send({ type: 'compose', focus, ...(text === undefined ? {} : { text }) });
  }

  #state(): ChatState {
    this.#outbox.flush();
    if (this.#draft !== undefined) {
      const text = this.#draft;
      this.#draft = undefined;
      setTimeout(() => this.compose(text, true));
    }
    return { meta: this.meta, ...this.#slot.transcript.page(PAGE) };
  }

  /** The transcript, for tests and for export. */
  get items(): readonly TranscriptItem[] {
    return this.#slot.transcript.items();
  }

  get meta(): ChatMeta {
    const { ctx, models } = this.#parts;
    const choice = this.#choice();
    return {
      sessionId: this.#slot.session?.id ?? '',
      title: this.#slot.transcript.title,
      status: this.#status(),
      model: { ...choice, id: choice.model, name: this.#modelName || choice.model, offline: models.isOffline(choice) },
      preset: { id: this.preset, label: presetLabel(this.preset) },
      untrusted: !vscode.workspace.isTrusted, noFolder: (vscode.workspace.workspaceFolders ?? []).length === 0,
      todos: this.#slot.transcript.todos,
      jobs: this.#jobs.items,
      reviews: pendingReviews(ctx.review.files()),
      tools: this.#tools(),
      ...(this.#slot.transcript.usage?.used ? { usage: this.#slot.transcript.usage } : {}),
      sessions: this.#sessions,
      queued: this.#slot.transcript.queued,
    };
  }

  #choice(): { provider: string; model: string } {
    try {
      return this.#parts.models.current();
    } catch (error) {
      log().warn(errorText(error));
      return { provider: 'offline', model: 'matcher' };
    }
  }

  #status(): ChatMeta['status'] {
    if (this.#slot.agent?.status !== 'running') return 'idle';
    return this.#stopping ? 'stopping' : 'running';
  }

  #tools(): ChatMeta['tools'] {
    return this.#parts.ctx.tools.schemas(this.#slot.agent).map(({ name, description }) => ({ name, description }));
  }

  /** A plugin registers its tools one by one: they are listed once. */
  #toolsChanged(): void {
    if (this.#disposed) return;
    this.#toolTimer ??= setTimeout(() => {
      this.#toolTimer = undefined;
      this.#outbox.meta({ tools: this.#tools() });
    }, TOOLS_MS);
  }

  #statusChanged(): void {
    const status = this.#status();
    if (status === 'idle') this.#stopping = false;
    void vscode.commands.executeCommand('setContext', 'dshHost.running', status !== 'idle');
    this.#outbox.meta({ status: this.#status(), queued: this.#slot.transcript.queued });
    if (status === 'idle') void this.refreshSessions();
  }

  /** What the session on show may do without asking; before its first message, what it will start with. */
  get preset(): PresetId {
    const { session } = this.#slot;
    return this.#nextPreset ?? (session === undefined ? setting('permissionPreset') : this.#parts.ctx.permissions.presetOf(session));
  }

  /** For this session alone: what one conversation may do is not given to the next one, nor to other windows. */
  async setPreset(preset: PresetId): Promise<void> {
    const { agent } = this.#slot;
    if (agent === undefined) this.#nextPreset = preset;
    else this.#parts.ctx.permissions.setPreset(agent, preset);
    // a button of before must not run what the user has just forbidden
    if (preset === 'read-only') this.#parts.approvals.rejectAll();
    await this.settingsChanged();
  }

  /** After a change of model, key, preset or trust. */
  async settingsChanged(): Promise<void> {
    const choice = this.#choice();
    this.#modelName = (await this.#parts.models.describe(choice).catch(() => undefined))?.name ?? choice.model;
    const { model, preset, untrusted } = this.meta;
    this.#outbox.meta({ model, preset, untrusted });
  }

  // ── sessions ───────────────────────────────────────────────────────────────────────────────────────────────────

  get agent(): Agent | undefined {
    return this.#slot.agent;
  }

  async refreshSessions(): Promise<void> {
    const cwd = this.#parts.cwd();
    const list = await this.#parts.ctx.sessions.list({ cwd });
    this.#sessions = list.filter((info) => !info.delegated).slice(0, 100).map(({ id, title, time }) => ({ id, title, time }));
    this.#outbox.meta({ sessions: this.#sessions, title: this.#slot.transcript.title });
  }

  /** The session this window showed last comes back; nothing in it runs. One that is still held elsewhere comes later. */
  async restore(): Promise<void> {
    await this.settingsChanged();
    await this.refreshSessions();
    const last = this.#parts.memory.get<string>(MEMORY_KEY);
    if (last === undefined || !this.#sessions.some((session) => session.id === last)) return;
    await Promise.race([this.openSession(last), new Promise((resolve) => setTimeout(resolve, RESTORE_MS))]);
  }

  async openSession(id: string): Promise<void> {
    if (id === this.#slot.agent?.id) return;
    this.#stopping = false;
    this.#nextPreset = undefined;
    try {
      await this.#slot.open(id);
      await this.#parts.memory.update(MEMORY_KEY, id);
    } catch (error) {
      showError(vscode.l10n.t('The session can not be opened'), error);
    }
    this.#reset();
  }

  async newSession(): Promise<void> {
    this.#stopping = false;
    this.#nextPreset = undefined;
    await this.#slot.close();
    await this.#parts.memory.update(MEMORY_KEY, undefined);
    this.#reset();
  }

  #reset(): void {
    this.#outbox.clear();
    this.#jobs.refresh();
    for (const port of this.#ports) port.sendState();
  }

  async deleteSession(id: string): Promise<void> {
    const title = this.#sessions.find((session) => session.id === id)?.title ?? id;
    const remove = vscode.l10n.t('Delete');
    const answer = await vscode.window.showWarningMessage(vscode.l10n.t("Delete the session '{0}'?", title), { modal: true, detail: vscode.l10n.t('It is kept in the trash for 30 days.') }, remove);
    if (answer !== remove) return;
    if (id === this.#slot.agent?.id) await this.newSession();
    const deletion = await this.#parts.ctx.sessions.remove(id);
    await this.refreshSessions();
    const undo = vscode.l10n.t('Undo');
    if ((await vscode.window.showInformationMessage(vscode.l10n.t("Session '{0}' was deleted.", title), undo)) === undo) await deletion.undo();
  }

  #ensureAgent(): Promise<Agent> {
    return this.#slot.ensureAgent(() => {
      const { agent } = this.#slot;
      void this.#parts.memory.update(MEMORY_KEY, agent?.id);
      if (agent !== undefined && this.#nextPreset !== undefined) this.#parts.ctx.permissions.setPreset(agent, this.#nextPreset);
      this.#nextPreset = undefined;
      this.#reset();
    });
  }

  /** A tool asks the user: the question is drawn on its card. */
  asked(request: UserQuestionRequest): void {
    if (request.callId === undefined) return;
    this.#outbox.patches(this.#slot.transcript.question(request.callId, request.questions.map(questionOf)));
  }

  // ── the user's gestures ────────────────────────────────────────────────────────────────────────────────────────

  async send(text: string, mode: 'steer' | 'queue' = 'steer'): Promise<void> {
    if (text.trim() === '') return;
    this.#parts.reviewEditor.attend();
    try {
      const agent = await this.#ensureAgent();
      const message = { content: [{ type: 'text' as const, text }], source: { kind: 'user' as const } };
      if (agent.status === 'running' && mode === 'steer') agent.steer(message);
      else agent.followup(message);
    } catch (error) {
      this.compose(text, false);
      throw error;
    }
  }

  /** Messages that wait go back to where they were typed. */
  stop(): void {
    const agent = this.#slot.agent;
    if (agent?.status !== 'running') return;
    this.#stopping = true;
    this.#outbox.meta({ status: 'stopping' });
    const waiting = this.#slot.transcript.queued;
    agent.cancel({ kind: 'user' });
    if (waiting.length > 0) this.compose(waiting.join('\n\n'), false);
  }

  /** Opens the native view of a card. */
  async openCall(callId: string, file?: string): Promise<void> {
    const session = this.#slot.session;
    const item = this.#slot.transcript.item(callId);
    if (session === undefined || item?.kind !== 'tool') return;
    await this.#parts.views.open(await callRecord(session, item, this.#parts.ctx.tools.get(item.name, this.#slot.agent), readNow(session.cwd)), file);
  }

  async #receive(message: ViewToHost, port: ChatPort): Promise<void> {
    try {
      await this.#perform(message, port);
    } catch (error) {
      showError(vscode.l10n.t('That did not work'), error);
    }
  }

  async #perform(message: ViewToHost, port: ChatPort): Promise<void> {
    const { approvals, ctx, reviewEditor } = this.#parts;
    switch (message.type) {
      case 'ready': case 'resync': return port.sendState();
      case 'earlier': return this.#earlier(port);
      case 'send': return this.send(message.text, message.mode);
      case 'stop': return this.stop();
      case 'newSession': return this.newSession();
      case 'openSession': return this.openSession(message.id);
      case 'deleteSession': return this.deleteSession(message.id);
      case 'approve':
        if (message.outcome === 'allow-session') ctx.approval.remember(message.id);
        approvals.decide(message.id, message.outcome !== 'reject');
        return;
      case 'answer':
        if (approvals.answer(message.callId, message.answers.map((answer) => ({ ...answer, selected: [...answer.selected] })))) this.#answered(message.callId);
        return;
      case 'skip':
        if (approvals.skip(message.callId)) this.#answered(message.callId);
        return;
      case 'openLocation': return jumpTo(message.path, this.#slot.cwd, message.line === undefined ? {} : { line: message.line });
      case 'openDiff': return this.openCall(message.callId, message.path);
      case 'openTerminal': case 'openResults': return this.openCall(message.callId);
      case 'review':
        return message.action === 'accept' ? reviewEditor.accept(message.fileId, message.hunkId) : reviewEditor.reject(message.fileId, message.hunkId, message.note);
      case 'reviewAll':
        for (const file of ctx.review.files()) await (message.action === 'accept' ? reviewEditor.accept(file.id) : reviewEditor.reject(file.id));
        return;
      case 'rewind':
        await vscode.commands.executeCommand('dshHost.review.rewind', message.id);
        return;
      case 'stopJob':
        ctx.get('jobs')?.kill(message.id, this.#slot.agent);
        return;
      case 'openLink': return openLink(message.url);
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        return;
      case 'mentions':
        port.send({ type: 'mentions', query: message.query, paths: await findMentions(message.query) });
        return;
      case 'command':
        await this.#parts.runCommand(message.id);
        return;
      case 'error':
        log().error(`chat view: ${message.message}`);
        return;
      default: assertNever(message);
    }
  }

  #answered(callId: string): void {
    this.#outbox.patches(this.#slot.transcript.question(callId, undefined));
  }

  #earlier(port: ChatPort): void {
    const have = port.shown ?? PAGE;
    port.shown = have + PAGE;
    port.send({ type: 'earlier', ...this.#slot.transcript.before(have, PAGE) });
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#toolTimer);
    this.#jobs.dispose();
    this.#outbox.clear();
    await this.#slot.close();
  }
}

function questionOf({ id, question, header, options = [], multi_select: multiSelect = false }: UserQuestion): Question {
  return { id, question, options, multiSelect, ...(header === undefined ? {} : { header }) };
}
