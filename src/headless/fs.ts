import fs from 'node:fs/promises';
import path from 'node:path';
import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import z from '@deepseek-ai/schemastery';
import { AbortError } from '../contract/abort.ts';
import type { Agent } from '../contract/agent.ts';
import { HarnessError } from '../contract/error.ts';
import { scopeTarget } from '../scope/carrier.ts';
import type {
  DirectoryEntry, FileDecision, FileIntent, FileOutcome, FileStat, FileSystemService, FileTarget, MutationContext, TextFile, TextSplice,
} from '../seams/fs.ts';
import { TextDecodeError } from '../text/codec.ts';
import { codecFor, decodeText, encodeText, spliceBytesInParts } from '../text/encoding.ts';
import type { DecodedText } from '../text/encoding.ts';
import { splicesBetween } from '../text/hunk.ts';
import { adoptEndings } from '../text/replace.ts';
import { expandHome } from '../text/home.ts';
import { applySplices } from '../text/splice.ts';
import {
  assertLeadsTo, assertRoomFor, codeOf, diskError, listDirectory, makeDirectories, putFile, readChunks, readWhole, realPathOf, removeEmptyDirectories, StaleVersionError, statPath, tooLarge, versionAt,
} from './disk.ts';
import { PathLock } from './path-lock.ts';

export interface Config {
  /** How files without a byte-order mark are read and written; default strict UTF-8. */
  encoding?: string;
  /** Bytes above which a file is not taken into memory as text; default 256 MiB. */
  maxTextBytes?: number;
}

/** What a path holds right now, before a mutation. */
interface Current { readonly stat: FileStat | null; readonly text: TextFile | null; readonly version: string | null }

type Verb = 'read' | 'write' | 'edit';

/**
 * `ctx.fs` on plain node. A host with editors derives from it: `openDocument`, `writeDocument` and `removeFile` say how
 * an open buffer is read and changed, `encodingFor` which encoding the user chose; everything else (locks, intents,
 * stale checks, atomic writes) is the same for both.
 */
export class NodeFileSystem extends Service implements FileSystemService {
  static Config: z<Config> = z.object({
    encoding: z.string().default('utf8'),
    maxTextBytes: z.natural().min(1).default(256 * 1024 * 1024),
  });

  /** Held from the first look to the last byte, reviews included (A11). */
  private readonly mutations = new PathLock();
  /** Held for the write alone, so that a review can commit from inside an intent. */
  private readonly writes = new PathLock();
  /** The bytes behind texts read from disk. */
  private readonly sources = new WeakMap<TextFile, DecodedText>();
  /** Directories made for new files, so that taking such a file back takes them back too (B11). */
  private readonly madeFor = new Map<string, readonly string[]>();
  private readonly encoding: string;
  private readonly maxTextBytes: number;

  constructor(ctx: Context, config: Config = {}) {
    super(ctx, 'fs');
    this.encoding = config.encoding ?? 'utf8';
    this.maxTextBytes = config.maxTextBytes ?? 256 * 1024 * 1024;
  }

  async resolve(given: string, cwd: string): Promise<FileTarget> {
    if (/\p{Surrogate}/u.test(given)) throw new HarnessError(`cannot access "${given}": the path contains half a character (an unpaired surrogate)`, 'FS_BAD_PATH');
    const absolute = path.resolve(cwd, expandHome(given));
    try {
      return { path: absolute, realPath: await realPathOf(absolute) };
    } catch (error) {
      throw diskError('access', given, error);
    }
  }

  async stat(target: FileTarget): Promise<FileStat | null> {
    try {
      const found = await statPath(target.realPath);
      const document = await this.openDocument(target);
      if (document === undefined) return found;
      return {
        kind: 'file', size: found?.size ?? Buffer.byteLength(document.text), version: document.version,
        mode: found?.mode ?? 0o644, readonly: found?.readonly ?? false,
      };
    } catch (error) {
      throw diskError('read', target.path, error);
    }
  }

  async *readBytes(target: FileTarget, range: { start?: number; end?: number } = {}, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    try {
      yield* readChunks(target.realPath, range.start ?? 0, range.end, signal);
    } catch (error) {
      throw this.explain('read', target.path, error, signal);
    }
  }

  async readText(target: FileTarget, displayPath: string, signal?: AbortSignal): Promise<TextFile> {
    const document = await this.openDocument(target);
    if (document !== undefined) return document;
    try {
      const stat = await statPath(target.realPath);
      if (stat === null) throw new HarnessError(`cannot read "${displayPath}": not found`, 'FS_NOT_FOUND');
      if (stat.kind !== 'file') throw new HarnessError(`cannot read "${displayPath}": not a regular file`, 'FS_NOT_REGULAR_FILE');
      return await this.readDisk(target, stat, signal);
    } catch (error) {
      throw this.explain('read', displayPath, error, signal);
    }
  }

