import type { ContentBlock } from './content.ts';
import type {
  DiffCallView, FileDiff, FileLocation, GenericCallView, GenericResultView, ReadResultView, SearchFileMatches, SearchResultView,
  TerminalCallView, TerminalResultView, ToolCallKind, ToolCallView, ToolResultView, WebResultView, WebSource,
} from './presentation.ts';
import { snapshotJson } from './snapshot.ts';
import type { ToolDefinition, ToolResult } from './tool.ts';

/**
 * The door between tools' presenters and the UI (T2.6, V9.2): presenters are run with their throws caught, and what they
 * return is rebuilt field by field from what was found to be right. A required field that is wrong turns the card into the
 * generic one, an optional one is left out. Nothing here throws, whatever a tool returns.
 */

type Fields = Readonly<Record<string, unknown>>;
type Presenters = Pick<ToolDefinition, 'presentCall' | 'presentResult'>;

/** More entries than any view can show; also ends the reading of a proxy that claims to be endless. */
const ENTRY_LIMIT = 1_000_000;
const CALL_KINDS: ReadonlySet<unknown> = new Set<ToolCallKind>(['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other']);

/** The own fields of an object, each read once; undefined for anything else. */
function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function attempt<T>(work: () => T | undefined): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isPosition = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;

/** `{ [key]: value }` when the value is right, `{}` otherwise: for optional fields. */
function optional<K extends string, T>(key: K, fields: Fields, isRight: (value: unknown) => value is T): { [P in K]?: T } {
  const value = fields[key];
  return (isRight(value) ? { [key]: value } : {}) as { [P in K]?: T };
}

/** Every entry as `each` reads it; undefined when the value is no list or an entry is wrong. */
function listOf<T>(value: unknown, each: (entry: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value) || value.length > ENTRY_LIMIT) return undefined;
  const list: T[] = [];
  for (let i = 0; i < value.length; i++) {
    const entry = each(value[i]);
    if (entry === undefined) return undefined;
    list.push(entry);
  }
  return list;
}

function isBlock(value: unknown): value is ContentBlock {
  const block = fieldsOf(value);
  switch (block?.['type']) {
    case 'text':
    case 'reasoning': return isText(block['text']);
    case 'image': {
      const image = fieldsOf(block['attachment']);
      return image !== undefined && isText(image['attachmentId']) && isText(image['mediaType'])
        && isCount(image['bytes']) && isCount(image['width']) && isCount(image['height']);
    }
    case 'tool-call': return isText(block['id']) && isText(block['name']) && isText(block['arguments']);
    case 'tool-result': return isText(block['toolCallId']) && Array.isArray(block['content']);
    default: return isText(block?.['type']); // the table of blocks is open (D5.3)
  }
}

/** `{ content }` with those blocks of a list that are right and made of JSON. */
function contentIn(fields: Fields): { content?: ContentBlock[] } {
  const { content } = fields;
  if (!Array.isArray(content) || content.length > ENTRY_LIMIT) return {};
  const blocks: ContentBlock[] = [];
  for (let i = 0; i < content.length; i++) {
    const block: unknown = attempt(() => snapshotJson(content[i]));
    if (isBlock(block)) blocks.push(block);
  }
  return { content: blocks };
}

/** `{ rawInput }` as detached JSON. */
function rawInput(value: unknown): { rawInput?: unknown } {
  const json = attempt(() => snapshotJson(value));
  return json === undefined ? {} : { rawInput: json };
}

function locationOf(entry: unknown): FileLocation | undefined {
  const fields = fieldsOf(entry);
  return fields && isText(fields['path']) ? { path: fields['path'], ...optional('line', fields, isPosition) } : undefined;
}

function locationsIn(fields: Fields): { locations?: FileLocation[] } {
  const locations = listOf(fields['locations'], locationOf);
  return locations === undefined ? {} : { locations };
}

function diffOf(entry: unknown): FileDiff | undefined {
  const { path, oldText, newText } = fieldsOf(entry) ?? {};
  return isText(path) && (oldText === null || isText(oldText)) && isText(newText) ? { path, oldText, newText } : undefined;
}

function callCard(fields: Fields): ToolCallView | undefined {
  const { card, title } = fields;
  if (!isText(title)) return undefined;
  switch (card) {
    case 'generic': {
      const kind = (value: unknown): value is ToolCallKind => CALL_KINDS.has(value);
      return {
        card, title, ...optional('kind', fields, kind), ...rawInput(fields['rawInput']), ...contentIn(fields), ...locationsIn(fields),
      } satisfies GenericCallView;
    }
    case 'terminal':
      return { card, title, ...optional('description', fields, isText), ...optional('cwd', fields, isText) } satisfies TerminalCallView;
    case 'diff': {
      const diffs = listOf(fields['diffs'], diffOf);
      return diffs && ({ card, title, diffs, ...locationsIn(fields) } satisfies DiffCallView);
    }
    default: return undefined;
  }
}

