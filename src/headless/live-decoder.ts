import { decodeOutput, systemCodePage } from './output-decoder.ts';

/** The system's code page is asked for once a process; until it is known only what the bytes themselves say counts. */
let page: string | undefined;
let asked: Promise<void> | undefined;

/**
 * Decodes one stream of live output piece by piece, by the same rules as the finished result (C9): a character may be
 * split between pieces, and a line that is no UTF-8 is held back until it is whole.
 */
export class LiveDecoder {
  #rest: Buffer = Buffer.alloc(0);

  constructor(env: NodeJS.ProcessEnv = process.env) {
    asked ??= systemCodePage(env).then((name) => { page = name; });
  }

  push(chunk: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    const { text, consumed } = decodeOutput(bytes, false, page);
    this.#rest = bytes.subarray(consumed);
    return text;
  }

  /** What was held back; nothing will follow. */
  end(): string {
    const { text } = decodeOutput(this.#rest, true, page);
    this.#rest = Buffer.alloc(0);
    return text;
  }
}
