import { callView, resultView } from '../contract/card.ts';
import type { CallId } from '../contract/content.ts';
import type { ApprovalOutcome, SessionEventMap } from '../contract/event.ts';
import type { ToolCallView, ToolResultView } from '../contract/presentation.ts';
import type { ToolDefinition } from '../contract/tool.ts';
import type { CardAsk, CardView, ItemStatus, Question, ToolItem } from '../protocol.ts';
import type { ReviewFile } from '../seams/review.ts';
import { callCard, resultCard } from './card.ts';
import { decision, reviewFiles } from './diff-card.ts';
import { cut, cutHead, LIMITS, plainText } from './limits.ts';
import { summaryOf, todosOf, withinRoot } from './summary.ts';

/** Results that say the call was stopped rather than that it went wrong. */
const STOPPED = new Set(['ABORTED', 'ABORTED_BEFORE_DISPATCH', 'ASK_ABORTED', 'TOOL_OUTCOME_UNKNOWN', 'TOOL_NOT_STARTED', 'REVIEW_REJECTED', 'REVIEW_INTERRUPTED', 'interrupted']);

type Approval = Extract<CardAsk, { kind: 'approval' }>;

/** One call in the transcript: what the log says, and over it what is live (output, questions, review). */
export class TranscriptCall {
  readonly id: string;
  readonly callId: CallId;
  readonly turn: number;
  readonly name: string;
  #arguments: unknown;
  #status: ItemStatus = 'streaming';
  #view: ToolCallView;
  #card: CardView;
  #result: { readonly text: string; readonly error: string | undefined; readonly view: ToolResultView } | undefined;
  #approval: Approval | undefined;
  /** The user said no: the call did not go wrong. */
  #denied = false;
  #questions: readonly Question[] | undefined;
  #review: ReviewFile | undefined;
  #output = '';
  #streamed = '';
  readonly #cwd: () => string | undefined;

  constructor(id: string, callId: CallId, turn: number, name: string, cwd: () => string | undefined = () => undefined) {
    this.#cwd = cwd;
    this.id = id;
    this.callId = callId;
    this.turn = turn;
    this.name = name;
    this.#view = { card: 'generic', title: name === '' ? 'tool' : name };
    this.#card = callCard(this.#view);
  }