  async readDirectory(target: FileTarget): Promise<readonly DirectoryEntry[]> {
    try {
      return await listDirectory(target.realPath);
    } catch (error) {
      if (codeOf(error) === 'ENOTDIR') throw new HarnessError(`cannot read "${target.path}": not a directory`, 'FS_NOT_DIRECTORY');
      throw diskError('read', target.path, error);
    }
  }

  /** The buffer of an editor. Plain node has none. */
  async openDocument(_target: FileTarget): Promise<TextFile | undefined> {
    return undefined;
  }

  async write(target: FileTarget, content: string, context: MutationContext): Promise<FileOutcome> {
    return this.mutations.run(target.realPath, context.signal, async () => {
      const current = await this.look(target, 'write', context);
      const kind = current.version === null ? 'create' : 'write';
      await this.check(kind, target, current.version, context);
      this.assertWritable(current.stat, 'write', context.displayPath);
      const before = current.text;
      const after = before === null ? content : adoptEndings(before.text, withoutMark(before, content));
      const splices = before === null ? [] : splicesBetween(before.text, after);
      await this.assertPlaceable(target, before, after, splices, context.displayPath, 'write');
      return this.propose({ kind, target, ...context, before, version: current.version, after, splices });
    });
  }

  async edit(
    target: FileTarget, compute: (before: TextFile) => readonly TextSplice[], context: MutationContext,
  ): Promise<FileOutcome> {
    return this.mutations.run(target.realPath, context.signal, async () => {
      const current = await this.look(target, 'edit', context);
      await this.check('edit', target, current.version, context);
      if (current.version === null) throw new HarnessError(`cannot edit "${context.displayPath}": not found`, 'FS_NOT_FOUND');
      this.assertWritable(current.stat, 'edit', context.displayPath);
      const before = current.text ?? await this.readText(target, context.displayPath, context.signal).catch((error: unknown) => {
        throw retitle(error, context.displayPath);
      });
      const splices = compute(before);
      await this.assertPlaceable(target, before, '', splices, context.displayPath, 'edit');
      return this.propose({
        kind: 'edit', target, ...context, before, version: before.version, after: applySplices(before.text, splices), splices,
      });
    });
  }

  async commit(target: FileTarget, text: string | null, options: {
    expect?: string | null; encoding?: string; splices?: readonly TextSplice[]; signal?: AbortSignal; removeDirectories?: readonly string[];
  } = {}): Promise<{ version: string | null; createdDirectories?: readonly string[]; text?: string }> {
    const { expect, signal } = options;
    return this.writes.run(target.realPath, signal, async () => {
      try {
        if (text === null) {
          if (expect !== undefined && await this.versionOf(target) !== expect) throw new StaleVersionError(target.path);
          await assertLeadsTo(target.path, target.realPath, target.path);
          await this.removeFile(target);
          await removeEmptyDirectories(options.removeDirectories ?? this.madeFor.get(target.realPath) ?? []);
          this.madeFor.delete(target.realPath);
          return { version: null };
        }
        const current = await this.look(target, 'write', { displayPath: target.path, signal });
        if (expect !== undefined && current.version !== expect) throw new StaleVersionError(target.path);
        this.assertWritable(current.stat, 'write', target.path);
        const splices = current.text === null ? [] : options.splices ?? splicesBetween(current.text.text, text);
        return await this.put(target, current.text, text, splices, current.version, { shown: target.path, encoding: options.encoding });
      } catch (error) {
        throw this.explain('write', target.path, error, signal);
      }
    });
  }

  async commitBytes(
    target: FileTarget, bytes: Uint8Array, options: { expect?: string | null; signal?: AbortSignal } = {},
  ): Promise<{ version: string | null }> {
    return this.writes.run(target.realPath, options.signal, async () => {
      try {
        await assertLeadsTo(target.path, target.realPath, target.path);
        return { version: await putFile(target.realPath, [bytes], options.expect, target.path) };
      } catch (error) {
        throw this.explain('write', target.path, error, options.signal);
      }
    });
  }

  /** Changes an open buffer and saves it; `before` is what `openDocument` gave. Returns what it holds then: saving may format. */
  protected writeDocument(
    _target: FileTarget, _before: TextFile, _splices: readonly TextSplice[], _after: string,
  ): Promise<{ version: string; text: string }> {
    throw new Error('this file system has no documents');
  }

  protected async removeFile(target: FileTarget): Promise<void> {
    await fs.rm(target.realPath, { force: true });
  }

