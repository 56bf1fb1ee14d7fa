import type { Context } from '@deepseek-ai/cordis';
import { defineTool } from '../../contract/define-tool.ts';
import { HarnessError } from '../../contract/error.ts';
import type { ToolCallView, ToolResultView } from '../../contract/presentation.ts';
import type { ToolDefinition, ToolExecution, ToolRunContext } from '../../contract/tool.ts';
import type { FileTarget, TextFile, TextSplice } from '../../seams/fs.ts';
import { endingAround, lineChar, modelTextToLf, splitLines, toLf, withEndings } from '../../text/endings.ts';
import { spliceOnce } from './edit.ts';
import { textBlock } from './envelope.ts';
import { checkNotebookContent, isNotebook } from './notebook.ts';
import { registerWithLook } from '../preflight.ts';
import { assertPath, assertReadable, assertText, directoryOf, mutationContext, notFound, observe } from './target.ts';
import '../../prompt/system-prompt.ts';
import '../../registry/runtime.ts';

/** UTF-16 units of one view (B10.37). */
const MAX_VIEW_LENGTH = 16_000;
const MAX_DEPTH = 2;
/** Bytes from which a file's text is not looked at before the user is asked about it. */
const MAX_LOOK_BYTES = 10 * 1024 * 1024;

const DESCRIPTION = [
  'One tool for looking at and changing text files, chosen by `command`:',
  '- `view`: a file with numbered lines (all, or `view_range` [first, last]; last -1 means to the end), or what a directory holds, two levels deep',
  '- `create`: a file with `file_text`',
  '- `str_replace`: `old_str`, which must occur exactly once, by `new_str`',
  '- `insert`: `new_str` as new lines behind line `insert_line` (0: at the top)',
].join('\n');

const COMMANDS = ['view', 'create', 'str_replace', 'insert'] as const;

interface Args {
  command: (typeof COMMANDS)[number];
  path: string; file_text?: string; insert_line?: number; new_str?: string; old_str?: string; view_range?: number[];
}

export const name = 'tool-str-replace-editor';
export const inject = ['tools', 'fs'];

export interface Config {
  /** Where relative paths start for a call without an agent; default the process's directory. */
  cwd?: string;
}

/** The tool str_replace_editor (B10.37), for models trained on it: an alternative to read, write and edit. */
export function apply(ctx: Context, config: Config = {}): void {
  const cwd = config.cwd || process.cwd();
  registerWithLook<Args>(ctx, editorTool(ctx, cwd), (args, exec) => (args.command === 'view' ? lookBeforeView(ctx, args, exec, cwd) : 'asks-later'));
}

function editorTool(ctx: Context, cwd: string): ToolDefinition {
  return defineTool({
    name: 'str_replace_editor',
    description: DESCRIPTION,
    parameters: {
      command: { type: 'string', enum: COMMANDS, description: 'What to do.', required: true },
      path: { type: 'string', description: 'File or directory, absolute or relative to the session directory.', required: true },
      file_text: { type: 'string', description: 'create: the whole content.' },
      insert_line: { type: 'integer', description: 'insert: the line behind which to insert, from 0.' },
      new_str: { type: 'string', description: 'str_replace, insert: the new text.' },
      old_str: { type: 'string', description: 'str_replace: the text to replace, exactly as it stands.' },
      view_range: { type: 'array', items: { type: 'integer' }, description: 'view: first and last line, from 1.' },
    },
    output: { schema: { type: 'string' }, render: (_args, value) => textBlock(value) },
    isConcurrencySafe: (args) => args.command === 'view',
    async execute(args, exec) {
      assertPath(args.path, 'path');
      const target = await ctx.fs.resolve(args.path, directoryOf(exec, cwd));
      switch (args.command) {
        case 'view': return view(ctx, target, args, exec);
        case 'create': {
          const text = required(args, 'file_text');
          assertText(text, 'file_text', args.path);
          if (isNotebook(args.path)) checkNotebookContent(text, args.path);
          const outcome = await ctx.fs.write(target, text, mutationContext(exec, args.path));
          return outcome.operation === 'create' ? `The file ${args.path} has been created.` : `The file ${args.path} has been replaced.`;
        }
        case 'str_replace': {
          const edit = { old_string: required(args, 'old_str'), new_string: args.new_str ?? '' };
          if (edit.old_string === '') throw new Error('old_str must be a non-empty string');
          if (edit.old_string === edit.new_string) throw new Error('old_str and new_str must differ');
          assertText(edit.new_string, 'new_str', args.path);
          await ctx.fs.edit(target, (before) => renamed(() => spliceOnce(before, args.path, edit)), mutationContext(exec, args.path));
          return `The file ${args.path} has been updated successfully.`;
        }
        case 'insert': {
          const text = required(args, 'new_str');
          assertText(text, 'new_str', args.path);
          const line = args.insert_line;
          if (line === undefined) throw new Error('insert_line is required for command insert');
          await ctx.fs.edit(target, (before) => [insertion(before, args.path, line, text)], mutationContext(exec, args.path));
          return `The file ${args.path} has been updated successfully: ${splitLines(modelTextToLf(text), '\n').length} line(s) inserted behind line ${line}.`;
        }
      }
    },
    presentCall,
    presentResult,
  });
}

function required(args: Args, field: 'file_text' | 'old_str' | 'new_str'): string {
  const value = args[field];
  if (value === undefined) throw new Error(`${field} is required for command ${args.command}`);
  return value;
}

