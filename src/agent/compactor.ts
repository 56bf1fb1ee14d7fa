import type { ContentBlock } from '../contract/content.ts';
import { createToolResultMessage, createUserMessage } from '../contract/message.ts';
import { notify } from './events.ts';
import { CHARS_PER_TOKEN, cutPoint, messageOf, textTokens, tokensOf } from './history-size.ts';
import type { SurfaceNode } from './history-size.ts';
import type { LoopHost } from './host.ts';
import type { RequestHead } from './request.ts';

/** A tool result longer than this is pruned to a head and a tail. Characters (O15.7). */
const PRUNE_OVER = 8192;
const PRUNE_HEAD = 4096;
const PRUNE_TAIL = 1024;
/** Of one argument or result, so much goes into what is to be summarised. */
const SUMMARY_PART = 2000;
const TASK = [
  'The conversation above is about to leave your context. Write the notes you will need to go on with the work as if nothing had happened.',
  'State the goal and every wish and constraint of the user in their own words, what has been done and decided and why, which files were read or',
  'changed and what matters in them, which commands were run and how they ended, what failed, and what comes next. Be exact with names, paths,',
  'numbers and error texts. Write plain Markdown, no preface.',
].join(' ');

/** Keeps the history within the model's window (O15.7): first big tool results are shortened, then the older part is summarised. */
export class Compactor {
  readonly #host: LoopHost;
  /** Log length at the last compaction: a token count from before it says nothing any more. */
  #since = 0;

  constructor(host: LoopHost) {
    this.#host = host;
    for (const event of host.session.events) if (event.type === 'compaction/end') this.#since = event.seq;
  }

  /** Compacts when the coming request would fill its share of the window. Whether the history changed. */
  async beforeRequest(head: RequestHead, signal: AbortSignal): Promise<boolean> {
    const { compactAt } = this.#host.settings;
    const window = head.contextWindow;
    if (compactAt === 0 || window === undefined) return false;
    const limit = compactAt * window;
    const tokens = this.#size(head);
    if (tokens < limit) return false;
    const pruned = this.#prune();
    if (tokens - pruned < limit) return pruned > 0;
    return await this.#summarise(head, 'threshold', tokens, window, signal) || pruned > 0;
  }

  /** The provider refused the history as too long. Whether trying again makes sense. */
  async afterOverflow(head: RequestHead, signal: AbortSignal): Promise<boolean> {
    if (this.#host.settings.compactAt === 0) return false;
    const tokens = this.#size(head);
    const pruned = this.#prune();
    return await this.#summarise(head, 'overflow', tokens, Math.min(head.contextWindow ?? tokens, tokens), signal) || pruned > 0;
  }

  /** Tokens of the coming request: the provider's last count and a guess at what came since, or a guess at all of it. */
  #size(head: RequestHead): number {
    const nodes = this.#nodes();
    for (let i = nodes.length - 1; i >= 0; i--) {
      const node = nodes[i]!;
      if (node.seq <= this.#since) break;
      if (node.type !== 'assistant/message' || !node.data.usage) continue;
      const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = node.data.usage;
      return inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens + sum(nodes.slice(i + 1));
    }
    return this.#guess(head);
  }

  #guess({ system, tools }: RequestHead): number {
    return sum(this.#nodes()) + textTokens(system) + textTokens(JSON.stringify(tools));
  }

  #nodes(): readonly SurfaceNode[] {
    return this.#host.session.surface.nodes();
  }

  /** Shortens big results, but for those the model has not answered yet. Tokens saved, by guess. */
  #prune(): number {
    const { session } = this.#host;
    const nodes = [...this.#nodes()];
    const last = nodes.findLastIndex((node) => node.type === 'assistant/message');
    let saved = 0;
    for (const node of nodes.slice(0, Math.max(0, last))) {
      if (node.type !== 'tool/result') continue;
      const { message, ...data } = node.data;
      const [block] = message.content;
      const short = shorten(block.content);
      if (!short) continue;
      session.append('compaction/prune', { seq: node.seq, removedChars: short.removed });
      session.append('tool/result', { ...data, message: createToolResultMessage(block.toolCallId, short.content, block.isError === true) }, {
        surfaceOp: { op: 'replace', start: node.seq, end: node.seq }, ...(node.sourceEventSeqs && { sourceEventSeqs: node.sourceEventSeqs }),
      });
      saved += short.removed / CHARS_PER_TOKEN;
    }
    return saved;
  }

