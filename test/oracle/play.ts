import { Context, Service } from '@deepseek-ai/cordis';
import type { Agent } from '../../src/contract/agent.ts';
import type { JsonValue } from '../../src/contract/json.ts';
import type { UserMessage } from '../../src/contract/message.ts';
import type { ToolDefinition, ToolExecutionInput, ToolExecutionResult, ToolExecutionToken, ToolOutputDefinition } from '../../src/contract/tool.ts';
import type { BodySpec, ListenerSpec, Recipe, Scenario, Thrown, ToolSpec } from './scenario.ts';

/** One implementation of the registry with what belongs to it. */
export interface Kit {
  readonly tools: typeof import('../../src/registry/dsh-tools.ts');
  readonly prompt: typeof import('../../src/prompt/dsh-system-prompt.ts');
  readonly scope: typeof import('../../src/scope/dsh-scope.ts');
  readonly HarnessError: typeof import('../../src/contract/error.ts').HarnessError;
}

type Loose = Record<string, unknown>;
/** The events of cordis by plain strings, so that one player serves both kits. */
interface LooseContext {
  on(name: string, listener: (...args: never[]) => unknown, options?: { prepend?: boolean }): void;
  tools: {
    register(tool: ToolDefinition): () => void; guard(guard: (exec: Loose) => string | undefined): () => void;
    restrict(filter: object): () => void; presentAs(mode: string): () => void;
    execute(input: ToolExecutionInput): Promise<ToolExecutionResult>; executionMode(input: ToolExecutionInput): unknown; schemas(scope?: object): unknown;
  };
}

export function make(recipe: Recipe): unknown {
  if ('json' in recipe) return structuredClone(recipe.json);
  switch (recipe.odd) {
    case 'undefined': return undefined;
    case 'nan': return { x: NaN };
    case 'negative-zero': return -0;
    case 'bigint': return [1n];
    case 'function': return { toJSON: () => 1 };
    case 'symbol': return { [Symbol('k')]: 1 };
    case 'date': return new Date(0);
    case 'map': return new Map();
    case 'sparse': return Array(2);
    case 'proto-key': return JSON.parse('{"__proto__": {"x": 1}}');
    case 'getter-throws': return { get x(): never { throw new Error('getter blew up'); } };
    case 'cycle': {
      const cycle: Loose = {};
      cycle['self'] = cycle;
      return cycle;
    }
  }
}

function thrown(what: Thrown, kit: Kit): unknown {
  switch (what) {
    case 'error': return new TypeError('plain trouble');
    case 'harness-error': return new (class QuotaError extends kit.HarnessError {})('coded trouble', 'QUOTA');
    case 'string': return 'just text';
    case 'message-object': return { message: 'from an object' };
    case 'null': return null;
    case 'unprintable': return { toString(): never { throw new Error('no'); } };
  }
}

const outputs: Record<ToolSpec['output'], ToolOutputDefinition['schema']> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  json: {},
  'closed-object': { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false },
};

function context(text: string): UserMessage {
  return { id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'oracle' } };
}

function show(value: unknown): unknown {
  if (typeof value === 'symbol') return 'symbol';
  if (typeof value === 'function') return 'function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value === undefined ? 'undefined' : Object.is(value, -0) ? '-0' : value;
  if (value instanceof AbortSignal) return value.aborted ? 'aborted' : 'live';
  if (Array.isArray(value)) return value.map(show);
  // Sorted, because the order of keys in a result record is nobody's promise.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)
    .map(([key, member]) => [key, show(member)] as const).sort(([x], [y]) => (x < y ? -1 : 1)));
}

/** Doings of listeners that are played otherwise: what a listener would have to do for the outcome a clause demands. */
export type Corrections = Readonly<Record<string, (next: () => Promise<unknown>, exec: Readonly<Record<string, unknown>>) => unknown>>;

