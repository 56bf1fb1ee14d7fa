import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Agent } from '../../src/contract/agent.ts';
import type { Host } from '../../src/host/main.ts';
import type { FileOutcome, FileTarget } from '../../src/seams/fs.ts';
import type { ReviewFile } from '../../src/seams/review.ts';
import { runningHost, until, workspace } from './house.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
/** Thirty lines, some of them changed. */
export const text = (changes: Record<number, string> = {}): string => LINES.map((line, i) => changes[i + 1] ?? line).join('\n') + '\n';
export const bytes = (file: string): string => readFileSync(file, 'latin1');

/** Every test file has a copy of this module: the time keeps the calls of one apart from those of the next. */
let calls = Date.now();

/** Changes under review in the real extension host, made without a model. */
export class ReviewRoom {
  host!: Host;
  preset: 'ask' | 'auto-edit' | 'full' = 'ask';
  readonly #session: { id: string; cwd: string; readonly events: object[] };
  /** An agent as far as the file system and the permissions look at one. */
  readonly agent: Agent;

  constructor() {
    const preset = () => this.preset;
    this.#session = { id: 'review-test', cwd: '', get events() { return [{ type: 'permission/preset', data: { preset: preset() } }, { type: 'turn/start', data: { turn: 1 } }]; } };
    this.agent = { id: 'review-test', session: this.#session } as unknown as Agent;
  }

  async open(): Promise<void> {
    this.host = await runningHost();
    this.#session.cwd = workspace();
  }

  /** Before each test. */
  async begin(): Promise<void> {
    this.preset = 'ask';
    // the user is with the review, not in a file of their own
    await vscode.commands.executeCommand('dshHost.review.nextHunk');
  }

  /** After each test. */
  async clear(): Promise<void> {
    const { review } = this.host.ctx;
    for (const file of review.files()) await review.reject(file.id, undefined, { edited: 'undo' }).catch(() => undefined);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  }

  nextCall(): string {
    return `case ${++calls}`;
  }

  change(file: string): ReviewFile | undefined {
    return this.host.ctx.review.files().find((review) => review.file === path.normalize(file));
  }

  /** Resolves a file the agent has read. */
  async seen(file: string): Promise<FileTarget> {
    const { ctx } = this.host;
    const target = await ctx.fs.resolve(file, workspace());
    const stat = await ctx.fs.stat(target);
    ctx.emit('fs/observed', target, stat === null ? { kind: 'absent' } : { kind: 'present', version: stat.version }, this.agent);
    return target;
  }

  /** A write that waits for its review; `done` is the tool's outcome. */
  async propose(file: string, content: string): Promise<{ review: ReviewFile; done: Promise<FileOutcome> }> {
    const { ctx } = this.host;
    const target = await this.seen(file);
    const callId = this.nextCall();
    const done = ctx.fs.write(target, content, { displayPath: file, toolName: 'write', callId, agent: this.agent });
    done.catch(() => undefined);
    const review = await until(() => ctx.review.files().find((candidate) => candidate.callIds.includes(callId)));
    return { review, done };
  }

  tabs(): vscode.Tab[] {
    return vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  }

  diffTab(review: ReviewFile): vscode.Tab | undefined {
    return this.tabs().find(({ input }) => input instanceof vscode.TabInputTextDiff && (input.modified.authority === review.id || input.original.authority === review.id));
  }

  /** The document of the proposed side. */
  proposal(review: ReviewFile): Promise<vscode.TextDocument> {
    return until(() => vscode.workspace.textDocuments.find((document) => document.uri.scheme === 'dsh-review' && document.uri.authority === review.id && document.uri.query === ''));
  }

  /** Does something while VS Code saves by itself after a tenth of a second, or not at all. */
  async withAutoSave(mode: 'off' | 'afterDelay', work: () => Promise<void>): Promise<void> {
    const files = () => vscode.workspace.getConfiguration('files');
    await files().update('autoSaveDelay', 100, vscode.ConfigurationTarget.Global);
    await files().update('autoSave', mode, vscode.ConfigurationTarget.Global);
    await until(() => files().get('autoSave') === mode && files().get('autoSaveDelay') === 100);
    try {
      await work();
    } finally {
      await files().update('autoSave', undefined, vscode.ConfigurationTarget.Global);
      await files().update('autoSaveDelay', undefined, vscode.ConfigurationTarget.Global);
    }
  }
}
