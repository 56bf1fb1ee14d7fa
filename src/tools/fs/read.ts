import type { Context } from '@deepseek-ai/cordis';
import { defineTool } from '../../contract/define-tool.ts';
import { HarnessError } from '../../contract/error.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { ReadFileLine, ReadResultView, ToolCallView } from '../../contract/presentation.ts';
import type { ToolDefinition, ToolResult } from '../../contract/tool.ts';
import type { FileSystemService, FileTarget } from '../../seams/fs.ts';
import { TextDecodeError } from '../../text/codec.ts';
import { bomOf, codecFor } from '../../text/encoding.ts';
import type { Look } from '../preflight.ts';
import { envelope, openEnvelope, textBlock } from './envelope.ts';
import { languageOf } from './language.ts';
import { assertPath, assertReadable, directoryOf, notFound, observe } from './target.ts';
import { windowOfBytes, windowOfText } from './window.ts';
import type { TextWindow, WindowRequest } from './window.ts';

/** All positive integers (B10.1). */
export interface ReadLimits {
  /** Lines, default and maximum. */
  readonly readLimit: number;
  /** UTF-16 units of one line. */
  readonly readMaxLineLength: number;
  /** UTF-8 bytes of one result. */
  readonly readMaxBytes: number;
  /** Bytes from which a file is streamed instead of taken into memory. */
  readonly readStreamMinSize: number;
}

const DESCRIPTION = [
  'Read a text file. The result shows numbered lines (`N: text`), the part of the file they are, and how to go on.',
  'Use offset and limit for a part of a big file; the number of lines in all is always told.',
].join('\n');

export interface ReadArgs { file_path: string; offset?: number; limit?: number }
interface ReadValue { path: string; offset: number; lines: { number: number; text: string }[]; totalLines: number }

/** The tool `read` (B10.1-B10.5). */
export function readTool(ctx: Context, limits: ReadLimits, cwd: string): ToolDefinition {
  return defineTool({
    name: 'read',
    description: DESCRIPTION,
    parameters: {
      file_path: { type: 'string', description: 'The file, absolute or relative to the session directory.', required: true },
      offset: { type: 'number', description: 'First line to show, from 1 (the default).' },
      limit: { type: 'number', description: `Lines to show, ${limits.readLimit} at most (the default).` },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          path: { type: 'string', required: true },
          offset: { type: 'integer', required: true },
          lines: {
            type: 'array', required: true,
            items: {
              type: 'object', additionalProperties: false,
              properties: { number: { type: 'integer', required: true }, text: { type: 'string', required: true } },
            },
          },
          totalLines: { type: 'integer', required: true },
        },
      },
      render: (args, value) => textBlock(envelope(value.path, 'file', renderWindow(value, args.limit ?? limits.readLimit))),
      presentationMeta(_args, value): JsonValue {
        const lang = languageOf(value.path);
        return { path: value.path, offset: value.offset, lines: value.lines, totalLines: value.totalLines, ...(lang !== undefined && { lang }) };
      },
    },
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      const request = checkRequest(args, limits);
      const target = await ctx.fs.resolve(args.file_path, directoryOf(exec, cwd));
      const found = await readWindow(ctx.fs, target, args.file_path, request, limits.readStreamMinSize, exec.signal);
      if (found === null) throw notFound(ctx, target, args.file_path, exec.agent);
      const { window, version } = found;
      if (request.offset > Math.max(window.totalLines, 1)) {
        throw new HarnessError(
          `offset ${request.offset} is out of range for "${args.file_path}" (${window.totalLines} lines)`, 'FS_NOT_FOUND',
        );
      }
      observe(ctx, target, { kind: 'present', version }, exec.agent);
      return { path: args.file_path, offset: request.offset, lines: window.lines, totalLines: window.totalLines };
    },
    presentCall,
    presentResult,
  });
}

/** What a read can't succeed with, told before anybody is asked whether it may happen. */
export function lookBeforeRead(ctx: Context, limits: ReadLimits, cwd: string): Look<ReadArgs> {
  return async (args, exec) => {
    checkRequest(args, limits);
    await assertReadable(ctx, args.file_path, exec, cwd, limits.readStreamMinSize);
  };
}

