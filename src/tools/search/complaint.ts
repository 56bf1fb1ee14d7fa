const BAD_PATTERN = /^rg: (?:regex parse error|error parsing (?:glob|pattern)|the literal .* is not allowed in a regex|(?:compiled )?regex (?:could not be compiled|exceeds size limit)|error building [A-Z]+)/m;

/** Characters of a long pattern that are shown around the place of the error. */
const SHOWN_AROUND = 60;

/**
 * What ripgrep has against a pattern, as the one who wrote it should read it: without the group ripgrep puts around it, without
 * advice on options that a tool does not have. undefined: `stderr` is about something else (B10.27, I7).
 */
export function patternComplaint(stderr: string, pattern: string): string | undefined {
  if (!BAD_PATTERN.test(stderr)) return undefined;
  const advice = stderr.search(/^Consider enabling /m);
  const text = (advice < 0 ? stderr : stderr.slice(0, advice)).replace(/^rg: /gm, '').trim();
  if (text.startsWith('the literal "\\n"')) return `${text}: a pattern matches within one line`;
  const [head, wrapped, carets, ...reason] = text.split('\n');
  if (wrapped !== `    (?:${pattern})` || carets === undefined || !/^ *\^+$/.test(carets)) return text;
  return [head, ...marked(pattern, carets), ...reason].join('\n');
}

/** The pattern, or the part of it around the error, with the carets below what they mean. */
function marked(pattern: string, carets: string): string[] {
  // carets count characters; the four blanks and `(?:` are ripgrep's
  const characters = [...pattern];
  const start = carets.indexOf('^') - 7;
  const end = Math.min(carets.length - 7, characters.length);
  const from = Math.max(0, start - SHOWN_AROUND);
  const to = Math.min(characters.length, Math.max(end, start) + SHOWN_AROUND);
  const lead = from > 0 ? '…' : '';
  const shown = `    ${lead}${characters.slice(from, to).join('')}${to < characters.length ? '…' : ''}`;
  // ripgrep's own group is what is not closed, or is closed too early: nothing to point at
  if (start < 0 || start >= characters.length) return [shown];
  return [shown, `    ${' '.repeat(lead.length + start - from)}${'^'.repeat(end - start)}`];
}
