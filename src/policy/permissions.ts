import { Service, type Context } from '@deepseek-ai/cordis';
import { AbortError } from '../contract/abort.ts';
import type { Agent, Session } from '../contract/agent.ts';
import type { AskReason } from '../contract/ask-reason.ts';
import { HarnessError } from '../contract/error.ts';
import type { ApprovalRule } from '../contract/event.ts';
import { assertNever } from '../contract/never.ts';
import type { ToolCallKind } from '../contract/presentation.ts';
import type { PreToolDecision, ToolExecution } from '../contract/tool.ts';
import { ToolNotFoundError } from '../registry/failure.ts';
import type { ToolRuntime } from '../registry/runtime.ts';
import '../registry/events.ts';
import '../seams/approval.ts';
import type { FileDecision, FileIntent } from '../seams/fs.ts';
import type { Preflight } from '../seams/preflight.ts';
import { scopeTarget } from '../scope/carrier.ts';
import { askText } from './ask-text.ts';
import { analyzeCommand, unknownCommand, type CommandAnalysis, type SyntaxNode } from './command.ts';
import { effectOf, type Effect } from './effects.ts';
import type { GrammarFiles } from './grammar-entry.ts';
import { PathPolicy, type PathFacts } from './paths.ts';
import { DEFAULT_PRESET, isPreset, type PresetId } from './presets.ts';
import { commandRule, exactlyAllowed, prefixAllowed } from './rules.ts';
import { trapIn, type KeysIn, type TouchedPath } from './traps.ts';

export interface PermissionOptions {
  /** Absolute workspace folders, besides the session's cwd. */
  readonly roots?: () => readonly string[];
  /** Folders outside that a session may read: where its own outputs are kept. */
  readonly readable?: (session: Session) => readonly string[];
  /** Files that run as soon as they are saved: loaded tool plugins. */
  readonly codeFiles?: (realPath: string) => boolean;
  /** False: nothing is written, run or sent at all. Default: trusted. */
  readonly trusted?: () => boolean;
  /** For sessions that chose none. Default `ask`. */
  readonly defaultPreset?: () => PresetId;
  /** Absent: no command is known to be harmless, all of them ask. */
  readonly grammar?: GrammarFiles;
  /** Absent: a command that searches folders asks. */
  readonly keysIn?: KeysIn;
}

declare module '@deepseek-ai/cordis' {
  interface Context { permissions: Permissions }
}

type Parse = <T>(command: string, use: (root: SyntaxNode) => T) => T;
/** `realPath`: the file that may be written once it was allowed. */
type Ask = { readonly why: AskReason; readonly rule?: ApprovalRule; readonly realPath?: string };
type Verdict = { readonly kind: 'allow' } | { readonly kind: 'deny'; readonly reason: string } | ({ readonly kind: 'ask' } & Ask);

/** Words of one command whose paths are looked at; a command with more asks. */
const MAX_PATHS = 2_000;

const ALLOW: Verdict = { kind: 'allow' };
const UNTRUSTED = 'this workspace is not trusted: nothing is written, run or sent until the user trusts it';
const READ_ONLY = 'the permission preset is read-only: nothing is written, run or sent';

/**
 * `ctx.permissions`: decides before each call, by the session's preset, whether it runs, asks or is refused; and again
 * before bytes are written, for whatever reached a file on another way. Decided here, never in a view (J9).
 */
export class Permissions extends Service {
  static inject = ['tools', 'approval'];

  private readonly options: PermissionOptions;
  private readonly paths: PathPolicy;
  /** Real paths that a running call asked for before it started. */
  private readonly asked = new Map<string, Set<string>>();
  private parser: Promise<Parse> | undefined;

  constructor(ctx: Context, options: PermissionOptions = {}) {
    super(ctx, 'permissions');
    this.options = options;
    this.paths = new PathPolicy({
      roots: options.roots ?? (() => []),
      ...(options.codeFiles ? { codeFiles: options.codeFiles } : {}),
    });
    ctx.on('tools/pre-execute', (exec, next) => this.before(exec, next), { prepend: true });
    ctx.on('tools/result', (exec) => void this.asked.delete(exec.callId));
    ctx.on('fs/write-intent', (intent, next) => this.writing(intent, next), { prepend: true });
    ctx.on('fs/edit-intent', (intent, next) => this.writing(intent, next), { prepend: true });
  }