  get settled(): boolean { return this.#status === 'completed' || this.#status === 'failed' || this.#status === 'stopped'; }
  get streaming(): boolean { return this.#status === 'streaming'; }

  /** More of the arguments came. */
  stream(delta: string): void {
    this.#streamed = cut(this.#streamed + delta, LIMITS.streamedInput);
    this.#view = { card: 'generic', title: this.name, ...(this.#streamed !== '' && { rawInput: this.#streamed }) };
    this.#card = callCard(this.#view);
  }

  /** The arguments are whole: the tool says how the call looks. */
  present(raw: string, definition: ToolDefinition | undefined): void {
    this.#streamed = '';
    this.#arguments = parse(raw);
    this.#view = callView(definition, this.name, this.#arguments);
    this.#card = this.#told(callCard(this.#view));
    if (this.#status === 'streaming') this.#status = 'pending';
  }

  run(): void {
    if (!this.settled) this.#status = 'running';
  }

  settle(data: SessionEventMap['tool/result'], definition: ToolDefinition | undefined): void {
    const [block] = data.message.content;
    const isError = block.isError === true;
    const text = plainText(block.content);
    const view = resultView(definition, this.#arguments, { content: [...block.content], isError, ...(data.meta !== undefined && { meta: data.meta }) });
    this.#result = { text: cut(text, LIMITS.resultText), error: isError ? errorLine(text, data.error) : undefined, view };
    this.#card = withFiles(this.#told(withoutRepeatedError(resultCard(view, this.#view), this.#result.error)), data.meta);
    this.#status = !isError ? 'completed' : this.#denied || (data.error && STOPPED.has(data.error.code)) ? 'stopped' : 'failed';
    this.#output = '';
    this.#approval = undefined;
    this.#questions = undefined;
  }

  /** The turn or the answer ended without a result for this call. */
  stop(): void {
    this.#status = 'stopped';
    this.#approval = undefined;
    this.#questions = undefined;
  }

  ask(approval: Approval): void {
    this.#approval = approval;
  }

  decided(id: string, outcome: ApprovalOutcome): boolean {
    if (this.#approval?.id !== id) return false;
    this.#approval = undefined;
    this.#denied = outcome === 'rejected';
    return true;
  }

  question(questions: readonly Question[] | undefined): void {
    this.#questions = questions;
  }

  review(file: ReviewFile | undefined): void {
    this.#review = file;
  }

  /** Live output; false when there is no terminal to show it. */
  output(text: string): boolean {
    if (this.settled || this.#card.card !== 'terminal') return false;
    this.#output = cutHead(this.#output + text, LIMITS.output);
    return true;
  }

  item(): ToolItem {
    const ask = this.#ask();
    // Staged changes outlive the call when the window closed while it waited: they are still to be decided.
    const review = this.#review && (this.#review.state !== 'staged' || this.settled) && this.#review.hunks.length > 0
      ? { fileId: this.#review.id, pending: this.#review.hunks.length, landed: this.#review.landed, ...(this.#review.problem && { problem: this.#review.problem }) } : undefined;
    return {
      kind: 'tool', id: this.id, turn: this.turn, name: this.name, status: ask && !this.settled ? 'asking' : this.#status, view: this.#shown(),
      ...(ask && { ask }), ...(review && { review }),
      ...(this.#result && { resultText: this.#result.text }), ...(this.#result?.error !== undefined && { error: this.#result.error }),
    };
  }

  /** The card with what its row says of the call (V9.7). A command stays to the letter. */
  #told(card: CardView): CardView {
    if (card.card === 'terminal') return card;
    if (card.card === 'generic' && this.name === 'todo_write') {
      const todos = todosOf(this.#arguments);
      return todos === undefined ? card : { ...card, todos };
    }
    const root = this.#cwd();
    const title = withinRoot(card.title, root);
    if (card.card !== 'generic' || card.title !== this.name) return title === card.title ? card : { ...card, title };
    const detail = summaryOf(this.#arguments);
    return detail === undefined ? card : { ...card, detail: withinRoot(detail, root) };
  }

  #ask(): CardAsk | undefined {
    if (this.settled) return undefined;
    if (this.#review?.state === 'staged') return { kind: 'review', fileId: this.#review.id, ...(this.#review.problem && { problem: this.#review.problem }) };
    return this.#approval ?? (this.#questions && { kind: 'question', questions: this.#questions });
  }

  #shown(): CardView {
    const card = this.#card;
    if (card.card === 'terminal' && this.#output !== '') return { ...card, output: this.#output };
    // a tool's own card of a change that landed stays: it says more than the diff
    if (!this.#review || (card.card !== 'diff' && this.settled && this.#review.landed)) return card;
    // A review that is open shows its own hunks, so that each can be decided where it stands, also after its call was cut off.
    if (this.#review.hunks.length > 0) return { card: 'diff', title: card.title, files: reviewFiles(this.#review), locations: 'locations' in card ? card.locations : [] };
    const [first, ...rest] = this.#review.decided;
    if (card.card !== 'diff' || first === undefined || rest.some(({ state }) => state !== first.state)) return card;
    const state = decision(first.state, this.#review.landed);
    return { ...card, files: card.files.map((file) => ({ ...file, hunks: file.hunks.map((hunk) => ({ ...hunk, state })) })) };
  }
}

/** As the loop reads arguments (O15.2), so that presenters see what the tool saw. */
function parse(raw: string): unknown {
  if (raw.trim() === '') return {};
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}

function errorLine(text: string, error: SessionEventMap['tool/result']['error']): string {
  const line = text.replace(/^Error: /, '').split('\n').find((part) => part.trim() !== '');
  return cut(line?.trim() ?? (error ? `${error.name}: ${error.code}` : ''), LIMITS.error);
}

/** A plain failed card has its message below it: the same line is not its content, too. */
function withoutRepeatedError(card: CardView, error: string | undefined): CardView {
  if (error === undefined || card.card !== 'generic' || card.content?.replace(/^Error: /, '').trim() !== error) return card;
  const { content: _content, ...rest } = card;
  return rest;
}

/** Where all of a command's output is, when the card has its end only (C11). */
function withFiles(card: CardView, meta: unknown): CardView {
  if (card.card !== 'terminal' || typeof meta !== 'object' || meta === null) return card;
  const { files } = meta as { files?: unknown };
  const named = Array.isArray(files) ? files.filter((file): file is string => typeof file === 'string') : [];
  return named.length === 0 ? card : { ...card, files: named };
}
