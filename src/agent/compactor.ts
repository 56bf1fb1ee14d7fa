import type { LoopHost } from './host.ts';
import type { RequestHead } from './request.ts';

/** Keeps the history within the model's window (O15.7). */
export class Compactor {
  readonly #host: LoopHost;

  constructor(host: LoopHost) {
    this.#host = host;
  }

  async beforeRequest(_head: RequestHead, _signal: AbortSignal): Promise<void> {
    void this.#host;
  }

  async afterOverflow(_head: RequestHead, _signal: AbortSignal): Promise<boolean> {
    return false;
  }
}
