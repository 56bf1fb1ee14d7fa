import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../src/contract/agent.ts';
import { defineTool } from '../../src/contract/define-tool.ts';
import type { SessionEvent } from '../../src/contract/event.ts';
import type { ToolDefinition } from '../../src/contract/tool.ts';
import { startHeadless } from '../../src/headless/compose.ts';
import type { ScriptEntry } from '../../src/model/script.ts';
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER, ScriptedAdapter } from '../../src/model/scripted.ts';
import type { PresetId } from '../../src/policy/presets.ts';
import type { Question, ToolItem } from '../../src/protocol.ts';
import type { ReviewFile } from '../../src/seams/review.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { CALLS, FILES, PLUGINS, WEB } from './card-calls.ts';

/** What the picture of one call shows. `live` is output that came while it ran. */
export interface CardState { readonly state: string; readonly item: ToolItem; readonly live?: string }

/** A call to be made for pictures. */
export interface GalleryCall {
  /** The sheet it belongs to. */
  readonly kind: string;
  /** What it is an example of; `done` also yields the states before it: preparing, waiting, running. */
  readonly state: string;
  readonly name: string;
  /** A string is passed on raw. */
  readonly args: unknown;
  /** Calls that go first, in the same session. */
  readonly first?: readonly { readonly name: string; readonly args: unknown }[];
  readonly preset?: PresetId;
  /** What the user says when asked; `wait`: nothing, the picture is of the asking. Default: yes. */
  readonly answer?: 'yes' | 'no' | 'wait';
  /** Stopped as soon as the call runs, or once it has printed. */
  readonly stop?: 'at once' | 'printed';
  /** Output to show while the call runs. */
  readonly live?: string;
}

/** Long enough for a stopped command to have printed what it prints first, and for what was asked to be asked. */
const until = async (agent: Agent, what: string, there: () => boolean): Promise<void> => {
  for (let left = 2000; !there(); left--) {
    if (left === 0 || agent.session.events.some((event) => event.type === 'turn/end')) throw new Error(`${what}: the turn ended before it was seen`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/**
 * Every card in every state, by kind: real calls of the real tools in a workspace of their own, drawn from the session's
 * log as the chat draws them. Only the model and the network are scripted.
 */
export async function cardGallery(): Promise<ReadonlyMap<string, readonly CardState[]>> {
  const base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'dsh-gallery-')));
  const workspace = path.join(base, 'parser');
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(workspace, name)), { recursive: true });
    await writeFile(path.join(workspace, name), text);
  }
  const script: ScriptEntry[] = [];
  let answer: GalleryCall['answer'];
  let questions: readonly Question[] | undefined;
  const runtime = await startHeadless({
    workspace, sessionsDir: path.join(base, 'sessions'), model: () => ({ provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL }),
    async extras(mount, ctx) {
      const adapter = new ScriptedAdapter({ user: [], model: [] });
      ctx.llm.registerAdapter([SCRIPTED_PROVIDER], {
        providerInfo: (provider) => adapter.providerInfo(provider),
        listModels: (provider) => adapter.listModels(provider),
        resolveModel: (provider, model) => adapter.resolveModel(provider, model),
        stream: (options) => new ScriptedAdapter({ user: [], model: [script.shift() ?? { text: 'Done.' }] }).stream(options),
      });
      ctx.web.registerSearchProvider(WEB.search);
      for (const plugin of PLUGINS) ctx.tools.register(defineTool(plugin as never) as ToolDefinition);
      await mount(ctx.plugin({ name: 'gallery-answers', inject: ['approval', 'review', 'userQuestions'], apply: (plugin: Context) => answers(plugin, () => answer, (asked) => (questions = asked)) }));
      replaceFetch(ctx);
    },
  });
  const out = new Map<string, CardState[]>();
  try {
    for (const call of CALLS) {
      answer = call.answer ?? 'yes';
      questions = undefined;
      const made = await play(runtime.ctx, workspace, script, call, () => questions);
      out.set(call.kind, [...(out.get(call.kind) ?? []), ...made]);
    }
  } finally {
    await runtime.dispose();
    await rm(base, { recursive: true, force: true });
  }
  return out;
}

/** The fetch tool's provider is part of the composition, and goes to the network: its place is taken. */
function replaceFetch(ctx: Context): void {
  const web = ctx.web;
  Object.defineProperty(web, 'fetch', { value: WEB.fetch, configurable: true, writable: true });
}

function answers(ctx: Context, answer: () => GalleryCall['answer'], asked: (questions: readonly Question[]) => void): void {
  const never = new Promise<never>(() => undefined);
  ctx.on('approval/request', async (request) => {
    if (answer() === 'wait') {
      await Promise.race([never, new Promise((resolve) => request.signal?.addEventListener('abort', resolve))]);
      return 'cancelled';
    }
    return answer() === 'no' ? 'rejected' : 'allowed-once';
  });
  ctx.on('review/staged', (file) => {
    if (answer() === 'wait') return;
    setImmediate(() => void (answer() === 'no' ? ctx.review.reject(file.id, 'keep the old name') : ctx.review.accept(file.id)));
  });
  ctx.effect(() => ctx.userQuestions.provide(async (request) => {
    asked(request.questions.map(({ id, question, header, options = [], multi_select: multiSelect = false }) => ({ id, question, ...(header === undefined ? {} : { header }), options, multiSelect })));
    if (answer() === 'wait') await Promise.race([never, new Promise((_resolve, reject) => request.signal.addEventListener('abort', () => reject(new Error('stopped'))))]);
    if (answer() === 'no') throw new Error('the user did not answer');
    return request.questions.map(({ id, options = [] }) => ({ id, selected: options[0] ? [options[0].label] : [], ...(options[0] ? {} : { custom: 'Only the scanner, please.' }) }));
  }), 'gallery questions');
}

