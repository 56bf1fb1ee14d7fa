import { isAskReason } from '../contract/ask-reason.ts';
import type { CallId } from '../contract/content.ts';
import type { SessionEvent, SessionEventMap, StreamChunk, TodoItem } from '../contract/event.ts';
import type { UserMessage } from '../contract/message.ts';
import type { ToolDefinition } from '../contract/tool.ts';
import type { AssistantBlock, AssistantItem, ChatMeta, Question, TranscriptItem, TranscriptPatch } from '../protocol.ts';
import type { ReviewFile } from '../seams/review.ts';
import { titleOf, userText } from '../session/summary.ts';
import { TranscriptCall } from './call.ts';
import { ItemList } from './items.ts';
import { cut, LIMITS, plainText } from './limits.ts';
import { turnNotice } from './turn-notice.ts';
import { ENGLISH } from './words.ts';
import type { TranscriptWords } from './words.ts';

export interface TranscriptOptions {
  /** The tool as the session's agent sees it now (V9.6). */
  readonly tool: (name: string) => ToolDefinition | undefined;
  /** The review a call's change is in. */
  readonly review?: (callId: CallId) => ReviewFile | undefined;
  readonly words?: TranscriptWords;
  /** The session's folder, absolute: titles name what lies in it by its path within (V9.7). */
  readonly cwd?: () => string | undefined;
}

/** Items a view gets at first. */
const FIRST_PAGE = 200;

/** The answer that is being streamed. */
interface Stream {
  readonly id: string;
  readonly turn: number;
  readonly step: number;
  /** Stream index → block of the item. */
  readonly blocks: Map<number, number>;
  /** Calls whose arguments are streaming. */
  readonly calls: TranscriptCall[];
  /** This attempt failed: what comes next starts over. */
  stale: boolean;
}

/**
 * A session's log as the user sees it (design 3). Feed it events in order, live or stored: it answers with the patches
 * that bring a view up to date, and keeps the items for views that come later. The work is linear in what is new (F1).
 * What is live but not in the log (output of a running command, questions, reviews) is laid over the cards.
 */
