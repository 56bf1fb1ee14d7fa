import { spawn } from 'node:child_process';
import { HarnessError } from '../../contract/error.ts';

export type SearchErrorCode = 'SEARCH_INVALID_PATTERN' | 'SEARCH_FAILED' | 'SEARCH_RAW_OUTPUT_OVERFLOW' | 'SEARCH_ABORTED';

/** B10.27. */
export class SearchError extends HarnessError {
  constructor(message: string, code: SearchErrorCode, options?: ErrorOptions) {
    super(message, code, options);
  }
}

/** Bytes of ripgrep's own output that a search may produce at most (B10.27). */
export const RAW_OUTPUT_BYTES = 20_000_000;
const STDERR_CHARS = 4_000;

export interface RipgrepRun {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** `grep` or `glob`, for messages. */
  readonly tool: string;
  /** Takes each line of output, without its newline. */
  readonly onLine: (line: string) => void;
}

const BAD_PATTERN = /regex parse error|is not allowed in a regex|error parsing glob|regex could not be compiled|exceeds size limit/;

/** What ripgrep says of single files and folders it could not read, and when everything there is is ignored. */
const HARMLESS = /\(os error \d+\)$|: (?:Permission denied|No such file or directory)$|No files were searched, which means|^Running with --debug/;

function complaint(stderr: string): string {
  return stderr.replace(/^rg: /gm, '').trim();
}

/**
 * Runs ripgrep and hands over its output line by line, as it comes. Folders it could not read are no failure.
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
  const handOver = (): void => {
    // whole lines, so no character is split
    for (const line of Buffer.concat(rest).toString('utf8').split('\n')) run.onLine(line);
  };
  const stop = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < STDERR_CHARS) stderr += text;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (overflow || failure !== undefined) return;
    if (seen > RAW_OUTPUT_BYTES) {
      overflow = true;
      stop();
      return;
    }
    const end = chunk.lastIndexOf(0x0a);
    if (end < 0) {
      rest.push(chunk);
      return;
    }
    rest.push(chunk.subarray(0, end));
    try {
      handOver();
    } catch (error) {
      failure = error;
      stop();
    }
    rest = [chunk.subarray(end + 1)];
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
  if (failure !== undefined) throw new SearchError(`${tool} search failed: unreadable output of ripgrep`, 'SEARCH_FAILED', { cause: failure });
  if (rest.some((part) => part.length > 0)) handOver();
  if (exit.code === 0 || exit.code === 1) return;
  if (BAD_PATTERN.test(stderr)) throw new SearchError(`${tool} pattern rejected by ripgrep: ${complaint(stderr)}`, 'SEARCH_INVALID_PATTERN');
  // 2 is also what it says when everything but one folder or broken link could be read
  if (exit.code === 2 && stderr.trim().split('\n').every((line) => HARMLESS.test(line))) return;
  throw new SearchError(`${tool} search failed (exit ${exit.code ?? 'by signal'}): ${complaint(stderr) || 'no message'}`, 'SEARCH_FAILED');
}
