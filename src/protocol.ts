import type { TodoItem } from './contract/event.ts';
import type { FileLocation, ReadFileLine, SearchFileMatches, ToolCallKind, WebSource } from './contract/presentation.ts';

/**
 * Every message between the host and its webviews, and the data in them. The chat is a projection of the session log
 * (design 3): the host keeps it, the view draws it. Host → view messages carry `seq`, contiguous from the last
 * `state`; a view that sees a gap asks for the state again (F7).
 */

// ── transcript ────────────────────────────────────────────────────────────────────────────────────────────────────

export type ItemStatus =
  /** The model is still writing the arguments. */
  | 'streaming'
  /** Logged, waiting for its turn or for policy. */
  | 'pending'
  /** An approval, a review or a question waits for the user. */
  | 'asking'
  | 'running'
  | 'completed'
  | 'failed'
  /** Cancelled, or the outcome is unknown after a crash. */
  | 'stopped';

export interface UserItem {
  readonly kind: 'user'; readonly id: string; readonly turn: number; readonly text: string;
  /** ms since the epoch. */
  readonly time: number;
}
/** A plugin-sourced message (notice, instructions): drawn as one line that opens. */
export interface NoticeItem {
  readonly kind: 'notice'; readonly id: string; readonly turn: number; readonly level: 'info' | 'warning' | 'error';
  readonly text: string; readonly detail?: string;
  /** Something happens by itself at `until`; waited for since `from`. Both ms since the epoch. */
  readonly wait?: { readonly from: number; readonly until: number };
  readonly action?: { readonly title: string; readonly message: ViewToHost };
}
export interface AssistantBlock {
  readonly type: 'text' | 'reasoning'; readonly text: string;
  /** How long a finished reasoning block took, ms, where it is known. */
  readonly durationMs?: number;
}
export interface AssistantItem {
  readonly kind: 'assistant'; readonly id: string; readonly turn: number; readonly blocks: readonly AssistantBlock[];
  readonly streaming: boolean; readonly interrupted: boolean;
}

/** One line of a diff card; `old`/`new` are 1-based line numbers. */
export interface DiffRow { readonly sign: ' ' | '+' | '-'; readonly text: string; readonly old?: number; readonly new?: number }
export interface DiffCardHunk {
  readonly id: string; readonly rows: readonly DiffRow[];
  /** What became of it: a staged change was accepted or rejected, one that had landed kept or undone. */
  readonly state?: 'pending' | 'accepted' | 'rejected' | 'kept' | 'undone';
}
export interface DiffCardFile {
  readonly path: string; readonly isNew: boolean; readonly added: number; readonly removed: number; readonly hunks: readonly DiffCardHunk[];
  /** Rows were cut to keep the card small; the native diff has all. */
  readonly truncated: boolean;
}

/** What a card draws: the verified call or result view, made ready for drawing. Closed: end the switch in assertNever. */
export type CardView =
  | { readonly card: 'generic'; readonly title: string; /** What the call is about, when its title is just its name. */ readonly detail?: string; readonly kind: ToolCallKind; readonly input?: string; readonly content?: string; readonly locations: readonly FileLocation[]; /** The list that the call writes. */ readonly todos?: readonly TodoItem[] }
  | { readonly card: 'terminal'; readonly title: string; readonly description?: string; readonly cwd?: string; readonly output?: string; readonly exitCode?: number; readonly signal?: string; /** Files that hold all of an output that was cut. */ readonly files?: readonly string[] }
  | { readonly card: 'diff'; readonly title: string; readonly files: readonly DiffCardFile[]; readonly locations: readonly FileLocation[] }
  | { readonly card: 'search'; readonly shape: 'matches'; readonly title: string; readonly files: readonly SearchFileMatches[]; readonly truncated: boolean; readonly total: number }
  | { readonly card: 'search'; readonly shape: 'paths'; readonly title: string; readonly paths: readonly string[]; readonly truncated: boolean; readonly total: number }
  | { readonly card: 'read'; readonly title: string; readonly path: string; readonly offset: number; readonly lines: readonly ReadFileLine[]; readonly totalLines: number; readonly lang?: string }
  | { readonly card: 'web'; readonly kind: 'search'; readonly title: string; readonly sources: readonly WebSource[]; readonly answer?: string; readonly truncated: boolean }
  | { readonly card: 'web'; readonly kind: 'fetch'; readonly title: string; readonly url: string; readonly statusCode: number; readonly truncated: boolean };

