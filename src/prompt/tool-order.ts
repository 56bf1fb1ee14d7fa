import type { ToolSchema } from '../contract/content.ts';

/** Stands for every tool that `toolOrder` does not name (Y14.6). */
export const TOOL_ORDER_REST = '<unlisted-tools>';

/** Throws when a configured order repeats a name or does not hold the rest marker exactly once. */
export function checkToolOrder(order: readonly string[] | undefined): readonly string[] | undefined {
  if (order === undefined) return undefined;
  const seen = new Set<string>();
  for (const name of order) {
    if (seen.has(name)) throw new Error(`toolOrder lists "${name}" more than once`);
    seen.add(name);
  }
  if (!seen.has(TOOL_ORDER_REST)) {
    throw new Error(`toolOrder must contain "${TOOL_ORDER_REST}" once: the place for tools it does not name`);
  }
  return order;
}

function byName(a: ToolSchema, b: ToolSchema): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Sorts tools for the model: code units of the name, or the configured order (Y14.6). */
export function orderTools(tools: ToolSchema[], order: readonly string[] | undefined, known: ReadonlySet<string>): ToolSchema[] {
  if (tools.some((tool) => tool.name === TOOL_ORDER_REST)) {
    throw new Error(`a tool may not be named "${TOOL_ORDER_REST}": the name is reserved for toolOrder`);
  }
  const sorted = [...tools].sort(byName);
  if (order === undefined) return sorted;
  const unknown = order.filter((name) => name !== TOOL_ORDER_REST && !known.has(name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => `"${name}"`).join(', ');
    const all = [...known].sort().join(', ') || '(none)';
    throw new Error(`toolOrder lists unregistered tool${unknown.length > 1 ? 's' : ''} ${names}; known tools: ${all}`);
  }
  const listed = new Set(order);
  const rest = sorted.filter((tool) => !listed.has(tool.name));
  return order.flatMap((name) => (name === TOOL_ORDER_REST ? rest : sorted.filter((tool) => tool.name === name)));
}
