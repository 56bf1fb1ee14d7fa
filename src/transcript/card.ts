import { assertNever } from '../contract/never.ts';
import type {
  FileLocation, ReadFileLine, SearchFileMatches, ToolCallKind, ToolCallView, ToolResultView,
} from '../contract/presentation.ts';
import type { CardView } from '../protocol.ts';
import { diffFiles } from './diff-card.ts';
import { cut, cutHead, inputText, LIMITS, plainText } from './limits.ts';

/** A pending call, ready for drawing. */
export function callCard(view: ToolCallView): CardView {
  switch (view.card) {
    case 'generic': {
      const input = inputText(view.rawInput);
      return {
        card: 'generic', title: view.title, kind: view.kind ?? 'other', ...(input !== undefined && { input }),
        ...(view.content && { content: cut(plainText(view.content), LIMITS.resultText) }), locations: view.locations ?? [],
      };
    }
    case 'terminal':
      return {
        card: 'terminal', title: view.title, ...(view.description !== undefined && { description: view.description }),
        ...(view.cwd !== undefined && { cwd: view.cwd }),
      };
    case 'diff': return { card: 'diff', title: view.title, files: diffFiles(view.diffs), locations: view.locations ?? [] };
    default: return assertNever(view, 'call card');
  }
}

function kindOf(call: ToolCallView): ToolCallKind {
  switch (call.card) {
    case 'generic': return call.kind ?? 'other';
    case 'terminal': return 'execute';
    case 'diff': return 'edit';
    default: return assertNever(call, 'call card');
  }
}

function locationsOf(call: ToolCallView): FileLocation[] {
  return call.card === 'terminal' ? [] : call.locations ?? [];
}

function readLines(lines: readonly ReadFileLine[]): ReadFileLine[] {
  let room: number = LIMITS.readLines;
  const shown: ReadFileLine[] = [];
  for (const { number, text } of lines) {
    if (room <= 0) break;
    const part = cut(text, Math.min(LIMITS.line, room));
    room -= part.length + 1;
    shown.push({ number, text: part });
  }
  return shown;
}

function searchFiles(files: readonly SearchFileMatches[]): SearchFileMatches[] {
  let room: number = LIMITS.searchLines;
  const shown: SearchFileMatches[] = [];
  for (const { path, matches } of files) {
    if (room <= 0) break;
    const some = matches.slice(0, room);
    room -= Math.max(1, some.length);
    shown.push({ path, matches: some.map(({ lineNumber, line }) => ({ lineNumber, line: cut(line, LIMITS.line) })) });
  }
  return shown;
}

/** A settled call, ready for drawing. The result's card replaces the call's (V9.3); a missing title keeps the pending one (V9.2). */
export function resultCard(view: ToolResultView, call: ToolCallView): CardView {
  const title = view.title ?? call.title;
  switch (view.card) {
    case 'generic': {
      const input = call.card === 'generic' ? inputText(call.rawInput) : undefined;
      return {
        card: 'generic', title, kind: kindOf(call), ...(input !== undefined && { input }),
        ...(view.content && { content: cut(plainText(view.content), LIMITS.resultText) }), locations: locationsOf(call),
      };
    }
    case 'terminal': {
      const { description = undefined, cwd = undefined } = call.card === 'terminal' ? call : {};
      return {
        card: 'terminal', title, ...(description !== undefined && { description }), ...(cwd !== undefined && { cwd }),
        ...(view.output !== undefined && { output: cutHead(view.output, LIMITS.output) }),
        ...(view.exitCode !== undefined && { exitCode: view.exitCode }), ...(view.signal !== undefined && { signal: view.signal }),
      };
    }
    case 'diff': return { card: 'diff', title, files: diffFiles(view.diffs), locations: locationsOf(call) };
    case 'search':
      return view.shape === 'matches'
        ? { card: 'search', shape: 'matches', title, files: searchFiles(view.files), truncated: view.truncated, total: view.total }
        : { card: 'search', shape: 'paths', title, paths: view.paths.slice(0, LIMITS.searchLines), truncated: view.truncated, total: view.total };
    case 'read':
      return {
        card: 'read', title, path: view.path, offset: view.offset, lines: readLines(view.lines), totalLines: view.totalLines,
        ...(view.lang !== undefined && { lang: view.lang }),
      };
    case 'web':
      return view.kind === 'search'
        ? {
            card: 'web', kind: 'search', title, truncated: view.truncated, ...(view.answer !== undefined && { answer: cut(view.answer, LIMITS.resultText) }),
            sources: view.sources.slice(0, LIMITS.sources).map((source) => ({ ...source, ...(source.snippet !== undefined && { snippet: cut(source.snippet, LIMITS.line) }) })),
          }
        : { card: 'web', kind: 'fetch', title, url: view.url, statusCode: view.statusCode, truncated: view.truncated };
    default: return assertNever(view, 'result card');
  }
}