export interface QuestionOption { readonly label: string; readonly description?: string }
export interface Question {
  readonly id: string; readonly question: string; readonly header?: string; readonly options: readonly QuestionOption[]; readonly multiSelect: boolean;
}

/** What went wrong with a review last: a decision that could not be carried out, or proposals given up because the file was changed there. */
export type ReviewProblem = { readonly kind: 'failed'; readonly message: string } | { readonly kind: 'drift'; readonly lost: number };

/** What the user is asked on a card. The host decides what an answer means (J9). */
export type CardAsk =
  | { readonly kind: 'approval'; readonly id: string; readonly reason?: string; /** May be allowed for the rest of the session; `label` names what. */ readonly remember?: { readonly label: string } }
  | { readonly kind: 'review'; readonly fileId: string; readonly problem?: ReviewProblem }
  | { readonly kind: 'question'; readonly questions: readonly Question[] };

export interface ToolItem {
  readonly kind: 'tool'; readonly id: string; readonly turn: number; readonly name: string; readonly status: ItemStatus; readonly view: CardView;
  readonly ask?: CardAsk;
  /** The review this call's change is in, while something of it is undecided and the call is over. `landed`: the file has it (auto-edit). */
  readonly review?: { readonly fileId: string; readonly pending: number; readonly landed: boolean; readonly problem?: ReviewProblem };
  /** The result as the model got it, cut to 20,000 characters: reachable for every settled card (V9.5). */
  readonly resultText?: string;
  /** One line for the user when it failed. */
  readonly error?: string;
}

export type TranscriptItem = UserItem | NoticeItem | AssistantItem | ToolItem;

export type TranscriptPatch =
  /** Add at the end, or replace the item with this id. */
  | { readonly op: 'put'; readonly item: TranscriptItem }
  /** Streamed text: append to block `block` of an assistant item, creating it with `type` when it is new. */
  | { readonly op: 'append'; readonly id: string; readonly block: number; readonly type: 'text' | 'reasoning'; readonly text: string }
  /** Live output of a running terminal card (the view keeps a bounded tail). */
  | { readonly op: 'output'; readonly id: string; readonly text: string }
  | { readonly op: 'remove'; readonly id: string };

// ── chat state ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface SessionSummary {
  readonly id: string; readonly title: string;
  /** ms since the epoch of the last event. */
  readonly time: number;
  /** Folder name when it belongs to another workspace. */
  readonly elsewhere?: string;
}
export interface JobItem {
  readonly id: string; readonly kind: string; readonly label: string; readonly status: 'running' | 'stopping' | 'completed' | 'killed' | 'failed';
  readonly detail?: string; readonly startedAt: number;
  /** The call that started it, when its output can be seen in a terminal (`openTerminal`). */
  readonly callId?: string;
  /** The end of what it printed so far, with escape sequences. */
  readonly tail?: string;
}
export interface ToolSummary { readonly name: string; readonly description: string }

/** What waits for the user: so many changes in so many files. `kind` says what a decision is called. */
export interface PendingReviews { readonly files: number; readonly changes: number; readonly kind: 'staged' | 'landed' | 'both' }

/** All that surrounds the transcript; changes arrive as partial `meta` messages. */
export interface ChatMeta {
  readonly sessionId: string;
  readonly title: string;
  readonly status: 'idle' | 'running' | 'stopping';
  readonly model: { readonly provider: string; readonly id: string; readonly name: string; readonly offline: boolean };
  readonly preset: { readonly id: string; readonly label: string };
  /** Why the workspace can't do everything, when it can't. */
  readonly untrusted: boolean;
  /** No folder is open: there are no files of the user's to work on. */
  readonly noFolder?: boolean;
  readonly todos: readonly TodoItem[];
  readonly jobs: readonly JobItem[];
  readonly reviews: PendingReviews;
  readonly tools: readonly ToolSummary[];
  /** Tokens of the last request and the model's window. */
  readonly usage?: { readonly used: number; readonly window?: number };
  readonly sessions: readonly SessionSummary[];
  /** Messages sent while the agent runs, not yet claimed. */
  readonly queued: readonly string[];
}
export interface ChatState {
  readonly meta: ChatMeta;
  /** The newest items, at most 200 at first. */
  readonly items: readonly TranscriptItem[];
  /** How many older items can be asked for. */
  readonly earlier: number;
}

