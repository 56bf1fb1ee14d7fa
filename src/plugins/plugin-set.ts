import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { Service, type Context, type EffectMeta, type Fiber } from '@deepseek-ai/cordis';
import { applyPatches, parsePatchFile, parsePluginFile } from './plugin-file.ts';
import { PluginEntry, type PluginStatus } from './plugin-entry.ts';
import { membersOf } from './group.ts';
import type { PatchLayers } from './layers.ts';
import type { PluginLoader } from './loader.ts';
import type { BadRow, PluginRow, RowPlace } from './row.ts';
import { FileWatcher } from './watcher.ts';

export interface PluginSetOptions {
  /** Absolute path of the workspace's plugin file; it may not exist (yet). */
  readonly file: string;
  /** Patch files, applied in order (X13.6), those that don't exist skipped; or how to find them, asked at each reading. */
  readonly patches?: readonly string[] | (() => PatchLayers);
  /** Modules a plugin gets as the host's own instance, by name (X13.8). */
  readonly modules: Readonly<Record<string, unknown>>;
  /** Reload on save. */
  readonly watch: boolean;
}

/** What a plugin list shows. */
export interface PluginInfo {
  readonly id: string;
  readonly name: string;
  readonly file?: string;
  readonly place: RowPlace;
  readonly status: PluginStatus;
  /** Names of the tools it has registered. */
  readonly tools: readonly string[];
}

declare module '@deepseek-ai/cordis' {
  interface Context { plugins: PluginSet }
}

/** `ctx.plugins`: the plugins of one plugin file, kept in step with the disk. */
export class PluginSet extends Service {
  private readonly options: PluginSetOptions;
  private readonly entries = new Map<string, PluginEntry>();
  private readonly listeners = new Set<() => void>();
  private readonly watcher: FileWatcher;
  private bad: readonly BadRow[] = [];
  /** Why the last reload did not come to its end. */
  private trouble: readonly BadRow[] = [];
  /** What the rows were read from: a change of one of these is a change of the rows. */
  private sources: readonly string[] = [];
  private loader: Promise<PluginLoader> | undefined;
  private work: Promise<void> = Promise.resolve();
  private disposed = false;

  constructor(ctx: Context, options: PluginSetOptions) {
    super(ctx, 'plugins');
    this.options = options;
    this.watcher = new FileWatcher((files) => void this.changed(files));
    ctx.on('internal/service' as never, (() => this.refresh()) as never);
    ctx.on('internal/status' as never, (() => this.refresh()) as never);
    ctx.effect(() => () => this.dispose(), 'plugin set');
  }

  async [Service.init](): Promise<void> {
    await this.reload();
  }

