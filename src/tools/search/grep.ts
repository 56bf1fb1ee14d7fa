import { stat } from 'node:fs/promises';
import path from 'node:path';
import { defineTool } from '../../contract/define-tool.ts';
import type { ToolDefinition } from '../../contract/tool.ts';
import type { RipgrepLocator } from '../../seams/search.ts';
import { SearchError, runRipgrep } from './ripgrep.ts';
import { SHOWN_MATCHES, capGroups, groupMatches, renderGrep, shownPath } from './text.ts';
import type { GrepMatch } from './text.ts';
import { searchView } from './view.ts';

type RgText = { text: string } | { bytes: string };
interface RgMatch { type: 'match'; data: { path: RgText; lines: RgText; line_number: number | null } }

/** The start of a match record as ripgrep prints it: other records need not be parsed. */
const MATCH_START = '{"type":"match"';
const TEXT_PATH = '{"type":"match","data":{"path":{"text":"';

function plain(text: RgText): string {
  return 'text' in text ? text.text : Buffer.from(text.bytes, 'base64').toString('utf8');
}

function lineText(lines: RgText): string {
  return 'text' in lines ? lines.text.replace(/\r?\n$/, '') : '(line is not valid UTF-8)';
}

const BEFORE_LINE = '"},"lines":{"text":"';
const BEFORE_NUMBER = '"},"line_number":';

/**
 * Path, line and number of a match record cut out of its text: several times quicker than parsing all of it. An unescaped
 * quote ends a JSON string, so neither mark can stand inside one. undefined: a record of another shape, to be parsed.
 */
function quickMatch(record: string): { path: string; line: string; lineNumber: number } | undefined {
  if (!record.startsWith(TEXT_PATH)) return undefined;
  const pathEnd = record.indexOf(BEFORE_LINE, TEXT_PATH.length);
  if (pathEnd < 0) return undefined;
  const start = pathEnd + BEFORE_LINE.length;
  const end = record.indexOf(BEFORE_NUMBER, start);
  if (end < 0) return undefined;
  const lineNumber = Number.parseInt(record.slice(end + BEFORE_NUMBER.length, end + BEFORE_NUMBER.length + 16), 10);
  if (!Number.isFinite(lineNumber)) return undefined;
  return { path: unescaped(record.slice(TEXT_PATH.length, pathEnd)), line: unescaped(record.slice(start, end)), lineNumber };
}

function unescaped(text: string): string {
  const escape = text.indexOf('\\');
  if (escape < 0) return text;
  if (escape === text.length - 2 && text.endsWith('\\n')) return `${text.slice(0, -2)}\n`;
  return JSON.parse(`"${text}"`) as string;
}

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
  if (include === undefined) return;
  if (include.trim() === '') throw new Error('include must be a non-empty glob');
  if (include.startsWith('!')) throw new Error('include must be one positive glob: exclusions (!…) are not supported');
  if (hasTopLevelComma(include)) throw new Error('include must be one glob: write alternatives as {a,b}');
}

export interface GrepOptions { readonly ripgrep: RipgrepLocator; readonly metaMaxBytes: number }

/** B10.24, B10.25, B10.28. */
export function grepTool({ ripgrep, metaMaxBytes }: GrepOptions): ToolDefinition {
  return defineTool({
    name: 'grep',
    description: [
      'Search the contents of files with a regular expression (ripgrep syntax) and get the matching lines with their line numbers.',
      'Files that ignore files such as .gitignore exclude, hidden files and binary files are not searched. A pattern matches within one line.',
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
        },
      },
      render: (_args, { matches }) => [{ type: 'text', text: renderGrep(matches) }],
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
      if (args.path !== undefined) {
        const target = path.resolve(cwd, args.path);
        await stat(target).catch((cause: unknown) => {
          throw new SearchError(`grep search failed: "${args.path}" is not there`, 'SEARCH_FAILED', { cause });
        });
      }
      const matches: GrepMatch[] = [];
      const shown = new Map<string, string>();
      await runRipgrep({
        program: await ripgrep.locate(),
        args: ['--no-config', '--json', `--regexp=${args.pattern}`, ...(args.include !== undefined ? [`--glob=${args.include}`] : []), ...(args.path !== undefined ? ['--', args.path] : [])],
        cwd, signal: exec.signal, tool: 'grep',
        onLine(line) {
          if (!line.startsWith(MATCH_START)) return;
          const quick = quickMatch(line);
          const data = quick === undefined ? (JSON.parse(line) as RgMatch).data : undefined;
          const raw = quick?.path ?? plain(data!.path);
          let file = shown.get(raw);
          if (file === undefined) shown.set(raw, (file = shownPath(raw, cwd)));
          matches.push({
            path: file, lineNumber: quick?.lineNumber ?? data?.line_number ?? 1, line: lineText(quick === undefined ? data!.lines : { text: quick.line }),
          });
        },
      });
      return { matches };
    },
    presentCall: (args) => ({
      card: 'generic', kind: 'search', rawInput: args.pattern,
      title: `Grep ${args.pattern}${args.path !== undefined ? ` in ${args.path}` : ''}${args.include !== undefined ? ` (${args.include})` : ''}`,
    }),
    presentResult: (_args, result) => searchView(result),
  });
}
