import { Context } from '@deepseek-ai/cordis';
import { Agents } from '../../src/agent/agents.ts';
import type { AgentHandle, AgentsConfig, CreateAgent } from '../../src/agent/agents.ts';
import type { Agent } from '../../src/contract/agent.ts';
import type { ContentBlock } from '../../src/contract/content.ts';
import { defineTool } from '../../src/contract/define-tool.ts';
import type { SessionEvent, SessionEventType, StreamChunk } from '../../src/contract/event.ts';
import { createUserMessage } from '../../src/contract/message.ts';
import { LlmRuntime } from '../../src/model/llm.ts';
import type { GenerateOptions, LlmAdapter } from '../../src/model/types.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import { Sessions } from '../../src/session/sessions.ts';

/** One answer of the model: chunks, or a function that streams them while it looks at the request. */
export type Reply = readonly StreamChunk[] | ((options: GenerateOptions) => AsyncIterable<StreamChunk>);

export const text = (value: string): StreamChunk[] => [
  { type: 'block-start', index: 0, blockType: 'text' }, { type: 'text-delta', index: 0, text: value },
  { type: 'block-end', index: 0, block: { type: 'text', text: value } },
];
export const call = (index: number, id: string, name: string, args: unknown): StreamChunk[] => {
  const raw = typeof args === 'string' ? args : JSON.stringify(args);
  return [
    { type: 'tool-call-delta', index, id, name, argumentsDelta: raw },
    { type: 'block-end', index, block: { type: 'tool-call', id, name, arguments: raw } },
  ];
};
export const done = (kind: 'stop' | 'tool-calls' | 'max-tokens' = 'stop'): StreamChunk => ({ type: 'finish', reason: { kind } });
export const say = (value: string): StreamChunk[] => [...text(value), done()];
export const callTools = (...calls: readonly [id: string, name: string, args: unknown][]): StreamChunk[] =>
  [...calls.flatMap(([id, name, args], index) => call(index, id, name, args)), done('tool-calls')];

/** Opens and closes blocks where a test left that out: the protocol wants it (M16.1). */
async function* opened(chunks: Iterable<StreamChunk> | AsyncIterable<StreamChunk>): AsyncIterable<StreamChunk> {
  const open = new Map<number, ContentBlock>();
  const closed = new Set<number>();
  for await (const chunk of chunks) {
    if (chunk.type === 'block-start') open.set(chunk.index, { type: 'text', text: '' });
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') {
      const type = chunk.type === 'text-delta' ? 'text' : 'reasoning';
      if (!open.has(chunk.index)) yield { type: 'block-start', index: chunk.index, blockType: type };
      open.set(chunk.index, { type, text: ((open.get(chunk.index) as { text?: string } | undefined)?.text ?? '') + chunk.text });
    }
    if (chunk.type === 'tool-call-delta') {
      if (!open.has(chunk.index)) yield { type: 'block-start', index: chunk.index, blockType: 'tool-call' };
      const before = open.get(chunk.index) as { arguments?: string; name?: string } | undefined;
      open.set(chunk.index, { type: 'tool-call', id: chunk.id, name: chunk.name ?? before?.name ?? '', arguments: (before?.arguments ?? '') + chunk.argumentsDelta });
    }
    if (chunk.type === 'block-end') closed.add(chunk.index);
    if (chunk.type === 'finish' && chunk.reason.kind !== 'error' && chunk.reason.kind !== 'aborted') {
      for (const [index, block] of open) if (!closed.has(index)) yield { type: 'block-end', index, block };
    }
    yield chunk;
  }
}

/** A gate that a test opens. */
export class Gate {
  readonly opened: Promise<void>;
  open!: () => void;
  constructor() {
    this.opened = new Promise((resolve) => { this.open = resolve; });
  }
}

export class Rig {
  readonly root = new Context();
  readonly requests: GenerateOptions[] = [];
  replies: Reply[] = [];
  readonly #handles: AgentHandle[] = [];

  static async start(config: AgentsConfig & { dir?: string } = {}): Promise<Rig> {
    const rig = new Rig();
    const { root } = rig;
    const { dir, ...agents } = config;
    await root.plugin(SystemPrompt, {});
    await root.plugin(ToolRuntime, {});
    await root.plugin(LlmRuntime);
    await root.plugin(Sessions, dir === undefined ? {} : { dir });
    await root.plugin(Agents, { defaultModel: () => ({ provider: 'test', model: 'm' }), chunkIntervalMs: 0, ...agents });
    root.llm.registerAdapter(['test'], rig.#adapter());
    return rig;
  }

  async agent(options: CreateAgent = {}): Promise<Agent> {
    const handle = await this.root.agents.create({ meta: { cwd: '/w' }, ...options });
    this.#handles.push(handle);
    return handle.agent;
  }

  /** Sends, and waits for the rest that follows. */
  async ask(agent: Agent, words: string): Promise<void> {
    agent.followup(user(words));
    await agent.whenIdle();
  }

  tool(name: string, body: (args: Record<string, unknown>, exec: Parameters<ReturnType<typeof defineTool>['execute']>[1]) => Promise<string> | string, parallel = false): void {
    this.root.tools.register(defineTool({
      name, description: name, parameters: {}, output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
      isConcurrencySafe: () => parallel,
      execute: async (args, exec) => body(args as Record<string, unknown>, exec),
    }));
  }

  async stop(): Promise<void> {
    await this.root.fiber.dispose();
  }

  #adapter(): LlmAdapter {
    const { requests } = this;
    const next = () => this.replies.shift();
    return {
      providerInfo: (provider) => ({ id: provider, name: provider }),
      listModels: () => Promise.resolve([]),
      resolveModel: (provider, model) => Promise.resolve({ provider, id: model, name: model, contextWindow: 10_000 }),
      async *stream(options) {
        requests.push({ ...options, messages: [...options.messages] });
        const reply = next();
        if (reply === undefined) throw new Error('the test has no more replies');
        yield* opened(typeof reply === 'function' ? reply(options) : reply);
      },
    };
  }
}

export const user = (value: string) => createUserMessage({ content: [{ type: 'text', text: value }], source: { kind: 'user' } });

/** Types of a log, without the noise a test does not look at. */
export function types(events: readonly SessionEvent[], without: readonly SessionEventType[] = ['assistant/chunk', 'request/header', 'request/context', 'agent/inbox/spliced']): string[] {
  return events.filter(({ type }) => !without.includes(type)).map(({ type }) => type);
}
export function ofType<T extends SessionEventType>(events: readonly SessionEvent[], type: T): SessionEvent<T>[] {
  return events.filter(({ type: other }) => other === type) as SessionEvent<T>[];
}
/** The text a settled call gave the model. */
export function resultText(events: readonly SessionEvent[], callId: string): string | undefined {
  const result = ofType(events, 'tool/result').find((event) => event.data.message.source.callId === callId);
  return result?.data.message.content[0].content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
