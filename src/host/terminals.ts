import { stat } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ShellOutput } from '../seams/shell.ts';
import { OutputDecoders } from './chat/output-decoders.ts';
import { fileLinks } from './file-links.ts';

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

/** Characters kept for a terminal opened while its command runs, or after it. The card and the spill file have the rest. */
const KEPT_CHARS = 2 * 1024 * 1024;
/** Ended commands whose screens are kept though nobody looks, so that the end of a background job can still be seen. */
const KEPT_SCREENS = 8;

/** One native terminal on a screen. Display only (design 3): nothing typed here reaches the command. */
class Mirror implements vscode.Pseudoterminal {
  readonly #write = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.#write.event;
  readonly #screen: Screen;
  #opened = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  open(): void {
    this.#opened = true;
    for (const text of this.#screen.held) this.#write.fire(text);
  }

  close(): void {
    this.#screen.left(this);
  }

  handleInput(): void {}

  write(text: string): void {
    if (this.#opened) this.#write.fire(text);
  }
}

/** What one command printed, live or from the log, and the terminal that shows it. */
class Screen {
  readonly command: string;
  readonly cwd: string;
  /** Pieces as a terminal takes them: CR LF. */
  readonly held: string[] = [];
  ended = false;
  #size = 0;
  #lastWasCr = false;
  #mirror: Mirror | undefined;
  #terminal: vscode.Terminal | undefined;
  readonly #closed: () => void;

  constructor(command: string, cwd: string, closed: () => void) {
    this.command = command;
    this.cwd = cwd;
    this.#closed = closed;
  }

