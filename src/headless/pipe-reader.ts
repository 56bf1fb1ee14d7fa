import net from 'node:net';
import type { Readable } from 'node:stream';

/** Bytes handed over at a time at most. */
const BLOCK_BYTES = 64 * 1024;
/** How long bytes wait for more, in ms: programs write in small pieces, and each piece handed over costs. */
const GATHER_MS = 4;

/** Takes one block, which it may keep; a returned promise asks the source to wait. */
export type Take = (block: Buffer) => Promise<void> | undefined;

/** Reads one output stream of a command and hands it over in blocks. `source`: a pipe's descriptor, or a stream. */
export class PipeReader {
  /** Resolves when the stream has ended and all of it was handed over. */
  readonly ended: Promise<void>;
  readonly #stream: Readable;
  readonly #take: Take;
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;
  #timer: NodeJS.Timeout | undefined;
  #waiting = 0;

  constructor(source: number | Readable, take: Take) {
    this.#take = take;
    this.#stream = typeof source === 'number' ? this.#open(source) : source.on('data', (bytes: Buffer) => void this.#gather(bytes));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.#flush();
        resolve();
      };
      this.#stream.on('error', () => undefined);
      this.#stream.once('end', end);
      this.#stream.once('close', end);
    });
    this.#stream.resume();
  }

  /** One buffer for all reads: a buffer of 64 KB a piece would keep the garbage collector busy. */
  #open(fd: number): Readable {
    const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    const onread = { buffer, callback: (length: number) => this.#gather(buffer.subarray(0, length)) };
    // the constructor takes onread, though its types know it for connect only
    return new net.Socket({ fd, readable: true, writable: false, onread } as net.SocketConstructorOpts);
  }

  /** @returns whether more may come */
  #gather(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + BLOCK_BYTES - this.#used);
      this.#block.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
      if (this.#used === BLOCK_BYTES) this.#flush();
    }
    if (this.#used > 0) this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
    return this.#waiting === 0;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used === 0) return;
    // little output keeps little memory
    const whole = this.#used > BLOCK_BYTES / 2;
    const block = whole ? this.#block.subarray(0, this.#used) : Buffer.from(this.#block.subarray(0, this.#used));
    if (whole) this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
    const wait = this.#take(block);
    if (wait === undefined) return;
    if (this.#waiting++ === 0) this.#stream.pause();
    void wait.then(() => {
      if (--this.#waiting === 0) this.#stream.resume();
    });
  }

  /** Hands over what is there and reads no more. */
  close(): void {
    this.#flush();
    this.#stream.destroy();
  }
}
