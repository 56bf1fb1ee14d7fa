import { stat } from 'node:fs/promises';
import path from 'node:path';
import { defineTool } from '../../contract/define-tool.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import type { RipgrepLocator } from '../../seams/search.ts';
import { SearchError, runRipgrep } from './ripgrep.ts';
import { capGroups, renderGlob, shownPath, shownPaths } from './text.ts';
import { searchView } from './view.ts';

/** Folders of version control systems, never listed (B10.26). */
const PRUNED = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'];

export interface GlobOptions { readonly ripgrep: RipgrepLocator; readonly metaMaxBytes: number; readonly sample: boolean }

/** The pattern relative to `root`, as ripgrep wants it: `!` literally, forward slashes. */
function relativePattern(pattern: string, root: string): string {
  let glob = process.platform === 'win32' ? pattern.replaceAll('\\', '/') : pattern;
  const prefix = `${root.split(path.sep).join('/').replace(/\/$/, '')}/`;
  if (glob.startsWith(prefix)) glob = `/${glob.slice(prefix.length)}`;
  glob = glob.replace(/^\.\//, '/');
  return glob.startsWith('!') ? `\\${glob}` : glob;
}

/** B10.26, B10.28. */
export function globTool({ ripgrep, metaMaxBytes, sample }: GlobOptions): ToolDefinition {
  return defineTool({
    name: 'glob',
    description: [
      'List the files whose path matches a glob, the one changed longest ago first. Directories are not listed.',
      'A pattern without a slash matches file names at any depth; ** matches any number of directories. Hidden and ignored files are included, version control folders are not.',
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
      const cwd = exec.agent?.session.cwd ?? process.cwd();
      const root = path.resolve(cwd, args.path ?? '.');
      const found = await stat(root).catch((cause: unknown) => {
        throw new SearchError(`glob search failed: "${args.path ?? root}" is not there`, 'SEARCH_FAILED', { cause });
      });
      if (!found.isDirectory()) throw new SearchError(`glob search failed: "${args.path ?? root}" is not a directory`, 'SEARCH_FAILED');
      const paths: string[] = [];
      await runRipgrep({
        program: await ripgrep.locate(),
        args: [
          '--no-config', '--files', `--glob=${relativePattern(args.pattern, root)}`, '--sort=modified', '--no-ignore', '--hidden',
          ...PRUNED.map((folder) => `--glob=!**/${folder}`),
        ],
        cwd: root, signal: exec.signal, tool: 'glob',
        onLine: (line) => void paths.push(line),
      });
      return { root, paths: root === cwd ? paths : paths.map((file) => shownPath(path.join(root, file), cwd)) };
    },
    presentCall: (args) => ({
      card: 'generic', kind: 'search', rawInput: args.pattern, title: `Glob ${args.pattern}${args.path !== undefined ? ` in ${args.path}` : ''}`,
    }),
    presentResult: (_args, result) => searchView(result),
  });
}
