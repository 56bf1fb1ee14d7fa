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

export interface WriterOptions {
  readonly path: string;
  readonly lockPath: string;
  readonly header: SessionHeader;
  /** Length of the file in bytes; 0: it does not exist yet and is made at the first event. */
  readonly size: number;
  /** Taken already when the file existed. */
  readonly lock?: FileLock;
  readonly onError: (error: unknown) => void;
}

/** Whole buffer at one place; a short write goes on where it stopped. */
async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/**
 * Appends events to one file: batched per tick, in order, synced to the disk when a turn ends. A failed write is tried
 * again, at the same place, with the next batch, so that a full disk leaves no torn line in the middle.
 */
export class LogWriter implements LogSink {
  readonly #options: WriterOptions;
  #size: number;
  #lock: FileLock | undefined;
  #file: FileHandle | undefined;
  #pending: SessionEvent[] = [];
  #chain: Promise<void> = Promise.resolve();
  #error: unknown;
  #scheduled: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #deleted = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#size = options.size;
    this.#lock = options.lock;
  }

  write(event: SessionEvent): void {
    if (this.#closed) return;
    this.#pending.push(event);
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

  /** Flushes, syncs, and gives the file up. */
  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.flush();
      await this.#file?.datasync();
    } finally {
      this.#closed = true;
      clearTimeout(this.#timer);
      if (this.#scheduled) clearImmediate(this.#scheduled);
      await this.#file?.close().catch(() => undefined);
      await this.#lock?.release();
    }
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => this.#drain());
  }

  #drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#pending.length === 0) return;
    this.#chain = this.#chain.then(() => this.#writeBatch());
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    try {
      const file = this.#file ??= await this.#open();
      const bytes = Buffer.from(packRows(batch).map((row) => `${JSON.stringify(row)}\n`).join(''), 'utf8');
      await writeFully(file, bytes, this.#size);
      this.#size += bytes.length;
      this.#error = undefined;
      if (batch.some((event) => event.type === 'turn/end')) {
        await file.datasync();
        await this.#notice(file);
      }
    } catch (error) {
      this.#pending = [...batch, ...this.#pending];
      this.#error = error;
      this.#options.onError(error);
    }
  }

  /** Says once that the file was deleted while it is written to: what goes into it is lost with it. */
  async #notice(file: FileHandle): Promise<void> {
    if (this.#deleted || (await file.stat()).nlink > 0) return;
    this.#deleted = true;
    this.#options.onError(new Error(`its file was deleted, what is said in it is not kept any more: ${this.#options.path}`));
  }

  async #open(): Promise<FileHandle> {
    const { path, lockPath, header } = this.#options;
    if (this.#size > 0) return open(path, 'r+');
    await mkdir(dirname(path), { recursive: true });
    this.#lock ??= await acquireLock(lockPath, header.id);
    const file = await open(path, 'wx');
    try {
      const bytes = Buffer.from(`${JSON.stringify(header)}\n`, 'utf8');
      await writeFully(file, bytes, 0);
      this.#size = bytes.length;
      return file;
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(path, { force: true });
      throw error;
    }
  }
}
