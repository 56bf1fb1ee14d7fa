import { lstat, readlink, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isKeyFile } from '../text/key-files.ts';

/** What is special about a file, from its real path (J1, J5, L1). */
export interface PathFacts {
  readonly realPath: string;
  /** Real paths of all it may mean: `realPath`, and another where `..` can be read in two ways. */
  readonly places: readonly string[];
  /** Why nothing can be opened there: links in a circle, a name that none can have, a folder that is closed to us. */
  readonly problem?: string;
  /** Outside the workspace, or nobody can tell where. */
  readonly outside: boolean;
  /** Writing it makes code run, or changes what may run. */
  readonly protected: boolean;
  /** Reading it gives away keys. */
  readonly secret: boolean;
}

const FOLD = process.platform === 'win32' || process.platform === 'darwin';
const fold = (text: string): string => (FOLD ? text.toLowerCase() : text);

/** Looks at paths the way the disk does: links followed, also those of folders that a new file would be made in. */
export class PathPolicy {
  private readonly roots: () => readonly string[];
  private readonly codeFiles: (realPath: string) => boolean;

  /**
   * `roots`: absolute workspace folders. `codeFiles`: files that are loaded as soon as they change (tool plugins).
   */
  constructor(options: { roots: () => readonly string[]; codeFiles?: (realPath: string) => boolean }) {
    this.roots = options.roots;
    this.codeFiles = options.codeFiles ?? (() => false);
  }

  /**
   * `given` relative to `cwd`; `~` is the home folder, as a shell would have it. Where `..` follows a name there are two
   * readings: our tools take the name back, a program goes through the link it may be and up from there. Both count.
   */
  async facts(given: string, cwd: string): Promise<PathFacts> {
    const expanded = given === '~' || /^~[\\/]/.test(given) ? path.join(os.homedir(), given.slice(1)) : given;
    const absolute = path.resolve(cwd, expanded);
    const places = [await placeOf(absolute), ...(/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(expanded) ? [await walkTo(cwd, expanded)] : [])];
    const folders = [cwd, ...this.roots()];
    const outside: Place[] = [];
    for (const place of places) if (place.hidden || !(await this.within(folders, place.realPath))) outside.push(place);
    const { realPath } = outside[0] ?? places[0]!;
    const problem = places[0]!.problem;
    const names = [absolute, ...places.map((place) => place.realPath)];
    return {
      realPath, places: places.map((place) => place.realPath),
      ...(problem !== undefined && { problem }),
      outside: outside.length > 0,
      // the name it is reached by counts too: a link called .git/hooks/x is one
      protected: names.some(isProtected) || places.some((place) => this.codeFiles(place.realPath)),
      secret: names.some(isKeyFile),
    };
  }

  /** Whether a real path is in or below one of these folders. */
  async within(folders: readonly string[], realPath: string): Promise<boolean> {
    for (const folder of folders) {
      const root = await placeOf(path.resolve(folder));
      if (!root.hidden && isInside(root.realPath, realPath)) return true;
    }
    return false;
  }
}

