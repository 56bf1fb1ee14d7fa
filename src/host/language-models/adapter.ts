import * as vscode from 'vscode';
import type { StreamChunk } from '../../contract/event.ts';
import { wireMessages, wireTools } from '../../model/chat-completions/request.ts';
import { toolNameReader } from '../../model/chat-completions/tool-names.ts';
import { LlmError, type GenerateOptions, type LlmAdapter, type LlmModelInfo, type LlmProviderInfo } from '../../model/types.ts';
import { errorText, log } from '../log.ts';
import { languageModelMessages } from './messages.ts';

/** The provider whose models are those that other extensions bring to VS Code. */
export const LANGUAGE_MODEL_PROVIDER = 'vscode';

/**
 * The language models that VS Code already has (`vscode.lm`), such as those of a signed-in Copilot. A model's id is
 * `vendor/id`. VS Code asks the user, once, whether this extension may use them; no key of ours is involved.
 */
export class LanguageModelAdapter implements LlmAdapter {
  providerInfo(provider: string): LlmProviderInfo {
    return { id: provider, name: vscode.l10n.t('Language models of VS Code') };
  }

  async listModels(provider: string): Promise<readonly LlmModelInfo[]> {
    return (await vscode.lm.selectChatModels()).map((model) => info(provider, model));
  }

  /** A model whose extension is not there (yet) keeps its name: a request to it tells what is missing. */
  async resolveModel(provider: string, id: string): Promise<LlmModelInfo> {
    const model = await find(id);
    return model === undefined ? { provider, id, name: id } : info(provider, model);
  }

  async *stream(options: GenerateOptions): AsyncGenerator<StreamChunk, void, undefined> {
    const model = await find(options.model);
    if (model === undefined) throw new LlmError(`VS Code has no language model "${options.model}" now: sign in to the extension that brings it, or select another model`, 'UNKNOWN_MODEL');
    const system = options.system ?? '';
    const history = await wireMessages(options.messages, undefined);
    if (system !== '') history.unshift({ role: 'system', content: system });
    const tools = wireTools(options.tools ?? [], (message) => log().warn(message)).map(({ function: { name, description, parameters } }) => ({ name, description, inputSchema: parameters }));
    const cancellation = new vscode.CancellationTokenSource();
    const cancel = (): void => cancellation.cancel();
    options.signal?.addEventListener('abort', cancel, { once: true });
    if (options.signal?.aborted) cancel();
    try {
      const response = await model.sendRequest(languageModelMessages(history), {
        justification: vscode.l10n.t('The chat of DSH Host sends your messages and the results of its tools to the model you selected.'), tools,
      }, cancellation.token);
      yield* chunks(response.stream, options, model.name);
    } catch (error) {
      options.signal?.throwIfAborted();
      throw error instanceof LlmError ? error : failure(error, model.name);
    } finally {
      options.signal?.removeEventListener('abort', cancel);
      cancellation.dispose();
    }
  }
}

async function find(id: string): Promise<vscode.LanguageModelChat | undefined> {
  const slash = id.indexOf('/');
  const [model] = await vscode.lm.selectChatModels({ vendor: id.slice(0, slash), id: id.slice(slash + 1) });
  return model;
}

function info(provider: string, model: vscode.LanguageModelChat): LlmModelInfo {
  return { provider, id: `${model.vendor}/${model.id}`, name: model.name, description: model.vendor, contextWindow: model.maxInputTokens };
}

/** Text as it comes; a call comes whole. Parts of a kind we don't know are passed over: newer hosts have more of them. */
async function* chunks(parts: AsyncIterable<unknown>, options: GenerateOptions, name: string): AsyncGenerator<StreamChunk, void, undefined> {
  const readName = toolNameReader(options.tools ?? []);
  let index = -1;
  let text: string | undefined;
  let calls = 0;
  const endText = function* (): Generator<StreamChunk> {
    if (text !== undefined) yield { type: 'block-end', index, block: { type: 'text', text } };
    text = undefined;
  };
  for await (const part of parts) {
    options.signal?.throwIfAborted();
    if (part instanceof vscode.LanguageModelTextPart) {
      if (part.value === '') continue;
      if (text === undefined) {
        text = '';
        yield { type: 'block-start', index: ++index, blockType: 'text' };
      }
      text += part.value;
      yield { type: 'text-delta', index, text: part.value };
    } else if (part instanceof vscode.LanguageModelToolCallPart) {
      yield* endText();
      calls++;
      const call = { id: part.callId, name: readName(part.name), arguments: JSON.stringify(part.input) };
      yield { type: 'block-start', index: ++index, blockType: 'tool-call' };
      yield { type: 'tool-call-delta', index, id: call.id, name: call.name, argumentsDelta: call.arguments };
      yield { type: 'block-end', index, block: { type: 'tool-call', ...call } };
    }
  }
  yield* endText();
  options.signal?.throwIfAborted();
  if (index < 0) throw new LlmError(`${name} sent an empty answer`, 'EMPTY_RESPONSE');
  yield { type: 'finish', reason: { kind: calls > 0 ? 'tool-calls' : 'stop' } };
}

/** What `vscode.lm` throws, in the codes of M16.7. */
function failure(error: unknown, name: string): LlmError {
  const said = errorText(error);
  const code = error instanceof vscode.LanguageModelError ? error.code : '';
  if (code === vscode.LanguageModelError.NoPermissions().code) {
    return new LlmError(`${name} may not be used by DSH Host: allow it when VS Code asks, or by "Manage Language Model Access" (${said})`, 'AUTH', { cause: error });
  }
  if (code === vscode.LanguageModelError.Blocked().code) return new LlmError(`${name} refused the request: ${said}`, 'QUOTA', { cause: error });
  if (code === vscode.LanguageModelError.NotFound().code) return new LlmError(`${name} is not there any more: ${said}`, 'UNKNOWN_MODEL', { cause: error });
  return new LlmError(`${name}: ${said}`, /context|token limit|too long/i.test(said) ? 'CONTEXT_WINDOW_EXCEEDED' : 'SERVER', { cause: error });
}
