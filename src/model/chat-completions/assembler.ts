import { randomUUID } from 'node:crypto';
import type { ToolSchema } from '../../contract/content.ts';
import type { FinishReason, StreamChunk, TokenUsage } from '../../contract/event.ts';
import { LlmError } from '../types.ts';
import { errorDetail, httpErrorCode } from './errors.ts';
import { NOT_RUN, parseTextCalls, TextCallFilter } from './text-calls.ts';
import { toolNameReader } from './tool-names.ts';

interface TextSlot { readonly index: number; text: string }
interface CallSlot { readonly index: number; readonly id: string; name: string; arguments: string }

type Json = Record<string, unknown>;

/**
 * Turns the JSON frames of one answer into chunks (M16.6). Deltas leave at once; block-ends, usage and finish are held
 * until `end`, so that a stream that breaks off never looks complete.
 */
export class Assembler {
  private readonly readName: (wire: string) => string;
  private readonly filter = new TextCallFilter();
  private readonly calls: CallSlot[] = [];
  /** The slot each wire index writes to; a new id under an old index opens another (H11). */
  private readonly slots = new Map<number, CallSlot>();
  private reasoning: TextSlot | undefined;
  private text: TextSlot | undefined;
  private blocks = 0;
  private finish: string | undefined;
  private usage: TokenUsage | undefined;
  private readonly tools: readonly ToolSchema[];

  constructor(tools: readonly ToolSchema[]) {
    this.tools = tools;
    this.readName = toolNameReader(tools);
  }

  /** True once the server gave a finish reason. */
  get finished(): boolean {
    return this.finish !== undefined;
  }

  /** One frame's chunks. Throws MALFORMED_RESPONSE, or the failure that an `error` frame reports. */
  push(data: string): StreamChunk[] {
    const frame = parseFrame(data);
    if (frame.error !== undefined && frame.error !== null) throw errorFrame(frame.error);
    if (isJson(frame.usage)) this.usage = readUsage(frame.usage);
    const choices = frame.choices;
    if (choices === undefined || choices === null) return [];
    if (!Array.isArray(choices)) throw malformed('"choices" is not a list');
    const choice: unknown = choices[0];
    if (!isJson(choice)) return [];
    // Some servers put usage on the choice, and whole messages where a delta belongs.
    if (isJson(choice.usage)) this.usage = readUsage(choice.usage);
    const delta = isJson(choice.delta) ? choice.delta : isJson(choice.message) ? choice.message : {};
    const chunks = this.delta(delta);
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.finish = choice.finish_reason;
    return chunks;
  }

  /** The rest of a stream that ended properly. Throws EMPTY_RESPONSE when there was nothing in it. */
  end(): StreamChunk[] {
    const out: StreamChunk[] = [];
    this.closeText(out);
    for (const call of this.calls) {
      if (call.name === '') throw malformed('a tool call has no name');
    }
    const reason = this.reason();
    if (this.blocks === 0 && (reason.kind === 'stop' || reason.kind === 'tool-calls')) {
      throw new LlmError('the model answered with nothing', 'EMPTY_RESPONSE');
    }
    if (this.reasoning) {
      out.push({ type: 'block-end', index: this.reasoning.index, block: { type: 'reasoning', text: this.reasoning.text } });
    }
    if (this.text) out.push({ type: 'block-end', index: this.text.index, block: { type: 'text', text: this.text.text } });
    for (const { index, id, name, arguments: args } of this.calls) {
      out.push({ type: 'block-end', index, block: { type: 'tool-call', id, name: this.readName(name), arguments: args } });
    }
    if (this.usage) out.push({ type: 'usage', usage: this.usage });
    out.push({ type: 'finish', reason });
    return out;
  }

  private delta(delta: Json): StreamChunk[] {
    const out: StreamChunk[] = [];
    const reasoning = [delta.reasoning_content, delta.reasoning].find((value) => typeof value === 'string' && value !== '');
    if (typeof reasoning === 'string') {
      if (!this.reasoning) {
        this.reasoning = { index: this.blocks++, text: '' };
        out.push({ type: 'block-start', index: this.reasoning.index, blockType: 'reasoning' });
      }
      this.reasoning.text += reasoning;
      out.push({ type: 'reasoning-delta', index: this.reasoning.index, text: reasoning });
    }
    const content = contentText(delta.content);
    if (content !== '') this.addText(out, this.filter.feed(content));
    if (delta.tool_calls === undefined || delta.tool_calls === null) return out;
    if (!Array.isArray(delta.tool_calls)) throw malformed('"tool_calls" is not a list');
    for (const entry of delta.tool_calls as unknown[]) {
      if (!isJson(entry)) throw malformed('a tool call is not an object');
      this.callDelta(out, entry);
    }
    return out;
  }

