import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import type { Session } from '../contract/agent.ts';
import { HarnessError } from '../contract/error.ts';
import type { SessionEvent, SessionHeader } from '../contract/event.ts';
import { frozenJson } from '../contract/snapshot.ts';
import { scopeTarget } from '../scope/carrier.ts';
import type { Scoped } from '../scope/carrier.ts';
import type { ScopeKey } from '../scope/scope.ts';
import { checkSessionId, SessionFolder } from './folder.ts';
import type { Deletion } from './folder.ts';
import type { FileLock } from './lock.ts';
import { SessionLog } from './log.ts';
import type { LogSink } from './log.ts';
import { closeTail, tailClosers } from './repair.ts';
import type { SessionInfo } from './summary.ts';
import { LogWriter } from './writer.ts';

declare module '@deepseek-ai/cordis' {
  interface Context { sessions: Sessions }
  interface Events {
    'session/created'(this: Scoped<Session>, session: Session): void;
    'session/disposed'(this: Scoped<Session>, session: Session): void;
    /** After each append, observers contained. Scope-filtered when the session has a scope. */
    'session/event'(this: Scoped<Session>, session: Session, event: SessionEvent): void;
    /** The log could not be written: once for each time that it begins. Appends go on in memory and are tried again. */
    'session/write-error'(session: Session, error: unknown): void;
    /** After a write-error: everything is written. */
    'session/write-recovered'(session: Session): void;
    /** Another window took the file over: all that was said, and what is said from now on, is written to session `copy`. */
    'session/moved'(session: Session, copy: string): void;
    /** A session was created, renamed, deleted or brought back. */
    'session/list-change'(): void;
  }
}

export interface SessionsConfig {
  /** Absolute folder of the session files. Absent: sessions live in memory only. */
  dir?: string;
}

export interface CreateSession {
  /** Fresh by default. */
  id?: string;
  /** Absolute. */
  cwd?: string;
  parentSession?: string;
  origin?: 'subagent';
  delegationDepth?: number;
  agentPreset?: string;
  /** Events to start from (a fork): numbered from 0, balanced. */
  seed?: readonly SessionEvent[];
  /** Who may see `session/*` events besides unscoped listeners. */
  scope?: ScopeKey;
}

interface Live { readonly log: SessionLog; readonly writer: LogWriter | undefined; readonly scope: ScopeKey | undefined }

/**
 * `ctx.sessions`: the logs of this machine. One file a session, one writer a file: a second window that opens a session
 * gets SessionInUseError and may open it read-only or fork it. Streamed crumbs are logged, packed, so that a crash keeps
 * what was shown; files are made at the first event, so that an unused chat leaves none.
 */
export class Sessions extends Service {
  private readonly folder: SessionFolder | undefined;
  private readonly opened = new Map<string, Live>();
  private readonly opening = new Set<string>();
  /** Closed, but not all of them could be written yet. */
  private readonly lingering = new Map<string, LogWriter>();
  private readonly home: Context;

  constructor(ctx: Context, config: SessionsConfig = {}) {
    super(ctx, 'sessions');
    this.home = ctx;
    this.folder = config.dir === undefined ? undefined : new SessionFolder(config.dir);
    const { opened, lingering } = this;
    ctx.effect(() => async () => {
      await Promise.all([...opened.values()].map(({ log }) => this.close(log)));
      await Promise.all([...lingering.values()].map((writer) => writer.close(true).catch(() => undefined)));
    }, 'sessions');
  }

