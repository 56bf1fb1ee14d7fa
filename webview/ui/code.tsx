import { highlight } from './highlight/lazy.ts';
import type { Token } from './highlight/tokens.ts';
import { inPlainSight } from './plain-sight.ts';

/** One line of code in its colours. */
export function CodeLine({ tokens, text }: { tokens: readonly Token[] | undefined; text: string }) {
  if (tokens === undefined) return <>{inPlainSight(text)}</>;
  return <>{tokens.map((token, at) => (token.scope === '' ? inPlainSight(token.text) : <span key={at} class={token.scope}>{inPlainSight(token.text)}</span>))}</>;
}

/** A stretch of code in its colours, plain until they can be had. */
export function Code({ text, lang }: { text: string; lang: string | undefined }) {
  const lines = highlight(text, lang);
  if (lines === undefined) return <code>{inPlainSight(text)}</code>;
  return (
    <code>
      {lines.map((tokens, at) => (
        <span key={at}><CodeLine tokens={tokens} text="" />{at < lines.length - 1 ? '\n' : ''}</span>
      ))}
    </code>
  );
}
