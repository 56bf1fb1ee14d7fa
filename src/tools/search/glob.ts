import { stat } from 'node:fs/promises';
import path from 'node:path';
import { defineTool } from '../../contract/define-tool.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import type { RipgrepLocator } from '../../seams/search.ts';
import { leadsElsewhere, splitGlob } from '../../text/glob.ts';
import { SearchError, assertPattern, runRipgrep } from './ripgrep.ts';
import { capGroups, renderGlob, shownPath, shownPaths } from './text.ts';
import { searchView } from './view.ts';

/** Folders of version control systems, never listed (B10.26). */
const PRUNED = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'];

export interface GlobOptions { readonly ripgrep: RipgrepLocator; readonly metaMaxBytes: number; readonly sample: boolean }

/** Where to search, and for what there: the folder given, unless the pattern names another. */
interface Place { readonly root: string; readonly glob: string }

/** `!` literally, forward slashes: the pattern as ripgrep wants it. */
function ripgrepPattern(pattern: string): string {
  const glob = (process.platform === 'win32' ? pattern.replaceAll('\\', '/') : pattern).replace(/^\.\//, '/');
  return glob.startsWith('!') ? `\\${glob}` : glob;
}

async function isFolder(at: string): Promise<boolean> {
  return stat(at).then((found) => found.isDirectory(), () => false);
}

/** ripgrep matches below its own folder only, so it is started where an absolute pattern or one with `..` begins. */
async function placeOf(pattern: string, root: string): Promise<Place | undefined> {
  const parts = splitGlob(pattern);
  if (/(?:^|[/{,])\.\.(?:$|[/},])/.test(parts.rest)) {
    throw new SearchError(`glob pattern "${pattern}" is not usable: ".." can only stand before the first wildcard`, 'SEARCH_INVALID_PATTERN');
  }
  const here = { root, glob: ripgrepPattern(pattern) };
  if (!leadsElsewhere(parts)) return here;
  const elsewhere = path.resolve(root, parts.fixed);
  if (await isFolder(elsewhere)) return { root: elsewhere, glob: `/${parts.rest}` };
  // as in an ignore file, a leading slash may just mean the folder searched
  return parts.fixed.startsWith('/') ? here : undefined;
}

/** B10.26, B10.28. */
export function globTool({ ripgrep, metaMaxBytes, sample }: GlobOptions): ToolDefinition {
  return defineTool({
    name: 'glob',
    description: [
      'List the files whose path matches a glob, the one changed longest ago first. Directories are not listed.',
      'A pattern without a slash matches file names at any depth; ** matches any number of directories. It may begin with an absolute directory or with ../ to look there instead. Hidden and ignored files are included, version control folders are not.',
    ].join('\n'),
    parameters: {
      pattern: { type: 'string', description: 'The glob, such as *.ts or src/**/*.{js,jsx}.', required: true },
      path: { type: 'string', description: 'Directory to look in; default: the session directory.' },
    },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: { root: { type: 'string', required: true }, paths: { type: 'array', items: { type: 'string' }, required: true } },
      },
      render: (_args, { paths }) => [{ type: 'text', text: renderGlob(shownPaths(paths, sample), paths.length) }],
      presentationMeta(_args, { paths }) {
        const listed = shownPaths(paths, sample);
        const kept = capGroups(listed, metaMaxBytes);
        return { shape: 'paths', paths: kept, truncated: kept.length < paths.length, total: paths.length };
      },
    },
    timeoutMs: 30_000,
    async execute(args, exec) {
      if (args.pattern.trim() === '') throw new Error('pattern must be a non-empty string');
      assertPattern('glob', 'pattern', args.pattern);
      const cwd = exec.agent?.session.cwd ?? process.cwd();
      const given = path.resolve(cwd, args.path ?? '.');
      const found = await stat(given).catch((cause: unknown) => {
        throw new SearchError(`glob search failed: "${args.path ?? given}" is not there`, 'SEARCH_FAILED', { cause });
      });
      if (!found.isDirectory()) throw new SearchError(`glob search failed: "${args.path ?? given}" is not a directory`, 'SEARCH_FAILED');
      const place = await placeOf(args.pattern, given);
      if (place === undefined) return { root: given, paths: [] };
      const { root } = place;
      const paths: string[] = [];
      await runRipgrep({
        program: await ripgrep.locate(),
        args: [
          '--no-config', '--files', '--null', `--glob=${place.glob}`, '--sort=modified', '--no-ignore', '--hidden',
          ...PRUNED.map((folder) => `--glob=!**/${folder}`),
        ],
        cwd: root, signal: exec.signal, tool: 'glob', pattern: args.pattern, end: 0,
        take(bytes) {
          const end = bytes.lastIndexOf(0);
          for (const file of bytes.toString('utf8', 0, end).split('\0')) paths.push(root === cwd ? file : shownPath(path.join(root, file), cwd));
          return end + 1;
        },
      });
      return { root, paths };
    },
    presentCall: (args) => ({
      card: 'generic', kind: 'search', rawInput: args.pattern, title: `Glob ${args.pattern}${args.path !== undefined ? ` in ${args.path}` : ''}`,
    }),
    presentResult: (_args, result) => searchView(result),
  });
}