function searchCard(fields: Fields): SearchResultView | undefined {
  const { shape, truncated, total } = fields;
  if (!isFlag(truncated) || !isCount(total)) return undefined;
  const title = optional('title', fields, isText);
  if (shape === 'paths') {
    const paths = listOf(fields['paths'], (path) => (isText(path) ? path : undefined));
    return paths && { card: 'search', shape, ...title, paths, truncated, total };
  }
  if (shape !== 'matches') return undefined;
  const files = listOf(fields['files'], (entry): SearchFileMatches | undefined => {
    const file = fieldsOf(entry);
    const matches = listOf(file?.['matches'], (match) => {
      const { lineNumber, line } = fieldsOf(match) ?? {};
      return isPosition(lineNumber) && isText(line) ? { lineNumber, line } : undefined;
    });
    return file && matches && isText(file['path']) ? { path: file['path'], matches } : undefined;
  });
  return files && { card: 'search', shape, ...title, files, truncated, total };
}

function readCard(fields: Fields): ReadResultView | undefined {
  const { path, offset, totalLines } = fields;
  const lines = listOf(fields['lines'], (entry) => {
    const { number, text } = fieldsOf(entry) ?? {};
    return isPosition(number) && isText(text) ? { number, text } : undefined;
  });
  if (!lines || !isText(path) || !isPosition(offset) || !isCount(totalLines)) return undefined;
  return {
    card: 'read', ...optional('title', fields, isText), path, offset, lines, totalLines, ...optional('lang', fields, isText), ...contentIn(fields),
  };
}

function webCard(fields: Fields): WebResultView | undefined {
  const { kind, truncated, url, statusCode } = fields;
  if (!isFlag(truncated)) return undefined;
  const title = optional('title', fields, isText);
  if (kind === 'fetch') {
    return isText(url) && Number.isSafeInteger(statusCode) ? { card: 'web', kind, ...title, url, statusCode: statusCode as number, truncated } : undefined;
  }
  if (kind !== 'search') return undefined;
  const sources = listOf(fields['sources'], (entry): WebSource | undefined => {
    const source = fieldsOf(entry);
    if (!source || !isText(source['url'])) return undefined;
    return {
      url: source['url'], ...optional('title', source, isText), ...optional('snippet', source, isText), ...optional('publishedAt', source, isText),
    };
  });
  return sources && { card: 'web', kind, ...title, sources, ...optional('answer', fields, isText), truncated };
}

function terminalCard(fields: Fields): TerminalResultView {
  // A process ends by a signal or with a code; a view that says both means the signal.
  const end = isText(fields['signal'])
    ? { signal: fields['signal'] }
    : optional('exitCode', fields, (value): value is number => Number.isSafeInteger(value));
  return { card: 'terminal', ...optional('title', fields, isText), ...optional('output', fields, isText), ...end };
}

function resultCard(fields: Fields): ToolResultView | undefined {
  switch (fields['card']) {
    case 'generic': return { card: 'generic', ...optional('title', fields, isText), ...contentIn(fields) } satisfies GenericResultView;
    case 'terminal': return terminalCard(fields);
    case 'diff': {
      const diffs = listOf(fields['diffs'], diffOf);
      return diffs && { card: 'diff', ...optional('title', fields, isText), diffs };
    }
    case 'search': return searchCard(fields);
    case 'read': return readCard(fields);
    case 'web': return webCard(fields);
    default: return undefined;
  }
}

/**
 * How a pending call looks: what the tool says, when that is well-formed; else the generic card with the tool's name and
 * its arguments (V9.2). `definition` is the tool as this agent sees it now; undefined when there is none (V9.6). Total.
 */
export function callView(definition: Presenters | undefined, name: string, args: unknown): ToolCallView {
  const fields = attempt(() => fieldsOf(definition?.presentCall?.(args)));
  const view = fields && attempt(() => callCard(fields));
  return view ?? { card: 'generic', title: isText(fields?.['title']) ? fields['title'] : name, ...rawInput(args) };
}

/**
 * How a settled call looks. Without a well-formed view of the tool's own it is the generic card with the result's content,
 * and without a title, so that the pending one stays (V9.2). Total.
 */
export function resultView(definition: Presenters | undefined, args: unknown, result: ToolResult): ToolResultView {
  const fields = attempt(() => fieldsOf(definition?.presentResult?.(args, result)));
  const view = fields && attempt(() => resultCard(fields));
  const content = view ? undefined : attempt(() => contentIn({ content: result.content }));
  return view ?? { card: 'generic', ...(isText(fields?.['title']) ? { title: fields['title'] } : {}), ...content };
}
