/** A run of code in one colour; `scope` is a highlight.js class list, or empty. */
export interface Token { readonly scope: string; readonly text: string }

const ENTITY: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" };

/** Splits highlight.js markup (nested spans and five entities, nothing else) into lines of tokens. */
export function tokenLines(markup: string): Token[][] {
  const lines: Token[][] = [[]];
  const open: string[] = [];
  for (const [piece] of markup.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (piece.startsWith('<span')) open.push(piece.slice(13, -2));
    else if (piece === '</span>') open.pop();
    else {
      const parts = piece.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITY[entity] ?? entity).split('\n');
      parts.forEach((text, at) => {
        if (at > 0) lines.push([]);
        if (text !== '') lines.at(-1)?.push({ scope: open.at(-1) ?? '', text });
      });
    }
  }
  return lines;
}
