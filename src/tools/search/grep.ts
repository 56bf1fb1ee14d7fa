import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { defineTool } from '../../contract/define-tool.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import type { RipgrepLocator } from '../../seams/search.ts';
import { isKeyFile, meansKeyFiles } from '../../text/key-files.ts';
import { listKeyFiles } from './left-out.ts';
import { MatchReader } from './match-reader.ts';
import { SearchError, assertPattern, runRipgrep } from './ripgrep.ts';
import { SHOWN_MATCHES, capGroups, groupMatches, renderGrep, shownPath } from './text.ts';
import type { GrepMatch } from './text.ts';
import { searchView } from './view.ts';

/** A comma outside braces would be two globs in one (B10.24). */
function hasTopLevelComma(glob: string): boolean {
  let depth = 0;
  for (const character of glob) {
    if (character === '{') depth++;
    else if (character === '}') depth--;
    else if (character === ',' && depth <= 0) return true;
  }
  return false;
}

function check({ pattern, include }: { pattern: string; include?: string }): void {
  if (pattern === '') throw new Error('pattern must be a non-empty string');
  assertPattern('grep', 'pattern', pattern);
  if (include === undefined) return;
  assertPattern('grep', 'include', include);
  if (include.trim() === '') throw new Error('include must be a non-empty glob');
  if (include.startsWith('!')) throw new Error('include must be one positive glob: exclusions (!…) are not supported');
  if (hasTopLevelComma(include)) throw new Error('include must be one glob: write alternatives as {a,b}');
}

/** Output that grows with the text that matched, not with the number of hits. */
const PLAIN = ['--null', '--with-filename', '--line-number', '--no-heading', '--color=never'];

async function folderAt(given: string, cwd: string): Promise<boolean> {
  const found = await stat(path.resolve(cwd, given)).catch((cause: unknown) => {
    throw new SearchError(`grep search failed: "${given}" is not there`, 'SEARCH_FAILED', { cause });
  });
  return found.isDirectory();
}

/** Names of files left out that are told at most. */
const MAX_LEFT_OUT = 1_000;

/**
 * Whether a search leaves out files that hold keys: unless one is asked for, which is for the user to decide (L1). A folder whose files
 * all are such is asked for with its name.
 */
async function leavesOut(where: string | undefined, single: boolean, include: string | undefined, cwd: string): Promise<boolean> {
  if (single || (include !== undefined && meansKeyFiles(include))) return false;
  if (where === undefined) return true;
  const absolute = path.resolve(cwd, where);
  return !isKeyFile(absolute) && !isKeyFile(await realpath(absolute).catch(() => absolute));
}

export interface GrepOptions { readonly ripgrep: RipgrepLocator; readonly metaMaxBytes: number }

/** B10.24, B10.25, B10.28. */
export function grepTool({ ripgrep, metaMaxBytes }: GrepOptions): ToolDefinition {
  return defineTool({
    name: 'grep',
    description: [
      'Search the contents of files with a regular expression (ripgrep syntax) and get the matching lines with their line numbers.',
      'Files that ignore files such as .gitignore exclude, hidden files and binary files are not searched, nor files that may hold keys (such as .env, *.pem): where nothing is found, the result names those. A pattern matches within one line.',
    ].join('\n'),
    parameters: {
      pattern: { type: 'string', description: 'The regular expression. Escape characters such as ( [ { . when they are meant literally.', required: true },
      path: { type: 'string', description: 'File or directory to search; default: the session directory.' },
      include: { type: 'string', description: 'One glob that file names must match, such as *.ts or *.{js,jsx}.' },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          matches: {
            type: 'array', required: true,
            items: {
              type: 'object', additionalProperties: false,
              properties: { path: { type: 'string', required: true }, lineNumber: { type: 'integer', required: true }, line: { type: 'string', required: true } },
            },
          },
          leftOut: { type: 'array', items: { type: 'string' }, description: 'Where nothing was found: files that were not searched because they may hold keys.' },
        },
      },
      render: (_args, { matches, leftOut }) => [{ type: 'text', text: renderGrep(matches, { leftOut }) }],
      presentationMeta(_args, { matches }) {
        const groups = groupMatches(matches.slice(0, SHOWN_MATCHES), true);
        const files = capGroups(groups, metaMaxBytes);
        return {
          shape: 'matches', files: files as unknown as { [key: string]: never }[],
          truncated: matches.length > SHOWN_MATCHES || files.length < groups.length, total: matches.length,
        };
      },
    },
    timeoutMs: 30_000,
    async execute(args, exec) {
      check(args);
      const cwd = exec.agent?.session.cwd ?? process.cwd();
      const where = args.path === '' ? undefined : args.path;
      const single = where !== undefined && !(await folderAt(where, cwd));
      const guarded = await leavesOut(where, single, args.include, cwd);
      const places = where === undefined ? [] : [where === '-' ? './-' : where]; // a dash alone would be the standard input
      const matches: GrepMatch[] = [];
      const reader = new MatchReader<string | null>(
        (file, lineNumber, line) => { if (file !== null) matches.push({ path: file, lineNumber, line }); },
        (raw) => (guarded && isKeyFile(path.isAbsolute(raw) ? raw : `${cwd}/${raw}`) ? null : shownPath(raw, cwd)),
      );
      const program = await ripgrep.locate();
      await runRipgrep({
        program,
        args: [
          '--no-config', ...PLAIN,
          // the lines of a binary file that was asked for by name, instead of the remark that it matches
          ...(single ? ['--text'] : []),
          `--regexp=${args.pattern}`, ...(args.include !== undefined ? [`--glob=${args.include}`] : []),
          ...(places.length > 0 ? ['--', ...places] : []),
        ],
        cwd, signal: exec.signal, tool: 'grep', pattern: args.pattern, end: 0x0a,
        take: (bytes) => reader.take(bytes), mayRemain: (bytes) => reader.mayRemain(bytes),
      });
      // a second walk over everything, so only where it may be why nothing was found; that it was not says nothing of what they hold
      if (!guarded || matches.length > 0) return { matches };
      const listed = await listKeyFiles({ program, cwd, places, signal: exec.signal, limit: MAX_LEFT_OUT, ...(args.include !== undefined && { include: args.include }) });
      return listed.length === 0 ? { matches } : { matches, leftOut: listed.map((file) => shownPath(file, cwd)).sort() };
    },
    presentCall: (args) => ({
      card: 'generic', kind: 'search', rawInput: args.pattern,
      title: `Grep ${args.pattern}${args.path !== undefined ? ` in ${args.path}` : ''}${args.include !== undefined ? ` (${args.include})` : ''}`,
    }),
    presentResult: (_args, result) => searchView(result),
  });
}
