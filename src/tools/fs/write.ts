import type { Context } from '@deepseek-ai/cordis';
import { defineTool } from '../../contract/define-tool.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import type { FileOutcome } from '../../seams/fs.ts';
import { toLf } from '../../text/endings.ts';
import { refuseEscalation } from '../escalation.ts';
import { diffsOfMeta, hunkDiffs } from './diff-meta.ts';
import { envelope, textBlock } from './envelope.ts';
import { checkNotebookContent, isNotebook } from './notebook.ts';
import { assertPath, assertText, directoryOf, mutationContext } from './target.ts';

/** UTF-8 bytes from which the text before is left out of the result (B10.7). */
const MAX_DIFF_BYTES = 10 * 1024 * 1024;

const DESCRIPTION = [
  'Create a text file, or replace the whole content of one. Missing directories are made.',
  'A file that exists must have been read before. Its encoding and line endings are kept. Prefer `edit` for changes to a part.',
].join('\n');

/** The tool `write` (B10.6-B10.9). */
export function writeTool(ctx: Context, cwd: string): ToolDefinition {
  return defineTool({
    name: 'write',
    description: DESCRIPTION,
    parameters: {
      file_path: { type: 'string', description: 'The file, absolute or relative to the session directory.', required: true },
      content: { type: 'string', description: 'The whole new content; may be empty.', required: true },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          path: { type: 'string', required: true },
          operation: { type: 'string', enum: ['create', 'update'], required: true },
          before: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
          after: { type: 'string', required: true },
        },
      },
      render: (_args, value) => textBlock(envelope(value.path, 'file', value.operation === 'create' ? 'Created file' : 'Updated file')),
      presentationMeta: (args, value) => ({ diffs: hunkDiffs(args.file_path, value.before, value.after).map((diff) => ({ ...diff })) }),
    },
    async execute(args, exec) {
      assertPath(args.file_path, 'file_path');
      refuseEscalation(args);
      assertText(args.content, 'content', args.file_path);
      if (isNotebook(args.file_path)) checkNotebookContent(args.content, args.file_path);
      const target = await ctx.fs.resolve(args.file_path, directoryOf(exec, cwd));
      const outcome = await ctx.fs.write(target, args.content, mutationContext(exec, args.file_path));
      const after = afterOf(outcome, args.file_path);
      const before = outcome.before === null ? null : toLf(outcome.before);
      const big = [before ?? '', after].some((text) => Buffer.byteLength(text) >= MAX_DIFF_BYTES);
      return {
        path: args.file_path, operation: outcome.operation === 'create' ? 'create' as const : 'update' as const,
        before: big ? null : before, after,
      };
    },
    presentCall: ({ file_path: path, content }) => ({
      card: 'diff', title: `Write ${path}`, diffs: [{ path, oldText: null, newText: toLf(content) }], locations: [{ path }],
    }),
    presentResult({ file_path: path, content }, result) {
      if (result.isError) return undefined;
      const diffs = diffsOfMeta(result.meta);
      return { card: 'diff', diffs: diffs !== undefined && diffs.length > 0 ? diffs : [{ path, oldText: null, newText: toLf(content) }] };
    },
  });
}

/** The text now there, LF only. A review may have kept the file from being made. */
export function afterOf(outcome: FileOutcome, path: string): string {
  if (outcome.after === null) throw new Error(`"${path}" was not written: the change was not accepted`);
  return toLf(outcome.after);
}