  /** A new session; its file is made with its first event. */
  create(options: CreateSession = {}): SessionLog {
    const { id = globalThis.crypto.randomUUID(), cwd, parentSession, origin, agentPreset, seed, scope, delegationDepth = 0 } = options;
    checkSessionId(id);
    if (this.opened.has(id)) throw new HarnessError(`session "${id}" is open already`, 'SESSION_EXISTS');
    if (seed && tailClosers(seed).length > 0) throw new HarnessError('a session can only start from whole turns: the seed has an open turn', 'SESSION_BAD_SEED');
    const header = frozenJson({
      type: 'session', version: 0, id, ...(cwd !== undefined && { cwd }), createdAt: Date.now(), ...(parentSession !== undefined && { parentSession }),
      ...(seed && { seedLength: seed.length }), ...(origin && { origin }), delegationDepth, ...(agentPreset !== undefined && { agentPreset }),
    }) as unknown as SessionHeader;
    const session = this.enter(header, seed ?? [], 0, undefined, scope);
    if (seed) session.append('session/end-seed', {});
    return session;
  }

  /**
   * Opens a stored session for writing: the file is made whole (G1, G3) and an open tail is closed (L11.6).
   * Throws SessionInUseError, SessionUnreadableError, or SESSION_NOT_FOUND. A session that is open here is returned as it is.
   */
  async open(id: string, options: { scope?: ScopeKey } = {}): Promise<SessionLog> {
    const live = this.opened.get(id);
    if (live) return live.log;
    if (!this.folder) throw new HarnessError(`session "${id}" was not found: sessions are kept in memory only here`, 'SESSION_NOT_FOUND');
    if (this.opening.has(id)) throw new HarnessError(`session "${id}" is being opened already`, 'SESSION_EXISTS');
    this.opening.add(id);
    try {
      await this.lingering.get(id)?.close();
      const { log, lock, size } = await this.folder.openForWriting(id);
      // The file decides over the name it carries inside: a copied file is a session of its own.
      const header = log.header.id === id ? log.header : Object.freeze({ ...log.header, id });
      const session = this.enter(header, log.events, size, lock, options.scope);
      closeTail(session);
      return session;
    } finally {
      this.opening.delete(id);
    }
  }

  /** The session as it stands on disk, for looking only: appends throw, nothing is repaired or locked. */
  async view(id: string): Promise<SessionLog> {
    const live = this.opened.get(id);
    if (live) return live.log;
    if (!this.folder) throw new HarnessError(`session "${id}" was not found: sessions are kept in memory only here`, 'SESSION_NOT_FOUND');
    const { header, events } = await this.folder.read(id);
    return new SessionLog({ header, events, readOnly: true });
  }

  /** A new session that starts with the whole turns of another one, as far as event `upTo` (exclusive). */
  fork(source: Session, options: Omit<CreateSession, 'seed' | 'parentSession'> & { upTo?: number } = {}): SessionLog {
    const { upTo = source.events.length, ...rest } = options;
    let end = 0;
    for (const event of source.events) {
      if (event.seq >= upTo) break;
      if (event.type === 'turn/end') end = event.seq + 1;
    }
    return this.create({ ...(source.header.cwd !== undefined && { cwd: source.header.cwd }), ...rest, parentSession: source.id, seed: source.events.slice(0, end) });
  }

  /** A session that is open here. */
  get(id: string): SessionLog | undefined {
    return this.opened.get(id)?.log;
  }

  /** Sessions that are open here, in the order they were opened. */
  live(): SessionLog[] {
    return [...this.opened.values()].map(({ log }) => log);
  }

  /** Stored sessions, newest first; with `cwd` only that folder's, without all of them (G5). */
  async list(options: { cwd?: string } = {}): Promise<SessionInfo[]> {
    return await this.folder?.list(options.cwd) ?? [];
  }

  /** One stored session's line of the list. */
  async info(id: string): Promise<SessionInfo | undefined> {
    return this.folder?.info(id);
  }

  /** Names a session; an empty name goes back to the first message. */
  async rename(id: string, title: string): Promise<void> {
    await this.opened.get(id)?.log.flush();
    await this.folder?.rename(id, title);
    this.home.emit('session/list-change');
  }

