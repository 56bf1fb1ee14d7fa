import type { Context } from '@deepseek-ai/cordis';
import type { FileTarget, TextSplice } from '../seams/fs.ts';
import type { ChangeRecord } from './change.ts';
import { optional, targetOf } from './record.ts';

/** What a file holds after a write. */
export interface Written { readonly version: string | null; readonly text: string; readonly createdDirectories?: readonly string[] }

/** The review's one way to the disk: what the file held is kept for a rewind, and what it holds then is told. */
export class ReviewDisk {
  readonly #ctx: Context;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Writes `text`, or deletes the file with null. `record.version` is what must be there. */
  async write(record: ChangeRecord, text: string | null, splices: readonly TextSplice[] | undefined, signal?: AbortSignal): Promise<Written> {
    const target = targetOf(record);
    const checkpoints = record.sessionId === 'none' ? undefined : this.#ctx.get('checkpoints');
    await checkpoints?.before(record, target, record.path);
    let made: readonly string[] | undefined;
    try {
      const written = await this.#ctx.fs.commit(target, text, {
        expect: record.version, ...optional('splices', splices), ...optional('encoding', record.encoding), ...optional('signal', signal),
        ...(text === null ? optional('removeDirectories', record.createdDirectories) : {}),
      });
      made = written.createdDirectories;
      return { version: written.version, text: written.text ?? text ?? '', ...optional('createdDirectories', made) };
    } finally {
      await checkpoints?.after(record, target, made);
    }
  }

  /** The bytes of a file that is no text, as base64. */
  async bytes(target: FileTarget): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of this.#ctx.fs.readBytes(target)) parts.push(Buffer.from(part));
    return Buffer.concat(parts).toString('base64');
  }
}
