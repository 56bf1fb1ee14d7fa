import type { ContentBlock } from '../../contract/content.ts';

/** The frame that file results stand in (B10.4, B10.7). */
export function envelope(path: string, type: 'file' | 'image', content: string): string {
  return `<path>${path}</path>\n<type>${type}</type>\n<content>\n${content}\n</content>`;
}

/** The content of a framed result; undefined when `content` is not one text block in the frame. */
export function openEnvelope(content: readonly ContentBlock[]): string | undefined {
  const [block] = content;
  if (content.length !== 1 || block?.type !== 'text') return undefined;
  const match = /^<path>[^\n]*<\/path>\n<type>file<\/type>\n<content>\n([\s\S]*)\n<\/content>$/.exec(block.text);
  return match?.[1];
}

export function textBlock(text: string): ContentBlock[] {
  return [{ type: 'text', text }];
}
