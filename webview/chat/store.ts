import type { AssistantItem, ChatMeta, HostToView, TranscriptItem, TranscriptPatch } from '../../src/protocol.ts';
import { assertNever } from '../../src/contract/never.ts';

/** Characters of live output kept for a running card; the host and the terminal have the rest. */
export const OUTPUT_TAIL = 20_000;

/** What the chat draws. Made from the host's messages alone. */
export interface ChatView {
  /** Undefined until the first `state` came. */
  readonly meta: ChatMeta | undefined;
  readonly items: readonly TranscriptItem[];
  /** Place of each item by id. */
  readonly index: ReadonlyMap<string, number>;
  readonly earlier: number;
  /** Live output by item id, the newest {@link OUTPUT_TAIL} characters. */
  readonly outputs: ReadonlyMap<string, string>;
  readonly mentions: { readonly query: string; readonly paths: readonly string[] } | undefined;
  /** The host's last wish for the composer; `seq` tells one from the next. */
  readonly compose: { readonly seq: number; readonly text?: string; readonly focus: boolean } | undefined;
  /** Sequence number of the last message taken. */
  readonly seq: number;
  /** A message is missing: nothing more is taken until a `state` comes (F7). */
  readonly stale: boolean;
}

export const EMPTY: ChatView = {
  meta: undefined, items: [], index: new Map(), earlier: 0, outputs: new Map(), mentions: undefined, compose: undefined, seq: -1, stale: false,
};

/** The view after `messages`, in order. Pure; items that did not change stay the same objects. */
export function reduce(view: ChatView, messages: readonly HostToView[]): ChatView {
  const draft = new Draft(view);
  for (const message of messages) draft.take(message);
  return draft.finish();
}

/** One batch at work: copies a list when it is first written to, so that a frame of 10,000 deltas costs one copy (F5). */
class Draft {
  private readonly before: ChatView;
  private next: { -readonly [K in keyof ChatView]: ChatView[K] };
  private items: TranscriptItem[] | undefined;
  private index: Map<string, number> | undefined;
  private outputs: Map<string, string> | undefined;

  constructor(view: ChatView) {
    this.before = view;
    this.next = { ...view };
  }

  take(message: HostToView): void {
    const { next } = this;
    if (message.type === 'state') {
      const { meta, items, earlier } = message.state;
      const outputs = next.outputs;
      this.replaceItems([...items]);
      this.outputs = new Map([...outputs].filter(([id]) => this.index?.has(id)));
      Object.assign(next, { meta, earlier, seq: message.seq, stale: false });
      return;
    }
    if (next.stale || message.seq <= next.seq) return;
    if (message.seq !== next.seq + 1 || next.meta === undefined) {
      next.stale = true;
      return;
    }
    next.seq = message.seq;
    switch (message.type) {
      case 'patch':
        for (const op of message.ops) this.patch(op);
        return;
      case 'meta':
        next.meta = { ...next.meta, ...message.meta };
        return;
      case 'earlier':
        this.replaceItems([...message.items, ...this.readItems()]);
        next.earlier = message.earlier;
        return;
      case 'compose':
        next.compose = { seq: message.seq, focus: message.focus, ...(message.text === undefined ? {} : { text: message.text }) };
        return;
      case 'mentions':
        next.mentions = { query: message.query, paths: message.paths };
        return;
      default:
        assertNever(message, 'message');
    }
  }

  finish(): ChatView {
    const { next } = this;
    if (this.items !== undefined) next.items = this.items;
    if (this.index !== undefined) next.index = this.index;
    if (this.outputs !== undefined) next.outputs = this.outputs;
    for (const key of Object.keys(next) as (keyof ChatView)[]) if (next[key] !== this.before[key]) return next;
    return this.before;
  }

  private patch(op: TranscriptPatch): void {
    switch (op.op) {
      case 'put':
        this.put(op.item);
        return;
      case 'append': {
        const at = this.readIndex().get(op.id);
        const item = at === undefined ? undefined : this.readItems()[at];
        if (at === undefined || item?.kind !== 'assistant' || op.block > item.blocks.length) this.next.stale = true;
        else this.writeItems()[at] = append(item, op);
        return;
      }
      case 'output': {
        if (!this.readIndex().has(op.id)) return;
        this.outputs ??= new Map(this.next.outputs);
        this.outputs.set(op.id, ((this.outputs.get(op.id) ?? '') + op.text).slice(-OUTPUT_TAIL));
        return;
      }
      case 'remove':
        if (this.readIndex().has(op.id)) this.replaceItems(this.readItems().filter((item) => item.id !== op.id));
        return;
      default:
        assertNever(op, 'patch');
    }
  }

  private put(item: TranscriptItem): void {
    const at = this.readIndex().get(item.id);
    const items = this.writeItems();
    if (at !== undefined) {
      items[at] = item;
      if (item.kind === 'tool' && isSettled(item.status) && this.next.outputs.has(item.id)) this.dropOutput(item.id);
      return;
    }
    this.index ??= new Map(this.next.index);
    this.index.set(item.id, items.length);
    items.push(item);
  }

  private dropOutput(id: string): void {
    this.outputs ??= new Map(this.next.outputs);
    this.outputs.delete(id);
  }

  private readItems(): readonly TranscriptItem[] {
    return this.items ?? this.next.items;
  }
  private writeItems(): TranscriptItem[] {
    return (this.items ??= [...this.next.items]);
  }
  private readIndex(): ReadonlyMap<string, number> {
    return this.index ?? this.next.index;
  }
  private replaceItems(items: TranscriptItem[]): void {
    this.items = items;
    this.index = new Map(items.map((item, at) => [item.id, at]));
  }
}

function append(item: AssistantItem, op: Extract<TranscriptPatch, { op: 'append' }>): AssistantItem {
  const blocks = [...item.blocks];
  const block = blocks[op.block];
  blocks[op.block] = block === undefined ? { type: op.type, text: op.text } : { ...block, text: block.text + op.text };
  return { ...item, blocks };
}

/** Nothing more will happen to a call in this state. */
export function isSettled(status: Extract<TranscriptItem, { kind: 'tool' }>['status']): boolean {
  return status === 'completed' || status === 'failed' || status === 'stopped';
}
