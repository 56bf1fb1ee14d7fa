/** A value's place in JSON text. */
export interface JsonSpan { readonly start: number; readonly end: number }

/**
 * Places of the values whose path `accept` takes, in valid JSON `text`: for changing one value without touching another
 * byte. Paths are keys and indexes from the root.
 */
export function stringSpans(text: string, accept: (path: readonly (string | number)[]) => boolean): JsonSpan[] {
  const spans: JsonSpan[] = [];
  const path: (string | number)[] = [];
  let at = 0;
  const space = (): void => { while (at < text.length && /\s/.test(text[at] ?? '')) at++; };
  const string = (): string => {
    const start = at;
    for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++;
    at++;
    return text.slice(start, at);
  };
  const members = (close: string, member: (index: number) => void): void => {
    at++;
    space();
    for (let index = 0; at < text.length && text[at] !== close; index++) {
      member(index);
      space();
      if (text[at] === ',') at++;
      space();
    }
    at++;
  };
  const value = (): void => {
    space();
    const start = at;
    const first = text[at];
    if (first === '"') string();
    else if (first === '[') members(']', (index) => { path.push(index); value(); path.pop(); });
    else if (first === '{') {
      members('}', () => {
        const key = JSON.parse(string()) as string;
        space();
        at++;
        path.push(key);
        value();
        path.pop();
      });
    } else {
      while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at++;
    }
    if (accept(path)) spans.push({ start, end: at });
  };
  value();
  return spans;
}
