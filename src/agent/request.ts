import type { SessionEventMap } from '../contract/event.ts';
import type { ToolSchema } from '../contract/content.ts';
import { HarnessError } from '../contract/error.ts';
import { createUserMessage } from '../contract/message.ts';
import type { UserMessage } from '../contract/message.ts';
import { CONTEXT_SNAPSHOT_NONE, joinContextSections, renderContextSections, renderPrompt } from '../prompt/render.ts';
import type { LlmCallConfig } from './events.ts';
import type { LoopHost } from './host.ts';

/** Names the runtime-context snapshots among a session's messages. */
const SNAPSHOT_PLUGIN = 'system-prompt';

/** The head of a model request: what stands before the history. */
export interface RequestHead {
  readonly config: LlmCallConfig;
  readonly system: string;
  readonly tools: readonly ToolSchema[];
  /** Tokens; undefined when the provider does not tell. */
  readonly contextWindow: number | undefined;
  /** The runtime context changed: to be logged before the step's own messages (Y14.5). */
  readonly snapshot: UserMessage | undefined;
}

interface Place { readonly turn: number; readonly step: number; readonly signal: AbortSignal }

function isSnapshot(message: UserMessage): boolean {
  return message.source.kind === 'plugin' && message.source.plugin === SNAPSHOT_PLUGIN && message.source.form === 'snapshot';
}

function textOf(message: UserMessage): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The snapshot the model has last been given and still sees. */
function lastSnapshot(host: LoopHost): string | undefined {
  const nodes = host.session.surface.nodes();
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]!;
    if (node.type === 'user/message' && isSnapshot(node.data)) return textOf(node.data);
  }
  return undefined;
}

function snapshotFor(host: LoopHost, sections: readonly { name: string; text: string }[]): UserMessage | undefined {
  const last = lastSnapshot(host);
  const text = joinContextSections(sections) || (last === undefined ? '' : CONTEXT_SNAPSHOT_NONE);
  if (text === (last ?? '')) return undefined;
  return createUserMessage({
    content: [{ type: 'text', text }],
    source: { kind: 'plugin', plugin: SNAPSHOT_PLUGIN, form: 'snapshot', sections: sections.map(({ name, text: part }) => ({ name, text: part })) },
  });
}

async function configFor(host: LoopHost, place: Place): Promise<LlmCallConfig> {
  const { agent, ctx, carrier } = host;
  const wanted = { ...host.settings.defaultModel(), ...agent.options };
  const next = async (): Promise<LlmCallConfig> => {
    const { provider, model, maxTokens, reasoningEffort } = wanted;
    if (provider === undefined || model === undefined) throw new HarnessError('no model is selected: choose one in the model picker', 'NO_MODEL');
    return { provider, model, ...(maxTokens !== undefined && { maxTokens }), ...(reasoningEffort !== undefined && { reasoningEffort }) };
  };
  const { provider, model, maxTokens, reasoningEffort } = await ctx.waterfall(carrier, 'agent/request', { agent, ...place }, next);
  return { provider, model, ...(maxTokens !== undefined && { maxTokens }), ...(reasoningEffort !== undefined && { reasoningEffort }) };
}

/** Assembles prompt, tools and destination of a step's request. Logs nothing. */
export async function assembleHead(host: LoopHost, place: Place): Promise<RequestHead> {
  const { agent, ctx } = host;
  const { signal } = place;
  const assembly = await ctx.systemPrompt.assemble({ scope: agent, agent, signal });
  const config = await configFor(host, place);
  const info = await ctx.llm.resolveModel(config.provider, config.model, signal).catch(() => undefined);
  return {
    config, system: renderPrompt(assembly), tools: assembly.tools, contextWindow: info?.contextWindow,
    snapshot: snapshotFor(host, renderContextSections(assembly)),
  };
}

type Header = SessionEventMap['request/header']['header'];

/** Keeps the last `request/header` and `request/context` of a session, and logs a new one when it differs. */
export class HeaderLog {
  readonly #host: LoopHost;
  readonly #resumed: boolean;
  #header: string | undefined;
  #context: string | undefined;
  #first = true;

  constructor(host: LoopHost) {
    this.#host = host;
    for (const event of host.session.events) {
      if (event.type === 'request/header') this.#header = JSON.stringify(event.data.header);
      if (event.type === 'request/context') this.#context = JSON.stringify(event.data);
    }
    this.#resumed = this.#header !== undefined;
  }

  log({ config, system, tools, contextWindow }: RequestHead): void {
    const { session } = this.#host;
    const header: Header = {
      config: { ...config }, ...(system !== '' && { system }),
      ...(tools.length > 0 && { tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })) }),
    };
    const text = JSON.stringify(header);
    if (text !== this.#header) {
      const reason = this.#header === undefined ? 'initial' as const : this.#first && this.#resumed ? 'resume' as const : 'change' as const;
      session.append('request/header', { header, reason });
      this.#header = text;
    }
    this.#first = false;
    const context = { provider: config.provider, model: config.model, ...(contextWindow !== undefined && { contextWindow }) };
    const contextText = JSON.stringify(context);
    if (contextText !== this.#context) session.append('request/context', context);
    this.#context = contextText;
  }
}