export class Transcript {
  readonly #options: TranscriptOptions;
  readonly #words: TranscriptWords;
  readonly #list = new ItemList();
  /** The newest call of each id. */
  readonly #calls = new Map<CallId, TranscriptCall>();
  readonly #open = new Set<TranscriptCall>();
  readonly #queued: Record<'next-turn' | 'next-step', UserMessage[]> = { 'next-turn': [], 'next-step': [] };
  #stream: Stream | undefined;
  #ops: TranscriptPatch[] = [];
  #title: string | undefined;
  #todos: readonly TodoItem[] = [];
  #turn = 0;
  /** The user's words of this turn, until something answered them. */
  #unanswered: string | undefined;
  #compaction = '';
  #used: number | undefined;
  #window: number | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.#words = options.words ?? ENGLISH;
  }

  /** The first line the user said; '' before that. */
  get title(): string { return this.#title ?? ''; }
  /** Cleared when the next turn starts (B10.34). */
  get todos(): readonly TodoItem[] { return this.#todos; }
  /** The user's messages that no step has claimed yet. */
  get queued(): string[] {
    return [...this.#queued['next-step'], ...this.#queued['next-turn']].flatMap((message) => userText(message) ?? []);
  }
  /** Tokens of the last request, and the model's window. */
  get usage(): ChatMeta['usage'] {
    return this.#used === undefined ? undefined : { used: this.#used, ...(this.#window !== undefined && { window: this.#window }) };
  }

  items(): readonly TranscriptItem[] {
    return this.#list.all();
  }

  item(id: string): TranscriptItem | undefined {
    return this.#list.get(id);
  }

  /** The newest items for a view that comes in late, and how many came before them. */
  page(limit = FIRST_PAGE): { readonly items: readonly TranscriptItem[]; readonly earlier: number } {
    const all = this.#list.all();
    const earlier = Math.max(0, all.length - limit);
    return { items: all.slice(earlier), earlier };
  }

  /** Up to `limit` items before the last `have` ones. */
  before(have: number, limit = FIRST_PAGE): { readonly items: readonly TranscriptItem[]; readonly earlier: number } {
    const all = this.#list.all();
    const end = Math.max(0, all.length - have);
    const start = Math.max(0, end - limit);
    return { items: all.slice(start, end), earlier: start };
  }

  /** Takes the next event of the log. */
  apply(event: SessionEvent): TranscriptPatch[] {
    // Replacements shorten what the model sees; the user keeps what was said (L11.4).
    if (event.surfaceOp === undefined || event.surfaceOp === 'append') this.#event(event);
    return this.#flush();
  }

  /** Live output of a running command. */
  output(callId: CallId, text: string): TranscriptPatch[] {
    const call = this.#calls.get(callId);
    if (text !== '' && call?.output(text)) {
      // Both keep a bounded tail, each of its own.
      this.#list.apply({ op: 'put', item: call.item() });
      this.#ops.push({ op: 'output', id: call.id, text });
    }
    return this.#flush();
  }

  /** A tool asks the user; undefined: it does no more. */
  question(callId: CallId, questions: readonly Question[] | undefined): TranscriptPatch[] {
    const call = this.#calls.get(callId);
    call?.question(questions);
    return this.#shown(call);
  }

  /** The review of some calls changed. The newest call shows it. */
  review(file: ReviewFile): TranscriptPatch[] {
    const call = file.callIds.map((id) => this.#calls.get(id)).findLast((found) => found !== undefined);
    call?.review(file);
    return this.#shown(call);
  }

  #event(event: SessionEvent): void {
    switch (event.type) {
      case 'turn/start':
        this.#turn = event.data.turn;
        this.#todos = [];
        this.#unanswered = undefined;
        break;
      case 'user/message': this.#message(event.data, event.time); break;
      case 'assistant/chunk': this.#chunk(event.data); break;
      case 'assistant/message': this.#answer(event.data); break;
      case 'tool/call': {
        const call = this.#callFor(event.data.callId, event.data.name);
        call.present(event.data.arguments, this.#options.tool(call.name));
        call.run();
        this.#put(call);
        break;
      }
      case 'tool/result': this.#result(event.data); break;
      case 'step/end': this.#closeStream(event.data.step); break;
      case 'turn/end': this.#turnEnd(event.data, event.seq); break;
      case 'todo/write': this.#todos = event.data.todos; break;
      case 'approval/asked': this.#asked(event.data); break;
      case 'approval/decided':
        for (const call of this.#open) if (call.decided(event.data.id, event.data.outcome)) this.#put(call);
        break;
      case 'permission/preset': this.#notice(`preset:${event.seq}`, 'info', this.#words.preset(event.data.preset)); break;
      case 'agent/inbox/spliced': this.#spliced(event.data); break;
      case 'request/context': this.#window = event.data.contextWindow; break;
      case 'llm/retry': {
        const { failure, attempt, delayMs } = event.data;
        const text = this.#words.retrying(this.#words.failure(failure), attempt, Math.max(1, Math.round(delayMs / 1000)));
        this.#emit({
          op: 'put',
          item: {
            kind: 'notice', id: this.#retryId(), turn: this.#turn, level: 'info', text, wait: { from: event.time, until: event.time + delayMs },
            action: { title: this.#words.stop(), message: { type: 'stop' } },
          },
        });
        break;
      }
      case 'llm/retry-started':
        this.#notice(this.#retryId(), 'info', this.#words.retried(this.#words.failure(event.data.failure), event.data.attempt));
        break;
      case 'compaction/start':
        this.#compaction = `compaction:${event.seq}`;
        this.#notice(this.#compaction, 'info', this.#words.compacting());
        break;
      case 'compaction/end':
        if (event.data.outcome === 'nothing') this.#emit({ op: 'remove', id: this.#compaction });
        else if (event.data.outcome === 'done') this.#notice(this.#compaction, 'info', this.#words.compacted());
        else this.#notice(this.#compaction, 'warning', this.#words.compactionFailed(event.data.error ?? ''));
        break;
      case 'session/lost': if (!this.#list.get('lost')) this.#notice('lost', 'warning', this.#words.lost()); break;
      default: break;
    }
  }

  /** What the user said and no turn ever took stays in sight. */
  #spliced({ target, start, removedCount = 0, inserted, outcome }: SessionEventMap['agent/inbox/spliced']): void {
    const removed = this.#queued[target]?.splice(start, removedCount, ...inserted) ?? [];
    if (outcome !== 'canceled') return;
    for (const message of removed) {
      const text = userText(message);
      if (text !== undefined) this.#notice(`m:${message.id}`, 'info', this.#words.notSent(titleOf(text) ?? ''), cut(text, LIMITS.resultText));
    }
  }

  #message(message: UserMessage, time: number): void {
    const { source } = message;
    const text = plainText(message.content);
    if (source.kind === 'user') {
      this.#title ??= titleOf(text);
      this.#unanswered = text;
      this.#emit({ op: 'put', item: { kind: 'user', id: `m:${message.id}`, turn: this.#turn, text, time } });
      return;
    }
    // The runtime context is for the model; nobody wrote it to be read here. A switch of the preset is shown as it happens.
    if (source.kind !== 'plugin' || source.form === 'snapshot' || source.plugin === 'permissions') return;
    const summary = source.form === 'notice' ? source.summary : `${source.plugin}: ${titleOf(text) ?? ''}`;
    this.#notice(`m:${message.id}`, 'info', summary, cut(text, LIMITS.resultText));
  }

  #chunk({ turn, step, chunk }: SessionEventMap['assistant/chunk']): void {
    if (chunk.type === 'finish') {
      if (this.#stream) this.#stream.stale = true;
      return;
    }
    if (chunk.type !== 'text-delta' && chunk.type !== 'reasoning-delta' && chunk.type !== 'tool-call-delta') return;
    this.#removeRetry();
    const stream = this.#streamFor(turn, step);
    if (chunk.type === 'tool-call-delta') this.#argumentsDelta(stream, chunk);
    else this.#textDelta(stream, chunk);
  }

  #streamFor(turn: number, step: number): Stream {
    const current = this.#stream;
    if (current && current.step === step && !current.stale) return current;
    if (current?.stale) this.#forget(current);
    return this.#stream = { id: `a:${turn}.${step}`, turn, step, blocks: new Map(), calls: [], stale: false };
  }

  /** A failed attempt's pieces go away when the next one begins. */
  #forget(stream: Stream): void {
    if (this.#list.get(stream.id)) this.#emit({ op: 'remove', id: stream.id });
    for (const call of stream.calls) {
      this.#emit({ op: 'remove', id: call.id });
      this.#open.delete(call);
      this.#calls.delete(call.callId);
    }
    this.#stream = undefined;
  }

  #textDelta(stream: Stream, chunk: Extract<StreamChunk, { type: 'text-delta' | 'reasoning-delta' }>): void {
    if (!this.#list.get(stream.id)) {
      this.#emit({ op: 'put', item: { kind: 'assistant', id: stream.id, turn: stream.turn, blocks: [], streaming: true, interrupted: false } });
    }
    let block = stream.blocks.get(chunk.index);
    if (block === undefined) stream.blocks.set(chunk.index, block = stream.blocks.size);
    this.#emit({ op: 'append', id: stream.id, block, type: chunk.type === 'text-delta' ? 'text' : 'reasoning', text: chunk.text });
  }

  #argumentsDelta(stream: Stream, chunk: Extract<StreamChunk, { type: 'tool-call-delta' }>): void {
    let call = stream.calls.find(({ callId }) => callId === chunk.id);
    if (!call) stream.calls.push(call = this.#newCall(chunk.id, chunk.name ?? ''));
    call.stream(chunk.argumentsDelta);
    this.#put(call);
  }

  #answer({ turn, step, message, usage, interrupted }: SessionEventMap['assistant/message']): void {
    this.#removeRetry();
    const stream = this.#stream?.step === step ? this.#stream : undefined;
    const id = `a:${turn}.${step}`;
    const blocks = message.content.flatMap((block): AssistantBlock[] => (block.type === 'text' || block.type === 'reasoning' ? [{ type: block.type, text: block.text }] : []));
    if (blocks.length > 0) this.#emit({ op: 'put', item: { kind: 'assistant', id, turn, blocks, streaming: false, interrupted: interrupted === true } });
    else if (this.#list.get(id)) this.#emit({ op: 'remove', id });
    for (const block of message.content) {
      if (block.type !== 'tool-call') continue;
      const call = this.#callFor(block.id, block.name);
      call.present(block.arguments, this.#options.tool(block.name));
      this.#put(call);
    }
    if (message.content.length > 0) this.#unanswered = undefined;
    // What streamed, but is not in the answer, was cut: it never runs (D7).
    for (const call of stream?.calls ?? []) if (call.streaming) this.#stop(call);
    this.#stream = undefined;
    if (usage) this.#used = usage.inputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0) + usage.outputTokens;
  }

  #closeStream(step: number): void {
    const stream = this.#stream;
    if (!stream || stream.step !== step) return;
    const item = this.#list.get(stream.id);
    if (item?.kind === 'assistant') this.#emit({ op: 'put', item: { ...item, streaming: false, interrupted: true } satisfies AssistantItem });
    for (const call of stream.calls) if (call.streaming) this.#stop(call);
    this.#stream = undefined;
  }

  #result(data: SessionEventMap['tool/result']): void {
    const { callId } = data.message.source;
    const call = this.#calls.get(callId) ?? this.#newCall(callId, '');
    call.settle(data, this.#options.tool(call.name));
    call.review(this.#options.review?.(callId));
    this.#put(call);
    this.#open.delete(call);
  }

  #asked({ id, toolName, callId, reason, why, remember }: SessionEventMap['approval/asked']): void {
    const call = callId === undefined ? [...this.#open].findLast(({ name }) => name === toolName) : this.#calls.get(callId);
    if (!call || call.settled) return;
    const said = isAskReason(why) ? this.#words.asks(why) : reason;
    call.ask({ kind: 'approval', id, ...(said !== undefined && { reason: said }), ...(remember && { remember }) });
    this.#put(call);
  }

  #turnEnd({ turn, reason }: SessionEventMap['turn/end'], seq: number): void {
    if (this.#stream) this.#closeStream(this.#stream.step);
    this.#removeRetry();
    for (const call of this.#open) this.#stop(call);
    const notice = turnNotice(reason, this.#words, this.#unanswered);
    if (notice) this.#emit({ op: 'put', item: { kind: 'notice', id: `turn-end:${seq}`, turn, ...notice } });
  }

  #callFor(callId: CallId, name: string): TranscriptCall {
    const known = this.#calls.get(callId);
    return known && !known.settled ? known : this.#newCall(callId, name);
  }

  #newCall(callId: CallId, name: string): TranscriptCall {
    let id = callId;
    for (let n = 2; this.#list.get(id); n++) id = `${callId}#${n}`;
    const call = new TranscriptCall(id, callId, this.#turn, name, () => this.#options.cwd?.());
    this.#calls.set(callId, call);
    this.#open.add(call);
    return call;
  }

  #stop(call: TranscriptCall): void {
    call.stop();
    this.#open.delete(call);
    this.#put(call);
  }

  #shown(call: TranscriptCall | undefined): TranscriptPatch[] {
    if (call) this.#put(call);
    return this.#flush();
  }

  #put(call: TranscriptCall): void {
    this.#emit({ op: 'put', item: call.item() });
  }

  #notice(id: string, level: 'info' | 'warning' | 'error', text: string, detail?: string): void {
    this.#emit({ op: 'put', item: { kind: 'notice', id, turn: this.#turn, level, text, ...(detail !== undefined && { detail }) } });
  }

  #retryId(): string {
    return `retry:${this.#turn}`;
  }

  #removeRetry(): void {
    const id = this.#retryId();
    if (this.#list.get(id)) this.#emit({ op: 'remove', id });
  }

  #emit(patch: TranscriptPatch): void {
    this.#list.apply(patch);
    this.#ops.push(patch);
  }

  #flush(): TranscriptPatch[] {
    const ops = this.#ops;
    this.#ops = [];
    return ops;
  }
}