  print(text: string): void {
    if (text === '') return;
    // a terminal needs CR LF; a process without a tty prints LF
    const out = text.replace(/\r?\n/g, (newline, at: number) => (at === 0 && this.#lastWasCr && newline === '\n' ? '\n' : '\r\n'));
    this.#lastWasCr = text.endsWith('\r');
    this.held.push(out);
    this.#size += out.length;
    while (this.#size > KEPT_CHARS && this.held.length > 1) this.#size -= this.held.shift()?.length ?? 0;
    this.#mirror?.write(out);
  }

  get terminal(): vscode.Terminal | undefined {
    return this.#terminal;
  }

  show(preserveFocus: boolean): void {
    if (this.#terminal === undefined) {
      const firstLine = this.command.split('\n', 1)[0] ?? '';
      this.#mirror = new Mirror(this);
      this.#terminal = vscode.window.createTerminal({
        name: `DSH: ${firstLine.length > 40 ? `${firstLine.slice(0, 39)}…` : firstLine}`,
        pty: this.#mirror, iconPath: new vscode.ThemeIcon('hubot'), isTransient: true,
      });
    }
    this.#terminal.show(preserveFocus);
  }

  /** The terminal was closed; the command goes on, and a click on its card shows it again. */
  left(by: Mirror | vscode.Terminal): void {
    if (by !== this.#mirror && by !== this.#terminal) return;
    this.#mirror = undefined;
    this.#terminal = undefined;
    this.#closed();
  }

  dispose(): void {
    this.#mirror = undefined;
    this.#terminal?.dispose();
    this.#terminal = undefined;
  }
}

/** Places looked up on disk in one line. */
const LINKS_A_LINE = 20;
const FAINT = '\x1b[2m';
const RED = '\x1b[31m';
const PLAIN = '\x1b[0m';

/** Native terminals for commands: one each, made when the user asks for it (or when it starts, by setting). */
export class Terminals implements vscode.Disposable {
  readonly #screens = new Map<string, Screen>();
  readonly #decoders = new OutputDecoders();
  readonly #reveal: () => boolean;
  readonly #closing: vscode.Disposable;

  constructor(reveal: () => boolean) {
    this.#reveal = reveal;
    // a terminal closed before it was ever drawn does not tell its pseudoterminal
    this.#closing = vscode.window.onDidCloseTerminal((terminal) => {
      for (const screen of [...this.#screens.values()]) screen.left(terminal);
    });
  }

  started(event: { callId: string; command: string; cwd: string }): void {
    const screen = this.#create(event.callId, event.command, event.cwd);
    if (this.#reveal()) screen.show(true);
  }

  output(event: ShellOutput): void {
    this.#screens.get(event.callId)?.print(this.#decoders.decode(event));
  }

  ended(event: { callId: string; exitCode: number | null; signal: string | null }): void {
    const rest = this.#decoders.end(event.callId);
    const screen = this.#screens.get(event.callId);
    if (screen === undefined) return;
    screen.print(rest);
    this.#footer(screen, event.exitCode, event.signal);
    screen.ended = true;
    this.#forget();
  }

  /** The native terminal of a call, for tests. */
  terminalOf(callId: string): vscode.Terminal | undefined {
    return this.#screens.get(callId)?.terminal;
  }

  /** What the screen of a call shows, for tests. */
  textOf(callId: string): string | undefined {
    return this.#screens.get(callId)?.held.join('');
  }

  /** Shows the screen of a command of this window. False when there is none (any more). */
  showLive(callId: string): boolean {
    const screen = this.#screens.get(callId);
    screen?.show(false);
    return screen !== undefined;
  }

  /** Shows what the log has of a command that ended. */
  showRecord(record: TerminalRecord): void {
    if (this.showLive(record.callId)) return;
    const screen = this.#create(record.callId, record.command, record.cwd);
    screen.print(record.output === '' || record.output.endsWith('\n') ? record.output : `${record.output}\n`);
    this.#footer(screen, record.exitCode ?? null, record.signal ?? null);
    screen.ended = true;
    screen.show(false);
  }

  #create(callId: string, command: string, cwd: string): Screen {
    this.#drop(callId);
    const screen = new Screen(command, cwd, () => this.#forget());
    this.#screens.set(callId, screen);
    screen.print(`${FAINT}${cwd}${PLAIN}\n$ ${command}\n`);
    return screen;
  }

  #footer(screen: Screen, exitCode: number | null, signal: string | null): void {
    if (signal !== null) screen.print(`\n${RED}${vscode.l10n.t('Ended by signal {0}', signal)}${PLAIN}\n`);
    else if (exitCode !== null && exitCode !== 0) screen.print(`\n${RED}${vscode.l10n.t('Exit code: {0}', exitCode)}${PLAIN}\n`);
    else screen.print(`\n${FAINT}${vscode.l10n.t('Exit code: {0}', 0)}${PLAIN}\n`);
  }

  /** Ended commands that nobody looks at go, oldest first; a card is drawn again from the log when asked for. */
  #forget(): void {
    const unseen = [...this.#screens].filter(([, screen]) => screen.ended && screen.terminal === undefined);
    for (const [callId] of unseen.slice(0, Math.max(0, unseen.length - KEPT_SCREENS))) this.#drop(callId);
  }

  #drop(callId: string): void {
    const screen = this.#screens.get(callId);
    this.#screens.delete(callId);
    screen?.dispose();
  }

  /** `src/a.ts:12:3` in our terminals opens that place; relative paths resolve against the command's folder. */
  linkProvider(open: (file: string, cwd: string, line: number, column?: number) => void): vscode.TerminalLinkProvider<FileLink> {
    return {
      provideTerminalLinks: async (context) => {
        const screen = [...this.#screens.values()].find((candidate) => candidate.terminal === context.terminal);
        if (screen === undefined) return [];
        const links = await Promise.all(fileLinks(context.line).slice(0, LINKS_A_LINE).map(async ({ start, length, file, line, column }) => {
          const target = path.resolve(screen.cwd, file);
          if (!(await stat(target).then((found) => found.isFile(), () => false))) return [];
          return [{ startIndex: start, length, file, line, cwd: screen.cwd, tooltip: target, ...(column === undefined ? {} : { column }) }];
        }));
        return links.flat();
      },
      handleTerminalLink: (link) => open(link.file, link.cwd, link.line, link.column),
    };
  }

  dispose(): void {
    this.#closing.dispose();
    for (const callId of [...this.#screens.keys()]) this.#drop(callId);
  }
}

interface FileLink extends vscode.TerminalLink { readonly file: string; readonly cwd: string; readonly line: number; readonly column?: number }