/** Ids are one a picture: reviews are found by them. */
let ids = 0;

async function play(ctx: Context, workspace: string, script: ScriptEntry[], call: GalleryCall, asked: () => readonly Question[] | undefined): Promise<CardState[]> {
  const { agent, dispose } = await ctx.agents.create({ meta: { cwd: workspace } });
  if (call.preset !== undefined) ctx.permissions.setPreset(agent, call.preset);
  // a turn that was stopped left its end behind
  script.length = 0;
  for (const first of call.first ?? []) script.push({ toolCalls: [{ id: `first-${++ids}`, name: first.name, arguments: first.args }] });
  const raw = typeof call.args === 'string' ? call.args : JSON.stringify(call.args);
  script.push({ toolCalls: [{ id: `call-${++ids}`, name: call.name, arguments: raw }], chunks: Math.max(8, Math.ceil(raw.length / 6)) }, { text: 'Done.' });
  const events = (): readonly SessionEvent[] => agent.session.events;
  const started = (): SessionEvent | undefined => events().filter((event) => event.type === 'tool/call').at(call.first?.length ?? 0);
  const draw = (end: number, review?: ReviewFile): ToolItem | undefined => {
    const transcript = new Transcript({ tool: (name) => ctx.tools.get(name, agent), cwd: () => workspace, review: (id) => ctx.review.forCall(id) });
    for (const event of events().slice(0, end)) transcript.apply(event);
    if (review !== undefined) transcript.review(review);
    const questions = asked();
    const last = transcript.items().findLast((item) => item.kind === 'tool');
    if (questions !== undefined && last?.kind === 'tool' && last.status === 'running') transcript.question(last.id, questions);
    if (call.live !== undefined && last?.kind === 'tool' && last.status === 'running') transcript.output(last.id, call.live);
    return transcript.items().findLast((item) => item.kind === 'tool');
  };
  const release = agent.session.onAppend((event) => {
    if (call.stop === 'at once' && event === started()) agent.cancel({ kind: 'user' });
  });
  const printed = ctx.on('shell/output', () => {
    if (call.stop === 'printed') agent.cancel({ kind: 'user' });
  });
  try {
    agent.followup({ content: [{ type: 'text', text: 'Go on.' }], source: { kind: 'user' } });
    let waiting: ToolItem | undefined;
    if (call.answer === 'wait') {
      const review = (): ReviewFile | undefined => ctx.review.files().findLast((file) => file.state === 'staged');
      await until(agent, `${call.kind}, ${call.state}`, () => events().some((event) => event.type === 'approval/asked') || review() !== undefined || asked() !== undefined);
      waiting = draw(events().length, review());
      agent.cancel({ kind: 'user' });
    }
    await agent.whenIdle();
    if (call.answer === 'wait') return waiting === undefined ? [] : [{ state: call.state, item: renamed(waiting, call.state) }];
    const end = draw(events().length);
    const made: CardState[] = end === undefined ? [] : [{ state: call.state, item: renamed(end, call.state) }];
    return call.state === 'done' ? [...before(call, events(), draw), ...made] : made;
  } finally {
    release();
    printed();
    for (const file of ctx.review.files()) await ctx.review.reject(file.id);
    await dispose();
  }
}

/** The states a finished call went through, each the log up to there. */
function before(call: GalleryCall, events: readonly SessionEvent[], draw: (end: number) => ToolItem | undefined): CardState[] {
  const skip = call.first?.length ?? 0;
  const at = (type: SessionEvent['type']): number => events.findIndex((event, place) => event.type === type && events.slice(0, place).filter((other) => other.type === type).length === skip);
  const chunks = events.flatMap((event, place) => (event.type === 'assistant/chunk' && event.data.chunk.type === 'tool-call-delta' && place < at('assistant/message') ? [place] : []));
  const places: [string, number][] = [['preparing', (chunks.at(-3) ?? chunks.at(-1) ?? -2) + 1], ['waiting', at('assistant/message') + 1], ['running', at('tool/call') + 1]];
  return places.flatMap(([state, end]) => {
    const item = end > 0 ? draw(end) : undefined;
    return item === undefined ? [] : [{ state, item: renamed(item, state), ...(state === 'running' && call.live !== undefined ? { live: call.live } : {}) }];
  });
}

/** Ids are by state: one page shows several states of one call. */
function renamed(item: ToolItem, state: string): ToolItem {
  return { ...item, id: `${item.id}-${state}` };
}
