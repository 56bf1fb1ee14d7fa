/**
 * Splits a path, or a title that ends in one, so that the middle gives way: `head` shrinks, `tail` stays. Of a web
 * address the start says where it leads: it is not split.
 */
export function splitMiddle(text: string): { head: string; tail: string } {
  if (text.includes('://')) return { head: text, tail: '' };
  // a backslash parts folders only in a Windows path; elsewhere it escapes something
  const at = Math.max(text.lastIndexOf('/'), /(?:^|\s)(?:[A-Za-z]:|\\)\\/.test(text) ? text.lastIndexOf('\\') : -1);
  const tail = text.slice(at);
  return at <= 0 || tail.length > 48 || tail.length < 2 ? { head: text, tail: '' } : { head: text.slice(0, at), tail };
}

/**
 * Where a title names a file: what comes before, the file as the title has it, what comes after. Titles name what lies
 * in the workspace by its path within, so the longest end of `path` counts that is there. Undefined: the title does not.
 */
export function splitAtPath(title: string, path: string): { before: string; text: string; after: string } | undefined {
  for (let from = 0; from < path.length; from++) {
    if (from > 0 && path[from - 1] !== '/' && path[from - 1] !== '\\') continue;
    const text = path.slice(from);
    const at = title.indexOf(text);
    if (text.length > 1 && at > 0 && /[\s"']/.test(title[at - 1] ?? '') && /^(?:$|[\s:"',)])/.test(title.slice(at + text.length))) return { before: title.slice(0, at).trimEnd(), text, after: title.slice(at + text.length).trim() };
  }
  return undefined;
}

/** The last part of a path; the whole of it when there is no other. */
export function baseName(path: string): string {
  const clean = path.replace(/[\\/]+$/, '');
  const at = Math.max(clean.lastIndexOf('/'), clean.lastIndexOf('\\'));
  return clean.slice(at + 1) || path;
}

/** What comes before {@link baseName}, without the slash. */
export function dirName(path: string): string {
  const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return at <= 0 ? '' : path.slice(0, at);
}

/** `src/a.ts:12` */
export function withLine(path: string, line: number | undefined): string {
  return line === undefined ? path : `${path}:${line}`;
}

/** A place that a code span names: a path with a folder and an extension, or a file name with a line. */
export function parseLocation(text: string): { path: string; line?: number } | undefined {
  const match = /^((?:[A-Za-z]:)?[^\s:*?"<>|]+?\.[A-Za-z0-9]{1,8})(?::(\d{1,7})(?:[:-]\d+)?)?$/.exec(text);
  const path = match?.[1];
  if (path === undefined || /^[a-z]+:\/\//i.test(text)) return undefined;
  if (match?.[2] !== undefined) return { path, line: Number(match[2]) };
  return /[\\/]/.test(path) && !path.endsWith('/') ? { path } : undefined;
}
