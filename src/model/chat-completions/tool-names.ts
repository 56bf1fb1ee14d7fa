import { createHash } from 'node:crypto';
import type { ToolSchema } from '../../contract/content.ts';

const LONGEST = 64;
const ALLOWED = /^[A-Za-z0-9_-]+$/;

/**
 * The name a tool has on the wire (M1): the same when it fits (1-64 of letters, digits, `_`, `-`), else shortened and
 * cleaned with a hash of the full name at its end, so that it is the same in every request and session.
 */
export function wireName(name: string): string {
  if (name.length > 0 && name.length <= LONGEST && ALLOWED.test(name)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 10);
  return `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST - hash.length - 1)}_${hash}`;
}

/** The way back from wire names to tools, for the tools of one request. Names that are not among them stay as they are. */
export function toolNameReader(tools: readonly ToolSchema[]): (wire: string) => string {
  const names = new Map(tools.map((tool) => [wireName(tool.name), tool.name]));
  return (wire) => names.get(wire) ?? wire;
}