/** Whether `file` is `folder` or below it. Both absolute and real. */
export function isInside(folder: string, file: string): boolean {
  const relative = path.relative(fold(folder), fold(file));
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

/** Where a path leads, as far as the disk says. */
export interface Place {
  /** Real path of the nearest ancestor that is there plus the rest (J1). */
  readonly realPath: string;
  /** Nothing can be opened there. */
  readonly problem?: string;
  /** What is there can't be told, not even where it leads. */
  readonly hidden: boolean;
}

/** Links in a row that the system follows. */
const MAX_LINKS = 40;
/** UTF-8 bytes of a path the system takes. A longer one may still be reached bit by bit. */
const MAX_PATH = 4096;

const PROBLEMS: Readonly<Record<string, string>> = {
  ELOOP: 'too many symbolic links', ENAMETOOLONG: 'the path is too long', ERR_INVALID_ARG_VALUE: 'the path contains a NUL character',
  EACCES: 'permission denied', EPERM: 'permission denied',
};

/** Follows links as the disk does; never throws. */
export async function placeOf(absolute: string, links = MAX_LINKS): Promise<Place> {
  const rest: string[] = [];
  let problem: string | undefined;
  let hidden = Buffer.byteLength(absolute) > MAX_PATH;
  for (let at = absolute; ; at = path.dirname(at)) {
    try {
      return { realPath: path.join(await realpath(at), ...rest), hidden, ...(problem !== undefined && { problem }) };
    } catch (error) {
      const code = String((error as NodeJS.ErrnoException).code);
      if (code !== 'ENOENT' && code !== 'ENOTDIR') {
        problem ??= PROBLEMS[code] ?? `it can't be looked at (${code})`;
        // a circle, a name that none can have: there is nothing behind it
        hidden ||= code !== 'ELOOP' && code !== 'ENAMETOOLONG' && code !== 'ERR_INVALID_ARG_VALUE';
      } else {
        // a link whose target is not there yet: writing through it makes the target
        const link = await lstat(at).then((found) => found.isSymbolicLink(), () => false);
        if (link && links > 0) {
          const target = path.resolve(path.dirname(at), await readlink(at).catch(() => '.'));
          const place = await placeOf(path.join(target, ...rest), links - 1);
          return { ...place, hidden: hidden || place.hidden };
        }
        if (link) problem ??= PROBLEMS.ELOOP;
      }
      if (path.dirname(at) === at) return { realPath: absolute, hidden: true, ...(problem !== undefined && { problem }) };
      rest.unshift(path.basename(at));
    }
  }
}

/** Names of one path that are followed one by one. */
const MAX_NAMES = 200;

/** Where a program gets that opens `given` in `cwd`: each name's link is followed before the next `..` leads up. */
async function walkTo(cwd: string, given: string): Promise<Place> {
  const { root } = path.parse(given);
  let at: Place = root === '' ? await placeOf(path.resolve(cwd)) : { realPath: path.resolve(root), hidden: false };
  const names = given.slice(root.length).split(path.sep === '\\' ? /[\\/]+/ : /\/+/).filter((name) => name !== '' && name !== '.');
  if (names.length > MAX_NAMES) return { ...at, hidden: true };
  for (const name of names) {
    const next: Place = name === '..' ? { realPath: path.dirname(at.realPath), hidden: false } : await placeOf(path.join(at.realPath, name));
    at = { realPath: next.realPath, hidden: at.hidden || next.hidden };
  }
  return at;
}

const PROTECTED_FOLDERS = new Set([
  '.git', '.hg', '.svn', '.jj', '.githooks', '.husky', '.lefthook', '.vscode', '.vscode-server', '.idea', '.zed', '.fleet', '.devcontainer', '.ssh', '.gnupg',
  '.dsh', '.cursor', '.claude', '.windsurf', '.config', '.cargo', '.aws', '.kube', '.mvn', '.bundle', '.vim', '.emacs.d', '.direnv',
]);
const PROTECTED_FILES = new Set([
  'cordis.yml', 'cordis.yaml', 'cordis.patch.yml', '.envrc', '.gitconfig', '.gitmodules', '.gitattributes', '.hgrc', '.npmrc', '.yarnrc', '.yarnrc.yml',
  '.pnpmfile.cjs', 'bunfig.toml', '.mcp.json', '.bazelrc', '.pre-commit-config.yaml', '.overcommit.yml', '.simple-git-hooks.json',
  'mise.toml', 'mise.local.toml', '.mise.toml', '.mise.local.toml', 'lefthook.yml', 'lefthook.yaml', 'lefthook-local.yml', '.lefthook.yml',
  '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zprofile', '.zshenv', '.zlogin', '.zlogout', '.kshrc',
  '.cshrc', '.tcshrc', '.login', '.logout', '.inputrc', '.xinitrc', '.xprofile', '.xsession', '.xsessionrc', '.screenrc', '.tmux.conf',
  '.vimrc', '.gvimrc', '.exrc', '.nvimrc', '.emacs', '.lesskey', '.curlrc', '.wgetrc', '.ripgreprc',
  '.gdbinit', '.lldbinit', '.irbrc', '.pryrc', '.gemrc', '.pythonrc', '.pythonrc.py', '.rprofile', '.psqlrc', '.sqliterc',
  'authorized_keys', 'authorized_keys2', 'crontab',
]);
/** Names with an ending of any kind, and a name in a folder. */
const PROTECTED_NAMES = /(?:^|[\\/])(?:\.lintstagedrc(?:\.[^\\/]*)?|lint-staged\.config\.[^\\/]*|[^\\/]*\.code-workspace|\.docker[\\/]config\.json)$/i;

/** J5: what makes code run, or is our own configuration. */
export function isProtected(absolute: string): boolean {
  const parts = absolute.split(/[\\/]/).map((part) => part.toLowerCase());
  const base = parts.at(-1) ?? '';
  if (parts.some((part) => PROTECTED_FOLDERS.has(part) || /^git~\d$/.test(part))) return true;
  return PROTECTED_FILES.has(base) || PROTECTED_NAMES.test(absolute);
}
