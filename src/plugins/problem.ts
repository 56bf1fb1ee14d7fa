/** What went wrong with a plugin, and where: 1-based line and column of the author's own source when they are known. */
export interface PluginProblem {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly stack?: string;
}

const PLACE = /(?:\(|at |\s|^)((?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^():\n]*?\.[cm]?[jt]sx?):(\d+)(?::(\d+))?/g;

/**
 * Turns a thrown value into a problem. The place is the first one in message or stack that lies in one of the plugin's
 * own files, so that an author is led to their line, not into ours.
 */
export function problemOf(error: unknown, ownFiles: ReadonlySet<string>, fallback: { file: string; line: number }): PluginProblem {
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  for (const text of [message, stack ?? '']) {
    for (const match of text.matchAll(PLACE)) {
      const file = (match[1] ?? '').replace(/^file:\/\//, '');
      if (!ownFiles.has(file)) continue;
      return {
        message: clean(message), file, line: Number(match[2]), ...(match[3] === undefined ? {} : { column: Number(match[3]) }),
        ...(stack === undefined ? {} : { stack }),
      };
    }
  }
  return { message: clean(message), ...fallback, ...(stack === undefined ? {} : { stack }) };
}

/** Readable text on one line: the parser's place lines and require stacks are in the problem already. */
function clean(message: string): string {
  const lines = message.split('\n').filter((line) => !/^\s*(?:Require stack:|- \/|at )/.test(line) && line.trim() !== '');
  return lines.slice(0, 5).map((line) => line.trim()).join(' ') || message.trim();
}
