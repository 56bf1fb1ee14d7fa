import type { ShellOutput } from '../../seams/shell.ts';

/** Decodes live output piece by piece: a character may be split between two of them (C9). One decoder per call and stream. */
export class OutputDecoders {
  readonly #decoders = new Map<string, TextDecoder>();

  decode({ callId, stream, chunk }: ShellOutput): string {
    const key = `${stream} ${callId}`;
    let decoder = this.#decoders.get(key);
    if (decoder === undefined) this.#decoders.set(key, (decoder = new TextDecoder()));
    return decoder.decode(chunk, { stream: true });
  }

  end(callId: string): void {
    this.#decoders.delete(`stdout ${callId}`);
    this.#decoders.delete(`stderr ${callId}`);
  }
}
