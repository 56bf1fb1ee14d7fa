import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import fs from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { HarnessError } from '../contract/error.ts';
import type { DirectoryEntry, FileStat } from '../seams/fs.ts';
import { removeAbandoned, temporaryBeside } from './temporary.ts';

/** Bytes to disk and back: atomic, stale-checked, never half-written. Paths are absolute and real. */

/** What an error of the file system means to the one who asked. `verb`: read, write, edit. */
export function diskError(verb: string, shownPath: string, error: unknown): Error {
  if (error instanceof HarnessError) return error;
  const code = codeOf(error);
  const fail = (reason: string, harnessCode: string): HarnessError =>
    new HarnessError(`cannot ${verb} "${shownPath}": ${reason}`, harnessCode, { cause: error });
  switch (code) {
    case 'ENOENT': return fail('not found', 'FS_NOT_FOUND');
    case 'EISDIR': return fail('not a regular file', 'FS_NOT_REGULAR_FILE');
    case 'ENOTDIR': case 'EEXIST': return fail('a parent of this path is a file, not a directory', 'FS_NOT_FOUND');
    case 'EACCES': case 'EPERM': return fail('permission denied', 'FS_PERMISSION');
    case 'EROFS': return fail('the file system is read-only', 'FS_PERMISSION');
    case 'ENOSPC': case 'EDQUOT': return fail('no space left on the disk; nothing was changed. Free some space, then retry', 'FS_NO_SPACE');
    case 'ELOOP': return fail('too many symbolic links', 'FS_NOT_FOUND');
    case 'ENAMETOOLONG': return fail('the path is too long', 'FS_BAD_PATH');
    case 'EMFILE': case 'ENFILE': return fail('too many open files, retry later', 'FS_IO');
    case 'EAGAIN': return fail('it has nothing to read right now', 'FS_IO');
    case 'EBUSY': case 'ETXTBSY': return fail('the file is in use by another program', 'FS_IO');
    case 'ERR_INVALID_ARG_VALUE': return fail('the path contains a NUL character', 'FS_BAD_PATH');
    default: return error instanceof Error ? fail(error.message, 'FS_IO') : fail(String(error), 'FS_IO');
  }
}

/** `code` of a node error. */
export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The file was changed, or made, or removed since `expect` was taken. */
export class StaleVersionError extends HarnessError {
  constructor(shownPath: string, verb = 'write') {
    super(`cannot ${verb} "${shownPath}": file changed since it was read — re-read the file, then retry`, 'FS_STALE_VERSION');
  }
}

function versionOf(stat: BigIntStats): string {
  return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].map((part) => part.toString(36)).join('-');
}

/** null: absent. */
export async function statPath(realPath: string): Promise<FileStat | null> {
  const stat = await rawStat(realPath);
  if (stat === null) return null;
  const mode = Number(stat.mode) & 0o7777;
  return {
    kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other',
    size: Number(stat.size), version: versionOf(stat), mode,
    readonly: (mode & 0o222) === 0 || !(await isWritable(realPath)),
  };
}

/** The version of what is there; null: absent. */
export async function versionAt(realPath: string): Promise<string | null> {
  const stat = await rawStat(realPath);
  return stat === null ? null : versionOf(stat);
}