export type HostToView =
  | { readonly type: 'state'; readonly seq: number; readonly state: ChatState }
  | { readonly type: 'patch'; readonly seq: number; readonly ops: readonly TranscriptPatch[] }
  | { readonly type: 'meta'; readonly seq: number; readonly meta: Partial<ChatMeta> }
  /** Older items, oldest first, to be put before what is there. */
  | { readonly type: 'earlier'; readonly seq: number; readonly items: readonly TranscriptItem[]; readonly earlier: number }
  /** Put text into the composer (a mention, a prompt) or move the focus there after the user's own gesture. */
  | { readonly type: 'compose'; readonly seq: number; readonly text?: string; readonly focus: boolean }
  /** Paths for the `@` completion of the composer. */
  | { readonly type: 'mentions'; readonly seq: number; readonly query: string; readonly paths: readonly string[] };

export type ViewToHost =
  | { readonly type: 'ready' }
  | { readonly type: 'resync'; readonly have: number }
  | { readonly type: 'earlier' }
  | { readonly type: 'send'; readonly text: string; /** While running: `steer` = at the next step, `queue` = next turn. */ readonly mode: 'steer' | 'queue' }
  | { readonly type: 'stop' }
  | { readonly type: 'newSession' }
  | { readonly type: 'openSession'; readonly id: string }
  | { readonly type: 'deleteSession'; readonly id: string }
  | { readonly type: 'approve'; readonly callId: string; readonly id: string; readonly outcome: 'allow' | 'allow-session' | 'reject' }
  | { readonly type: 'answer'; readonly callId: string; readonly answers: readonly { readonly id: string; readonly selected: readonly string[]; readonly custom?: string }[] }
  /** The user declines to answer a call's questions. */
  | { readonly type: 'skip'; readonly callId: string }
  | { readonly type: 'openLocation'; readonly path: string; /** 1-based. */ readonly line?: number }
  | { readonly type: 'openDiff'; readonly callId: string; readonly path?: string }
  | { readonly type: 'openTerminal'; readonly callId: string }
  | { readonly type: 'openResults'; readonly callId: string }
  | { readonly type: 'review'; readonly fileId: string; readonly action: 'accept' | 'reject'; readonly hunkId?: string; readonly note?: string }
  /** Back to before this message (the id of a user item): files, conversation, or both; the host asks which. */
  | { readonly type: 'rewind'; readonly id: string }
  | { readonly type: 'reviewAll'; readonly action: 'accept' | 'reject' }
  | { readonly type: 'stopJob'; readonly id: string }
  | { readonly type: 'openLink'; readonly url: string }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'mentions'; readonly query: string }
  /** Commands the view may run: a closed list, checked by the host. */
  | { readonly type: 'command'; readonly id: 'selectModel' | 'selectPreset' | 'setApiKey' | 'showLog' | 'showPlugins' | 'showChanges' | 'manageTrust' | 'openFolder' | 'openSettings' | 'exportSession' | 'openInEditor' }
  /** The view itself failed; goes to the log. */
  | { readonly type: 'error'; readonly message: string };

// ── results view ──────────────────────────────────────────────────────────────────────────────────────────────────

export type ResultsPage =
  | { readonly kind: 'empty' }
  | { readonly kind: 'matches'; readonly callId: string; readonly title: string; /** Source of the regular expression the matches were found with, for highlighting. */ readonly pattern?: string; readonly files: readonly SearchFileMatches[]; readonly truncated: boolean; readonly total: number; readonly raw?: string }
  | { readonly kind: 'paths'; readonly callId: string; readonly title: string; readonly paths: readonly string[]; readonly truncated: boolean; readonly total: number; readonly raw?: string }
  | { readonly kind: 'web-search'; readonly callId: string; readonly title: string; readonly sources: readonly WebSource[]; readonly answer?: string; readonly truncated: boolean }
  | { readonly kind: 'web-fetch'; readonly callId: string; readonly title: string; readonly url: string; readonly statusCode: number; readonly truncated: boolean; /** Readable text as Markdown. */ readonly text: string };