  /** The encoding of a file without a byte-order mark, and of a new one. */
  encodingFor(_target: FileTarget): string {
    return this.encoding;
  }

  private async readDisk(target: FileTarget, stat: FileStat, signal?: AbortSignal): Promise<TextFile> {
    if (stat.size > this.maxTextBytes) throw tooLarge(stat.size, this.maxTextBytes);
    const { bytes, version } = await readWhole(target.realPath, stat, { limit: this.maxTextBytes, ...(signal && { signal }) });
    const decoded = await decodeText(bytes, this.encodingFor(target));
    const file: TextFile = { text: decoded.text, encoding: decoded.encoding, version, source: 'disk', dirty: false };
    this.sources.set(file, decoded);
    return file;
  }

  /** What is there. `text` is null when absent, and for a write also when it is no text. */
  private async look(target: FileTarget, verb: 'write' | 'edit', context: { displayPath: string; signal?: AbortSignal }): Promise<Current> {
    const { displayPath, signal } = context;
    try {
      const stat = await statPath(target.realPath);
      if (stat !== null && stat.kind !== 'file') throw new HarnessError(`cannot ${verb} "${displayPath}": not a regular file`, 'FS_NOT_REGULAR_FILE');
      const document = await this.openDocument(target);
      if (document !== undefined) return { stat, text: document, version: document.version };
      if (stat === null) return { stat, text: null, version: null };
      try {
        const text = await this.readDisk(target, stat, signal);
        return { stat, text, version: text.version };
      } catch (error) {
        // the reason is told when an edit asks for the text; a write may replace what is no text
        if (error instanceof TextDecodeError || (error instanceof HarnessError && error.code === 'FS_TOO_LARGE')) {
          return { stat, text: null, version: stat.version };
        }
        throw error;
      }
    } catch (error) {
      throw this.explain(verb, displayPath, error, signal);
    }
  }

  private async versionOf(target: FileTarget): Promise<string | null> {
    return (await this.openDocument(target))?.version ?? await versionAt(target.realPath);
  }

  private async check(kind: FileIntent['kind'], target: FileTarget, version: string | null, context: MutationContext): Promise<void> {
    const { displayPath, toolName, callId, agent } = context;
    const refusal: unknown = await this.ctx.serial(
      this.scope(agent), 'fs/mutation-check', { kind, target, displayPath, toolName, callId, agent, version },
    );
    if (refusal instanceof Error) throw refusal;
    if (refusal !== undefined && refusal !== null) throw new Error('fs/mutation-check returned something that is not an error');
  }

  private assertWritable(stat: FileStat | null, verb: Verb, displayPath: string): void {
    if (stat?.readonly !== true) return;
    throw new HarnessError(`cannot ${verb} "${displayPath}": the file is read-only (mode ${stat.mode.toString(8)})`, 'FS_PERMISSION');
  }

  /** Nobody is asked to review what could not be written afterwards: a place that takes no file, characters the encoding lacks. */
  private async assertPlaceable(
    target: FileTarget, before: TextFile | null, after: string, splices: readonly TextSplice[], displayPath: string, verb: Verb,
  ): Promise<void> {
    try {
      if (before === null) {
        await encodeText(after, this.encodingFor(target));
        await assertRoomFor(target.realPath);
      } else {
        const { codec } = this.sources.get(before) ?? { codec: await codecFor(before.encoding).catch(() => undefined) };
        for (const splice of splices) codec?.encode(splice.text);
      }
    } catch (error) {
      throw this.explain(verb, displayPath, error);
    }
  }

  private async propose(intent: FileIntent): Promise<FileOutcome> {
    const { target, agent, signal, before, displayPath } = intent;
    const event = intent.kind === 'edit' ? 'fs/edit-intent' : 'fs/write-intent';
    const decision: FileDecision = await this.ctx.waterfall(
      this.scope(agent), event, intent, async (): Promise<FileDecision> => ({ kind: 'apply' }),
    );
    const outcome = await this.decide(event, intent, decision, async (after, splices) => {
      if (signal?.aborted) throw new AbortError();
      const verb = intent.kind === 'edit' ? 'edit' : 'write';
      try {
        return await this.writes.run(target.realPath, signal, () =>
          this.put(target, before, after, splices, intent.version, { shown: displayPath, verb }));
      } catch (error) {
        throw this.explain(verb, displayPath, error, signal);
      }
    });
    const observation = outcome.version === null ? { kind: 'absent' as const } : { kind: 'present' as const, version: outcome.version };
    this.ctx.emit(this.scope(agent), 'fs/observed', target, observation, agent);
    // a call that was stopped reports no success: what it did all the same would be lost with it
    if (signal?.aborted === true && outcome.operation !== 'none') {
      throw new AbortError(`tool call aborted: "${displayPath}" had been ${outcome.operation === 'create' ? 'created' : 'changed'} by then`);
    }
    return outcome;
  }