async function rawStat(realPath: string): Promise<BigIntStats | null> {
  try {
    return await fs.stat(realPath, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}

async function isWritable(realPath: string): Promise<boolean> {
  return fs.access(realPath, constants.W_OK).then(() => true, () => false);
}

/**
 * The real path of what is at `absolute`; of an absent file the real path of its nearest existing ancestor plus the
 * rest. A dangling symlink stands for the place it points to (J1).
 */
export async function realPathOf(absolute: string, hops = 40): Promise<string> {
  try {
    return await fs.realpath(absolute);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ELOOP' || hops === 0) throw error;
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') throw error;
  }
  const parent = path.dirname(absolute);
  if (parent === absolute) return absolute;
  const realParent = await realPathOf(parent, hops);
  const place = path.join(realParent, path.basename(absolute));
  const link = await fs.readlink(place).catch(() => undefined);
  return link === undefined ? place : realPathOf(path.resolve(realParent, link), hops - 1);
}

/**
 * Throws when `given` no longer leads to `realPath`: somebody put a link in the place of a folder after the change was judged, and
 * what it would be written to nobody has looked at (J1).
 */
export async function assertLeadsTo(given: string, realPath: string, shownPath: string, verb = 'write'): Promise<void> {
  if (await realPathOf(given) === realPath) return;
  throw new HarnessError(`cannot ${verb} "${shownPath}": the path leads elsewhere by now — look at it again, then retry`, 'FS_STALE_VERSION');
}

/**
 * A whole file and the version these bytes belong to. `known` is what a look at the file just said. Throws FS_TOO_LARGE
 * for a file that turns out to hold more than `limit` bytes.
 */
export async function readWhole(
  realPath: string, known: Pick<FileStat, 'size' | 'version'>, options: { limit?: number; signal?: AbortSignal } = {},
): Promise<{ bytes: Uint8Array; version: string }> {
  const { limit = Number.POSITIVE_INFINITY, signal } = options;
  // one that says it is empty may let its reader wait for more (a log of the kernel): that is an error instead
  const handle = await fs.open(realPath, constants.O_RDONLY | (known.size === 0 ? constants.O_NONBLOCK ?? 0 : 0));
  try {
    let { size, version } = known;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      const bytes = await readHandle(handle, size, limit, signal);
      const after = await handle.stat({ bigint: true });
      // read again when somebody wrote meanwhile: text and version must belong together
      if (versionOf(after) === version || attempt === 4) return { bytes, version: versionOf(after) };
      [size, version] = [Number(after.size), versionOf(after)];
    }
  } finally {
    await handle.close();
  }
}

/** Bytes that are asked for behind what a file says it holds. */
const MORE_BYTES = 16 * 1024;

/**
 * To the end, wherever that is: files that the system makes up as they are read say that they are empty, and others may
 * say less than they hold.
 */
async function readHandle(handle: FileHandle, size: number, limit: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const full: Buffer[] = [];
  let part = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let total = 0;
  for (;;) {
    signal?.throwIfAborted();
    if (at === part.length) {
      if (at > 0) full.push(part);
      part = Buffer.allocUnsafeSlow(Math.max(MORE_BYTES, total));
      at = 0;
    }
    const { bytesRead } = await handle.read(part, at, part.length - at, total);
    if (bytesRead === 0) break;
    at += bytesRead;
    total += bytesRead;
    if (total > limit) throw tooLarge(total, limit);
  }
  if (at > 0) full.push(part.subarray(0, at));
  return full.length === 1 ? full[0]! : Buffer.concat(full);
}

/** A file is not taken in whole. Sizes in bytes. */
export function tooLarge(size: number, limit: number): HarnessError {
  return new HarnessError(`the file is too large to take in whole (${size} bytes; the limit is ${limit})`, 'FS_TOO_LARGE');
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * A file's bytes in megabyte chunks, the next one read while the last is looked at. Two buffers take turns, so that
 * half a gigabyte costs no more memory than a page: a chunk is only valid until the next is asked for.
 */
export async function* readChunks(realPath: string, start: number, end: number | undefined, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  if (end !== undefined && end <= start) return;
  const handle = await fs.open(realPath, 'r');
  let pending: Promise<{ bytesRead: number }> | undefined;
  try {
    const buffers = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)] as const;
    let at = start;
    const read = (turn: number): Promise<{ bytesRead: number }> => {
      const length = end === undefined ? CHUNK_BYTES : Math.min(CHUNK_BYTES, end - at);
      return handle.read(buffers[turn === 0 ? 0 : 1], 0, length, at);
    };
    let next = pending = read(0);
    for (let turn = 0; ; turn = 1 - turn) {
      signal?.throwIfAborted();
      const { bytesRead } = await next;
      pending = undefined;
      if (bytesRead === 0) return;
      at += bytesRead;
      const done = end !== undefined && at >= end;
      if (!done) next = pending = read(1 - turn);
      yield buffers[turn === 0 ? 0 : 1].subarray(0, bytesRead);
      if (done) return;
    }
  } finally {
    await pending?.catch(() => {});
    await handle.close();
  }
}

/** Throws what making a file at `realPath` would: its nearest existing ancestor is no directory, or takes no new files. */
export async function assertRoomFor(realPath: string): Promise<void> {
  for (let at = path.dirname(realPath); ; at = path.dirname(at)) {
    try {
      if ((await fs.stat(at)).isDirectory()) return await fs.access(at, constants.W_OK | constants.X_OK);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || at === path.dirname(at)) throw error;
      continue;
    }
    throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
  }
}

/**
 * Makes the directory and returns what was made, outermost first; what was made goes again when the rest can't be. One
 * by one: Node's own recursive way tries for ever where a file system says ENOENT to every new name (/proc).
 */
export async function makeDirectories(directory: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = directory; !(await isDirectory(at)); at = path.dirname(at)) missing.unshift(at);
  const made: string[] = [];
  try {
    for (const next of missing) {
      try {
        await fs.mkdir(next);
        made.push(next);
      } catch (error) {
        // somebody else was faster
        if (codeOf(error) !== 'EEXIST' || !(await isDirectory(next))) throw error;
      }
    }
  } catch (error) {
    await removeEmptyDirectories(made);
    throw error;
  }
  return made;
}

/** False: nothing is there. Throws what making something below it would. */
async function isDirectory(absolute: string): Promise<boolean> {
  try {
    if ((await fs.stat(absolute)).isDirectory()) return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && absolute !== path.dirname(absolute)) return false;
    throw error;
  }
  throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
}

/** Removes those of `directories` (outermost first) that are empty. */
export async function removeEmptyDirectories(directories: readonly string[]): Promise<void> {
  for (const directory of directories.toReversed()) {
    try {
      await fs.rmdir(directory);
    } catch {
      return; // not empty, or gone: what encloses it is not empty either, or somebody else's by now
    }
  }
}

