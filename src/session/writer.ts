import { mkdir, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SessionEvent, SessionHeader } from '../contract/event.ts';
import { acquireLock } from './lock.ts';
import type { FileLock } from './lock.ts';
import type { LogSink } from './log.ts';
import { packRows } from './rows.ts';

/** Streamed crumbs wait this long (ms) for company, so that a run of them becomes one line. A crash loses no more. */
const CRUMB_DELAY = 500;

/** Waits before a failed write is tried again: the first, and the longest. Milliseconds. */
const FIRST_RETRY = 500;
const LAST_RETRY = 30_000;

/** Where a log is written. */
export interface LogPlace { readonly path: string; readonly lockPath: string; readonly header: SessionHeader }

export interface WriterOptions extends LogPlace {
  /** Length of the file in bytes; 0: it does not exist yet and is made at the first event. */
  readonly size: number;
  /** Taken already when the file existed. */
  readonly lock?: FileLock;
  /** Once for each time that writing begins to fail, not for each attempt; and for a file that was deleted. */
  readonly onError: (error: unknown) => void;
  /** All that had to wait is written. */
  readonly onRecovered: () => void;
  /** The file is another window's by now: a session where to go on, with everything that was said in the session. */
  readonly elsewhere: () => LogPlace & { readonly events: readonly SessionEvent[] };
  /** It has begun to go on there. */
  readonly onMoved: (header: SessionHeader) => void;
}

/** Encoded rows that are not in the file yet. */
interface Piece { readonly bytes: Buffer; readonly endsTurn: boolean }

/** Whole buffer at one place; a short write goes on where it stopped. */
async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/**
 * Appends events to one file: batched per tick, in order, synced to the disk when a turn ends. A failed write is tried
 * again, at the same place and with growing waits, so that a full disk leaves no torn line in the middle. Before each
 * batch it is made sure that the file is still ours alone; else the whole log goes on in a file of its own.
 */