  /** The preset in force for a session. */
  presetOf(session: Session): PresetId {
    const last = session.events.findLast((event) => event.type === 'permission/preset');
    const chosen = last?.type === 'permission/preset' ? last.data.preset : undefined;
    return isPreset(chosen) ? chosen : this.options.defaultPreset?.() ?? DEFAULT_PRESET;
  }

  /** Switches a session's preset; the model is told once. */
  setPreset(agent: Agent, preset: PresetId): void {
    if (this.presetOf(agent.session) === preset) return;
    agent.session.append('permission/preset', { preset });
    const text = `The user switched the permission preset to "${preset}".`;
    agent.inject({ content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'permissions', form: 'notice', summary: text } });
  }

  /** For the review: what happens to a change of this session before it lands. */
  reviewMode(intent: FileIntent): 'stage' | 'apply' | 'pass' {
    switch (intent.agent ? this.presetOf(intent.agent.session) : 'ask') {
      case 'full':
        return 'pass';
      case 'auto-edit':
        return 'apply';
      case 'ask':
      case 'read-only':
        return 'stage';
    }
  }

  private async before(exec: ToolExecution, next: () => Promise<PreToolDecision>): Promise<PreToolDecision> {
    const verdict = await this.judge(exec);
    if (verdict.kind === 'deny') return verdict;
    // what another policy asks or refuses stands; one question is enough
    const decision = await next();
    if (decision.kind !== 'allow' || verdict.kind === 'allow') return decision;
    const known = await this.preflight(exec);
    switch (known?.kind) {
      case 'fails': return { kind: 'deny', reason: known.error.message };
      case 'asks-later': return decision;
      case undefined: break;
      default: return assertNever(known, 'preflight');
    }
    const { why, rule, realPath } = verdict;
    if (realPath !== undefined) this.asked.set(exec.callId, (this.asked.get(exec.callId) ?? new Set()).add(realPath));
    const reason = askText(why);
    this.ctx.approval.offer(exec.callId, { reason, why, ...(rule ? { rule } : {}) });
    return { kind: 'ask', reason };
  }

  /** Nobody is asked for what can't succeed. */
  private async preflight(exec: ToolExecution): Promise<Preflight | undefined> {
    const tools: ToolRuntime = this.ctx.tools;
    if (tools.get(exec.name, exec.agent) === undefined) return { kind: 'fails', error: new ToolNotFoundError(exec.name) };
    return await this.ctx.serial(scopeTarget(this, exec.agent), 'tools/preflight', exec) as Preflight | undefined;
  }

  private async judge(exec: ToolExecution): Promise<Verdict> {
    const { agent, name } = exec;
    // a call that belongs to nobody is our own (a test bench, an author trying a tool)
    if (!agent) return this.trusted ? ALLOW : { kind: 'deny', reason: UNTRUSTED };
    const tools: ToolRuntime = this.ctx.tools;
    const effect = effectOf(name, exec.arguments, tools.get(name, agent));
    const preset = this.presetOf(agent.session);
    const rules = this.ctx.approval.rules(agent.session);
    const toolRule: ApprovalRule = { kind: 'tool', toolName: name };
    const refused = this.refusal(effect, preset);
    if (refused !== undefined) return { kind: 'deny', reason: refused };
    switch (effect.kind) {
      case 'none':
        return ALLOW;
      case 'read':
        return preset === 'full' ? ALLOW : this.reading(effect, agent.session);
      case 'write':
        return this.writeVerdict(effect.paths, preset, agent.session.cwd);
      case 'run':
        return this.running(name, effect, preset, rules, agent.session.cwd);
      case 'network':
        return preset === 'full' || allowsTool(rules, name) ? ALLOW : { kind: 'ask', why: { code: 'network', target: effect.target }, rule: toolRule };
      case 'foreign': {
        const why = foreignReason(effect.says, preset);
        return preset === 'full' || why === undefined || allowsTool(rules, name) ? ALLOW : { kind: 'ask', why, rule: toolRule };
      }
      default:
        return assertNever(effect, 'effect');
    }
  }

  private get trusted(): boolean {
    return this.options.trusted?.() ?? true;
  }

  /** Why a kind of effect is out of the question, whoever asks. */
  private refusal(effect: Effect, preset: PresetId): string | undefined {
    const looks = effect.kind === 'none' || effect.kind === 'read';
    if (!this.trusted && !looks) return UNTRUSTED;
    if (preset !== 'read-only' || looks) return undefined;
    const harmless = effect.kind === 'foreign' && (effect.says === undefined || ['read', 'search', 'other'].includes(effect.says));
    return harmless ? undefined : READ_ONLY;
  }

  private async reading(effect: Extract<Effect, { kind: 'read' }>, session: Session): Promise<Verdict> {
    const readable = this.options.readable?.(session) ?? [];
    if (effect.secrets !== undefined) return { kind: 'ask', why: { code: 'secret-pattern', pattern: effect.secrets } };
    for (const given of effect.paths) {
      const facts = await this.paths.facts(given, session.cwd);
      const { realPath, problem } = facts;
      if (problem !== undefined) return noAccess(given, problem);
      if (facts.secret) return { kind: 'ask', why: { code: 'secret-file', given, realPath } };
      if (facts.outside && !(await this.paths.within(readable, realPath))) return { kind: 'ask', why: { code: 'outside', given, realPath } };
    }
    return ALLOW;
  }

  private async writeVerdict(given: readonly string[], preset: PresetId, cwd: string): Promise<Verdict> {
    for (const entry of given) {
      const facts = await this.paths.facts(entry, cwd);
      if (facts.problem !== undefined) return noAccess(entry, facts.problem);
      const why = writeReason(entry, facts, preset);
      if (why !== undefined) return { kind: 'ask', why, realPath: facts.realPath };
    }
    return ALLOW;
  }

  private async running(
    name: string, effect: Extract<Effect, { kind: 'run' }>, preset: PresetId, rules: readonly ApprovalRule[], sessionCwd: string,
  ): Promise<Verdict> {
    const { command } = effect;
    const analysis = await this.analyze(effect);
    const folder = await this.paths.facts(effect.cwd ?? '.', sessionCwd);
    if (folder.problem !== undefined) return noAccess(effect.cwd ?? sessionCwd, folder.problem);
    const cwd = folder.realPath;
    const harmless = analysis.certain && analysis.commands.every((entry) => entry.readOnly);
    const touched = await this.touchedPaths(command, analysis, cwd);
    if (touched === undefined) return { kind: 'ask', why: { code: 'command-many-paths', limit: String(MAX_PATHS) } };
    const guarded = harmless ? undefined : touched.find(({ facts }) => facts.protected);
    if (guarded) return { kind: 'ask', why: { code: 'command-makes-code-run', given: guarded.given } };
    if (preset === 'full') return ALLOW;
    const secret = touched.find(({ facts }) => facts.secret);
    if (secret) return { kind: 'ask', why: { code: 'command-secret-file', given: secret.given } };
    const ask = (why: AskReason): Verdict => ({ kind: 'ask', why, ...(effect.elsewhere !== true && { rule: commandRule(name, command, cwd, analysis) }) });
    // said of this very command or of the tool: where it reaches was known then
    if (exactlyAllowed(rules, name, command, cwd)) return ALLOW;
    if (folder.outside) return ask({ code: 'command-runs-outside', realPath: cwd });
    const outside = touched.find(({ facts }) => facts.outside);
    if (outside) return ask({ code: 'command-outside', given: outside.given });
    const { keysIn } = this.options;
    const trap = analysis.certain ? await trapIn({ commands: analysis.commands, cwd, touched, ...(keysIn && { keysIn }) }) : undefined;
    if (trap !== undefined) return ask(trap);
    if (harmless || prefixAllowed(rules, name, analysis)) return ALLOW;
    return ask(analysis.why === undefined ? { code: 'command' } : { code: 'command-uncertain', doubt: analysis.why });
  }

  /** Paths a command names: its words when it could be read, else everything in it that looks like one. Undefined: too many. */
  private async touchedPaths(command: string, analysis: CommandAnalysis, cwd: string): Promise<TouchedPath[] | undefined> {
    const words = analysis.certain
      ? [...analysis.inputs, ...analysis.commands.flatMap((entry) => entry.words.slice(1))].flatMap(pathsInWord)
      : command.split(/[\s"'`=<>|&;(){},]+/).flatMap(pathsInWord).filter((word) => /[./\\~]/.test(word));
    const names = new Set(words);
    if (names.size > MAX_PATHS) return undefined;
    const found: TouchedPath[] = [];
    for (const given of names) found.push({ given, facts: await this.paths.facts(given, cwd) });
    return found;
  }

  private async analyze(effect: Extract<Effect, { kind: 'run' }>): Promise<CommandAnalysis> {
    const { grammar } = this.options;
    if (effect.shell !== 'bash') return unknownCommand({ code: 'shell' });
    if (!grammar) return unknownCommand({ code: 'no-grammar' });
    try {
      this.parser ??= import('./grammar-entry.ts').then(({ createBashParser }) => createBashParser(grammar));
      const parse = await this.parser;
      return parse(effect.command, (root) => analyzeCommand(root, effect.command));
    } catch (error) {
      this.parser = undefined;
      this.ctx.logger('permissions').warn('a command could not be analysed, so it asks: %s', error);
      return unknownCommand({ code: 'not-analysed' });
    }
  }

  /** J1 and J5 on the real path at the last moment, for tools that are not in the table and links made since. */
  private async writing(intent: FileIntent, next: () => Promise<FileDecision>): Promise<FileDecision> {
    const { agent, callId, target, displayPath } = intent;
    const refuse = (message: string): FileDecision => ({ kind: 'refuse', error: new HarnessError(message, 'FS_NOT_PERMITTED') });
    if (!this.trusted) return refuse(UNTRUSTED);
    if (!agent) return next();
    const preset = this.presetOf(agent.session);
    if (preset === 'read-only') return refuse(READ_ONLY);
    const facts = await this.paths.facts(target.path, agent.session.cwd);
    const why = writeReason(displayPath, facts, preset);
    if (why === undefined || (callId !== undefined && this.asked.get(callId)?.has(facts.realPath))) return next();
    const reason = askText(why);
    const outcome = await this.ctx.approval.request({
      agent, toolName: intent.toolName, reason, why,
      ...(callId === undefined ? {} : { callId }), ...(intent.signal ? { signal: intent.signal } : {}),
    });
    const tool = `tool "${intent.toolName}"`;
    switch (outcome) {
      case 'allowed-once': return next();
      case 'rejected': return refuse(`the user rejected ${tool}: ${reason}`);
      case 'cancelled': return intent.signal?.aborted ? { kind: 'refuse', error: new AbortError() } : refuse(`approval for ${tool} was cancelled: ${reason}`);
      case 'unavailable': return refuse(`${tool} requires approval, but no approval channel is available: ${reason}`);
      default: return assertNever(outcome, 'approval outcome');
    }
  }
}

/** As the file system says it: no approval opens what can't be opened. */
function noAccess(given: string, problem: string): Verdict {
  return { kind: 'deny', reason: `cannot access "${given}": ${problem}` };
}

function writeReason(given: string, { realPath, protected: runs, outside }: PathFacts, preset: PresetId): AskReason | undefined {
  if (runs) return { code: 'makes-code-run', given, realPath };
  return outside && preset !== 'full' ? { code: 'outside', given, realPath } : undefined;
}

/** Why a tool that is not ours asks, by what its card says; undefined: it says nothing that asks. */
function foreignReason(says: ToolCallKind | undefined, preset: PresetId): AskReason | undefined {
  switch (says) {
    case 'execute': return { code: 'tool-runs' };
    case 'delete': return { code: 'tool-deletes' };
    case 'move': return { code: 'tool-moves' };
    case 'edit': return preset === 'ask' ? { code: 'tool-edits' } : undefined;
    case 'read': case 'search': case 'fetch': case 'other': case undefined: return undefined;
    default: return assertNever(says, 'kind of call');
  }
}

function allowsTool(rules: readonly ApprovalRule[], name: string): boolean {
  return rules.some((rule) => rule.kind === 'tool' && rule.toolName === name);
}

/** A word, and what stands in it behind `=`, `:` or a short option's letter. */
function pathsInWord(word: string): string[] {
  const address = /^([a-z][a-z0-9+.-]+):\/\/(.*)$/i.exec(word);
  if (address) return address[1]!.toLowerCase() === 'file' ? [address[2]!] : [];
  const parts = [word, ...word.split(/[=:]/).slice(1)].filter((part) => part !== '');
  const joined = /^-[A-Za-z](.*[./\\~].*)$/.exec(word)?.[1];
  return joined === undefined ? parts : [...parts, joined];
}

export default Permissions;
