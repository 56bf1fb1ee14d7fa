import path from 'node:path';
import type { ToolCallKind } from '../contract/presentation.ts';
import type { ToolDefinition } from '../contract/tool.ts';
import { leadsElsewhere, splitGlob } from '../text/glob.ts';
import { meansKeyFiles } from '../text/key-files.ts';

/** What a call does to the world, as far as policy needs to know. Paths are as the tool was given them. */
export type Effect =
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly paths: readonly string[]; /** Reads files that hold keys by a pattern. */ readonly secrets?: string }
  | { readonly kind: 'write'; readonly paths: readonly string[] }
  | { readonly kind: 'run'; readonly command: string; readonly cwd: string | undefined; readonly shell: 'bash' | 'other'; /** In a folder that is not known here. */ readonly elsewhere?: true }
  | { readonly kind: 'network'; readonly target: string }
  /** A tool that is not ours, by what its card says it does. */
  | { readonly kind: 'foreign'; readonly says: ToolCallKind | undefined };

type Args = Readonly<Record<string, unknown>>;

function text(args: Args, key: string): string | undefined {
  const value = args[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
function texts(args: Args, ...keys: string[]): string[] {
  return keys.flatMap((key) => text(args, key) ?? []);
}

const SAFE = (): Effect => ({ kind: 'none' });
const readPath = (args: Args): Effect => ({ kind: 'read', paths: texts(args, 'file_path') });
const writePath = (args: Args): Effect => ({ kind: 'write', paths: texts(args, 'file_path') });
const run = (shell: 'bash' | 'other') => (args: Args): Effect => ({ kind: 'run', command: text(args, 'command') ?? '', cwd: text(args, 'workdir'), shell });

/** Every tool we ship, by name. What is not in it is judged by its card. */
const TABLE: Readonly<Record<string, (args: Args) => Effect>> = {
  read: readPath,
  read_image: readPath,
  lsp: readPath,
  write: writePath,
  edit: writePath,
  str_replace_editor: (args) => ({ kind: args.command === 'view' ? 'read' : 'write', paths: texts(args, 'path') }),
  grep: (args) => {
    const include = text(args, 'include');
    const secrets = include !== undefined && meansKeyFiles(include) ? include : undefined;
    return { kind: 'read', paths: texts(args, 'path'), ...(secrets === undefined ? {} : { secrets }) };
  },
  glob: (args) => ({ kind: 'read', paths: [...texts(args, 'path'), ...placesOf(text(args, 'pattern'), text(args, 'path') ?? '.')] }),
  bash: run('bash'),
  pwsh: run('other'),
  terminal_open: (args) => ({ kind: 'run', command: text(args, 'type') ?? 'terminal', cwd: text(args, 'cwd'), shell: 'other' }),
  terminal_send: (args) => ({ kind: 'run', command: text(args, 'text') ?? '', cwd: undefined, shell: 'other', elsewhere: true }),
  web_fetch: (args) => ({ kind: 'network', target: text(args, 'url') ?? '' }),
  web_search: (args) => ({ kind: 'network', target: Array.isArray(args.queries) ? args.queries.join(', ') : '' }),
  ...Object.fromEntries([
    'job_output', 'job_list', 'job_kill', 'todo_write', 'ask_user_question', 'run_code', 'exit_plan_mode', 'skill', 'subagent', 'subagent_fork',
    'send_message', 'interrupt_agent', 'list_agents', 'report', 'terminal_read', 'terminal_list', 'terminal_signal', 'terminal_close',
  ].map((name) => [name, SAFE])),
};

/** The effect of calling `name` with `args`; `definition` is asked for its card when the tool is not ours. */
export function effectOf(name: string, args: unknown, definition: ToolDefinition | undefined): Effect {
  const record: Args = typeof args === 'object' && args !== null && !Array.isArray(args) ? args as Args : {};
  if (Object.hasOwn(TABLE, name)) return TABLE[name]!(record);
  return { kind: 'foreign', says: declaredKind(args, definition) };
}

function declaredKind(args: unknown, definition: ToolDefinition | undefined): ToolCallKind | undefined {
  try {
    const view = definition?.presentCall?.(args);
    if (view?.card === 'terminal') return 'execute';
    if (view?.card === 'diff') return 'edit';
    return view?.card === 'generic' ? view.kind : undefined;
  } catch {
    return undefined;
  }
}

/** Where a glob looks instead of in `folder`: names only, but those are of other places then. */
function placesOf(pattern: string | undefined, folder: string): string[] {
  if (pattern === undefined) return [];
  const parts = splitGlob(pattern);
  if (!leadsElsewhere(parts)) return [];
  return [path.isAbsolute(parts.fixed) ? parts.fixed : path.join(folder, parts.fixed)];
}
