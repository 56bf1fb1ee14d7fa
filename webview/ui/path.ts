/** Splits a path, or a title that ends in one, so that the middle gives way: `head` shrinks, `tail` stays. */
export function splitMiddle(text: string): { head: string; tail: string } {
  // a backslash parts folders only in a Windows path; elsewhere it escapes something
  const at = Math.max(text.lastIndexOf('/'), /(?:^|\s)(?:[A-Za-z]:|\\)\\/.test(text) ? text.lastIndexOf('\\') : -1);
  const tail = text.slice(at);
  return at <= 0 || tail.length > 48 || tail.length < 2 ? { head: text, tail: '' } : { head: text.slice(0, at), tail };
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
