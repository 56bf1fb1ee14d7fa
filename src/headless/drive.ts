import { readFile, stat } from 'node:fs/promises';
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
import { readOptions, USAGE, UsageError, type DriveOptions, type ReplayOptions } from './options.ts';
import { cardsOf, cardText, Printer } from './print.ts';

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
  try {
    for (const text of script.user) {
      if (io.signal?.aborted) return 1;
      agent.followup({ content: [{ type: 'text', text }], source: { kind: 'user' } });
      await agent.whenIdle();
      if (lastEnd(agent)?.kind !== 'completed') return 1;
    }
    return 0;
  } finally {
    io.signal?.removeEventListener('abort', stop);
    await agent.session.flush();
  }
}

async function openAgent(runtime: Runtime, options: DriveOptions): Promise<AgentHandle> {
  const { agents } = runtime.ctx;
  if (options.session === undefined) return agents.create({ meta: { cwd: options.workspace } });
  const id = path.basename(options.session, '.jsonl');
  const exists = await stat(options.session).then(() => true, () => false);
  return exists ? agents.resume({ resumeSessionId: id }) : agents.create({ sessionId: id, meta: { cwd: options.workspace } });
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
  const runtime = await startHeadless({ workspace: path.dirname(options.file), sessionsDir: path.dirname(options.file) });
  try {
    const log = await runtime.ctx.sessions.view(path.basename(options.file).replace(/\.jsonl$/, ''));
    if (log.events.length === 0) throw new UsageError(`"${path.relative(io.cwd, options.file) || options.file}" holds no session that can be read`);
    for (const card of cardsOf(log.events, { tool: (name) => runtime.ctx.tools.get(name) })) {
      if (options.json) io.out(`${JSON.stringify(card)}\n`);
      else io.out(cardText(card));
    }
    return 0;
  } finally {
    await runtime.dispose();
  }
}

async function main(): Promise<void> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  // whoever read the output has gone (`| head`): stop as by Ctrl+C
  process.stdout.on('error', () => stop.abort());
  process.exitCode = await drive(process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    terminal: processTerminal(),
    cwd: process.env['INIT_CWD'] ?? process.cwd(),
    signal: stop.signal,
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
