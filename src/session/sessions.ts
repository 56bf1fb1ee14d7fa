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
import { SessionLog } from './log.ts';
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
    /** The log could not be written; appends go on in memory and are tried again. */
    'session/write-error'(session: Session, error: unknown): void;
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
  private readonly home: Context;

  constructor(ctx: Context, config: SessionsConfig = {}) {
    super(ctx, 'sessions');
    this.home = ctx;
    this.folder = config.dir === undefined ? undefined : new SessionFolder(config.dir);
    const { opened } = this;
    ctx.effect(() => async () => {
      await Promise.all([...opened.values()].map(({ log }) => this.close(log)));
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
    const writer = this.folder && this.writer(header, 0);
    for (const event of seed ?? []) writer?.write(event);
    const session = this.enter(header, seed ?? [], writer, scope);
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
      const { log, lock, size } = await this.folder.openForWriting(id);
      // The file decides over the name it carries inside: a copied file is a session of its own.
      const header = log.header.id === id ? log.header : Object.freeze({ ...log.header, id });
      const writer = this.writer(header, size, lock);
      const session = this.enter(header, log.events, writer, options.scope);
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

  /** Writes everything out and gives the file up. Afterwards the session can be opened again, here or elsewhere. */
  async close(session: Session): Promise<void> {
    const live = this.opened.get(session.id);
    if (!live || live.log !== session) return;
    this.opened.delete(session.id);
    try {
      await live.writer?.close();
    } catch (error) {
      this.home.emit('session/write-error', session, error);
    } finally {
      this.notify(live, 'session/disposed', session);
      live.log.detach();
    }
  }

  private writer(header: SessionHeader, size: number, lock?: ConstructorParameters<typeof LogWriter>[0]['lock']): LogWriter {
    const folder = this.folder!;
    return new LogWriter({
      path: folder.path(header.id), lockPath: folder.lockPath(header.id), header, size, ...(lock && { lock }),
      onError: (error) => {
        const live = this.opened.get(header.id);
        if (live) this.home.emit('session/write-error', live.log, error);
      },
    });
  }

  private enter(header: SessionHeader, events: readonly SessionEvent[], writer: LogWriter | undefined, scope: ScopeKey | undefined): SessionLog {
    const log = new SessionLog({
      header, events, ...(writer && { sink: writer }),
      onListenerError: (error) => this.home.logger('sessions').error(error),
    });
    const live = { log, writer, scope };
    this.opened.set(header.id, live);
    log.onAppend((event) => this.notify(live, 'session/event', log, event));
    this.notify(live, 'session/created', log);
    if (events.length === 0) this.home.emit('session/list-change');
    return log;
  }

  /** Every listener is called; one that throws is logged and stops no other. */
  private notify(live: Live, name: 'session/created' | 'session/disposed' | 'session/event', ...args: unknown[]): void {
    const carrier = scopeTarget<Session>(live.log, live.scope);
    for (const listener of this.home.events.dispatch('emit', [carrier, name, ...args])) {
      try {
        listener(...args);
      } catch (error) {
        this.home.logger('sessions').error(error);
      }
    }
  }
}

export default Sessions;
