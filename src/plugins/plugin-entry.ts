import type { Context, Fiber, Plugin } from '@deepseek-ai/cordis';
import { evaluate, type PluginRow } from './row.ts';
import { problemOf, type PluginProblem } from './problem.ts';
import { resolvePlugin } from './resolve.ts';
import type { LoadFailure, PluginLoader } from './loader.ts';

export type PluginStatus =
  | { readonly state: 'loading' }
  | { readonly state: 'active' }
  /** Waits for these services. */
  | { readonly state: 'waiting'; readonly missing: readonly string[] }
  /** `running`: the version before the failed reload still works. */
  | { readonly state: 'failed'; readonly problem: PluginProblem; readonly running: boolean }
  | { readonly state: 'disabled' };

/** States of a cordis fiber (X13.2). */
const PENDING = 0, FAILED = 3;

type Injectable = { inject?: readonly string[] | Record<string, unknown> };

/** The plugin in a module's exports (X13.1), or undefined. */
export function pluginOf(exports: unknown): Plugin | undefined {
  const own = exports as { apply?: unknown; default?: unknown } | null | undefined;
  if (typeof own === 'function' || typeof own?.apply === 'function') return own as Plugin;
  const fallback = own?.default as { apply?: unknown; default?: unknown } | undefined;
  if (typeof fallback === 'function' || typeof fallback?.apply === 'function') return fallback as Plugin;
  return typeof fallback?.default === 'function' ? (fallback.default as Plugin) : undefined;
}

/** One row at work: its module, its fiber, what became of it. */
export class PluginEntry {
  readonly row: PluginRow;
  /** Absolute; undefined for groups and for names that were not found. */
  file: string | undefined;
  /** Own source files, for the watcher. */
  files: readonly string[] = [];
  status: PluginStatus = { state: 'loading' };
  fiber: Fiber | undefined;
  readonly #ctx: Context;
  readonly #loader: () => Promise<PluginLoader>;
  #work: Promise<void> = Promise.resolve();
  #disposed = false;

  constructor(ctx: Context, row: PluginRow, loader: () => Promise<PluginLoader>) {
    this.#ctx = ctx;
    this.row = row;
    this.#loader = loader;
  }

  /** Loads or reloads; calls are served one after the other. Never rejects: the outcome is in `status`. */
  load(): Promise<void> {
    this.#work = this.#work.then(() => (this.#disposed ? undefined : this.#load()));
    return this.#work;
  }

  async #load(): Promise<void> {
    let plugin: Plugin;
    let config: unknown;
    try {
      const scope = { ctx: this.#ctx, env: process.env };
      if (evaluate(this.row.disabled, scope) === true) {
        await this.#unload();
        this.status = { state: 'disabled' };
        return;
      }
      this.file = resolvePlugin(this.row.name, this.row.place.file);
      this.files = [...new Set([...this.files, this.file])];
      const loaded = await (await this.#loader()).load(this.file);
      this.files = loaded.files;
      const found = pluginOf(loaded.exports);
      if (found === undefined) throw new Error(`"${this.row.name}" is not a plugin: export a function "apply(ctx)", or a class or function as default`);
      plugin = found;
      config = evaluate(this.row.config, scope);
    } catch (error) {
      this.files = [...new Set([...this.files, ...((error as Partial<LoadFailure>).files ?? [])])];
      this.#failed(error, this.fiber !== undefined && this.fiber.state !== FAILED);
      return;
    }
    await this.#unload();
    if (this.#disposed) return;
    try {
      this.fiber = this.#start(plugin, config);
      await this.fiber.await();
      this.status = { state: 'loading' };
      this.refresh();
    } catch (error) {
      this.#failed(error, false);
    }
  }

  #start(plugin: Plugin, config: unknown): Fiber {
    let ctx = this.#ctx;
    for (const [service, label] of Object.entries(this.row.isolate ?? {})) {
      ctx = ctx.isolate(service, typeof label === 'string' ? Symbol.for(`dsh-host.isolate.${label}`) : undefined);
    }
    const { inject } = this.row;
    if (inject === undefined) return ctx.plugin(plugin, config);
    if (!Array.isArray(inject)) for (const [service, value] of Object.entries(inject)) if (value !== undefined && value !== null) ctx = ctx.intercept(service, value);
    const deps = (Array.isArray(inject) ? inject : Object.keys(inject)) as string[];
    return ctx.inject(deps, async (inner: Context) => {
      await inner.plugin(plugin, config);
    });
  }

  #failed(error: unknown, running: boolean): void {
    const place = this.file === undefined ? this.row.place : { file: this.file, line: 1 };
    this.status = { state: 'failed', problem: problemOf(error, new Set(this.files), place), running };
  }

  /** Looks at the fiber again: services may have come or gone. */
  refresh(): void {
    const { fiber } = this;
    if (fiber === undefined || this.status.state === 'disabled') return;
    if (this.status.state === 'failed' && this.status.running) return;
    if (fiber.state === FAILED) {
      void fiber.await().catch((error: unknown) => this.#failed(error, false));
      return;
    }
    if (fiber.state === PENDING) {
      const services = Object.keys(fiber.inject);
      this.status = { state: 'waiting', missing: services.filter((name) => this.#ctx.get(name as never) === undefined) };
      return;
    }
    this.status = { state: 'active' };
  }

  /** Names of the services the plugin asked for. */
  get injects(): readonly string[] {
    const inject = (this.fiber?.runtime?.callback as Injectable | undefined)?.inject ?? this.fiber?.inject ?? [];
    return Array.isArray(inject) ? inject : Object.keys(inject);
  }

  async #unload(): Promise<void> {
    const { fiber } = this;
    this.fiber = undefined;
    try {
      await fiber?.dispose();
    } catch (error) {
      // gone all the same: what comes next must not wait for it for ever
      this.#ctx.logger('plugins').error(error);
    }
  }

  /** Unloads for good; a load under way ends without effect. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#work;
    await this.#unload();
    if (this.file !== undefined) (await this.#loader()).forget(this.file);
  }
}
