import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../contract/agent.ts';
import type { CallId, ContentBlock } from '../../contract/content.ts';
import '../../registry/events.ts';
import '../../seams/spill.ts';
import { previewText } from './preview.ts';

export interface Config {
  /** UTF-8 bytes of a result that go to the model as they are; absent: all (C8.21). */
  readonly maxInlineBytes?: number;
}

export const name = 'tool-spill';
export const inject = ['tools'];

/** The text of a result that is text only. */
function allText(content: readonly ContentBlock[]): string | undefined {
  if (content.length === 0 || !content.every((block) => block.type === 'text')) return undefined;
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** Keeps big results out of the model's context: a preview goes in, the whole to disk (C8.21). */
export function apply(ctx: Context, config: Config = {}): void {
  const cap = config.maxInlineBytes;
  if (cap === undefined) return;

  async function shrink(
    content: readonly ContentBlock[], agent: Agent | undefined, source: { toolName: string; callId: CallId; label: string },
  ): Promise<ContentBlock[] | undefined> {
    const text = allText(content);
    if (text === undefined || Buffer.byteLength(text) <= cap!) return undefined;
    const store = ctx.get('spillStore');
    if (store === undefined || agent === undefined) return undefined;
    try {
      const stored = await store.saveText({ owner: { sessionId: agent.session.id }, source, suggestedName: `${source.toolName}.txt`, content: text });
      const preview = previewText(text, cap!, stored);
      return preview === undefined ? undefined : [{ type: 'text', text: preview }];
    } catch (error) {
      // better too long than failed
      ctx.logger.warn('cannot keep the result of %s (%s): %s', source.toolName, source.callId, error);
      return undefined;
    }
  }

  ctx.on('tools/post-execute', async (exec, result, next) => {
    const decision = await next();
    if (decision.kind !== 'accept' || 'value' in decision || exec.parent !== undefined || exec.name === 'read') return decision;
    const content = await shrink(decision.content ?? result.content, exec.agent, { toolName: exec.name, callId: exec.callId, label: 'result' });
    return content === undefined ? decision : { ...decision, content };
  }, { prepend: true });

  ctx.on('tools/code-dispatch-log', async (dispatch, next) => {
    const content = await next();
    return (await shrink(content, dispatch.agent, { toolName: dispatch.name, callId: dispatch.subCallId, label: 'dispatch' })) ?? content;
  }, { prepend: true });
}
