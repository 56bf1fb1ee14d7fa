import { spawn } from 'node:child_process';
import { HarnessError } from '../../contract/error.ts';
import { patternComplaint } from './complaint.ts';

export type SearchErrorCode = 'SEARCH_INVALID_PATTERN' | 'SEARCH_FAILED' | 'SEARCH_RAW_OUTPUT_OVERFLOW' | 'SEARCH_ABORTED';

/** B10.27. */
export class SearchError extends HarnessError {
  constructor(message: string, code: SearchErrorCode, options?: ErrorOptions) {
    super(message, code, options);
  }
}

/** Bytes of ripgrep's own output that a search may produce at most (B10.27). */
export const RAW_OUTPUT_BYTES = 20_000_000;
/** Characters of a pattern at most. Longer ones take ripgrep minutes to find nothing, and fit no command line on Windows. */
export const PATTERN_CHARS = 10_000;
const STDERR_CHARS = 100_000;

export interface RipgrepRun {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** `grep` or `glob`, for messages. */
  readonly tool: string;
  /** The regular expression or glob, for messages. */
  readonly pattern: string;
  /** The byte that ends a record of the output. */
  readonly end: number;
  /** Bytes of output at most; default {@link RAW_OUTPUT_BYTES}. */
  readonly maxBytes?: number;
  /** Takes the whole records at the start of `bytes`, which end with `end`; returns how many bytes they are. The rest is offered again. */
  readonly take: (bytes: Buffer) => number;
  /** Whether what stayed untaken at the very end is nothing to worry about; default: only nothing is. */
  readonly mayRemain?: (bytes: Buffer) => boolean;
}

/** What ripgrep says of single files and folders it could not read, and when everything there is is ignored. */
const HARMLESS = /\(os error \d+\)$|: (?:Permission denied|No such file or directory)$|No files were searched, which means|^Running with --debug/;

/** Refuses what ripgrep would choke on, before it is started (I7). @throws SearchError */
export function assertPattern(tool: string, name: string, pattern: string): void {
  const refuse = (reason: string): never => {
    throw new SearchError(`${tool} ${name} is not usable: ${reason}`, 'SEARCH_INVALID_PATTERN');
  };
  if (pattern.length > PATTERN_CHARS) refuse(`it is ${pattern.length} characters long, at most ${PATTERN_CHARS} are possible. Search for less at a time`);
  if (pattern.includes('\0')) refuse('it contains a NUL character');
}

/**
 * Runs ripgrep and hands over its output record by record, as it comes. Folders it could not read are no failure.
 * @throws SearchError; on abort only after the process is gone (I9)
 */
export async function runRipgrep(run: RipgrepRun): Promise<void> {
  const { tool, signal } = run;
  if (signal.aborted) throw new SearchError(`${tool} was stopped`, 'SEARCH_ABORTED');
  const child = spawn(run.program, run.args, { cwd: run.cwd, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  let stderr = '';
  let seen = 0;
  let overflow = false;
  let failure: unknown;
  let rest: Buffer[] = [];
  const stop = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < STDERR_CHARS) stderr += text;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (overflow || failure !== undefined) return;
    if (seen > (run.maxBytes ?? RAW_OUTPUT_BYTES)) {
      overflow = true;
      stop();
      return;
    }
    const end = chunk.lastIndexOf(run.end) + 1;
    if (end === 0) {
      rest.push(chunk);
      return;
    }
    rest.push(chunk.subarray(0, end));
    try {
      const bytes = rest.length === 1 ? rest[0]! : Buffer.concat(rest);
      rest = [bytes.subarray(run.take(bytes)), chunk.subarray(end)].filter((part) => part.length > 0);
    } catch (error) {
      failure = error;
      stop();
    }
  });
  const exit = await new Promise<{ code: number | null; error?: Error }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, error }));
    child.once('close', (code) => resolve({ code }));
  });
  signal.removeEventListener('abort', stop);
  if (signal.aborted) throw new SearchError(`${tool} was stopped`, 'SEARCH_ABORTED');
  if (exit.error !== undefined) throw new SearchError(`${tool} search failed: cannot start "${run.program}": ${exit.error.message}`, 'SEARCH_FAILED', { cause: exit.error });
  if (overflow) {
    throw new SearchError(`${tool} found too much (over ${RAW_OUTPUT_BYTES} bytes): narrow the pattern, the path or the kind of files`, 'SEARCH_RAW_OUTPUT_OVERFLOW');
  }
  assertDone(run, exit.code, stderr);
  const left = Buffer.concat(rest);
  if (failure !== undefined || (left.length > 0 && run.mayRemain?.(left) !== true)) {
    throw new SearchError(`${tool} search failed: unreadable output of ripgrep`, 'SEARCH_FAILED', { cause: failure });
  }
}

function assertDone({ tool, pattern }: RipgrepRun, code: number | null, stderr: string): void {
  if (code === 0 || code === 1) return;
  const complaint = patternComplaint(stderr, pattern);
  if (complaint !== undefined) throw new SearchError(`${tool} pattern rejected by ripgrep: ${complaint}`, 'SEARCH_INVALID_PATTERN');
  // 2 is also what it says when everything but one folder or broken link could be read
  if (code === 2 && stderr.trim().split('\n').every((line) => HARMLESS.test(line))) return;
  throw new SearchError(`${tool} search failed (exit ${code ?? 'by signal'}): ${stderr.replace(/^rg: /gm, '').trim().slice(0, 4_000) || 'no message'}`, 'SEARCH_FAILED');
}
