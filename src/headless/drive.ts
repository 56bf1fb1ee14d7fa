import { open, readFile, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent } from '../contract/agent.ts';
import type { TurnEndReason } from '../contract/event.ts';
import { parseScript, ScriptError, type Script } from '../model/script.ts';
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER, ScriptedAdapter } from '../model/scripted.ts';
import type { AgentHandle } from '../agent/agents.ts';
import type { Runtime } from '../runtime.ts';
import * as answers from './answers.ts';
import { processTerminal, type Terminal } from './answers.ts';
import { startHeadless } from './compose.ts';
import { diskError, makeDirectories } from './disk.ts';
import { readOptions, USAGE, UsageError, type DriveOptions, type ReplayOptions } from './options.ts';
import { cardsOf, cardsText, Printer } from './print.ts';

/** What the driver talks to; tests bring their own. */
export interface DriveIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly terminal: Terminal;
  readonly cwd: string;
  /** Aborted by Ctrl+C: the turn is stopped and recorded. */
  readonly signal?: AbortSignal;
}

/** The whole program (design 6). Resolves with the exit code; never rejects. */
export async function drive(argv: readonly string[], io: DriveIo): Promise<0 | 1 | 2> {
  try {
    const options = readOptions(argv, io.cwd);
    if (options === 'help') {
      io.out(`${USAGE}\n`);
      return 0;
    }
    return options.kind === 'replay' ? await replay(options, io) : await run(options, io);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    io.err(`drive: ${message.split('\n')[0]!}\n`);
    return error instanceof UsageError || error instanceof ScriptError ? 2 : 1;
  }
}

async function run(options: DriveOptions, io: DriveIo): Promise<0 | 1> {
  const script = await loadScript(options.script, io.cwd);
  const folder = await stat(options.workspace).catch(() => undefined);
  if (folder?.isDirectory() !== true) throw new UsageError(`the workspace "${options.workspace}" is not a directory`);
  if (options.session !== undefined) await assertSessionFile(options.session);
  const runtime = await startHeadless({
    workspace: options.workspace,
    ...(options.session === undefined ? {} : { sessionsDir: path.dirname(options.session) }),
    model: () => ({ provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL }),
    permissions: { defaultPreset: () => options.preset },
    log: (entry) => { if (entry.level === 'warn' || entry.level === 'error') io.err(`${entry.name}: ${entry.text}\n`); },
    async extras(mount, ctx) {
      ctx.llm.registerAdapter([SCRIPTED_PROVIDER], new ScriptedAdapter(script));
      await mount(ctx.plugin(answers, { mode: options.approve, terminal: io.terminal }));
    },
  });
  try {
    return await converse(runtime, options, script, io);
  } finally {
    await runtime.dispose();
  }
}

async function converse(runtime: Runtime, options: DriveOptions, script: Script, io: DriveIo): Promise<0 | 1> {
  const { agent } = await openAgent(runtime, options);
  const printer = new Printer({ tool: (name) => runtime.ctx.tools.get(name, agent), review: (id) => runtime.ctx.review.forCall(id) }, io.out);
  // a resumed session says only what is new
  for (const event of options.json ? [] : agent.session.events) printer.event(event);
  agent.session.onAppend((event) => {
    if (options.json) io.out(`${JSON.stringify(event)}\n`);
    else printer.event(event);
  });
  const stop = (): void => agent.cancel({ kind: 'user' });
  io.signal?.addEventListener('abort', stop, { once: true });
  let unwritten = false;
  runtime.ctx.on('session/write-error', (_session, error) => {
    // what goes on without its log is worth nothing here
    if (!unwritten) io.err(`drive: the session's log can't be written: ${error instanceof Error ? error.message : String(error)}\n`);
    unwritten = true;
    stop();
  });
  try {
    for (const text of script.user) {
      if (io.signal?.aborted || unwritten) return 1;
      agent.followup({ content: [{ type: 'text', text }], source: { kind: 'user' } });
      await agent.whenIdle();
      if (lastEnd(agent)?.kind !== 'completed') return 1;
    }
    return unwritten ? 1 : 0;
  } finally {
    io.signal?.removeEventListener('abort', stop);
    if (!unwritten) await agent.session.flush();
  }
}

