import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import type { StreamCapture } from '../seams/shell.ts';
import { characterStart, decodeOutput } from './output-decoder.ts';

/** Bytes of each stream that stay in memory (B10.16). */
export const TAIL_BYTES = 64_000;
/** Bytes of each stream that go to its file at most (B10.16). */
export const SPILL_BYTES = 64 * 1024 * 1024;

/** Bytes that may wait for the disk before the command has to. */
const WRITE_AHEAD_BYTES = 4 * 1024 * 1024;

/** Asked once per command, when its output first outgrows memory: the absolute folder for its files. */
export type SpillFolder = () => Promise<string>;

/**
 * One output stream of a command: the last 64,000 bytes in memory, everything in a file as soon as there is more
 * (C11). Memory stays flat whatever the command prints.
 */
export class OutputCapture {
  readonly label: string;
  private readonly folder: SpillFolder;
  private readonly codePage: string | undefined;
  private chunks: Buffer[] = [];
  private kept = 0;
  private total = 0;
  private read = 0;
  private file: WriteStream | undefined;
  private opening: Promise<void> | undefined;
  private filePath: string | undefined;
  private fileFailed = false;
  private written = 0;

  /** @param label file name without folder, such as `bash-call_1-stdout.txt` */
  constructor(label: string, folder: SpillFolder, codePage?: string) {
    this.label = label;
    this.folder = folder;
    this.codePage = codePage;
  }

  /** Bytes seen in all. */
  get totalBytes(): number {
    return this.total;
  }

  /** Takes one chunk; a returned promise asks the source to wait for the disk. */
  push(chunk: Buffer): Promise<void> | undefined {
    this.chunks.push(chunk);
    this.kept += chunk.length;
    this.total += chunk.length;
    const wait = this.total > TAIL_BYTES && !this.fileFailed ? this.spill(chunk) : undefined;
    if (wait === undefined) this.trim();
    return wait;
  }

  private trim(): void {
    while (this.chunks.length > 1 && this.kept - this.chunks[0]!.length >= TAIL_BYTES) this.kept -= this.chunks.shift()!.length;
  }

  private spill(chunk: Buffer): Promise<void> | undefined {
    if (this.file !== undefined) return this.append(chunk);
    // whatever comes until the file is open goes in with the rest
    return (this.opening ??= this.openFile().finally(() => this.trim()));
  }

  private async openFile(): Promise<void> {
    try {
      const target = path.join(await this.folder(), this.label);
      const file = createWriteStream(target, { flags: 'w', mode: 0o600, highWaterMark: WRITE_AHEAD_BYTES });
      file.on('error', () => { this.fileFailed = true; });
      await once(file, 'open');
      this.file = file;
      this.filePath = target;
      await this.append(Buffer.concat(this.chunks));
    } catch {
      // a full or vanished disk costs the file, never the command: the marker then says (unavailable)
      this.fileFailed = true;
    }
  }

  private append(bytes: Buffer): Promise<void> | undefined {
    const file = this.file!;
    const room = SPILL_BYTES - this.written;
    if (room <= 0) return undefined;
    const part = bytes.length > room ? bytes.subarray(0, room) : bytes;
    this.written += part.length;
    if (file.write(part)) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        file.off('drain', done);
        file.off('error', done);
        resolve();
      };
      file.once('drain', done);
      file.once('error', done);
    });
  }

  private tail(from: number): { bytes: Buffer; start: number } {
    const all = Buffer.concat(this.chunks);
    const first = Math.max(from, this.total - Math.min(this.kept, TAIL_BYTES));
    const bytes = all.subarray(all.length - (this.total - first));
    const skip = first > from ? characterStart(bytes) : 0;
    return { bytes: bytes.subarray(skip), start: first + skip };
  }

  /** What came since the last call, decoded; `dropped` when part of it had left memory already. */
  readNew(final: boolean): { text: string; dropped: boolean } {
    const { bytes, start } = this.tail(this.read);
    const dropped = start > this.read;
    const { text, consumed } = decodeOutput(bytes, final, this.codePage);
    this.read = start + consumed;
    return { text, dropped };
  }

  /** The file with all of it, once there is one. */
  get spillPath(): string | undefined {
    return this.fileFailed ? undefined : this.filePath;
  }

  /** Closes the file and returns the tail as text. */
  async finish(): Promise<StreamCapture> {
    if (this.file !== undefined) {
      const file = this.file;
      await new Promise<void>((resolve) => {
        file.once('close', () => resolve());
        file.end();
        if (file.closed) resolve();
      });
    }
    const { bytes } = this.tail(0);
    return {
      text: decodeOutput(bytes, true, this.codePage).text,
      truncated: this.total > TAIL_BYTES,
      totalBytes: this.total,
      ...(this.total > TAIL_BYTES && this.spillPath !== undefined ? { spillPath: this.spillPath } : {}),
    };
  }
}
