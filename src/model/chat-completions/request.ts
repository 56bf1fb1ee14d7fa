import type { ContentBlock, ToolCallBlock, ToolResultBlock, ToolSchema } from '../../contract/content.ts';
import type { Message } from '../../contract/message.ts';
import type { GenerateOptions, LlmModelInfo } from '../types.ts';
import type { Endpoint } from './endpoint.ts';
import { wireName } from './tool-names.ts';

export type WirePart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };
export interface WireToolCall { id: string; type: 'function'; function: { name: string; arguments: string } }
export type WireMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | WirePart[] }
  | { role: 'assistant'; content: string; reasoning_content?: string; tool_calls?: WireToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface WireRequest {
  model: string;
  messages: WireMessage[];
  stream: true;
  stream_options: { include_usage: true };
  tools?: { type: 'function'; function: { name: string; description: string; parameters: Record<string, unknown> } }[];
  max_tokens?: number;
  temperature?: number;
  stop?: readonly string[];
  thinking?: { type: 'enabled' | 'disabled' };
  reasoning_effort?: string;
}

export interface RequestOptions {
  /** A picture's data URL, or undefined when it is gone or the model can't see: a line of text is sent instead. */
  readonly readImage?: (attachmentId: string) => Promise<string | undefined>;
  /** Told when a tool can't be offered (M3). */
  readonly warn?: (message: string) => void;
}

/** The request body (M16.3-M16.5). */
export async function buildRequest(
  endpoint: Endpoint, model: LlmModelInfo, options: GenerateOptions, hooks: RequestOptions = {},
): Promise<WireRequest> {
  const maxTokens = options.maxTokens ?? model.defaultMaxTokens;
  const seesImages = model.inputModalities?.includes('image') ?? false;
  const messages = await wireMessages(options.messages, seesImages ? hooks.readImage : undefined);
  const system = options.system;
  if (system !== undefined && system !== '') messages.unshift({ role: 'system', content: system });
  const tools = wireTools(options.tools ?? [], hooks.warn);
  return {
    model: options.model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 ? { tools } : {}),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.stop === undefined || options.stop.length === 0 ? {} : { stop: options.stop }),
    ...thinking(endpoint, options),
  };
}

function thinking(endpoint: Endpoint, options: GenerateOptions): Pick<WireRequest, 'thinking' | 'reasoning_effort'> {
  const effort = options.reasoningEffort;
  if (endpoint.dialect === 'generic') return effort === undefined || effort === 'off' ? {} : { reasoning_effort: effort };
  if (effort === 'off' || options.purpose === 'session-title') return { thinking: { type: 'disabled' } };
  return { thinking: { type: 'enabled' }, reasoning_effort: effort ?? 'high' };
}

/** Tools that no server would take are left out and told, so that one bad tool does not break every request (M3). */
export function wireTools(tools: readonly ToolSchema[], warn: RequestOptions['warn']): NonNullable<WireRequest['tools']> {
  return tools.flatMap((tool) => {
    const wrong = toolDefect(tool);
    if (wrong !== undefined) {
      warn?.(`the tool "${tool.name}" is not offered to the model: ${wrong}`);
      return [];
    }
    const { description, parameters } = tool;
    return [{ type: 'function' as const, function: { name: wireName(tool.name), description, parameters } }];
  });
}

function toolDefect(tool: ToolSchema): string | undefined {
  if (tool.name === '') return 'its name is empty';
  const parameters: unknown = tool.parameters;
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return 'its parameters are not a JSON Schema object';
  if ((parameters as { type?: unknown }).type !== 'object') return 'its parameters must be of type "object"';
  try {
    JSON.stringify(parameters);
  } catch (error) {
    return `its parameters can't be written as JSON (${error instanceof Error ? error.message : String(error)})`;
  }
  return undefined;
}

/**
 * History as the wire wants it: every assistant turn that called tools is followed at once by one `tool` message a
 * call, whatever else stands between them in the log (H5). A call without a result gets one that says so.
 */
export async function wireMessages(history: readonly Message[], readImage: RequestOptions['readImage']): Promise<WireMessage[]> {
  const results = new Map<string, ToolResultBlock>();
  const called = new Set<string>();
  for (const message of history) {
    for (const block of message.content) {
      if (block.type === 'tool-result') results.set(block.toolCallId, block);
      if (block.type === 'tool-call') called.add(block.id);
    }
  }
  const out: WireMessage[] = [];
  for (const message of history) {
    if (message.role === 'assistant') {
      out.push(...assistantMessages(message, results));
      continue;
    }
    const content = message.content.filter((block) => block.type !== 'tool-result' || !called.has(block.toolCallId));
    if (content.length === 0) continue;
    if (message.role === 'system') out.push({ role: 'system', content: textOf(content) });
    else out.push({ role: 'user', content: await userContent(content, readImage) });
  }
  return out;
}

function assistantMessages(message: Message, results: ReadonlyMap<string, ToolResultBlock>): WireMessage[] {
  const text = joined(message.content, 'text');
  const reasoning = joined(message.content, 'reasoning');
  const calls = message.content.filter((block): block is ToolCallBlock => block.type === 'tool-call');
  if (text === '' && reasoning === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : {
        tool_calls: calls.map((call) => ({
          id: call.id, type: 'function' as const, function: { name: wireName(call.name), arguments: call.arguments },
        })),
      }),
    },
    ...calls.map((call): WireMessage => {
      const result = results.get(call.id);
      const content = result ? textOf(result.content) || '(no output)' : 'Error: no result of this call was recorded';
      return { role: 'tool', tool_call_id: call.id, content };
    }),
  ];
}

function joined(content: readonly ContentBlock[], type: 'text' | 'reasoning'): string {
  return content.map((block) => (block.type === type ? block.text : '')).join('');
}

/** All that can be said in text; pictures and unknown blocks by a line that names them. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => {
    switch (block.type) {
      case 'text':
      case 'reasoning':
        return block.text;
      case 'image':
        return `[picture ${block.attachment.name ?? block.attachment.attachmentId}: not shown to this model]`;
      case 'tool-call':
        return `[call of ${block.name}]`;
      case 'tool-result':
        return `[result of an earlier tool call]\n${textOf(block.content)}`;
      default:
        // plugins may add block types (D5.3)
        return `[${String((block as { type?: unknown }).type)} content]`;
    }
  }).join('\n');
}

async function userContent(content: readonly ContentBlock[], readImage: RequestOptions['readImage']): Promise<string | WirePart[]> {
  if (!readImage || !content.some((block) => block.type === 'image')) return textOf(content);
  const parts: WirePart[] = [];
  for (const block of content) {
    const url = block.type === 'image' ? await readImage(block.attachment.attachmentId) : undefined;
    parts.push(url === undefined ? { type: 'text', text: textOf([block]) } : { type: 'image_url', image_url: { url } });
  }
  return parts;
}
