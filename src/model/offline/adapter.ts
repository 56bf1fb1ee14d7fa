import { randomUUID } from 'node:crypto';
import type { StreamChunk } from '../../contract/event.ts';
import type { GenerateOptions, LlmAdapter, LlmModelInfo, LlmProviderInfo } from '../types.ts';
import { planReply } from './plan.ts';
import { replyText } from './reply.ts';

export const OFFLINE_PROVIDER = 'offline';
export const OFFLINE_MODEL = 'matcher';

/**
 * The offline model (design 7): no language model. It matches the user's words to the registered tools by name,
 * description and schema, calls the one they fit, and reports its result; it knows no tool in particular.
 */
export class OfflineAdapter implements LlmAdapter {
  providerInfo(provider: string): LlmProviderInfo {
    return { id: provider, name: 'Offline' };
  }

  async listModels(provider: string): Promise<readonly LlmModelInfo[]> {
    return [await this.resolveModel(provider, OFFLINE_MODEL)];
  }

  async resolveModel(provider: string, model: string): Promise<LlmModelInfo> {
    return { provider, id: model, name: 'Offline', description: 'No language model: matches your words to the loaded tools' };
  }

  async *stream(options: GenerateOptions): AsyncGenerator<StreamChunk, void, undefined> {
    const tools = options.tools ?? [];
    const plan = planReply(options.messages, tools);
    const text = replyText(plan, tools);
    yield { type: 'block-start', index: 0, blockType: 'text' };
    for (const piece of text.match(/\s*\S+\s*/g) ?? []) {
      // Lets a stop in; the words need no artificial pace.
      await new Promise((resolve) => setImmediate(resolve));
      options.signal?.throwIfAborted();
      yield { type: 'text-delta', index: 0, text: piece };
    }
    yield { type: 'block-end', index: 0, block: { type: 'text', text } };
    if (plan.kind === 'call') {
      const id = `call_${randomUUID()}`;
      const args = JSON.stringify(plan.args);
      yield { type: 'block-start', index: 1, blockType: 'tool-call' };
      yield { type: 'tool-call-delta', index: 1, id, name: plan.tool.name, argumentsDelta: args };
      yield { type: 'block-end', index: 1, block: { type: 'tool-call', id, name: plan.tool.name, arguments: args } };
    }
    yield { type: 'usage', usage: { inputTokens: 0, outputTokens: 0 } };
    yield { type: 'finish', reason: { kind: plan.kind === 'call' ? 'tool-calls' : 'stop' } };
  }
}