export class LogWriter implements LogSink {
  readonly #options: WriterOptions;
  #place: LogPlace;
  #size: number;
  /** No byte of ours can be behind this one, not even of an attempt that failed. */
  #reach: number;
  #lock: FileLock | undefined;
  #file: FileHandle | undefined;
  #pending: SessionEvent[] = [];
  readonly #pieces: Piece[] = [];
  #unsynced = false;
  #chain: Promise<void> = Promise.resolve();
  #error: unknown;
  #wait = FIRST_RETRY;
  #scheduled: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closing = false;
  #finished: Promise<void> | undefined;
  #moving = false;
  #deleted = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#place = options;
    this.#size = options.size;
    this.#reach = options.size;
    this.#lock = options.lock;
  }

  write(event: SessionEvent): void {
    if (this.#closing) return;
    this.#pending.push(event);
    if (this.#error !== undefined) return;
    if (event.type === 'assistant/chunk' && event.data.chunk.type !== 'finish') {
      this.#timer ??= setTimeout(() => this.#schedule(), CRUMB_DELAY).unref();
    } else this.#schedule();
  }

  /** Resolves when everything written so far is in the file; rejects with what kept it from getting there. */
  async flush(): Promise<void> {
    this.#drain();
    await this.#chain;
    if (this.#error !== undefined) throw this.#error;
  }

  /**
   * Flushes, syncs, and gives the file up. When it can't be written, rejects and goes on trying, the lock held, until it
   * can; with `final` it is given up as it is.
   */
  async close(final = false): Promise<void> {
    this.#closing = true;
    if (!this.#finished) {
      this.#unsynced ||= this.#file !== undefined;
      try {
        await this.flush();
      } catch (error) {
        if (final) await this.#finish();
        throw error;
      }
    }
    await this.#finish();
  }

  #finish(): Promise<void> {
    return this.#finished ??= (async () => {
      clearTimeout(this.#timer);
      clearTimeout(this.#retry);
      if (this.#scheduled) clearImmediate(this.#scheduled);
      await this.#file?.close().catch(() => undefined);
      await this.#lock?.release().catch((error: unknown) => this.#options.onError(error));
    })();
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => this.#drain());
  }

  #drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#hasWork()) this.#chain = this.#chain.then(() => this.#attempt());
  }

  #hasWork(): boolean {
    return this.#pending.length > 0 || this.#pieces.length > 0 || this.#unsynced;
  }

  async #attempt(): Promise<void> {
    if (this.#finished || !this.#hasWork()) return;
    clearTimeout(this.#retry);
    try {
      if (!(await this.#isOurs())) await this.#moveOn();
      await this.#writeOut();
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (this.#moving) {
      this.#moving = false;
      this.#options.onMoved(this.#place.header);
    }
    if (this.#error === undefined) return;
    this.#error = undefined;
    this.#wait = FIRST_RETRY;
    if (this.#closing) await this.#finish();
    this.#options.onRecovered();
    if (!this.#closing && this.#hasWork()) this.#schedule();
  }

  #failed(error: unknown): void {
    const first = this.#error === undefined;
    this.#error = error;
    this.#retry = setTimeout(() => {
      this.#wait = Math.min(2 * this.#wait, LAST_RETRY);
      this.#drain();
    }, this.#wait).unref();
    if (first) this.#options.onError(error);
  }

  async #writeOut(): Promise<void> {
    const file = this.#file ??= await this.#open();
    this.#encode();
    for (let piece = this.#pieces[0]; piece; piece = this.#pieces[0]) {
      this.#reach = Math.max(this.#reach, this.#size + piece.bytes.length);
      await writeFully(file, piece.bytes, this.#size);
      this.#size += piece.bytes.length;
      this.#pieces.shift();
      if (piece.endsTurn) this.#unsynced = true;
    }
    if (!this.#unsynced) return;
    await file.datasync();
    this.#unsynced = false;
    await this.#notice(file);
  }

  /** Once only: what waits for a full disk is not encoded anew with each attempt. */
  #encode(): void {
    const events = this.#pending;
    if (events.length === 0) return;
    this.#pending = [];
    this.#pieces.push({
      bytes: Buffer.from(packRows(events).map((row) => `${JSON.stringify(row)}\n`).join(''), 'utf8'),
      endsTurn: events.some((event) => event.type === 'turn/end'),
    });
  }

  /** Nobody else holds the lock, and nobody has written behind our last byte. */
  async #isOurs(): Promise<boolean> {
    if (this.#lock && !(await this.#lock.isHeld())) return false;
    return this.#file === undefined || (await this.#file.stat()).size <= this.#reach;
  }

  async #moveOn(): Promise<void> {
    await this.#file?.close().catch(() => undefined);
    await this.#lock?.release().catch(() => undefined);
    this.#file = undefined;
    this.#lock = undefined;
    this.#size = 0;
    this.#reach = 0;
    const { events, ...place } = this.#options.elsewhere();
    this.#place = place;
    this.#pieces.length = 0;
    this.#pending = [...events];
    this.#moving = true;
  }

  /** Says once that the file was deleted while it is written to: what goes into it is lost with it. */
  async #notice(file: FileHandle): Promise<void> {
    if (this.#deleted || (await file.stat()).nlink > 0) return;
    this.#deleted = true;
    this.#options.onError(new Error(`its file was deleted, what is said in it is not kept any more: ${this.#place.path}`));
  }

  async #open(): Promise<FileHandle> {
    const { path, lockPath, header } = this.#place;
    if (this.#size > 0) return open(path, 'r+');
    await mkdir(dirname(path), { recursive: true });
    this.#lock ??= await acquireLock(lockPath, header.id);
    const file = await open(path, 'wx');
    try {
      const bytes = Buffer.from(`${JSON.stringify(header)}\n`, 'utf8');
      await writeFully(file, bytes, 0);
      this.#size = bytes.length;
      this.#reach = bytes.length;
      return file;
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(path, { force: true });
      throw error;
    }
  }
}
