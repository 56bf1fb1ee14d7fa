import path from 'node:path';
import { isKeyFile, KEY_NAME_GLOBS } from '../../text/key-files.ts';
import { runRipgrep } from './ripgrep.ts';

/** A search whose files are looked through for such that hold keys. */
export interface KeySearch {
  readonly program: string;
  /** Absolute. */
  readonly cwd: string;
  /** Files and folders that are searched; none: `cwd`. */
  readonly places: readonly string[];
  /** The glob that names must match. */
  readonly include?: string;
  /** Stops after this many. */
  readonly limit: number;
  /**
   * Looks at every name, as a command typed in a shell would see them, ripgrep's configuration and all. Else what an ignore file
   * brings back from a hidden folder may be missed.
   */
  readonly thorough?: boolean;
  readonly signal: AbortSignal;
}

/**
 * The files that hold keys among those a search would read, whatever it searches for: that a file is named may say nothing of what
 * is in it (L1). As ripgrep prints them.
 */
export async function listKeyFiles(search: KeySearch): Promise<string[]> {
  const { include, thorough = false } = search;
  if (include !== undefined || thorough) return list(search, include === undefined ? [] : [`--glob=${include}`]);
  const found = await list(search, [...KEY_NAME_GLOBS.map((glob) => `--type-add=keys:${glob}`), '--type=keys']);
  // asked for by type, hidden files come too
  return found.some((file) => path.basename(file).startsWith('.')) ? list(search, []) : found;
}

async function list({ program, cwd, places, limit, thorough, signal }: KeySearch, filter: readonly string[]): Promise<string[]> {
  const enough = new AbortController();
  const found: string[] = [];
  try {
    await runRipgrep({
      program, cwd, signal: AbortSignal.any([signal, enough.signal]), tool: 'grep', pattern: '', end: 0, maxBytes: Number.POSITIVE_INFINITY,
      args: [...(thorough === true ? [] : ['--no-config']), '--files', '--null', '--color=never', ...filter, ...(places.length > 0 ? ['--', ...places] : [])],
      take(bytes) {
        const end = bytes.lastIndexOf(0);
        for (const file of bytes.toString('utf8', 0, end).split('\0')) {
          if (found.length < limit && isKeyFile(path.isAbsolute(file) ? file : `${cwd}/${file}`)) found.push(file);
        }
        if (found.length >= limit) enough.abort();
        return end + 1;
      },
    });
  } catch (error) {
    if (!enough.signal.aborted || signal.aborted) throw error;
  }
  return found;
}
