import type { CallId, ToolCallBlock } from '../contract/content.ts';
import { createToolResultMessage } from '../contract/message.ts';
import type { Message } from '../contract/message.ts';

function resultIdOf(message: Message): CallId | undefined {
  const block = message.content[0];
  return message.role === 'user' && block?.type === 'tool-result' ? block.toolCallId : undefined;
}

function lostResult(call: ToolCallBlock): Message {
  const text = `Error: the result of this "${call.name}" call was lost. It may have taken effect; check before you repeat it.`;
  return createToolResultMessage(call.id, [{ type: 'text', text }], true);
}

/**
 * History a provider accepts: after each assistant message exactly one result a call, in the order of the calls (H5).
 * A missing result says so, a result without a call is left out, and whatever stood between a call and its result
 * comes after it. The log itself is not touched.
 */
export function completePairs(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (let i = 0; i < messages.length;) {
    const message = messages[i++]!;
    if (message.role !== 'assistant') {
      if (resultIdOf(message) === undefined) out.push(message);
      continue;
    }
    out.push(message);
    // Ids are looked up within this answer only: some servers number their calls from 0 in every answer.
    const results = new Map<CallId, Message>();
    const rest: Message[] = [];
    for (; i < messages.length && messages[i]!.role !== 'assistant'; i++) {
      const id = resultIdOf(messages[i]!);
      if (id === undefined) rest.push(messages[i]!);
      else results.set(id, messages[i]!);
    }
    for (const call of message.content) if (call.type === 'tool-call') out.push(results.get(call.id) ?? lostResult(call));
    out.push(...rest);
  }
  return out;
}
