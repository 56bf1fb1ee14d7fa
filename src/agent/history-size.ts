import type { ContentBlock } from '../contract/content.ts';
import type { SessionEvent } from '../contract/event.ts';
import type { Message } from '../contract/message.ts';

/** Characters a token is taken for where no provider counted. */
export const CHARS_PER_TOKEN = 4;
/** Tokens a picture is taken for. */
const IMAGE_TOKENS = 1000;

export type SurfaceNode = SessionEvent<'user/message' | 'assistant/message' | 'tool/result'>;

export function messageOf(node: SurfaceNode): Message {
  return node.type === 'user/message' ? node.data : node.data.message;
}

function blockTokens(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
    case 'reasoning': return block.text.length / CHARS_PER_TOKEN;
    case 'tool-call': return (block.name.length + block.arguments.length) / CHARS_PER_TOKEN;
    case 'tool-result': return block.content.reduce((sum, part) => sum + blockTokens(part), 0);
    case 'image': return IMAGE_TOKENS;
    default: return 0;
  }
}

/** A guess at what a message costs. */
export function tokensOf(node: SurfaceNode): number {
  return 4 + messageOf(node).content.reduce((sum, block) => sum + blockTokens(block), 0);
}

/** A guess at what text costs. */
export function textTokens(text: string): number {
  return text.length / CHARS_PER_TOKEN;
}

/**
 * How many nodes at the front may be summarised so that about `keep` tokens stay behind them. The cut stands before a
 * user message or an answer, never between a call and its results (H7), and the last message stays. 0: nothing may go.
 */
export function cutPoint(nodes: readonly SurfaceNode[], keep: number): number {
  let kept = 0;
  let cut = 0;
  for (let i = nodes.length - 1; i > 0; i--) {
    kept += tokensOf(nodes[i]!);
    if (nodes[i]!.type === 'tool/result') continue;
    if (cut > 0 && kept > keep) break;
    cut = i;
  }
  return cut;
}
