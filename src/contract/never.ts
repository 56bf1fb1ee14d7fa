/** Ends a closed switch: compiles only when every member of the union was handled. */
export function assertNever(value: never, what = 'value'): never {
  throw new Error(`unexpected ${what}: ${String((value as { kind?: unknown; card?: unknown; type?: unknown })?.kind ?? value)}`);
}
