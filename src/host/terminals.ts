import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ShellOutput } from '../seams/shell.ts';

/** What a terminal card shows once it is settled: enough to draw it again on replay. */
export interface TerminalRecord {
  readonly callId: string;
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly output: string;
  readonly exitCode?: number;
  readonly signal?: string;
}

/** Bytes kept for a terminal opened while its command runs, or after it. The card and the spill file have the rest. */
const KEPT_BYTES = 2 * 1024 * 1024;

/**
 * The screen of one command: what our own process printed, live or from the log. Display only (design 3): nothing typed
 * here reaches the command.
 */
class Mirror implements vscode.Pseudoterminal {
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<number | void>();
  readonly #name = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;
  readonly onDidChangeName = this.#name.event;
  #opened = false;
  #held: string[] = [];
  #heldSize = 0;
  #lastWasCr = false;
  readonly onGone: () => void;

  constructor(onGone: () => void) {
    this.onGone = onGone;
  }

  open(): void {
    this.#opened = true;
    for (const text of this.#held) this.#write.fire(text);
  }

  close(): void {
    this.onGone();
  }

  /** The command has ended; Enter or any key closes nothing, so that the output stays readable. */
  handleInput(): void {}

  print(text: string): void {
    // a terminal needs CR LF; a process without a tty prints LF
    const out = text.replace(/\r?\n/g, (newline, at: number) => (at === 0 && this.#lastWasCr && newline === '\n' ? '\n' : '\r\n'));
    this.#lastWasCr = text.endsWith('\r');
    this.#held.push(out);
    this.#heldSize += out.length;
    while (this.#heldSize > KEPT_BYTES && this.#held.length > 1) this.#heldSize -= this.#held.shift()?.length ?? 0;
    if (this.#opened) this.#write.fire(out);
  }

  rename(name: string): void {
    this.#name.fire(name);
  }

  get text(): string {
    return this.#held.join('');
  }

  dispose(): void {
    this.#write.dispose();
    this.#close.dispose();
    this.#name.dispose();
  }
}

interface Screen {
  readonly mirror: Mirror;
  terminal: vscode.Terminal | undefined;
  readonly decoders: Record<ShellOutput['stream'], TextDecoder>;
  readonly command: string;
  readonly cwd: string;
}

const FAINT = '\x1b[2m';
const RED = '\x1b[31m';
const PLAIN = '\x1b[0m';

/** Native terminals for terminal cards: one a command, made when the user asks for it (or when it starts, by setting). */
export class Terminals implements vscode.Disposable {
  readonly #screens = new Map<string, Screen>();
  readonly #reveal: () => boolean;

  constructor(reveal: () => boolean) {
    this.#reveal = reveal;
  }

  started(event: { callId: string; command: string; cwd: string }): void {
    const screen = this.#create(event.callId, event.command, event.cwd);
    this.#header(screen);
    if (this.#reveal()) this.#terminal(event.callId, screen).show(true);
  }

  output(event: ShellOutput): void {
    const screen = this.#screens.get(event.callId);
    screen?.mirror.print(screen.decoders[event.stream].decode(event.chunk, { stream: true }));
  }

  ended(event: { callId: string; exitCode: number | null; signal: string | null }): void {
    const screen = this.#screens.get(event.callId);
    if (screen === undefined) return;
    this.#footer(screen, event.exitCode, event.signal);
    // screens nobody opened are drawn again from the card when asked for
    if (screen.terminal === undefined) this.#drop(event.callId);
  }

  isLive(callId: string): boolean {
    return this.#screens.has(callId);
  }

  /** Shows the terminal of a running command. False when there is none. */
  showLive(callId: string): boolean {
    const screen = this.#screens.get(callId);
    if (screen === undefined) return false;
    this.#terminal(callId, screen).show(false);
    return true;
  }

  /** Shows what the log has of a command that ended. */
  showRecord(record: TerminalRecord): void {
    if (this.showLive(record.callId)) return;
    const screen = this.#create(record.callId, record.command, record.cwd);
    this.#header(screen);
    screen.mirror.print(record.output === '' || record.output.endsWith('\n') ? record.output : `${record.output}\n`);
    this.#footer(screen, record.exitCode ?? null, record.signal ?? null);
    this.#terminal(record.callId, screen).show(false);
  }

  #create(callId: string, command: string, cwd: string): Screen {
    this.#drop(callId);
    const screen: Screen = {
      mirror: new Mirror(() => this.#drop(callId)), terminal: undefined, command, cwd,
      decoders: { stdout: new TextDecoder(), stderr: new TextDecoder() },
    };
    this.#screens.set(callId, screen);
    return screen;
  }

  #header(screen: Screen): void {
    screen.mirror.print(`${FAINT}${screen.cwd}${PLAIN}\n$ ${screen.command}\n`);
  }

  #footer(screen: Screen, exitCode: number | null, signal: string | null): void {
    if (signal !== null) screen.mirror.print(`\n${RED}${vscode.l10n.t('Ended by signal {0}', signal)}${PLAIN}\n`);
    else if (exitCode !== null && exitCode !== 0) screen.mirror.print(`\n${RED}${vscode.l10n.t('Exit code: {0}', exitCode)}${PLAIN}\n`);
    else screen.mirror.print(`\n${FAINT}${vscode.l10n.t('Exit code: {0}', 0)}${PLAIN}\n`);
  }

  #terminal(callId: string, screen: Screen): vscode.Terminal {
    if (screen.terminal !== undefined) return screen.terminal;
    const firstLine = screen.command.split('\n', 1)[0] ?? '';
    screen.terminal = vscode.window.createTerminal({
      name: `DSH: ${firstLine.length > 40 ? `${firstLine.slice(0, 39)}…` : firstLine}`,
      pty: screen.mirror,
      iconPath: new vscode.ThemeIcon('hubot'),
      isTransient: true,
    });
    return screen.terminal;
  }

  #drop(callId: string): void {
    const screen = this.#screens.get(callId);
    if (screen === undefined) return;
    this.#screens.delete(callId);
    screen.terminal?.dispose();
    screen.mirror.dispose();
  }

  /** `src/a.ts:12:3` in our terminals opens that place; relative paths resolve against the command's folder. */
  linkProvider(open: (file: string, cwd: string, line: number, column?: number) => void): vscode.TerminalLinkProvider<FileLink> {
    return {
      provideTerminalLinks: (context) => {
        const screen = [...this.#screens.values()].find((candidate) => candidate.terminal === context.terminal);
        if (screen === undefined) return [];
        return [...context.line.matchAll(FILE_LINK)].map((match) => ({
          startIndex: match.index, length: match[0].length, file: match[1] ?? '', cwd: screen.cwd, line: Number(match[2]),
          ...(match[3] === undefined ? {} : { column: Number(match[3]) }), tooltip: path.resolve(screen.cwd, match[1] ?? ''),
        }));
      },
      handleTerminalLink: (link) => open(link.file, link.cwd, link.line, link.column),
    };
  }

  dispose(): void {
    for (const callId of [...this.#screens.keys()]) this.#drop(callId);
  }
}

interface FileLink extends vscode.TerminalLink { readonly file: string; readonly cwd: string; readonly line: number; readonly column?: number }
const FILE_LINK = /((?:[\w.@~+-]*\/)*[\w.@+-]+\.\w+):(\d+)(?::(\d+))?/g;
