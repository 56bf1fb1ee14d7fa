import path from 'node:path';
import { parseArgs } from 'node:util';
import { isPreset, PRESETS, type PresetId } from '../policy/presets.ts';

export type ApproveMode = 'all' | 'none' | 'ask';
export interface DriveOptions {
  readonly kind: 'drive';
  /** Absolute. */
  readonly workspace: string;
  readonly script: string;
  readonly approve: ApproveMode;
  /** Absolute path of the session's log; absent: kept in memory. */
  readonly session: string | undefined;
  readonly json: boolean;
  readonly preset: PresetId;
}
export interface ReplayOptions { readonly kind: 'replay'; readonly file: string; readonly json: boolean }

/** Said on one line, with exit code 2. */
export class UsageError extends Error {}

export const USAGE = [
  'npm run drive -- --workspace DIR --script FILE [--approve all|none|ask] [--session FILE.jsonl] [--preset PRESET] [--json]',
  'npm run drive -- --replay FILE.jsonl [--json]',
  '',
  'Runs the agent loop, the tools and the permission policy without VS Code, with a scripted model.',
  '  --workspace DIR   folder to work in',
  '  --script FILE     what the user says and what the model answers (docs/headless.md)',
  '  --approve MODE    answer approvals and reviews: all, none, or ask on the terminal (default: ask)',
  '  --session FILE    write the session log there; go on with it when it exists',
  `  --preset PRESET   ${PRESETS.join(', ')} (default: ask)`,
  '  --json            session events as JSON lines instead of text',
  '  --replay FILE     show the cards of a stored log, executing nothing',
  'Exit code: 0 when the last turn ended "completed", 1 when it did not, 2 for wrong usage, a broken script, or a session that can\'t be kept.',
].join('\n');

/** Reads the command line. `help`: it was asked for. Throws UsageError. */
export function readOptions(argv: readonly string[], cwd: string): DriveOptions | ReplayOptions | 'help' {
  let values: { [name: string]: string | boolean | undefined };
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: {
        workspace: { type: 'string' }, script: { type: 'string' }, approve: { type: 'string' }, session: { type: 'string' }, preset: { type: 'string' },
        replay: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.split('\n')[0]! : String(error));
  }
  if (values.help === true) return 'help';
  const json = values.json === true;
  const file = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? path.resolve(cwd, value) : undefined;
  };
  const replay = file('replay');
  if (replay !== undefined) {
    const extra = ['workspace', 'script', 'approve', 'session', 'preset'].find((name) => values[name] !== undefined);
    if (extra !== undefined) throw new UsageError(`--replay goes with --json only, not with --${extra}`);
    return { kind: 'replay', file: replay, json };
  }
  const workspace = file('workspace');
  const script = file('script');
  if (workspace === undefined) throw new UsageError('--workspace DIR is missing (see --help)');
  if (script === undefined) throw new UsageError('--script FILE is missing (see --help)');
  const { approve = 'ask', preset = 'ask' } = values;
  if (approve !== 'all' && approve !== 'none' && approve !== 'ask') throw new UsageError(`--approve must be all, none or ask, not "${String(approve)}"`);
  if (!isPreset(preset)) throw new UsageError(`--preset must be ${PRESETS.join(', ')}, not "${String(preset)}"`);
  const session = file('session');
  if (session !== undefined && !/^[A-Za-z0-9][\w.-]*\.jsonl$/.test(path.basename(session))) {
    throw new UsageError(`--session must name a .jsonl file, not "${path.basename(session)}"`);
  }
  return { kind: 'drive', workspace, script, approve, session, json, preset };
}