  /** Moves a session to the trash and returns what brings it back (G7). An open one must be closed first. */
  async remove(id: string): Promise<Deletion> {
    if (this.opened.has(id)) throw new HarnessError(`session "${id}" is open: close it before you delete it`, 'SESSION_OPEN');
    if (!this.folder) throw new HarnessError(`session "${id}" was not found: sessions are kept in memory only here`, 'SESSION_NOT_FOUND');
    await this.lingering.get(id)?.close();
    const deletion = await this.folder.remove(id);
    this.home.emit('session/list-change');
    return {
      undo: async () => {
        await deletion.undo();
        this.home.emit('session/list-change');
      },
    };
  }

  /** Deletes for good what has been in the trash for `ms` milliseconds (default 30 days). */
  async emptyTrash(ms = 30 * 24 * 3600 * 1000): Promise<void> {
    await this.folder?.emptyTrash(ms);
  }

  /**
   * Takes no more appends, writes everything out and gives the file up. Afterwards the session can be opened again, here or
   * elsewhere. What can't be written now is tried again for as long as this service lives.
   */
  async close(session: Session): Promise<void> {
    const live = this.opened.get(session.id);
    if (!live || live.log !== session) return;
    this.opened.delete(session.id);
    live.log.close();
    const { writer } = live;
    try {
      if (writer) {
        this.lingering.set(session.id, writer);
        await writer.close();
        this.lingering.delete(session.id);
      }
    } catch {
      // Told as a write-error already; the writer goes on trying.
    } finally {
      this.notify(live, 'session/disposed', session);
      live.log.detach();
    }
  }

  private enter(header: SessionHeader, events: readonly SessionEvent[], size: number, lock: FileLock | undefined, scope: ScopeKey | undefined): SessionLog {
    const sink: LogSink = { write: (event) => writer!.write(event), flush: () => writer!.flush() };
    const log = new SessionLog({
      header, events, ...(this.folder && { sink }),
      onListenerError: (error) => this.home.logger('sessions').error(error),
    });
    const writer = this.folder && this.writer(log, this.folder, size, lock);
    if (size === 0) for (const event of events) writer?.write(event);
    const live = { log, writer, scope };
    this.opened.set(header.id, live);
    log.onAppend((event) => this.notify(live, 'session/event', log, event));
    this.notify(live, 'session/created', log);
    if (events.length === 0) this.home.emit('session/list-change');
    return log;
  }

  private writer(log: SessionLog, folder: SessionFolder, size: number, lock: FileLock | undefined): LogWriter {
    const place = (header: SessionHeader) => ({ path: folder.path(header.id), lockPath: folder.lockPath(header.id), header });
    const writer = new LogWriter({
      ...place(log.header), size, ...(lock && { lock }),
      onError: (error) => this.tell('session/write-error', log, error),
      onRecovered: () => {
        if (this.lingering.get(log.id) === writer) this.lingering.delete(log.id);
        this.tell('session/write-recovered', log);
      },
      elsewhere: () => ({ ...place({ ...log.header, id: globalThis.crypto.randomUUID(), parentSession: log.id }), events: log.events }),
      onMoved: ({ id }) => {
        this.tell('session/moved', log, id);
        this.tell('session/list-change');
      },
    });
    return writer;
  }

  private tell(name: 'session/write-error' | 'session/write-recovered' | 'session/moved' | 'session/list-change', ...args: unknown[]): void {
    this.call(this.home.events.dispatch('emit', [name, ...args]), args);
  }

  private notify(live: Live, name: 'session/created' | 'session/disposed' | 'session/event', ...args: unknown[]): void {
    this.call(this.home.events.dispatch('emit', [scopeTarget<Session>(live.log, live.scope), name, ...args]), args);
  }

  /** Every listener is called; one that throws is logged and stops no other. */
  private call(listeners: Iterable<(...args: unknown[]) => unknown>, args: readonly unknown[]): void {
    for (const listener of listeners) {
      try {
        listener(...args);
      } catch (error) {
        this.home.logger('sessions').error(error);
      }
    }
  }
}

export default Sessions;
