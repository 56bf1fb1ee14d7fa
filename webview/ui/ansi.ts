/** A run of terminal text in one style: `style` is a list of class names, or empty. */
export interface AnsiSpan { readonly style: string; readonly text: string }

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

interface Style { fg?: string; bg?: string; bold?: boolean; dim?: boolean; italic?: boolean; underline?: boolean; inverse?: boolean }

/** Terminal output as styled text: colours are kept, every other control sequence is dropped, `\r` starts its line over. */
export function ansiSpans(output: string): AnsiSpan[] {
  const spans: AnsiSpan[] = [];
  let style: Style = {};
  const text = overwrite(output);
  let at = 0;
  const put = (end: number): void => {
    if (end > at) spans.push({ style: classes(style), text: text.slice(at, end) });
  };
  // CSI …, OSC … (ended by BEL or ST), other two-character escapes, and stray controls
  for (const match of text.matchAll(/\x1b\[([0-9;:?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g)) {
    put(match.index);
    at = match.index + match[0].length;
    if (match[2] === 'm') style = sgr(style, match[1] ?? '');
  }
  put(text.length);
  return spans;
}

/** What a progress line that rewrites itself with `\r` looks like in the end. */
function overwrite(text: string): string {
  if (!text.includes('\r')) return text;
  return text.replace(/\r+\n/g, '\n').replace(/[^\n]*\r(?=[^\n])/g, '');
}

function sgr(before: Style, parameters: string): Style {
  const style = { ...before };
  const codes = parameters === '' ? [0] : parameters.split(/[;:]/).map(Number);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) for (const key of Object.keys(style) as (keyof Style)[]) delete style[key];
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 22) {
      delete style.bold;
      delete style.dim;
    } else if (code === 23) delete style.italic;
    else if (code === 24) delete style.underline;
    else if (code === 27) delete style.inverse;
    else if (code >= 30 && code <= 37) style.fg = NAMES[code - 30] ?? '';
    else if (code >= 90 && code <= 97) style.fg = `bright-${NAMES[code - 90]}`;
    else if (code === 39) delete style.fg;
    else if (code >= 40 && code <= 47) style.bg = NAMES[code - 40] ?? '';
    else if (code >= 100 && code <= 107) style.bg = `bright-${NAMES[code - 100]}`;
    else if (code === 49) delete style.bg;
    else if (code === 38 || code === 48) {
      const colour = codes[i + 1] === 5 ? palette(codes[i + 2] ?? 0) : undefined;
      if (colour !== undefined) style[code === 38 ? 'fg' : 'bg'] = colour;
      i += codes[i + 1] === 5 ? 2 : codes[i + 1] === 2 ? 4 : 0;
    }
  }
  return style;
}

/** The sixteen colours that themes have names for; the others keep the text's own colour. */
function palette(code: number): string | undefined {
  if (code < 8) return NAMES[code];
  return code < 16 ? `bright-${NAMES[code - 8]}` : undefined;
}

function classes(style: Style): string {
  const out: string[] = [];
  if (style.fg !== undefined) out.push(`ansi-${style.fg}`);
  if (style.bg !== undefined) out.push(`ansi-bg-${style.bg}`);
  for (const key of ['bold', 'dim', 'italic', 'underline', 'inverse'] as const) if (style[key]) out.push(`ansi-${key}`);
  return out.join(' ');
}
