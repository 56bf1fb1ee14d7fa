import path from 'node:path';
import type { SearchFileMatches } from '../../contract/presentation.ts';

/** Matches shown to the model (B10.25). */
export const SHOWN_MATCHES = 250;
/** Bytes of a line shown to the model (B10.25). */
export const SHOWN_LINE_BYTES = 2_000;
/** Paths shown to the model (B10.26). */
export const SHOWN_PATHS = 100;

export interface GrepMatch { path: string; lineNumber: number; line: string }

/** Inside the working directory relative, else absolute (B10.27); always with the file system's own separators. */
export function shownPath(file: string, cwd: string): string {
  // nearly every path ripgrep prints is relative and straight already
  if (path.sep === '/' && !file.startsWith('/') && !file.includes('./') && !file.includes('//') && !file.endsWith('/..') && file !== '..') return file;
  const absolute = path.resolve(cwd, file);
  const relative = path.relative(cwd, absolute);
  return relative === '' || relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative) ? absolute : relative;
}

/** At most 2000 bytes of a line, cut between characters. */
function cutLine(line: string): string {
  if (line.length * 3 <= SHOWN_LINE_BYTES || Buffer.byteLength(line) <= SHOWN_LINE_BYTES) return line;
  const bytes = Buffer.from(line.slice(0, SHOWN_LINE_BYTES + 4));
  let end = Math.min(SHOWN_LINE_BYTES, bytes.length);
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString('utf8')} (line truncated)`;
}

/** Matches in file groups, in the order found. */
export function groupMatches(matches: readonly GrepMatch[], cut: boolean): SearchFileMatches[] {
  const groups = new Map<string, SearchFileMatches>();
  for (const match of matches) {
    let group = groups.get(match.path);
    if (group === undefined) groups.set(match.path, (group = { path: match.path, matches: [] }));
    group.matches.push({ lineNumber: match.lineNumber, line: cut ? cutLine(match.line) : match.line });
  }
  return [...groups.values()];
}

function groupText(files: readonly SearchFileMatches[]): string {
  return files.map(({ path: file, matches }) => `${file}\n${matches.map((m) => `Line ${m.lineNumber}: ${m.line}`).join('\n')}`).join('\n\n');
}

/** Where the complete result is, for the footer of a capped one. */
export interface Stored { locator: string; retrievalHint: string }

/** Names of files left out that are shown to the model. */
const SHOWN_LEFT_OUT = 5;

/** Which files were not searched, and what to do about it. */
function leftOutText(files: readonly string[]): string {
  const more = files.length > SHOWN_LEFT_OUT ? ` and ${files.length - SHOWN_LEFT_OUT} more` : '';
  return `(Not searched, because they may hold keys: ${files.slice(0, SHOWN_LEFT_OUT).join(', ')}${more}. To search one, name it in path.)`;
}

/** B10.25. `stored` undefined: the complete result is nowhere. `leftOut`: files that were not searched because they may hold keys. */
export function renderGrep(matches: readonly GrepMatch[], { stored, leftOut = [] }: { stored?: Stored | undefined; leftOut?: readonly string[] | undefined } = {}): string {
  const notes = leftOut.length === 0 ? [] : [leftOutText(leftOut)];
  if (matches.length === 0) return ['No matches found', ...notes].join('\n\n');
  const shown = groupMatches(matches.slice(0, SHOWN_MATCHES), true);
  const capped = matches.length > SHOWN_MATCHES;
  const head = capped ? `Found ${SHOWN_MATCHES} of ${matches.length} matches` : `Found ${matches.length} match${matches.length === 1 ? '' : 'es'}`;
  const parts = [head, groupText(shown)];
  if (shown.some((file) => file.matches.some((match) => match.line.endsWith(' (line truncated)')))) {
    parts.push(`(Lines are cut after ${SHOWN_LINE_BYTES} bytes. To see the surroundings of a match in a long line, run \`rg -o '.{0,80}PATTERN.{0,80}' FILE\` in a shell.)`);
  }
  if (capped) {
    parts.push(
      stored === undefined
        ? '(The complete result could not be saved; narrow pattern, path, or include to see more.)'
        : `(Full grep result stored at: ${stored.locator}. ${stored.retrievalHint})`,
    );
  }
  return [...parts, ...notes].join('\n\n');
}

/** The complete grep result as the text that is stored. */
export function fullGrepText(matches: readonly GrepMatch[]): string {
  return `Found ${matches.length} matches\n\n${groupText(groupMatches(matches, false))}\n`;
}

/** Number of leading segments that all paths share, their last one excluded. */
function sharedDepth(split: readonly (readonly string[])[]): number {
  for (let depth = 0; ; depth++) {
    const segment = split[0]![depth];
    if (!split.every((segments) => segments.length > depth + 1 && segments[depth] === segment)) return depth;
  }
}

/** The first hundred, or a hundred spread over the entries at the top: one of each in turn (B10.26). */
export function shownPaths(paths: readonly string[], sample: boolean): string[] {
  if (paths.length <= SHOWN_PATHS) return [...paths];
  if (!sample) return paths.slice(0, SHOWN_PATHS);
  const split = paths.map((file) => file.split(path.sep));
  const depth = sharedDepth(split);
  const groups = new Map<string, number[]>();
  split.forEach((segments, index) => {
    const top = segments[depth]!;
    const group = groups.get(top);
    if (group === undefined) groups.set(top, [index]);
    else group.push(index);
  });
  const chosen: number[] = [];
  for (let round = 0; chosen.length < SHOWN_PATHS; round++) {
    for (const group of groups.values()) if (round < group.length && chosen.length < SHOWN_PATHS) chosen.push(group[round]!);
  }
  return chosen.sort((a, b) => a - b).map((index) => paths[index]!);
}

/** B10.26. */
export function renderGlob(shown: readonly string[], total: number, stored?: Stored): string {
  if (total === 0) return 'No files found';
  if (shown.length === total) return shown.join('\n');
  const where = stored === undefined
    ? 'The complete result could not be saved; narrow pattern or path to see more.'
    : `Full sorted result stored at: ${stored.locator}. ${stored.retrievalHint}`;
  return `${shown.join('\n')}\n\n(Showing ${shown.length} of ${total} paths. ${where})`;
}

/** Keeps whole groups up to `maxBytes` of JSON, one at least (B10.28). */
export function capGroups<T>(groups: readonly T[], maxBytes: number): T[] {
  const kept: T[] = [];
  let bytes = 0;
  for (const group of groups) {
    bytes += Buffer.byteLength(JSON.stringify(group)) + 1;
    if (kept.length > 0 && bytes > maxBytes) break;
    kept.push(group);
  }
  return kept;
}
