import * as vscode from 'vscode';
import type { Session } from '../../contract/agent.ts';
import type { ContentBlock } from '../../contract/content.ts';
import type { SessionEvent } from '../../contract/event.ts';
import type { FileDiff } from '../../contract/presentation.ts';
import { resultView } from '../../contract/card.ts';
import type { ToolDefinition, ToolResult } from '../../contract/tool.ts';
import type { ToolItem } from '../../protocol.ts';
import type { CallRecord } from '../native-views.ts';
import type { DiffRecord } from '../diff-texts.ts';
import { locate } from '../navigation.ts';

/** Everything the log has about one call, found when its card is clicked. */
export function callEvents(session: Session, callId: string): { call?: SessionEvent<'tool/call'>; result?: SessionEvent<'tool/result'> } {
  let result: SessionEvent<'tool/result'> | undefined;
  for (let i = session.events.length - 1; i >= 0; i--) {
    const event = session.events[i];
    if (event?.type === 'tool/result' && event.data.message.source.callId === callId) result = event;
    else if (event?.type === 'tool/call' && event.data.callId === callId) return { call: event, ...(result === undefined ? {} : { result }) };
  }
  return result === undefined ? {} : { result };
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined || text === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of a result, blocks joined by newlines. */
export function plainText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

export async function callRecord(
  session: Session, item: ToolItem, tool: ToolDefinition | undefined, readNow: (file: string) => Promise<string | undefined>,
): Promise<CallRecord> {
  const { call, result } = callEvents(session, item.id);
  const args = parsed(call?.data.arguments);
  const content = result?.data.message.content[0].content ?? [];
  return {
    item, args, result: result === undefined ? undefined : resultView(tool, args, resultOf(result)), cwd: session.cwd, text: plainText(content),
    diffs: item.view.card === 'diff' ? await diffRecords(diffsOf(result?.data.meta), args, readNow) : [],
  };
}

function resultOf({ data }: SessionEvent<'tool/result'>): ToolResult {
  const [block] = data.message.content;
  return { content: block.content, isError: block.isError === true, ...(data.meta === undefined ? {} : { meta: data.meta }) };
}

function diffsOf(meta: unknown): FileDiff[] {
  const diffs = typeof meta === 'object' && meta !== null ? (meta as { diffs?: unknown }).diffs : undefined;
  if (!Array.isArray(diffs)) return [];
  return (diffs as Partial<FileDiff>[]).filter((diff): diff is FileDiff =>
    typeof diff?.path === 'string' && typeof diff.newText === 'string' && (diff.oldText === null || typeof diff.oldText === 'string'));
}

/**
 * Whole texts before and after, so that the native diff shows a change in its place: the file as it is now with the
 * hunks taken back. A file that has moved on since shows the hunks alone.
 */
async function diffRecords(hunks: readonly FileDiff[], args: unknown, readNow: (file: string) => Promise<string | undefined>): Promise<DiffRecord[]> {
  const byFile = new Map<string, FileDiff[]>();
  for (const hunk of hunks) byFile.set(hunk.path, [...(byFile.get(hunk.path) ?? []), hunk]);
  if (byFile.size === 0) {
    const { file_path: file, content } = (args ?? {}) as { file_path?: unknown; content?: unknown };
    return typeof file === 'string' && typeof content === 'string' ? [{ path: file, before: null, after: content }] : [];
  }
  return Promise.all([...byFile].map(async ([file, list]): Promise<DiffRecord> => {
    const now = (await readNow(file))?.replace(/\r\n/g, '\n');
    const before = now === undefined ? undefined : takeBack(now, list);
    if (now !== undefined && before !== undefined) return { path: file, before, after: now };
    return { path: file, before: list.map((hunk) => hunk.oldText ?? '').join('\n⋯\n'), after: list.map((hunk) => hunk.newText).join('\n⋯\n') };
  }));
}

function takeBack(now: string, hunks: readonly FileDiff[]): string | undefined {
  let text = now;
  for (const hunk of [...hunks].reverse()) {
    const at = text.indexOf(hunk.newText);
    if (hunk.newText === '' || at < 0 || text.indexOf(hunk.newText, at + 1) >= 0) return undefined;
    text = text.slice(0, at) + (hunk.oldText ?? '') + text.slice(at + hunk.newText.length);
  }
  return text;
}

/** The text a file has now, unsaved edits included; undefined when it is gone. `cwd` is absolute. */
export function readNow(cwd: string): (file: string) => Promise<string | undefined> {
  return async (file) => {
    const uri = await locate(file, cwd);
    return uri === undefined ? undefined : (await vscode.workspace.openTextDocument(uri)).getText();
  };
}
