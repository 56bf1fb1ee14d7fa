import { lstat, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isKeyFile } from '../text/key-files.ts';
import { isInside } from './paths.ts';

const isThere = (...parts: string[]): Promise<boolean> => lstat(path.join(...parts)).then(() => true, () => false);

/** Whether git takes a folder for a repository: one that is empty, or lacks a part, it passes over. */
async function isRepository(folder: string): Promise<boolean> {
  return await isThere(folder, 'HEAD') && (await isThere(folder, 'commondir') || (await isThere(folder, 'objects') && await isThere(folder, 'refs')));
}

/**
 * Whether git, run in this folder, would take files of the workspace for its own repository (a bare one, lying there as
 * ordinary files): its configuration names programs that git then runs, even for `git status`.
 */
export async function isPlantedRepository(folder: string): Promise<boolean> {
  for (let at = folder; ; at = path.dirname(at)) {
    const dot = path.join(at, '.git');
    if (await stat(dot).then((found) => found.isFile(), () => false) || await isRepository(dot)) return false;
    if (await isRepository(at)) return true;
    if (path.dirname(at) === at) return false;
  }
}

/** An index is read up to this size; a bigger one has millions of files. */
const MAX_INDEX_BYTES = 256 * 1024 * 1024;

/**
 * A file that may hold keys among those the repository around `cwd` keeps, for git shows them all by itself: of those in `places` (real
 * paths), or of all. undefined: none. `name` undefined: it can't be told.
 */
export async function trackedKeyFile(cwd: string, places: readonly string[]): Promise<{ readonly name: string | undefined } | undefined> {
  const repository = await repositoryAround(cwd);
  if (repository === undefined) return undefined;
  const file = path.join(repository.folder, 'index');
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  const names = found.size > MAX_INDEX_BYTES ? undefined : indexedNames(await readFile(file).catch(() => Buffer.alloc(0)));
  if (names === undefined) return { name: undefined };
  const name = names.find((entry) => {
    const absolute = path.join(repository.root, entry);
    return isKeyFile(absolute) && (places.length === 0 || places.some((place) => isInside(place, absolute)));
  });
  return name === undefined ? undefined : { name };
}

/** The work tree that a folder is in, and where git keeps what belongs to it. */
async function repositoryAround(cwd: string): Promise<{ root: string; folder: string } | undefined> {
  for (let root = cwd; ; root = path.dirname(root)) {
    const dot = path.join(root, '.git');
    const found = await stat(dot).catch(() => undefined);
    if (found?.isDirectory() && await isRepository(dot)) return { root, folder: dot };
    if (found?.isFile()) {
      const link = /^gitdir: (.*?)\r?\n?$/s.exec(await readFile(dot, 'utf8').catch(() => ''))?.[1];
      if (link !== undefined) return { root, folder: path.resolve(root, link) };
    }
    if (path.dirname(root) === root) return undefined;
  }
}

/** The names in a git index; undefined when it has a form that is not read here (split, sparse, of a later version). */
export function indexedNames(index: Buffer): string[] | undefined {
  // of SHA-1 or SHA-256: nothing in the file says which
  return readIndex(index, 20) ?? readIndex(index, 32);
}

function readIndex(index: Buffer, hashBytes: number): string[] | undefined {
  if (index.length < 12 + hashBytes || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const end = index.length - hashBytes;
  const names: string[] = [];
  let last = '';
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + 40 + hashBytes;
    if (flagsAt + 2 > end) return undefined;
    const flags = index.readUInt16BE(flagsAt);
    let start = flagsAt + ((flags & 0x4000) === 0 ? 2 : 4);
    let kept = '';
    if (version === 4) {
      const cut = readNumber(index, start);
      start = cut.end;
      if (cut.value > last.length) return undefined;
      kept = last.slice(0, last.length - cut.value);
    }
    const stop = index.indexOf(0, start);
    if (stop < 0 || stop > end) return undefined;
    // latin1: lengths are in bytes
    const name = kept + index.toString('latin1', start, stop);
    const length = flags & 0xfff;
    if (length < 0xfff ? name.length !== length : name.length < 0xfff) return undefined;
    // a folder that stands for all in it
    if (name.endsWith('/')) return undefined;
    names.push(Buffer.from(name, 'latin1').toString('utf8'));
    last = name;
    at = version === 4 ? stop + 1 : at + ((stop - at + 8) & ~7);
  }
  return hasOwnEntriesOnly(index, at, end) ? names : undefined;
}

/** Whether what follows the entries are extensions, none of which says that there are more entries elsewhere. */
function hasOwnEntriesOnly(index: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at + 8 <= end) {
    // in small letters: not to be passed over
    if (/^[a-z]/.test(index.toString('latin1', at, at + 4))) return false;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === end;
}

function readNumber(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start;
  let byte = bytes[at++] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes[at++] ?? 0;
    value = ((value + 1) << 7) | (byte & 0x7f);
  }
  return { value, end: at };
}