  private async decide(
    event: string, intent: FileIntent, decision: FileDecision,
    write: (after: string, splices: readonly TextSplice[]) => Promise<{ version: string; createdDirectories?: readonly string[]; text?: string }>,
  ): Promise<FileOutcome> {
    const before = intent.before?.text ?? null;
    const operation = (after: string | null, same: boolean): FileOutcome['operation'] =>
      intent.version === null ? (after === null ? 'none' : 'create') : intent.before !== null && same ? 'none' : 'update';
    switch (decision?.kind) {
      case 'refuse':
        throw decision.error instanceof Error ? decision.error : new Error(`${event} refused the change`);
      case 'applied':
        return { operation: operation(decision.text, decision.text === before), before, after: decision.text, version: decision.version };
      case 'apply': {
        const after = decision.text ?? intent.after;
        const splices = after === intent.after ? intent.splices : before === null ? [] : splicesBetween(before, after);
        const { text: saved, ...written } = await write(after, splices);
        // saving in an editor may format: the outcome is what is there now (B17)
        if (saved !== undefined) return { operation: operation(saved, saved === before), before, after: saved, ...written };
        return {
          operation: operation(after, splices.length === 0), before, after, ...(before !== null && { splices }), ...written,
        };
      }
      default:
        throw new Error(`${event} returned an unsupported decision; nothing was written`);
    }
  }

  private async put(
    target: FileTarget, before: TextFile | null, after: string, splices: readonly TextSplice[], expect: string | null,
    options: { shown: string; encoding?: string; verb?: Verb },
  ): Promise<{ version: string; createdDirectories?: readonly string[]; text?: string }> {
    await assertLeadsTo(target.path, target.realPath, options.shown, options.verb);
    const document = await this.openDocument(target);
    // what is on disk is compared again, right before the file is replaced
    const compared = document !== undefined || before?.source === 'document';
    if (compared && document?.version !== expect) throw new StaleVersionError(options.shown, options.verb);
    if (before?.source === 'document') {
      const { version, text } = await this.writeDocument(target, before, splices, after);
      return text === after ? { version } : { version, text };
    }
    const decoded = before === null ? undefined : this.sources.get(before);
    if (before !== null && decoded === undefined) throw new Error(`the text of "${options.shown}" was not read by this file system`);
    if (decoded !== undefined && splices.length === 0) return { version: before?.version ?? '' };
    const parts = decoded === undefined
      ? [await encodeText(after, options.encoding ?? this.encodingFor(target))]
      : spliceBytesInParts(decoded, splices);
    const createdDirectories = expect === null ? await makeDirectories(path.dirname(target.realPath)) : [];
    try {
      const version = await putFile(target.realPath, parts, expect, options.shown);
      if (createdDirectories.length === 0) return { version };
      this.madeFor.set(target.realPath, createdDirectories);
      return { version, createdDirectories };
    } catch (error) {
      await removeEmptyDirectories(createdDirectories);
      throw error instanceof StaleVersionError ? new StaleVersionError(options.shown, options.verb) : error;
    }
  }

  private scope(agent: Agent | undefined): object {
    return scopeTarget(this, agent);
  }

  /** An error as the caller should read it: about `displayPath`, with a code. */
  private explain(verb: Verb, displayPath: string, error: unknown, signal?: AbortSignal): Error {
    if (signal?.aborted && (codeOf(error) === 'ABORT_ERR' || (error instanceof Error && error.name === 'AbortError'))) return new AbortError();
    if (error instanceof TextDecodeError || (error instanceof HarnessError && ['FS_TOO_LARGE', 'FS_ENCODING'].includes(error.code))) {
      return new HarnessError(`cannot ${verb} "${displayPath}": ${error.message}`, error.code, { cause: error });
    }
    return diskError(verb, displayPath, error);
  }
}

/** A model may give the byte-order mark with its text: where the file has one, it stays, and there is one (A5). */
function withoutMark(before: TextFile, content: string): string {
  return content.startsWith('\ufeff') && /bom$|^utf16/.test(before.encoding) ? content.slice(1) : content;
}

/** A failed look at the text, told as a failed edit. */
function retitle(error: unknown, displayPath: string): unknown {
  if (!(error instanceof HarnessError)) return error;
  return new HarnessError(error.message.replace(`cannot read "${displayPath}"`, `cannot edit "${displayPath}"`), error.code, { cause: error });
}
