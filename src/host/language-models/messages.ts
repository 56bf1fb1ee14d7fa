import * as vscode from 'vscode';
import { assertNever } from '../../contract/never.ts';
import type { WireMessage } from '../../model/chat-completions/request.ts';

/**
 * A history as `vscode.lm` takes it: there is no system role, so those texts open the conversation as the user's, and
 * the results of one turn's calls are one message.
 */
export function languageModelMessages(history: readonly WireMessage[]): vscode.LanguageModelChatMessage[] {
  const { User, Assistant } = vscode.LanguageModelChatMessage;
  const out: vscode.LanguageModelChatMessage[] = [];
  let results: vscode.LanguageModelToolResultPart[] = [];
  for (const message of history) {
    if (message.role !== 'tool') results = [];
    switch (message.role) {
      case 'system':
        out.push(User(message.content));
        break;
      case 'user':
        out.push(User(typeof message.content === 'string' ? message.content : message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')));
        break;
      case 'assistant':
        out.push(Assistant([
          ...(message.content === '' ? [] : [new vscode.LanguageModelTextPart(message.content)]),
          ...(message.tool_calls ?? []).map((call) => new vscode.LanguageModelToolCallPart(call.id, call.function.name, inputOf(call.function.arguments))),
        ]));
        break;
      case 'tool':
        if (results.length > 0) out.pop();
        results.push(new vscode.LanguageModelToolResultPart(message.tool_call_id, [new vscode.LanguageModelTextPart(message.content)]));
        out.push(User(results));
        break;
      default: assertNever(message);
    }
  }
  return out;
}

/** The arguments of an earlier call; what the model wrote and was not an object stays readable for it. */
function inputOf(text: string): object {
  try {
    const input: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  } catch {
    // told by the call's result
  }
  return { malformed: text };
}