/** Texts that are each side's own to write. */
const ownWords: readonly (readonly [RegExp, string])[] = [
  [/^tools\.restrict\(.*(no-op|empty filter).*$/, 'tools.restrict() without names'],
  [/^tools\.restrict\(\) cannot name .*$/, 'tools.restrict() with run_code'],
];

/** What happened, in order, as JSON: the lines of every stage, and what came out of every call. */
export interface Play { readonly trace: string[]; readonly outcomes: unknown[] }

class Player {
  readonly kit: Kit;
  readonly scenario: Scenario;
  readonly corrections: Corrections | undefined;
  readonly trace: string[] = [];
  readonly #controllers = new Map<unknown, AbortController>();
  readonly #agents: Record<'a' | 'b', Agent>;
  #earlier: ToolExecutionResult | undefined;

  constructor(kit: Kit, scenario: Scenario, corrections: Corrections | undefined) {
    this.kit = kit;
    this.scenario = scenario;
    this.corrections = corrections;
    this.#agents = { a: { id: 'a' } as Agent, b: { id: 'b' } as Agent };
  }

  log(...parts: unknown[]): void {
    this.trace.push(parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(show(part)))).join(' '));
  }

  async play(): Promise<Play> {
    const { kit, scenario } = this;
    const root = new Context();
    const outcomes: unknown[] = [];
    await root.plugin(kit.prompt.SystemPrompt, {});
    await root.plugin(kit.tools.ToolRuntime, { ...(scenario.mode && { mode: scenario.mode }) });
    if (scenario.approval) await root.plugin(this.#approval(scenario.approval));
    const player = this;
    await root.plugin({
      name: 'oracle',
      inject: ['tools', 'systemPrompt'],
      async apply(ctx: Context) {
        const scopes = player.#scopes(ctx);
        player.#set(() => { for (const tool of scenario.tools) player.#register(scopes(tool.scope), tool); });
        player.#set(() => scenario.listeners.forEach((listener, at) => player.#listen(scopes(listener.scope), listener, at)));
        const { restrict, presentAs } = scenario;
        if (restrict) player.#set(() => scopes(restrict.scope).tools.restrict({ allow: restrict.allow, deny: restrict.deny }));
        if (presentAs) player.#set(() => scopes(presentAs.scope).tools.presentAs(presentAs.mode));
        for (const agent of [undefined, 'a', 'b'] as const) {
          const schemas = scopes(undefined).tools.schemas(agent && player.#agents[agent]) as { name: string }[];
          player.log('schemas', schemas.map((schema) => (schema.name === 'run_code' ? 'run_code' : schema)));
        }
        for (const [at, call] of scenario.calls.entries()) {
          const controller = new AbortController();
          if (call.aborted) controller.abort(new Error('too late'));
          const callId = `call-${at}`;
          player.#controllers.set(callId, controller);
          const input: ToolExecutionInput = {
            callId, name: call.name, arguments: make(call.args), signal: controller.signal,
            ...(call.agent && { agent: player.#agents[call.agent] }),
            ...(call.nested && { parent: Symbol('outer') as ToolExecutionToken }),
            ...(call.rootCallId !== undefined && { rootCallId: call.rootCallId }),
          };
          player.log('mode', scopes(undefined).tools.executionMode({ ...input, arguments: { json: true } }));
          try {
            const pending = scopes(undefined).tools.execute(input);
            if (call.abortSoon) controller.abort(new Error('soon'));
            const result = await pending;
            player.#earlier ??= result.isError ? undefined : result;
            outcomes.push({ ...(show(result) as object), frozen: Object.isFrozen(result) && Object.isFrozen(result.content) });
          } catch (error) {
            outcomes.push({ rejected: String(error) });
          }
        }
      },
    });
    await root.fiber.dispose();
    return { trace: this.trace, outcomes };
  }

  #set(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.log('set-up failed', ownWords.reduce((text, [pattern, word]) => text.replace(pattern, word), (error as Error).message));
    }
  }

  #scopes(ctx: Context): (name: 'a' | 'b' | undefined) => LooseContext {
    const { kit, scenario } = this;
    const a = kit.scope.createScope(ctx as never, this.#agents.a).ctx;
    const b = kit.scope.createScope(ctx as never, this.#agents.b, scenario.chained ? { parent: this.#agents.a } : undefined).ctx;
    return (name) => (name === 'a' ? a : name === 'b' ? b : ctx) as unknown as LooseContext;
  }

  #approval(outcome: NonNullable<Scenario['approval']>): new (ctx: Context) => Service {
    const player = this;
    return class Approval extends Service {
      constructor(ctx: Context) { super(ctx, 'approval'); }
      async request(request: Loose): Promise<string> {
        player.log('approval', { ...request, agent: (request['agent'] as Agent).id });
        if (outcome === 'throws') throw new Error('no screen');
        if (outcome !== 'abort-cancelled') return outcome;
        player.#controllers.get(request['callId'])?.abort(new Error('changed my mind'));
        return 'cancelled';
      }
    };
  }

  #register(ctx: LooseContext, spec: ToolSpec): void {
    const { kit } = this;
    const player = this;
    let dispose = (): void => {};
    let runs = 0;
    const body = async (args: unknown, exec: Loose, plan: BodySpec): Promise<unknown> => {
      player.log(`body ${spec.name}`, { args, callId: exec['callId'], rootCallId: exec['rootCallId'], signal: exec['signal'], parent: typeof exec['parent'] });
      runs += 1;
      if (runs <= (plan.failsFirst ?? 0)) throw new Error(`attempt ${runs}`);
      for (let i = 0; i < (plan.defers ?? 0); i++) (exec['deferContext'] as (message: UserMessage) => void)(context(`deferred-${i}`));
      if (plan.concludes) (exec as { concludeTurn(): void }).concludeTurn();
      if (plan.aborts) player.#controllers.get(exec['callId'])?.abort(new Error('during the body'));
      if (plan.unregisters) dispose();
      if ('throws' in plan.outcome) throw thrown(plan.outcome.throws, kit);
      return make(plan.outcome.returns);
    };
    const render = (args: unknown, value: JsonValue): never => {
      player.log(`render ${spec.name}`, { args, value });
      if (spec.render === 'throws') throw new Error('cannot render');
      if (spec.render === 'odd') return [{ type: 'text', text: undefined }] as never;
      const text = { type: 'text', text: JSON.stringify(value) };
      return (spec.render === 'two-blocks' ? [text, { type: 'reasoning', text: 'why' }] : [text]) as never;
    };
    const presentationMeta = spec.meta && ((_args: unknown, value: JsonValue): JsonValue => {
      player.log(`meta ${spec.name}`);
      if (spec.meta === 'throws') throw new Error('no card');
      return (spec.meta === 'odd' ? { at: new Date(0) } : { seen: value }) as JsonValue;
    });
    const finalizeContent = spec.finalize && ((exec: Loose, result: ToolExecutionResult) => {
      player.log(`finalize ${spec.name}`, { args: exec['arguments'], result });
      if (spec.finalize === 'throws') throw new Error('cannot finalize');
      if (spec.finalize === 'odd') return [{ type: 'text', text: NaN }] as never;
      return spec.finalize === 'replace' ? [{ type: 'text' as const, text: 'final' }] : undefined;
    });
    const isConcurrencySafe = spec.concurrency && ((): boolean => {
      if (spec.concurrency === 'throws') throw new Error('who knows');
      return (spec.concurrency === 'yes' ? true : 1) as boolean;
    });
    const rest = { ...(finalizeContent && { finalizeContent: finalizeContent as never }), ...(isConcurrencySafe && { isConcurrencySafe }) };
    const tool: ToolDefinition = spec.raw
      ? {
        name: spec.name, description: `raw ${spec.name}`, parameters: { type: 'object', properties: { q: { type: 'string', pattern: '^a' } } },
        output: { schema: outputs[spec.output], render, ...(presentationMeta && { presentationMeta }) },
        execute: async (args, exec) => body(args, exec as never, spec.body), ...rest,
      }
      : (() => {
        const defined = kit.tools.defineTool({
          name: spec.name, description: `does ${spec.name}`, parameters: { q: { type: 'string', required: true }, n: { type: 'integer' } },
          output: { schema: { type: 'json' }, render, ...(presentationMeta && { presentationMeta }) },
          execute: async (args, exec) => (await body(args, exec as never, spec.body)) as JsonValue, ...rest,
        });
        return { ...defined, output: { ...defined.output, schema: outputs[spec.output] } };
      })();
    dispose = ctx.tools.register(tool);
  }

  #listen(ctx: LooseContext, spec: ListenerSpec, at: number): void {
    const label = `${spec.on}#${at}`;
    const corrected = this.corrections?.[`${spec.on} ${spec.does}`];
    const where = spec.prepend === undefined ? {} : { prepend: spec.prepend };
    const abort = (exec: Loose): void => this.#controllers.get(exec['callId'])?.abort(new Error(`by ${label}`));
    switch (spec.on) {
      case 'pre':
        ctx.on('tools/pre-execute', async (exec: Loose, next: () => Promise<unknown>) => {
          this.log(label, { name: exec['name'], args: exec['arguments'], signal: exec['signal'] });
          if (corrected) return corrected(next, exec);
          switch (spec.does) {
            case 'next': return next();
            case 'allow': return { kind: 'allow' };
            case 'deny': return { kind: 'deny', reason: `${label} says no` };
            case 'deny-empty': return { kind: 'deny', reason: '' };
            case 'deny-without-reason': return { kind: 'deny' };
            case 'ask': return { kind: 'ask' };
            case 'ask-reason': return { kind: 'ask', reason: 'are you sure' };
            case 'throw': throw new Error(`${label} broke`);
            case 'nothing': return undefined;
            case 'text': return 'allow';
            case 'unknown-kind': return { kind: 'perhaps', reason: undefined };
            case 'abort': abort(exec); return next();
            case 'rename': try { exec['name'] = 'two'; } catch { /* ours refuses */ } return next();
            case 'late-deny': await next(); return { kind: 'deny', reason: 'after all' };
          }
        }, where);
        return;
      case 'around':
        ctx.on('tools/execute', async (exec: Loose, next: () => Promise<ToolExecutionResult>) => {
          this.log(label, { signal: exec['signal'] });
          if (corrected) return corrected(next, exec);
          switch (spec.does) {
            case 'next': return next();
            case 'retry': { const first = await next(); return first.isError ? next() : first; }
            case 'own-success': return { isError: false, value: 'own', content: [{ type: 'text', text: 'ignored' }] };
            case 'own-invalid': return { isError: false, value: { wrong: [] }, content: [] };
            case 'own-failure': return { isError: true, error: { message: 'own', info: { name: 'N', code: 'C' } }, content: [{ type: 'text', text: 'own failure' }], meta: { m: 1 }, additionalContexts: [context('own')] };
            case 'relabel': return { ...(await next()), content: [{ type: 'text', text: 'relabelled' }] };
            case 'throw': await next(); throw new Error(`${label} broke`);
            case 'nothing': return undefined;
            case 'swap-signal': {
              const before = exec['signal'];
              exec['signal'] = new AbortController().signal;
              try { return await next(); } finally { exec['signal'] = before; }
            }
            case 'swap-aborted': {
              const before = exec['signal'];
              exec['signal'] = AbortSignal.abort(new Error('deadline'));
              try { return await next(); } finally { exec['signal'] = before; }
            }
            case 'abort-after': { const result = await next(); abort(exec); return result; }
            case 'earlier': return this.#earlier ?? next();
            case 'with-contexts': { const result = await next(); return { ...result, additionalContexts: [context('wrapped'), ...(result.additionalContexts ?? [])] }; }
          }
        }, where);
        return;
      case 'post':
        ctx.on('tools/post-execute', async (exec: Loose, result: ToolExecutionResult, next: () => Promise<Loose>) => {
          this.log(label, { result, signal: exec['signal'] });
          if (corrected) return corrected(next, exec);
          switch (spec.does) {
            case 'next': return next();
            case 'content': return { kind: 'accept', content: [{ type: 'text', text: label }] };
            case 'value': return { kind: 'accept', value: 'replaced' };
            case 'value-invalid': return { kind: 'accept', value: [undefined] };
            case 'both': return { kind: 'accept', value: 1, content: [] };
            case 'block': return { kind: 'block', feedback: [{ type: 'text', text: 'blocked' }, { type: 'text', text: 'twice' }], additionalContexts: [context('why')] };
            case 'block-image': return { kind: 'block', feedback: [{ type: 'image', attachment: {} }] };
            case 'block-empty': return { kind: 'block', feedback: [] };
            case 'contexts': return { ...(await next()), additionalContexts: [context(label)] };
            case 'throw': throw new Error(`${label} broke`);
            case 'nothing': return undefined;
            case 'abort': abort(exec); return next();
            case 'unknown-kind': return { kind: 'deny', reason: 'leaks a secret', feedback: [{ type: 'text', text: 'blocked' }] };
            case 'no-kind': return { content: [{ type: 'text', text: label }] };
            case 'undefined-content': return { kind: 'accept', content: undefined };
          }
        }, where);
        return;
      case 'result':
        ctx.on('tools/result', (exec: Loose, result: ToolExecutionResult) => {
          this.log(label, { exec: { ...exec, agent: (exec['agent'] as Agent | undefined)?.id }, result, frozen: Object.isFrozen(exec) });
          if (spec.does === 'throw') throw new Error('observer broke');
          return spec.does === 'reject' ? Promise.reject(new Error('observer rejected')) : undefined;
        }, where);
        return;
      case 'guard':
        ctx.tools.guard((exec) => {
          this.log(label, { name: exec['name'] });
          if (spec.does === 'throw') throw new Error(`${label} broke`);
          return spec.does === 'deny' ? `${label} guards` : spec.does === 'empty' ? '' : undefined;
        });
    }
  }
}

/** Plays a scenario through one implementation, with some of its listeners' doings replaced. */
export function play(kit: Kit, scenario: Scenario, corrections?: Corrections): Promise<Play> {
  return new Player(kit, scenario, corrections).play();
}
