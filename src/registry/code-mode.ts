import type { Context } from '@deepseek-ai/cordis';
import type { ToolPresentationMode, ToolRunContext } from '../contract/tool.ts';
import type { PromptSection } from '../prompt/assembly.ts';
import type { ScopeKey } from '../scope/scope.ts';
import { CodeBridge } from './code-bridge.ts';
import type { CodeRunResult, CodeRuntime } from './code-runtime.ts';
import { ToolEntry, modeOf } from './layer.ts';
import type { PolicyEvents } from './policy-events.ts';
import { RUN_CODE_NAME, createRunCodeTool } from './run-code.ts';
import { renderToolsSdkPy } from '../contract/py-types.ts';
import { renderToolsSdk } from '../contract/ts-types.ts';
import type { ToolSdkSchema } from '../contract/ts-types.ts';
import type { ToolRuntimeScheduler } from './scheduler.ts';
import type { Visibility } from './visibility.ts';

const renderers: Record<string, (tools: ToolSdkSchema[]) => string> = { typescript: renderToolsSdk, python: renderToolsSdkPy };

/** Order of the section that tells the rule of mode `code`: before any guidance that names a tool (C8.1). */
const RULE_ORDER = 99;
const SDK_ORDER = 150;
const RULE = `Call \`${RUN_CODE_NAME}\` and nothing else: every other tool named in these instructions is reached from inside a \`${RUN_CODE_NAME}\` program, as described under "Programs".`;

/** The code modes' part of the registry: the transport tool, its prompt sections and the runtime behind them (C8). */
export class CodeMode {
  readonly #ctx: Context;
  readonly #visibility: Visibility;
  readonly #stages: ToolRuntimeScheduler;
  readonly #events: PolicyEvents;
  readonly #maxParallel: number;
  #transport: ToolEntry | undefined;

  constructor(ctx: Context, visibility: Visibility, stages: ToolRuntimeScheduler, events: PolicyEvents, maxParallel: number) {
    this.#ctx = ctx;
    this.#visibility = visibility;
    this.#stages = stages;
    this.#events = events;
    this.#maxParallel = maxParallel;
  }

  /** `run_code` itself; outside the layers, so that nothing filters or shadows it. */
  get transport(): ToolEntry {
    return this.#transport ??= new ToolEntry(createRunCodeTool((program, exec) => this.#run(program, exec)));
  }

  /** The runtime, checked; throws when there is none, or none we can write an SDK for (C8.1). */
  requireRuntime(mode: ToolPresentationMode): CodeRuntime {
    const runtime = this.#ctx.get('codeRuntime') as CodeRuntime | undefined;
    if (!runtime) {
      throw new Error(`dsh-tools: mode "${mode}" requires a code runtime — load a plugin that provides ctx.codeRuntime, or set the mode to "native"`);
    }
    if (!Object.hasOwn(renderers, runtime.language)) {
      const known = Object.keys(renderers).map((language) => `"${language}"`).join(', ');
      throw new Error(`dsh-tools: no SDK renderer registered for runtime language "${runtime.language}" (known: ${known})`);
    }
    return runtime;
  }

  /** Prompt sections of the code modes; they are empty for scopes whose mode does not need them. */
  sections(): PromptSection[] {
    return [
      { name: 'tools:code-only', order: RULE_ORDER, text: ({ scope }) => (this.#visibility.mode(scope) === 'code' ? RULE : '') },
      { name: 'tools:sdk', order: SDK_ORDER, text: ({ scope }) => this.#sdk(scope) },
    ];
  }

  #sdk(scope: ScopeKey | undefined): string {
    const mode = this.#visibility.mode(scope);
    if (mode === 'native') return '';
    const render = renderers[this.requireRuntime(mode).language]!;
    const entries = [...this.#visibility.visible(scope).values()].filter(({ definition }) => definition.name !== RUN_CODE_NAME);
    return render(entries.map(({ definition: { name, description, output }, parameters }) => ({
      name, description, parameters, output: output.schema,
    })));
  }

  async #run(program: string, exec: ToolRunContext): Promise<CodeRunResult> {
    const runtime = this.requireRuntime(this.#visibility.mode(exec.agent));
    const bridge = new CodeBridge({
      stages: this.#stages,
      maxParallel: this.#maxParallel,
      mode: ({ name, agent, parent, arguments: args }) => modeOf(this.#visibility.callable(name, agent, parent !== undefined), args),
      logged: (dispatch) => this.#events.shapeLog(dispatch),
      warn: (message) => this.#ctx.logger.warn(message),
    }, exec);
    const names = [...this.#visibility.visible(exec.agent).keys()].filter((name) => name !== RUN_CODE_NAME);
    let reason = 'the runtime failed';
    try {
      const result = await runtime.run({ program, bindings: [bridge.bindings(names)], signal: bridge.signal });
      reason = result.error?.kind ?? 'completed';
      return result;
    } finally {
      await bridge.close(reason);
    }
  }
}