  /** Rows in the file's order, then rows that can't be used. */
  list(): PluginInfo[] {
    const info = [...this.entries.values()].map((entry): PluginInfo => ({
      id: entry.row.id, name: entry.row.name, place: entry.row.place, status: entry.status, tools: toolsOf(entry.fiber),
      ...(entry.file === undefined ? {} : { file: entry.file }),
    }));
    const bad = [...this.bad, ...this.trouble].map((row, index): PluginInfo => ({
      id: `bad row ${index + 1}`, name: path.basename(row.place.file), place: row.place, tools: [],
      status: { state: 'failed', running: false, problem: { message: row.message, file: row.place.file, line: row.place.line } },
    }));
    return [...info, ...bad];
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether what is in this file decides which plugins run, or is one: it takes effect as soon as it is written (J5). Also by its real path. */
  owns(file: string): boolean {
    const loaded = [...this.entries.values()].flatMap((entry) => entry.files);
    return [...this.sources, ...loaded].some((source) => source === file || realOf(source) === file);
  }

  /** Reads the plugin file again and reloads one plugin, or all. Settles when they are loaded, waiting or failed. */
  reload(id?: string): Promise<void> {
    return this.queue(async () => {
      const entry = id === undefined ? undefined : this.entries.get(id);
      await (entry === undefined ? this.sync(true) : entry.load());
    });
  }

  /** Settles when no load is under way. */
  settled(): Promise<void> {
    return this.work;
  }

  private queue(work: () => Promise<void>): Promise<void> {
    this.work = this.work.then(async () => {
      if (this.disposed) return;
      try {
        await work();
        this.trouble = [];
      } catch (error) {
        // what comes after it must still be served
        this.ctx.logger('plugins').error(error);
        this.trouble = [{ message: `the plugins can't be reloaded: ${messageOf(error)}`, place: { file: this.options.file, line: 1 } }];
      }
      if (this.disposed) return;
      this.watch();
      this.notify();
    });
    return this.work;
  }

  private async changed(files: ReadonlySet<string>): Promise<void> {
    await this.queue(async () => {
      if (this.sources.some((file) => files.has(file))) await this.sync(false);
      const touched = [...this.entries.values()].filter((entry) => entry.files.some((file) => files.has(file)));
      await Promise.all(touched.map((entry) => entry.load()));
    });
  }

  /** The rows the sources ask for; undefined while one of them can't be read. */
  private read(): readonly PluginRow[] | undefined {
    const { file } = this.options;
    const layers = this.layers();
    this.sources = [file, ...layers.watched];
    const bad: BadRow[] = [...layers.bad];
    this.bad = bad;
    const found = existsSync(file) ? [file, ...layers.files] : layers.files;
    const texts = found.flatMap((source) => {
      try {
        return [{ source, text: readFileSync(source, 'utf8') }];
      } catch (error) {
        bad.push({ message: `"${source}" can't be read, the plugins stay as they are: ${messageOf(error)}`, place: { file: source, line: 1 } });
        return [];
      }
    });
    if (texts.length < found.length) return undefined;
    let rows: readonly PluginRow[] = [];
    for (const { source, text } of texts) {
      if (source === file) {
        const parsed = parsePluginFile(source, text);
        bad.push(...parsed.bad);
        rows = parsed.rows;
      } else {
        const parsed = parsePatchFile(source, text);
        bad.push(...parsed.bad);
        rows = applyPatches(rows, parsed.patches, (problem) => bad.push(problem));
      }
    }
    return rows;
  }

  private layers(): PatchLayers {
    const { patches = [] } = this.options;
    return typeof patches === 'function' ? patches() : { files: patches.filter((name) => existsSync(name)), watched: patches, bad: [] };
  }

  /** Brings the entries in line with the file: rows that went are unloaded, new and changed ones loaded. */
  private async sync(all: boolean): Promise<void> {
    const wanted = this.read() ?? [...this.entries.values()].map(({ row }) => row);
    const rows = new Map(membersOf(wanted).map((row) => [row.id, row]));
    for (const [id, entry] of [...this.entries]) {
      const row = rows.get(id);
      if (row !== undefined && !all && sameRow(row, entry.row)) continue;
      this.entries.delete(id);
      await entry.dispose();
    }
    const fresh: PluginEntry[] = [];
    const ordered = new Map<string, PluginEntry>();
    for (const [id, row] of rows) {
      const kept = this.entries.get(id);
      const entry = kept ?? new PluginEntry(this.ctx.root, row, () => this.load());
      if (kept === undefined) fresh.push(entry);
      ordered.set(id, entry);
    }
    this.entries.clear();
    for (const [id, entry] of ordered) this.entries.set(id, entry);
    this.notify();
    await Promise.all(fresh.map((entry) => entry.load()));
  }

  private load(): Promise<PluginLoader> {
    return (this.loader ??= import('./loader-entry.ts').then(({ createPluginLoader }) =>
      createPluginLoader({ modules: this.options.modules, folder: path.dirname(this.options.file) })));
  }

  private watch(): void {
    if (!this.options.watch) return;
    const own = [...this.entries.values()].flatMap((entry) => entry.files);
    this.watcher.set([...this.sources, ...own]);
  }

  private refresh(): void {
    for (const entry of this.entries.values()) entry.refresh();
    this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) {
      try {
        listener();
      } catch (error) {
        this.ctx.logger('plugins').error(error);
      }
    }
  }

  private async dispose(): Promise<void> {
    this.disposed = true;
    this.watcher.dispose();
    await Promise.all([...this.entries.values()].map((entry) => entry.dispose()));
    this.entries.clear();
    this.listeners.clear();
    (await this.loader)?.dispose();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** Whether two versions of a row ask for the same thing; its line may have moved. */
function sameRow(a: PluginRow, b: PluginRow): boolean {
  const asked = (row: PluginRow) => JSON.stringify({ ...row, place: row.place.file }, (key, value: unknown) => (key === 'place' ? undefined : value));
  return asked(a) === asked(b);
}

const REGISTERED = /^tools\.register\("(.+)"\)$/;

/** The tools in a fiber's effects, children included: the registry labels each registration. */
function toolsOf(fiber: Fiber | undefined): string[] {
  const names: string[] = [];
  const visit = (effects: readonly EffectMeta[]) => {
    for (const effect of effects) {
      const name = REGISTERED.exec(effect.label)?.[1];
      if (name !== undefined) names.push(name);
      visit(effect.children ?? []);
    }
  };
  if (fiber !== undefined) visit(fiber.getEffects());
  return names;
}