/** The shared engine speaks of `edit`'s parameters; here they have other names. */
function renamed<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    const message = error.message.replaceAll('old_string', 'old_str').replace(' or set replace_all to true', '');
    throw new HarnessError(message, error.code, { cause: error });
  }
}

function insertion(before: TextFile, path: string, line: number, text: string): TextSplice {
  const lines = splitLines(before.text);
  if (!Number.isInteger(line) || line < 0 || line > lines.length) {
    throw new Error(`insert_line ${line} is out of range for "${path}" (0 to ${lines.length})`);
  }
  const at = lines.slice(0, line).reduce((sum, own) => sum + own.length, 0);
  const ending = endingAround(before.text, at);
  const unfinished = line > 0 && !(lines[line - 1] ?? '').endsWith(lineChar(before.text));
  const lf = modelTextToLf(text);
  // behind a last line without an ending the new lines end without one too
  const whole = unfinished ? `\n${lf.endsWith('\n') ? lf.slice(0, -1) : lf}` : lf.endsWith('\n') ? lf : `${lf}\n`;
  return { start: at, end: at, text: withEndings(whole, [], ending) };
}

async function lookBeforeView(ctx: Context, { path, view_range: range }: Args, exec: ToolExecution, cwd: string): Promise<void> {
  assertPath(path, 'path');
  const stat = await ctx.fs.stat(await ctx.fs.resolve(path, directoryOf(exec, cwd)));
  if (stat?.kind !== 'directory') return assertReadable(ctx, path, exec, cwd, MAX_LOOK_BYTES);
  if (range !== undefined) throw new Error('view_range is only for files');
}

async function view(ctx: Context, target: FileTarget, args: Args, exec: ToolRunContext): Promise<string> {
  const stat = await ctx.fs.stat(target);
  if (stat?.kind === 'directory') {
    if (args.view_range !== undefined) throw new Error('view_range is only for files');
    return clip((await listing(ctx, target, exec.signal)).join('\n') || '(empty directory)', 'view a directory below it');
  }
  if (stat === null) throw notFound(ctx, target, args.path, exec.agent);
  const file = await ctx.fs.readText(target, args.path, exec.signal);
  observe(ctx, target, { kind: 'present', version: file.version }, exec.agent);
  const lines = splitLines(toLf(file.text), '\n').map((line) => (line.endsWith('\n') ? line.slice(0, -1) : line));
  const [first, last] = rangeOf(args, lines.length);
  const numbered = lines.slice(first - 1, last).map((line, index) => `${String(first + index).padStart(6)}  ${line}`);
  return clip(numbered.join('\n') || '(empty file)', 'use view_range to see the rest');
}

function rangeOf({ view_range: range }: Args, count: number): [number, number] {
  if (range === undefined) return [1, count];
  const [first, last] = range;
  if (range.length !== 2 || first === undefined || last === undefined) throw new Error('view_range must be [first, last]');
  const end = last === -1 ? count : Math.min(last, count);
  if (first < 1 || first > Math.max(count, 1) || (last !== -1 && last < first)) {
    throw new Error(`view_range [${first}, ${last}] is out of range (1 to ${count}; last may be -1)`);
  }
  return [first, end];
}

/** Paths below a directory, directories with a slash, hidden ones left out. */
async function listing(ctx: Context, target: FileTarget, signal: AbortSignal, prefix = '', depth = 1): Promise<string[]> {
  signal.throwIfAborted();
  const found: string[] = [];
  for (const entry of await ctx.fs.readDirectory(target)) {
    if (entry.name.startsWith('.')) continue;
    const shown = prefix + entry.name;
    found.push(entry.kind === 'directory' ? `${shown}/` : shown);
    if (entry.kind === 'directory' && depth < MAX_DEPTH) {
      const inner = await ctx.fs.resolve(entry.name, target.path);
      // a directory we may not look into is still named
      found.push(...await listing(ctx, inner, signal, `${shown}/`, depth + 1).catch((error: unknown) => {
        if (signal.aborted) throw error;
        return [];
      }));
    }
  }
  return found;
}

function clip(text: string, advice: string): string {
  return text.length <= MAX_VIEW_LENGTH
    ? text
    : `${text.slice(0, MAX_VIEW_LENGTH)}\n(clipped: ${MAX_VIEW_LENGTH} of ${text.length} characters shown; ${advice})`;
}

function presentCall(args: Args): ToolCallView {
  const { path } = args;
  switch (args.command) {
    case 'view':
      return { card: 'generic', title: `View ${path}`, kind: 'read', locations: [{ path, line: args.view_range?.[0] ?? 1 }] };
    case 'create':
      return { card: 'diff', title: `Create ${path}`, diffs: [{ path, oldText: null, newText: toLf(args.file_text ?? '') }], locations: [{ path }] };
    case 'str_replace':
      return { card: 'diff', title: `Edit ${path}`, diffs: [{ path, oldText: args.old_str || null, newText: args.new_str ?? '' }], locations: [{ path }] };
    case 'insert':
      return {
        card: 'generic', title: `Insert into ${path}`, kind: 'edit', locations: [{ path, line: Math.max(args.insert_line ?? 1, 1) }],
        content: textBlock(args.new_str ?? ''),
      };
  }
}

/** The text output holds no diff, so the settled card shows what was asked for. */
function presentResult(args: Args, result: { isError: boolean }): ToolResultView | undefined {
  const call = result.isError ? undefined : presentCall(args);
  return call?.card === 'diff' ? { card: 'diff', diffs: call.diffs } : undefined;
}