  async #summarise(head: RequestHead, reason: 'threshold' | 'overflow', tokens: number, window: number, signal: AbortSignal): Promise<boolean> {
    const { agent, carrier, ctx, session, settings } = this.#host;
    const nodes = [...this.#nodes()];
    // Guesses are brought to the provider's own scale, so that what stays really is that share.
    const scale = Math.min(1, this.#guess(head) / Math.max(1, tokens));
    const cut = cutPoint(nodes, settings.compactKeep * window * scale);
    if (cut === 0) return false;
    session.append('compaction/start', { reason, tokens: Math.round(tokens), window: Math.round(window) });
    const answer = await this.#ask(head, nodes.slice(0, cut), signal).catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }));
    if ('error' in answer) {
      session.append('compaction/end', { outcome: 'failed', error: answer.error });
      return false;
    }
    const text = `Notes on the conversation so far, which is no longer in your context:\n\n${answer.text}`;
    session.append('user/message', createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'compaction', form: 'recall' } }), {
      surfaceOp: { op: 'replace', start: nodes[0]!.seq, end: nodes[cut - 1]!.seq },
    });
    this.#since = session.append('compaction/end', { outcome: 'done' }).seq;
    notify(ctx, carrier, 'agent/session-start', { agent, source: 'compact' });
    return true;
  }

  async #ask({ config }: RequestHead, nodes: readonly SurfaceNode[], signal: AbortSignal): Promise<{ text: string } | { error: string }> {
    const { ctx, session } = this.#host;
    // Told as a text, not as calls: the summary needs no tools, and a provider cannot take it for a conversation to go on with.
    const told = createUserMessage({ content: [{ type: 'text', text: `${nodes.map(tell).join('\n\n')}\n\n---\n\n${TASK}` }], source: { kind: 'plugin', plugin: 'compaction' } });
    const { provider, model } = config;
    let text = '';
    for await (const chunk of ctx.llm.stream({ provider, model, messages: [told], signal, sessionId: session.id, purpose: 'compaction' })) {
      if (chunk.type === 'text-delta') text += chunk.text;
      if (chunk.type === 'finish' && (chunk.reason.kind === 'error' || chunk.reason.kind === 'aborted')) return { error: chunk.reason.failure.message };
    }
    return text.trim() === '' ? { error: 'the model answered nothing' } : { text: text.trim() };
  }
}

function sum(nodes: readonly SurfaceNode[]): number {
  return nodes.reduce((tokens, node) => tokens + tokensOf(node), 0);
}

/** Head and tail of a long result; undefined when it is short enough. Blocks that are no text stay. */
function shorten(content: readonly ContentBlock[]): { content: ContentBlock[]; removed: number } | undefined {
  let removed = 0;
  const short = content.map((block): ContentBlock => {
    if (block.type !== 'text' || block.text.length <= PRUNE_OVER) return block;
    const gone = block.text.length - PRUNE_HEAD - PRUNE_TAIL;
    removed += gone;
    return { type: 'text', text: `${whole(block.text.slice(0, PRUNE_HEAD))}\n[${gone} characters were left out to save space; run the tool again to see them]\n${whole(block.text.slice(-PRUNE_TAIL))}` };
  });
  return removed > 0 ? { content: short, removed } : undefined;
}

/** Without the half of a surrogate pair that a cut may have left. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
}

function part(text: string): string {
  return text.length > SUMMARY_PART ? `${whole(text.slice(0, SUMMARY_PART))}… (${text.length} characters)` : text;
}

function tell(node: SurfaceNode): string {
  const message = messageOf(node);
  const who = message.source.kind === 'user' ? 'User' : message.role === 'assistant' ? 'You' : message.source.kind === 'tool' ? 'Result' : 'Note';
  const said = message.content.flatMap((block): string[] => {
    switch (block.type) {
      case 'text': return [message.source.kind === 'user' ? block.text : part(block.text)];
      case 'tool-call': return [`[calls ${block.name} with ${part(block.arguments)}]`];
      case 'tool-result': return [block.content.map((inner) => (inner.type === 'text' ? part(inner.text) : `[${inner.type}]`)).join('\n')];
      case 'reasoning': return [];
      default: return [`[${block.type}]`];
    }
  });
  return `${who}: ${said.join('\n')}`;
}
