import type { ContentBlock } from '../contract/content.ts';
import type { JsonValue } from '../contract/json.ts';
import type { UserMessage } from '../contract/message.ts';
import { deepFreeze, frozenJson } from '../contract/snapshot.ts';
import type {
  ToolExecutionFailure, ToolExecutionResult, ToolExecutionSuccess, ToolFailure,
} from '../contract/tool.ts';
import type { Call } from './call.ts';
import { ToolOutputError, failureOf, feedbackMessage, thrownMessage } from './failure.ts';
import type { ToolEntry } from './layer.ts';
import { isSettled, settle } from './settled.ts';

/** `produce()` as frozen JSON, its failures told as the tool's broken output contract (P4.22). */
function projection(tool: string, what: 'output.render' | 'output.presentationMeta', produce: () => unknown): JsonValue {
  let json: JsonValue | undefined;
  try {
    json = frozenJson(produce());
  } catch (error) {
    throw new ToolOutputError(tool, [`${what} failed: ${thrownMessage(error)}`]);
  }
  if (json === undefined) throw new ToolOutputError(tool, [`${what} returned non-lossless JSON`]);
  return json;
}

/**
 * The result of a body, of a wrapper's own value or of a replaced value: snapshot, schema, rendering and card data, in
 * this order (P4.21). Throws `ToolOutputError` (P4.22).
 */
export function successOf(call: Call, entry: ToolEntry, candidate: unknown): ToolExecutionSuccess {
  const { name, output } = entry.definition;
  let value: JsonValue | undefined;
  try {
    value = frozenJson(candidate);
  } catch (error) {
    throw new ToolOutputError(name, [`value snapshot failed: ${thrownMessage(error)}`]);
  }
  if (value === undefined) throw new ToolOutputError(name, ['value is not lossless JSON']);
  const violations = entry.violations(value);
  if (violations.length > 0) throw new ToolOutputError(name, violations);
  const checked = value;
  const content = projection(name, 'output.render', () => output.render(call.args, checked));
  if (!Array.isArray(content)) throw new ToolOutputError(name, ['output.render failed: it must return an array of content blocks']);
  const result: { -readonly [K in keyof ToolExecutionSuccess]: ToolExecutionSuccess[K] } = {
    isError: false, value, content: content as unknown as ContentBlock[],
  };
  if (call.parent === undefined && output.presentationMeta !== undefined) {
    result.meta = projection(name, 'output.presentationMeta', () => output.presentationMeta?.(call.args, checked));
  }
  if (call.concludes) result.concludesTurn = true;
  return settle(result);
}

/** `error` of a failed result as it goes on record: a message always, `info` only when whole. */
function plainFailure(result: ToolExecutionFailure): ToolFailure {
  const error = result.error as Partial<ToolFailure> | undefined;
  const message = typeof error?.message === 'string' ? error.message : feedbackMessage(result.content);
  const { name, code } = error?.info ?? {};
  return typeof name === 'string' && typeof code === 'string' ? { message, info: { name, code } } : { message };
}

function frozenPart(part: unknown): JsonValue {
  const json = frozenJson(part);
  if (json === undefined) throw new TypeError('tool result must be losslessly JSON-serializable');
  return json;
}

/** The same result, detached, lossless and deep-frozen; throws when its visible part is not JSON (P4.33). */
export function settledResult(result: ToolExecutionResult): ToolExecutionResult {
  if (isSettled(result)) return result;
  const { content, meta, additionalContexts } = result;
  if (!Array.isArray(content)) throw new TypeError('tool result content must be an array of content blocks');
  const shown = {
    content: frozenPart(content) as unknown as ContentBlock[],
    ...(meta !== undefined && { meta: frozenPart(meta) }),
    ...(additionalContexts !== undefined && { additionalContexts: frozenPart(additionalContexts) as unknown as UserMessage[] }),
  };
  return result.isError
    ? settle({ isError: true, error: deepFreeze(plainFailure(result)), ...shown })
    : settle({ isError: false, value: result.value, ...shown, ...(result.concludesTurn === true && { concludesTurn: true }) });
}

/** `settledResult`, or the settled failure that says why it cannot be. */
export function settledOrFailure(result: ToolExecutionResult): ToolExecutionResult {
  try {
    return settledResult(result);
  } catch (error) {
    return settledResult(failureOf(error));
  }
}
