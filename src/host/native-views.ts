import path from 'node:path';
import * as vscode from 'vscode';
import { assertNever } from '../contract/never.ts';
import type { ToolResultView } from '../contract/presentation.ts';
import type { CardView, ResultsPage, ToolItem } from '../protocol.ts';
import type { ReviewService } from '../seams/review.ts';
import { jumpTo } from './navigation.ts';
import type { ResultsPanel } from './results/panel.ts';
import type { ReviewEditor } from './review/editor.ts';
import type { Terminals } from './terminals.ts';
import type { DiffRecord, DiffTexts } from './diff-texts.ts';

export interface NativeViewParts {
  readonly terminals: Terminals;
  readonly results: ResultsPanel;
  readonly review: ReviewService;
  readonly reviewEditor: ReviewEditor;
  readonly diffTexts: DiffTexts;
}

/** A call as the log has it: what a native view needs beyond the card. */
export interface CallRecord {
  readonly item: ToolItem;
  readonly args: unknown;
  /** The session's cwd, absolute. */
  readonly cwd: string;
  /** Whole result text, never cut. */
  readonly text: string;
  /** The tool's own view of the result, not cut to a card's size. */
  readonly result: ToolResultView | undefined;
  /** Before and after of each file of a diff card. */
  readonly diffs: readonly DiffRecord[];
}

/** Cards → native views (design 3): the one place that decides what opens. */
export class NativeViews {
  readonly #parts: NativeViewParts;

  constructor(parts: NativeViewParts) {
    this.#parts = parts;
  }

  /** Opens the native view of a card after the user's click. `file` picks one of several. */
  async open(call: CallRecord, file?: string): Promise<void> {
    const { view } = call.item;
    // a background command has a generic card, and a screen like any other
    if (view.card === 'generic' && this.#parts.terminals.showLive(call.item.id)) return;
    switch (view.card) {
      case 'diff': return this.#diff(call, view, file);
      case 'terminal': return this.#terminal(call, view);
      case 'search': return this.#parts.results.show(searchPage(call, view), call.cwd);
      case 'web': return this.#parts.results.show(webPage(call, view), call.cwd);
      case 'read': return jumpTo(view.path, call.cwd, { line: view.lines[0]?.number ?? view.offset });
      case 'generic': {
        const [location] = view.locations;
        if (location !== undefined) return jumpTo(location.path, call.cwd, location.line === undefined ? {} : { line: location.line });
        return this.#text(call);
      }
      default: return assertNever(view, 'card');
    }
  }

  async #diff(call: CallRecord, view: CardView & { card: 'diff' }, file: string | undefined): Promise<void> {
    const review = this.#parts.review.forCall(call.item.id);
    if (review !== undefined && review.state !== 'decided') return this.#parts.reviewEditor.open(review);
    const records = call.diffs.filter((diff) => file === undefined || diff.path === file);
    const [record] = records;
    if (record === undefined) {
      const location = view.locations[0] ?? { path: view.files[0]?.path ?? '' };
      return jumpTo(location.path, call.cwd, location.line === undefined ? {} : { line: location.line });
    }
    await this.#parts.diffTexts.show(call.item.id, record);
  }

  async #terminal(call: CallRecord, view: CardView & { card: 'terminal' }): Promise<void> {
    const { terminals } = this.#parts;
    if (terminals.showLive(call.item.id)) return;
    terminals.showRecord({
      callId: call.item.id, command: view.title, cwd: path.resolve(call.cwd, view.cwd ?? '.'), output: (call.result?.card === 'terminal' ? call.result.output : undefined) ?? view.output ?? call.text,
      ...(view.exitCode === undefined ? {} : { exitCode: view.exitCode }), ...(view.signal === undefined ? {} : { signal: view.signal }),
    });
  }

  async #text(call: CallRecord): Promise<void> {
    const document = await vscode.workspace.openTextDocument({ content: call.text, language: 'plaintext' });
    await vscode.window.showTextDocument(document, { preview: true });
  }
}

function field(args: unknown, name: string): string | undefined {
  const value = typeof args === 'object' && args !== null ? (args as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function searchPage(call: CallRecord, card: CardView & { card: 'search' }): ResultsPage {
  const view = call.result?.card === 'search' ? call.result : card;
  const common = { callId: call.item.id, title: card.title, truncated: view.truncated, total: view.total, raw: call.text };
  if (view.shape === 'paths') return { kind: 'paths', ...common, paths: view.paths };
  const pattern = field(call.args, 'pattern');
  return { kind: 'matches', ...common, files: view.files, ...(pattern === undefined ? {} : { pattern }) };
}

function webPage(call: CallRecord, view: CardView & { card: 'web' }): ResultsPage {
  const common = { callId: call.item.id, title: view.title, truncated: view.truncated };
  if (view.kind === 'fetch') return { kind: 'web-fetch', ...common, url: view.url, statusCode: view.statusCode, text: call.text };
  return { kind: 'web-search', ...common, sources: view.sources, ...(view.answer === undefined ? {} : { answer: view.answer }) };
}