/** What a directory holds, by name; a link is what it points to. */
export async function listDirectory(realPath: string): Promise<DirectoryEntry[]> {
  const entries = await fs.readdir(realPath, { withFileTypes: true });
  const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): DirectoryEntry['kind'] =>
    entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other';
  const listed = await Promise.all(entries.map(async (entry): Promise<DirectoryEntry> => ({
    name: entry.name,
    kind: entry.isSymbolicLink()
      ? await fs.stat(path.join(realPath, entry.name)).then(kindOf, () => 'other' as const)
      : kindOf(entry),
  })));
  return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Puts `parts` at `realPath`, one after the other, or throws with the old content in place. `expect` is the version that must still be there
 * (null: absent; undefined: whatever). Returns the new version.
 */
export async function putFile(
  realPath: string, parts: readonly Uint8Array[], expect: string | null | undefined, shownPath: string,
): Promise<string> {
  const current = await rawStat(realPath);
  const expected = expect === undefined ? undefined : { version: expect };
  if (expected !== undefined && (current === null ? null : versionOf(current)) !== expected.version) throw new StaleVersionError(shownPath);
  const own = process.getuid?.();
  const mustStay = current !== null && (current.nlink > 1n || (own !== undefined && own !== 0 && Number(current.uid) !== own));
  const temporary = mustStay ? undefined : await writeTemporary(realPath, parts, current);
  if (temporary === undefined) {
    await assertLeadsTo(realPath, realPath, shownPath);
    await writeInPlace(realPath, parts, expect, shownPath);
  } else {
    try {
      if (expected !== undefined && await versionAt(realPath) !== expected.version) throw new StaleVersionError(shownPath);
      await assertLeadsTo(realPath, realPath, shownPath);
      if (expect === null) await placeNew(temporary, realPath, shownPath);
      else await replace(temporary, realPath);
    } catch (error) {
      await fs.rm(temporary, { force: true });
      throw error;
    }
  }
  return await versionAt(realPath) ?? '';
}

/** A synced sibling with the final mode, or undefined when the directory takes no new files. */
async function writeTemporary(
  realPath: string, parts: readonly Uint8Array[], current: BigIntStats | null,
): Promise<string | undefined> {
  const temporary = temporaryBeside(realPath);
  await removeAbandoned(path.dirname(realPath));
  let handle: FileHandle;
  try {
    handle = await fs.open(temporary, 'wx', current === null ? 0o666 : 0o600);
  } catch (error) {
    if (current !== null && ['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
  try {
    await writeAll(handle, parts);
    if (current !== null) {
      const [uid, gid] = [Number(current.uid), Number(current.gid)];
      if (process.getuid?.() === 0 && (uid !== 0 || gid !== process.getgid?.())) await handle.chown(uid, gid);
      await handle.chmod(Number(current.mode) & 0o7777);
    }
    await handle.datasync();
  } catch (error) {
    await handle.close();
    await fs.rm(temporary, { force: true });
    throw error;
  }
  await handle.close();
  return temporary;
}

/** Buffers one system call takes. */
const MAX_VECTOR = 1024;

/** Writes from the start of the file; returns the bytes written. */
async function writeAll(handle: FileHandle, parts: readonly Uint8Array[]): Promise<number> {
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  // one call writes nearly always everything
  if (parts.length <= MAX_VECTOR && (await handle.writev(parts, 0)).bytesWritten === total) return total;
  let at = 0;
  for (const part of parts) {
    for (let done = 0; done < part.length;) {
      const { bytesWritten } = await handle.write(part, done, part.length - done, at);
      done += bytesWritten;
      at += bytesWritten;
    }
  }
  return at;
}

/** Hard links and foreign owners would be lost by a rename. A failing write puts the old bytes back. */
async function writeInPlace(
  realPath: string, parts: readonly Uint8Array[], expect: string | null | undefined, shownPath: string,
): Promise<void> {
  const known = await statPath(realPath) ?? { size: 0, version: '' };
  const old = await readWhole(realPath, known);
  if (expect !== undefined && old.version !== expect) throw new StaleVersionError(shownPath);
  const handle = await fs.open(realPath, 'r+');
  try {
    await handle.truncate(await writeAll(handle, parts));
    await handle.datasync();
  } catch (error) {
    await writeAll(handle, [old.bytes]).then((length) => handle.truncate(length)).catch(() => {});
    throw error;
  } finally {
    await handle.close();
  }
}

/** Fails when somebody made the file meanwhile: a link never replaces. */
async function placeNew(temporary: string, realPath: string, shownPath: string): Promise<void> {
  try {
    await fs.link(temporary, realPath);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new StaleVersionError(shownPath);
    await replace(temporary, realPath); // no hard links on this file system
    return;
  }
  await fs.rm(temporary, { force: true });
}

const RETRY_DELAYS = process.platform === 'win32' ? [10, 30, 90, 270] : [];

/** Windows refuses while a scanner holds the file for a moment. */
async function replace(temporary: string, realPath: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await fs.rename(temporary, realPath);
    } catch (error) {
      const delay = RETRY_DELAYS[attempt];
      if (delay === undefined || !['EPERM', 'EACCES', 'EBUSY'].includes(codeOf(error) ?? '')) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}
