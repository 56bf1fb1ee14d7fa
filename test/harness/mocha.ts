import fs from 'node:fs';
import path from 'node:path';

/** One test in a report; `state` as mocha saw it, `ms` its run time. */
export interface TestResult {
  readonly title: string;
  readonly file: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly ms: number;
  readonly error?: string;
}

export interface Report {
  readonly stats: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly tests: readonly TestResult[];
}

export interface RunOptions {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** A regular expression over full titles. */
  readonly grep?: string | undefined;
  /** Where to put a {@link Report}. */
  readonly report?: string | undefined;
  readonly timeoutMs: number;
  /** Where the spec reporter's lines go; stdout when left out. */
  readonly print?: ((...args: unknown[]) => void) | undefined;
}

/**
 * Runs mocha over files and writes the report. The one runner of all suites: unit and e2e in node, host inside VS Code.
 * A hook that fails counts as a failed test, as mocha has it.
 */
export async function runMocha(options: RunOptions): Promise<Report> {
  const { default: Mocha } = await import('mocha');
  if (options.print) Mocha.reporters.Base.consoleLog = options.print;
  const mocha = new Mocha({
    ui: 'bdd',
    reporter: 'spec',
    color: options.print === undefined && process.stdout.isTTY === true,
    timeout: options.timeoutMs,
    forbidOnly: !!process.env['CI'],
    ...(options.grep === undefined ? {} : { grep: new RegExp(options.grep) }),
  });
  for (const file of options.files) {
    mocha.files = [file];
    try {
      await mocha.loadFilesAsync();
    } catch (error) {
      // one broken file is one failed test, not the end of the suite
      const broken = new Mocha.Test(`${path.relative(process.cwd(), file)} loads`, () => {
        throw error;
      });
      broken.file = file;
      mocha.suite.addTest(broken);
    }
  }
  const tests: TestResult[] = [];
  const add = (test: Mocha.Runnable, state: TestResult['state'], error?: unknown): void => {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tests.push({
      title: test.fullTitle(),
      file: path.relative(process.cwd(), test.file ?? ''),
      state,
      ms: test.duration ?? 0,
      ...(error === undefined ? {} : { error: told }),
    });
  };
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on('pass', (test) => add(test, 'passed'));
    runner.on('fail', (test, error) => add(test, 'failed', error));
    runner.on('pending', (test) => add(test, 'skipped'));
  });
  const count = (state: TestResult['state']): number => tests.filter((test) => test.state === state).length;
  const result: Report = { stats: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }, tests };
  if (options.report) fs.writeFileSync(options.report, JSON.stringify(result, null, 1));
  return result;
}

/** Files below a folder with one of these endings, sorted; `pick` narrows by a regular expression over the path. */
export function findTests(dir: string, endings: readonly string[], pick: string | undefined): string[] {
  if (!fs.existsSync(dir)) return [];
  const wanted = pick === undefined ? undefined : new RegExp(pick);
  return fs
    .readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => path.join(dir, name))
    .filter((file) => wanted?.test(file) ?? true)
    .sort();
}
