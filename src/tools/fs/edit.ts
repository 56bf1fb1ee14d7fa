import type { Context } from '@deepseek-ai/cordis';
import { defineTool } from '../../contract/define-tool.ts';
import { HarnessError } from '../../contract/error.ts';
import type { FileDiff } from '../../contract/presentation.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import type { TextFile, TextSplice } from '../../seams/fs.ts';
import { toLf } from '../../text/endings.ts';
import { replaceText } from '../../text/replace.ts';
import { diffsOfMeta, hunkDiffs, spliceDiffs } from './diff-meta.ts';
import { refuseEscalation } from '../escalation.ts';
import { textBlock } from './envelope.ts';
import { checkNotebook, isNotebook, replaceInNotebook } from './notebook.ts';
import { assertPath, assertText, directoryOf, mutationContext } from './target.ts';
import { afterOf } from './write.ts';

const DESCRIPTION = [
  'Replace a piece of text in a file, exactly as written: every space counts, line breaks are `\\n` whatever the file uses.',
  'The file must have been read before. `old_string` must occur exactly once, so give enough of its surroundings; with `replace_all` every occurrence is replaced.',
  'In a notebook (.ipynb) `old_string` may also be text of one cell.',
].join('\n');

/** The tool `edit` (B10.10, B10.11). */
export function editTool(ctx: Context, cwd: string): ToolDefinition {
  // by arguments: an edit knows what it changed, and megabytes need not be compared to find it again
  const known = new WeakMap<object, { after: string; diffs: FileDiff[] }>();
  return defineTool({
    name: 'edit',
    description: DESCRIPTION,
    parameters: {
      file_path: { type: 'string', description: 'The file, absolute or relative to the session directory.', required: true },
      old_string: { type: 'string', description: 'The text to replace, without line numbers.', required: true },
      new_string: { type: 'string', description: 'The text to put there; may be empty.', required: true },
      replace_all: { type: 'boolean', description: 'Replace every occurrence (default false).' },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          path: { type: 'string', required: true }, before: { type: 'string', required: true }, after: { type: 'string', required: true },
        },
      },
      render: (args, value) => textBlock(args.replace_all === true
        ? `The file ${value.path} has been updated. All occurrences were successfully replaced.`
        : `The file ${value.path} has been updated successfully.`),
      presentationMeta(args, value) {
        const own = known.get(args);
        const diffs = own?.after === value.after ? own.diffs : hunkDiffs(args.file_path, value.before, value.after);
        return { diffs: diffs.map((diff) => ({ ...diff })) };
      },
    },
    async execute(args, exec) {
      assertPath(args.file_path, 'file_path');
      if (args.old_string === '') throw new Error('old_string must be a non-empty string');
      if (args.old_string === args.new_string) throw new Error('old_string and new_string must differ');
      refuseEscalation(args);
      assertText(args.new_string, 'new_string', args.file_path);
      const target = await ctx.fs.resolve(args.file_path, directoryOf(exec, cwd));
      const outcome = await ctx.fs.edit(
        target, (before) => spliceOnce(before, args.file_path, args), mutationContext(exec, args.file_path),
      );
      const { before, splices } = outcome;
      if (before !== null && outcome.after !== null && splices !== undefined && isLf(before, splices)) {
        known.set(args, { after: outcome.after, diffs: spliceDiffs(args.file_path, before, splices) });
        return { path: args.file_path, before, after: outcome.after };
      }
      return { path: args.file_path, before: toLf(before ?? ''), after: afterOf(outcome, args.file_path) };
    },
    presentCall: ({ file_path: path, old_string: oldText, new_string: newText }) => ({
      card: 'diff', title: `Edit ${path}`, diffs: [{ path, oldText: oldText || null, newText }], locations: [{ path }],
    }),
    presentResult(_args, result) {
      const diffs = result.isError ? undefined : diffsOfMeta(result.meta);
      return diffs === undefined || diffs.length === 0 ? undefined : { card: 'diff', diffs };
    },
  });
}

function isLf(before: string, splices: readonly TextSplice[]): boolean {
  return !before.includes('\r') && !splices.some((splice) => splice.text.includes('\r'));
}

/** What to replace, and by what. */
export interface LiteralEdit { old_string: string; new_string: string; replace_all?: boolean }

/** The splices of one literal edit, or the error that tells the model how to repair it (A19). */
export function spliceOnce(file: TextFile, shownPath: string, edit: LiteralEdit): readonly TextSplice[] {
  const all = edit.replace_all === true;
  let found = replaceText(file.text, edit.old_string, edit.new_string, all);
  const notebook = isNotebook(shownPath);
  if (notebook && found.count === 0) found = replaceInNotebook(file.text, shownPath, edit.old_string, edit.new_string, all);
  if (found.count === 0) throw new HarnessError(`old_string was not found in "${shownPath}"`, 'FS_EDIT_NOT_FOUND');
  if (found.count > 1 && !all) {
    const more = found.count > found.lines.length ? ', …' : '';
    throw new HarnessError(
      `old_string matched ${found.count} times in "${shownPath}"; provide a more specific old_string or set replace_all to true`
      + (found.lines.length > 0 ? ` (lines ${found.lines.join(', ')}${more})` : ''),
      'FS_AMBIGUOUS_EDIT',
    );
  }
  if (found.splices.length === 0) throw new Error('old_string and new_string must differ');
  if (notebook) checkNotebook(file.text, found.splices, shownPath);
  return found.splices;
}
