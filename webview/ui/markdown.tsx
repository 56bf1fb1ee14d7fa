import { useLayoutEffect, useRef } from 'preact/hooks';
import * as l10n from '@vscode/l10n';
import { memo } from './memo.ts';
import { MarkdownStream } from './markdown-blocks.ts';
import type { MarkdownBlock } from './markdown-blocks.ts';
import { readReferences, renderBlock } from './markdown-html.ts';
import type { MarkdownEnv } from './markdown-html.ts';
import { Code } from './code.tsx';
import { CopyButton } from './copy-button.tsx';
import { ScrollBox } from './scroll-box.tsx';

export interface MarkdownActions {
  openLink(url: string): void;
  openLocation(path: string, line?: number): void;
  copy(text: string): void;
}

/** Markdown that may still grow: settled blocks are parsed once and left alone, only the tail is drawn again (F3). */
export const Markdown = memo(function Markdown({ text, growing, actions }: { text: string; growing: boolean; actions: MarkdownActions }) {
  const stream = useRef(new MarkdownStream());
  const env = useRef<MarkdownEnv>({});
  const referred = useRef(false);
  if (!stream.current.feed(text)) {
    stream.current = new MarkdownStream();
    env.current = {};
    stream.current.feed(text);
  }
  if (!growing && !referred.current) {
    // a definition at the end of a text serves links before it
    const had = Object.keys(env.current.references ?? {}).length;
    const fresh: MarkdownEnv = {};
    readReferences(text, fresh);
    if (Object.keys(fresh.references ?? {}).length > had) env.current = fresh;
    referred.current = true;
  }
  const settled = growing ? stream.current.settled : stream.current.finish();
  const tail = growing ? stream.current.tail() : undefined;
  const last: MarkdownBlock | undefined =
    tail === undefined ? undefined : tail.kind === 'fence' ? { ...tail, closed: false } : { kind: 'text', text: tail.parsed };
  const count = settled.length + (last === undefined ? 0 : 1);
  return (
    <div class="markdown" onClick={(event) => follow(event, actions)}>
      {Array.from({ length: Math.ceil(count / GROUP) }, (_, at) => (
        <Group key={at} settled={settled} from={at * GROUP} to={Math.min(settled.length, (at + 1) * GROUP)} last={count <= (at + 1) * GROUP ? last : undefined} env={env.current} actions={actions} />
      ))}
      {tail?.kind === 'text' && tail.rest !== '' && <span class="markdown-rest">{tail.rest}</span>}
    </div>
  );
});

/** Blocks that are compared together: a full group of settled blocks costs nothing when the text grows. */
const GROUP = 32;

/** A stretch of settled blocks, and the tail when it falls in here: as it settles it keeps its place and its nodes. */
const Group = memo(function Group({ settled, from, to, last, env, actions }: {
  settled: readonly MarkdownBlock[]; from: number; to: number; last: MarkdownBlock | undefined; env: MarkdownEnv; actions: MarkdownActions;
}) {
  return (
    <>
      {settled.slice(from, to).map((block, at) => <Block key={at} block={block} growing={false} env={env} actions={actions} />)}
      {last !== undefined && <Block key={to - from} block={last} growing env={env} actions={actions} />}
    </>
  );
});

const Block = memo(function Block({ block, growing, env, actions }: { block: MarkdownBlock; growing: boolean; env: MarkdownEnv; actions: MarkdownActions }) {
  return block.kind === 'fence' ? <Fence lang={block.lang} text={block.text} growing={growing} actions={actions} /> : <Rendered text={block.text} env={env} />;
});

/** Up to here a block of code that still grows gets its colours at each new line, characters. */
const COLOUR_WHILE_GROWING = 6000;

function Fence({ lang, text, growing, actions }: { lang: string; text: string; growing: boolean; actions: MarkdownActions }) {
  const cut = !growing ? text.length : text.length > COLOUR_WHILE_GROWING ? 0 : text.lastIndexOf('\n') + 1;
  return (
    <div class="code-block">
      <div class="code-block-bar">
        <span class="code-block-lang">{lang}</span>
        <CopyButton text={() => text} copy={actions.copy} />
      </div>
      <ScrollBox as="pre" label={l10n.t('Code')} still={growing}><Code text={text.slice(0, cut)} lang={lang} />{cut < text.length && <code>{text.slice(cut)}</code>}</ScrollBox>
    </div>
  );
}

const Rendered = memo(function Rendered({ text, env }: { text: string; env: MarkdownEnv }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    const draw = (): void => node.replaceChildren(renderBlock(text, env));
    if (!holdsSelection(node)) {
      draw();
      return undefined;
    }
    // the user is selecting here: new text waits until the selection is given up
    const wait = (): void => {
      if (holdsSelection(node)) return;
      document.removeEventListener('selectionchange', wait);
      draw();
    };
    document.addEventListener('selectionchange', wait);
    return () => document.removeEventListener('selectionchange', wait);
  }, [text, env]);
  return <div class="markdown-block" ref={box} />;
});

function holdsSelection(node: Node): boolean {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.rangeCount > 0 && selection.getRangeAt(0).intersectsNode(node);
}

function follow(event: MouseEvent, actions: MarkdownActions): void {
  const link = (event.target as Element | null)?.closest('a');
  if (link === null || link === undefined) return;
  event.preventDefault();
  const path = link.dataset['path'];
  if (path !== undefined) {
    actions.openLocation(path, link.dataset['line'] ? Number(link.dataset['line']) : undefined);
    return;
  }
  const href = link.getAttribute('href') ?? '';
  if (/^[a-z][a-z0-9+.-]+:/i.test(href)) {
    actions.openLink(href);
    return;
  }
  const [file = '', fragment = ''] = href.split('#');
  const line = /^L?(\d+)/.exec(fragment)?.[1];
  if (file !== '') actions.openLocation(safeDecode(file), line === undefined ? undefined : Number(line));
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