function checkRequest(args: ReadArgs, limits: ReadLimits): WindowRequest {
  assertPath(args.file_path, 'file_path');
  for (const key of ['offset', 'limit'] as const) {
    const value = args[key];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) throw new Error(`${key} must be a positive integer`);
  }
  if (args.limit !== undefined && args.limit > limits.readLimit) throw new Error(`limit must be less than or equal to ${limits.readLimit}`);
  return {
    offset: args.offset ?? 1, limit: args.limit ?? limits.readLimit, maxLineLength: limits.readMaxLineLength, maxBytes: limits.readMaxBytes,
  };
}

/** null: absent. Big files are streamed; open documents and UTF-16 come as whole texts. */
async function readWindow(
  fs: FileSystemService, target: FileTarget, shownPath: string, request: WindowRequest, streamMinSize: number, signal: AbortSignal,
): Promise<{ window: TextWindow; version: string } | null> {
  const stat = await fs.stat(target);
  if (stat === null) return null;
  if (stat.kind !== 'file') throw new HarnessError(`cannot read "${shownPath}": not a regular file`, 'FS_NOT_REGULAR_FILE');
  if (stat.size >= streamMinSize && await fs.openDocument(target) === undefined && !(await isWide(fs, target))) {
    const codec = await codecFor(fs.encodingFor(target));
    try {
      return { window: await windowOfBytes(fs.readBytes(target, {}, signal), codec, request), version: stat.version };
    } catch (error) {
      if (error instanceof TextDecodeError) throw new HarnessError(`cannot read "${shownPath}": ${error.message}`, error.code, { cause: error });
      throw error;
    }
  }
  const file = await fs.readText(target, shownPath, signal);
  return { window: windowOfText(file.text, request), version: file.version };
}

/** UTF-16, where a byte 0x0A is not always a line feed. */
async function isWide(fs: FileSystemService, target: FileTarget): Promise<boolean> {
  if (fs.encodingFor(target).startsWith('utf16')) return true;
  for await (const chunk of fs.readBytes(target, { end: 4 })) return bomOf(chunk)?.encoding.startsWith('utf16') ?? false;
  return false;
}

/** Numbered lines and the footer that says what they are of the whole (B10.4, I3). */
function renderWindow({ offset, lines, totalLines }: ReadValue, limit: number): string {
  const last = offset + lines.length - 1;
  const shown = `Showing lines ${offset}-${last}`;
  const next = `Use offset=${last + 1} to continue.`;
  const footer = last >= totalLines
    ? `(End of file - total ${totalLines} lines)`
    : lines.length >= limit ? `(${shown} of ${totalLines}. ${next})` : `(Output capped. ${shown}. ${next})`;
  return lines.length === 0 ? footer : `${lines.map((line) => `${line.number}: ${line.text}`).join('\n')}\n\n${footer}`;
}

function presentCall({ file_path: path, offset, limit }: ReadArgs): ToolCallView {
  const from = offset ?? 1;
  const part = limit !== undefined ? ` (${from} - ${from + limit - 1})` : offset !== undefined ? ` (from line ${from})` : '';
  return { card: 'generic', title: `Read ${path}${part}`, kind: 'read', locations: [{ path, line: from }] };
}

function presentResult(_args: ReadArgs, result: ToolResult): ReadResultView | undefined {
  if (result.isError) return undefined;
  const content = openEnvelope(result.content);
  const view = viewOfMeta(result.meta);
  if (content === undefined || view === undefined) return undefined;
  return { card: 'read', ...view, content: textBlock(content) };
}

function viewOfMeta(meta: JsonValue | undefined): Omit<ReadResultView, 'card' | 'content'> | undefined {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return undefined;
  const { path, offset, lines, totalLines, lang } = meta;
  if (typeof path !== 'string' || !isCount(offset) || !isCount(totalLines) || !Array.isArray(lines)) return undefined;
  if (lang !== undefined && typeof lang !== 'string') return undefined;
  const shown: ReadFileLine[] = [];
  let last = 0;
  for (const line of lines) {
    if (typeof line !== 'object' || line === null || Array.isArray(line)) return undefined;
    const { number, text } = line;
    if (!isCount(number) || number <= last || typeof text !== 'string') return undefined;
    last = number;
    shown.push({ number, text });
  }
  return { path, offset, lines: shown, totalLines, ...(lang !== undefined && { lang }) };
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
