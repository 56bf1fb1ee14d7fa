/** What the model's raw arguments mean (O15.2): nothing is `{}`; text that is no JSON is passed on as it is. */
export function parseArguments(raw: string): unknown {
  if (raw.trim() === '') return {};
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}
