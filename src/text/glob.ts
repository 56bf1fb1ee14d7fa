/** A glob in two: where it begins to look, and what it looks for there. */
export interface GlobParts {
  /** The leading segments without wildcards, as a path: escapes resolved, `/` between them; empty when there are none. */
  readonly fixed: string;
  /** The glob below `fixed`; without a wildcard in the whole pattern its last segment. */
  readonly rest: string;
}

/**
 * Splits a glob at its first segment with a wildcard: `../lib/*.ts` begins in `../lib`. A tool and the policy that asks before it
 * must agree on that place, so both ask here. `windows`: a backslash separates instead of escaping.
 */
export function splitGlob(pattern: string, windows = process.platform === 'win32'): GlobParts {
  const segments = (windows ? pattern.replaceAll('\\', '/') : pattern).split('/');
  let at = 0;
  while (at < segments.length - 1 && isFixed(segments[at] ?? '')) at++;
  const fixed = segments.slice(0, at).map((segment) => segment.replace(/\\(.)/gsu, '$1')).join('/');
  return { fixed: fixed === '' && at > 0 ? '/' : fixed, rest: segments.slice(at).join('/') };
}

/** Whether a glob's `..` or leading `/` (or drive) sends it to a place of its own: `fixed`, not the folder it is given with. */
export function leadsElsewhere({ fixed }: GlobParts): boolean {
  // the root alone is no place to search: there a leading slash only anchors the pattern, as in ignore files
  return fixed !== '/' && (fixed.startsWith('/') || /^[A-Za-z]:/.test(fixed) || fixed.split('/').includes('..'));
}

function isFixed(segment: string): boolean {
  // an escape at the end would escape the slash
  return !/[*?[{\\]/.test(segment.replace(/\\./gsu, ''));
}
