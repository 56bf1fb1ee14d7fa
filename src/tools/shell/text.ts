import type { StreamCapture } from '../../seams/shell.ts';

/** One stream of a finished command, as the tool returns it (B10.17). */
export interface StreamValue { text: string; truncated: boolean; spillPath?: string }
export interface ForegroundValue {
  kind: 'foreground';
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  aborted: boolean;
  timeoutMs: number;
  stdout: StreamValue;
  stderr: StreamValue;
}

function streamText({ text, truncated, spillPath }: StreamValue): string {
  return truncated ? `${text}${text.endsWith('\n') ? '' : '\n'}[output truncated; full output: ${spillPath ?? '(unavailable)'}]` : text;
}

/** The last line of a command's text that tells how it ended, or nothing for exit code 0 (B10.19). */
export function endMarker(exitCode: number | null, signal: string | null): string | undefined {
  if (signal !== null) return `[killed by signal: ${signal}]`;
  return exitCode !== null && exitCode !== 0 ? `[exit code: ${exitCode}]` : undefined;
}

function onNewLine(text: string, line: string): string {
  return text === '' ? line : `${text}${text.endsWith('\n') ? '' : '\n'}${line}`;
}

/** What the model reads of a finished command (B10.19). */
export function renderForeground(value: ForegroundValue): string {
  let text = streamText(value.stdout);
  if (value.stderr.text !== '' || value.stderr.truncated) text = onNewLine(text, `[stderr]\n${streamText(value.stderr)}`);
  if (text === '') text = '(no output)';
  if (value.timedOut) text = onNewLine(text, `[timed out after ${value.timeoutMs}ms]`);
  const end = endMarker(value.exitCode, value.signal);
  return end === undefined ? text : onNewLine(text, end);
}

/** New output of a background command (B10.21). */
export function renderNew(output: { stdout: string; stderr: string; dropped: boolean; spillPath?: string }): string {
  let text = output.dropped ? `[some output was dropped from memory; full output: ${output.spillPath ?? '(unavailable)'}]\n` : '';
  text += output.stdout;
  if (output.stderr !== '') text = onNewLine(text, `[stderr]\n${output.stderr}`);
  return text;
}

/**
 * One captured stream as a value. Of a cut stream the text starts with how much is missing (C11).
 */
export function streamValue(capture: StreamCapture): StreamValue {
  const { text, truncated, spillPath, totalBytes } = capture;
  if (!truncated) return { text, truncated };
  const cut = totalBytes - Buffer.byteLength(text);
  return { text: `[the first ${cut} of ${totalBytes} bytes are not shown]\n${text}`, truncated, ...(spillPath !== undefined ? { spillPath } : {}) };
}

/** How a command ended according to the text of a result whose log lacks structured status (B10.20). */
export function parseEnd(text: string): { output: string; exitCode?: number; signal?: string } {
  const match = /(?:^|\n)\[(?:exit code: (-?\d+)|killed by signal: (SIG[A-Z0-9]+))\]$/.exec(text);
  if (match === null) return { output: text, exitCode: 0 };
  const output = text.slice(0, match.index);
  return match[1] !== undefined ? { output, exitCode: Number(match[1]) } : { output, signal: match[2]! };
}
