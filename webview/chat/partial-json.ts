/** One member of an object that is still being written: `open`, its text goes on. */
export interface PartialField { readonly name: string; readonly text: string; readonly open: boolean }

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '', f: '' };

/** Text of a JSON string from behind its opening quote, as far as it has come. */
function stringFrom(json: string, from: number): { text: string; end: number } {
  let text = '';
  let at = from;
  for (; at < json.length && json[at] !== '"'; at++) {
    if (json[at] !== '\\') text += json[at];
    else if (json[at + 1] === 'u') {
      const code = /^[\da-f]{4}/i.exec(json.slice(at + 2, at + 6));
      if (code !== null) text += String.fromCharCode(parseInt(code[0], 16));
      at += 5;
    } else {
      at += 1;
      text += ESCAPES[json[at] ?? ''] ?? json[at] ?? '';
    }
  }
  return { text, end: Math.min(at, json.length) };
}

/** The end of a number, list or object that begins at `from`: the comma or brace behind it. */
function valueEnd(json: string, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at++) {
    const char = json[at];
    if (char === '"') at = stringFrom(json, at + 1).end;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      if (depth === 0) return at;
      depth -= 1;
    } else if (char === ',' && depth === 0) return at;
  }
  return json.length;
}

/**
 * The members of a JSON object of which only the start has come, strings as they read. Undefined for what is no object;
 * a name that is not whole is left out.
 */
export function partialFields(json: string): PartialField[] | undefined {
  let at = json.search(/\S/);
  if (at === -1 || json[at] !== '{') return undefined;
  const fields: PartialField[] = [];
  for (at += 1; ;) {
    const start = /^[\s,]*"/.exec(json.slice(at));
    if (start === null) return fields;
    const name = stringFrom(json, at + start[0].length);
    const colon = /^"\s*:\s*/.exec(json.slice(name.end));
    if (colon === null) return fields;
    const from = name.end + colon[0].length;
    if (from >= json.length) return fields;
    if (json[from] === '"') {
      const value = stringFrom(json, from + 1);
      fields.push({ name: name.text, text: value.text, open: value.end >= json.length });
      at = value.end + 1;
    } else {
      at = valueEnd(json, from);
      fields.push({ name: name.text, text: json.slice(from, at).trim(), open: at >= json.length });
    }
    if (at >= json.length) return fields;
  }
}
