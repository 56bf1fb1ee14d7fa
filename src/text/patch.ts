import { splitLines, toLf } from './endings.ts';
import { diffLines, type Hunk } from './hunk.ts';

/**
 * A unified diff of the LF views, without file names: `@@ -1,3 +1,4 @@` and its lines, `context` lines around each
 * change. Undefined when it would be longer than `limit` characters.
 */
export function unifiedPatch(before: string, after: string, options: { readonly context: number; readonly limit: number }): string | undefined {
  const [old, now] = [toLf(before), toLf(after)];
  const hunks = diffLines(old, now);
  const lines = splitLines(old);
  const parts: string[] = [];
  let length = 0;
  for (const group of groupsOf(hunks, 2 * options.context)) {
    const part = patchOf(lines, group, options.context);
    length += part.length;
    if (length > options.limit) return undefined;
    parts.push(part);
  }
  return parts.join('\n');
}

/** Neighbours with at most `gap` unchanged lines between them are told together. */
function groupsOf(hunks: readonly Hunk[], gap: number): Hunk[][] {
  const groups: Hunk[][] = [];
  for (const hunk of hunks) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && hunk.oldStart - last.oldStart - last.oldLines.length <= gap) group.push(hunk);
    else groups.push([hunk]);
  }
  return groups;
}

function patchOf(lines: readonly string[], group: readonly Hunk[], context: number): string {
  const [first, last] = [group[0]!, group.at(-1)!];
  const from = Math.max(first.oldStart - 1 - context, 0);
  const to = Math.min(last.oldStart - 1 + last.oldLines.length + context, lines.length);
  const body: string[] = [];
  let grown = 0;
  let at = from;
  for (const hunk of group) {
    body.push(...signed(' ', lines.slice(at, hunk.oldStart - 1)), ...signed('-', hunk.oldLines), ...signed('+', hunk.newLines));
    at = hunk.oldStart - 1 + hunk.oldLines.length;
    grown += hunk.newLines.length - hunk.oldLines.length;
  }
  body.push(...signed(' ', lines.slice(at, to)));
  const newFrom = first.newStart - (first.oldStart - from);
  return [`@@ -${range(from, to - from)} +${range(newFrom, to - from + grown)} @@`, ...body].join('\n');
}

/** `from` is 0-based; an empty range is named by the line before it. */
function range(from: number, count: number): string {
  return `${count === 0 ? from : from + 1},${count}`;
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) => (line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file']));
}
