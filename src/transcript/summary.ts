/** What a call's row says of its arguments when the tool itself says nothing (V9.7), and paths as the workspace's user knows them. */

/** Characters. */
const LONGEST = 120;
const FIELDS = ['description', 'command', 'path', 'file_path', 'url', 'query', 'pattern', 'queries'];

/** One line of the arguments, the most telling first; undefined when none of them tells anything. */
export function summaryOf(args: unknown): string | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const fields = args as Readonly<Record<string, unknown>>;
  for (const name of FIELDS) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const text = Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(', ') : value;
    if (typeof text !== 'string' || text.trim() === '') continue;
    // cut before the pattern runs: an argument may be megabytes
    const line = text.slice(0, LONGEST * 4).replace(/\s+/g, ' ').trim();
    return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
  }
  return undefined;
}

/** `text` with paths below the workspace as paths within it. `root` is absolute; anything that only looks like it stays. */
export function withinRoot(text: string, root: string | undefined): string {
  if (root === undefined || root.length < 2 || !text.includes(root)) return text;
  const inner = root.replace(/[\\/]+$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(new RegExp(`(^|[\\s"'\`(\\[:=,])${inner}[\\\\/](?=[^\\s\\\\/])`, 'g'), '$1');
}
