import { LiveDecoder } from '../../headless/live-decoder.ts';
import type { ShellOutput } from '../../seams/shell.ts';

/** Decodes live output piece by piece (C9). One decoder per call and stream. */
export class OutputDecoders {
  readonly #decoders = new Map<string, LiveDecoder>();

  decode({ callId, stream, chunk }: ShellOutput): string {
    const key = `${stream} ${callId}`;
    let decoder = this.#decoders.get(key);
    if (decoder === undefined) this.#decoders.set(key, (decoder = new LiveDecoder()));
    return decoder.push(chunk);
  }

  /** The call is over: what its streams still held back. */
  end(callId: string): string {
    return ['stdout', 'stderr'].map((stream) => {
      const key = `${stream} ${callId}`;
      const text = this.#decoders.get(key)?.end() ?? '';
      this.#decoders.delete(key);
      return text;
    }).join('');
  }
}