async function openAgent(runtime: Runtime, options: DriveOptions): Promise<AgentHandle> {
  const { agents } = runtime.ctx;
  if (options.session === undefined) return agents.create({ meta: { cwd: options.workspace } });
  const id = path.basename(options.session, '.jsonl');
  const exists = await stat(options.session).then(() => true, () => false);
  if (!exists) return agents.create({ sessionId: id, meta: { cwd: options.workspace } });
  const { cwd } = (await runtime.ctx.sessions.view(id)).header;
  if (cwd === undefined) throw new UsageError(`"${options.session}" does not say which folder it works in: it is no session's log, or has lost its first line`);
  const real = (folder: string): Promise<string> => realpath(folder).catch(() => folder);
  if (await real(cwd) !== await real(options.workspace)) throw new UsageError(`the session "${id}" works in "${cwd}": give that as --workspace`);
  return agents.resume({ resumeSessionId: id });
}

/** Tries whether a log can be kept there, before anything is played. Leaves nothing behind but its folder. */
async function assertSessionFile(file: string): Promise<void> {
  const fail = (why: string): UsageError => new UsageError(`the session's log can't be written to "${file}": ${why}`);
  try {
    await makeDirectories(path.dirname(file));
    const found = await stat(file).catch(() => undefined);
    if (found?.isDirectory()) throw fail('it is a directory');
    await (await open(file, 'a')).close();
    // an empty file holds nothing to go on with, and no new log is written over a file
    if (found === undefined || found.size === 0) await rm(file);
  } catch (error) {
    throw error instanceof UsageError ? error : fail(diskError('write', file, error).message.replace(/^cannot write ".*": /s, ''));
  }
}

function lastEnd(agent: Agent): TurnEndReason | undefined {
  const last = agent.session.events.findLast((event) => event.type === 'turn/start' || event.type === 'turn/end');
  return last?.type === 'turn/end' ? last.data.reason : undefined;
}

async function loadScript(file: string, cwd: string): Promise<Script> {
  const shown = path.relative(cwd, file) || file;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new ScriptError(`${shown}: the script can't be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
  return parseScript(text, shown);
}

/** The cards of a stored log, as this build's tools draw them; nothing is executed or changed (L11.8). */
async function replay(options: ReplayOptions, io: DriveIo): Promise<0 | 1> {
  const shown = path.relative(io.cwd, options.file) || options.file;
  const found = await stat(options.file).catch(() => undefined);
  if (found?.isFile() !== true) throw new UsageError(found === undefined ? `"${shown}" was not found` : `"${shown}" is not a file`);
  const runtime = await startHeadless({ workspace: path.dirname(options.file), sessionsDir: path.dirname(options.file) });
  try {
    const log = await runtime.ctx.sessions.view(path.basename(options.file).replace(/\.jsonl$/, ''));
    if (log.events.length === 0) throw new UsageError(`"${shown}" holds no session that can be read`);
    const cards = cardsOf(log.events, { tool: (name) => runtime.ctx.tools.get(name) });
    io.out(options.json ? cards.map((card) => `${JSON.stringify(card)}\n`).join('') : cardsText(cards));
    return 0;
  } finally {
    await runtime.dispose();
  }
}

async function main(): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  // whoever read the output has gone (`| head`): stop as by Ctrl+C
  process.stdout.on('error', () => stop.abort());
  process.exitCode = await drive(process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    terminal: processTerminal(() => stop.abort()),
    cwd: process.env['INIT_CWD'] ?? process.cwd(),
    signal: stop.signal,
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