export type HostToResults = { readonly type: 'page'; readonly seq: number; readonly page: ResultsPage };
export type ResultsToHost =
  | { readonly type: 'ready' }
  | { readonly type: 'open'; readonly path: string; readonly line?: number; readonly column?: number; readonly length?: number; readonly preview: boolean }
  | { readonly type: 'openAll'; readonly paths: readonly string[] }
  | { readonly type: 'openRaw'; readonly callId: string }
  | { readonly type: 'openLink'; readonly url: string }
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'error'; readonly message: string };

// ── validation on entry ───────────────────────────────────────────────────────────────────────────────────────────

type Check = (value: unknown) => boolean;
const string: Check = (v) => typeof v === 'string';
const number: Check = (v) => typeof v === 'number' && Number.isFinite(v);
const boolean: Check = (v) => typeof v === 'boolean';
const optional = (check: Check): Check => (v) => v === undefined || check(v);
const oneOf = (...values: string[]): Check => (v) => typeof v === 'string' && values.includes(v);
const listOf = (check: Check): Check => (v) => Array.isArray(v) && v.every(check);
const record = (fields: Record<string, Check>): Check => (v) =>
  typeof v === 'object' && v !== null && Object.entries(fields).every(([key, check]) => check((v as Record<string, unknown>)[key]));

const VIEW_TO_HOST: Record<ViewToHost['type'], Check> = {
  ready: record({}),
  resync: record({ have: number }),
  earlier: record({}),
  send: record({ text: string, mode: oneOf('steer', 'queue') }),
  stop: record({}),
  newSession: record({}),
  openSession: record({ id: string }),
  deleteSession: record({ id: string }),
  approve: record({ callId: string, id: string, outcome: oneOf('allow', 'allow-session', 'reject') }),
  answer: record({ callId: string, answers: listOf(record({ id: string, selected: listOf(string), custom: optional(string) })) }),
  skip: record({ callId: string }),
  openLocation: record({ path: string, line: optional((v) => typeof v === 'number') }),
  openDiff: record({ callId: string, path: optional(string) }),
  openTerminal: record({ callId: string }),
  openResults: record({ callId: string }),
  review: record({ fileId: string, action: oneOf('accept', 'reject'), hunkId: optional(string), note: optional(string) }),
  rewind: record({ id: string }),
  reviewAll: record({ action: oneOf('accept', 'reject') }),
  stopJob: record({ id: string }),
  openLink: record({ url: string }),
  copy: record({ text: string }),
  mentions: record({ query: string }),
  command: record({
    id: oneOf('selectModel', 'selectPreset', 'setApiKey', 'showLog', 'showPlugins', 'showChanges', 'manageTrust', 'openFolder', 'openSettings', 'exportSession', 'openInEditor'),
  }),
  error: record({ message: string }),
};
const RESULTS_TO_HOST: Record<ResultsToHost['type'], Check> = {
  ready: record({}),
  open: record({ path: string, line: optional(number), column: optional(number), length: optional(number), preview: boolean }),
  openAll: record({ paths: listOf(string) }),
  openRaw: record({ callId: string }),
  openLink: record({ url: string }),
  copy: record({ text: string }),
  error: record({ message: string }),
};

function parse<T extends { type: string }>(table: Record<T['type'], Check>, value: unknown): T | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const type = (value as { type?: unknown }).type;
  if (typeof type !== 'string' || !Object.hasOwn(table, type)) return undefined;
  return table[type as T['type']](value) ? (value as T) : undefined;
}

/** The message, or undefined when it is none of ours: webview input is never trusted. */
export function parseViewToHost(value: unknown): ViewToHost | undefined {
  return parse<ViewToHost>(VIEW_TO_HOST, value);
}
/** See {@link parseViewToHost}. */
export function parseResultsToHost(value: unknown): ResultsToHost | undefined {
  return parse<ResultsToHost>(RESULTS_TO_HOST, value);
}

const HOST_TYPES = new Set<HostToView['type']>(['state', 'patch', 'meta', 'earlier', 'compose', 'mentions']);
/** View side: the message, or undefined. The host is trusted for content, not for being the sender of every event. */
export function parseHostToView(value: unknown): HostToView | undefined {
  const message = value as Partial<HostToView> | null;
  return typeof message === 'object' && message !== null && HOST_TYPES.has(message.type as HostToView['type']) && typeof message.seq === 'number'
    ? (message as HostToView) : undefined;
}