  private addText(out: StreamChunk[], text: string): void {
    if (text === '') return;
    if (!this.text) {
      this.text = { index: this.blocks++, text: '' };
      out.push({ type: 'block-start', index: this.text.index, blockType: 'text' });
    }
    this.text.text += text;
    out.push({ type: 'text-delta', index: this.text.index, text });
  }

  private callDelta(out: StreamChunk[], entry: Json): void {
    const id = typeof entry.id === 'string' ? entry.id : '';
    const fn = isJson(entry.function) ? entry.function : {};
    const name = typeof fn.name === 'string' ? fn.name : '';
    const args = typeof fn.arguments === 'string' ? fn.arguments : isJson(fn.arguments) ? JSON.stringify(fn.arguments) : '';
    let slot = typeof entry.index === 'number' ? this.slots.get(entry.index) : this.calls.find((call) => call.id === id) ?? (id === '' ? this.calls.at(-1) : undefined);
    const another = slot !== undefined && id !== '' && id !== slot.id && name !== '';
    if (!slot || another) {
      slot = { index: this.blocks++, id: id === '' ? `call_${randomUUID()}` : id, name, arguments: '' };
      this.calls.push(slot);
      this.slots.set(typeof entry.index === 'number' ? entry.index : this.calls.length - 1, slot);
      out.push({ type: 'block-start', index: slot.index, blockType: 'tool-call' });
      this.emitCall(out, slot, args, name);
      return;
    }
    const late = slot.name === '' && name !== '' ? name : '';
    if (late !== '') slot.name = late;
    if (late !== '' || args !== '') this.emitCall(out, slot, args, late);
  }

  private emitCall(out: StreamChunk[], slot: CallSlot, args: string, name: string): void {
    slot.arguments += args;
    const { index, id } = slot;
    out.push({ type: 'tool-call-delta', index, id, ...(name === '' ? {} : { name: this.readName(name) }), argumentsDelta: args });
  }

  /** Decides about a tool call written as text (H3), or lets out what was held back. */
  private closeText(out: StreamChunk[]): void {
    const { captured } = this.filter;
    if (captured === undefined) {
      this.addText(out, this.filter.rest());
      return;
    }
    if (this.calls.length > 0) {
      this.addText(out, captured);
      return;
    }
    const complete = this.finish !== 'length';
    const found = complete ? parseTextCalls(captured, this.tools) : undefined;
    if (!found) {
      this.addText(out, `${captured}\n\n${NOT_RUN}`);
      return;
    }
    for (const call of found) {
      const slot: CallSlot = { index: this.blocks++, id: `call_${randomUUID()}`, name: call.name, arguments: '' };
      this.calls.push(slot);
      out.push({ type: 'block-start', index: slot.index, blockType: 'tool-call' });
      this.emitCall(out, slot, call.arguments, call.name);
    }
  }

  private reason(): FinishReason {
    switch (this.finish) {
      case 'length':
        return { kind: 'max-tokens' };
      // Some servers say "stop" after a tool call, and none at all before [DONE].
      case undefined:
      case 'stop':
      case 'eos':
      case 'tool_calls':
      case 'function_call':
        return this.calls.length > 0 ? { kind: 'tool-calls' } : { kind: 'stop' };
      default:
        return { kind: 'error', failure: { message: `the model stopped: ${this.finish}`, code: this.finish.toUpperCase() } };
    }
  }
}

function parseFrame(data: string): Json {
  let frame: unknown;
  try {
    frame = JSON.parse(data);
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : String(error));
  }
  if (!isJson(frame)) throw malformed('a frame is not an object');
  return frame;
}

function errorFrame(error: unknown): LlmError {
  const detail = errorDetail(isJson(error) ? error : { message: String(error) });
  const status = Number((isJson(error) ? error.code ?? error.status : undefined) ?? Number.NaN);
  const code = Number.isInteger(status) && status >= 400 ? httpErrorCode(status, detail) : httpErrorCode(500, detail);
  return new LlmError(`the model server failed in mid-answer: ${detail.message}`, code);
}

function malformed(what: string): LlmError {
  return new LlmError(`the model server sent something that is not chat-completions: ${what}`, 'MALFORMED_RESPONSE');
}

/** `content` is a string, null, or (some servers) a list of text parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as unknown[]).map((part) => (isJson(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

function readUsage(usage: Json): TokenUsage {
  const prompt = count(usage.prompt_tokens);
  const details = isJson(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cached = count(usage.prompt_cache_hit_tokens) || count(details.cached_tokens);
  const reasoning = isJson(usage.completion_tokens_details) ? count(usage.completion_tokens_details.reasoning_tokens) : 0;
  return {
    inputTokens: Math.max(0, prompt - cached),
    outputTokens: count(usage.completion_tokens),
    ...(cached > 0 ? { cacheReadTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
