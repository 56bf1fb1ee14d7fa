/** Loads plugin source: TypeScript, ESM or CJS, giving every lent module as the host's own instance (X13.8). */
export interface PluginLoader {
  /** The module's exports, freshly evaluated: files of the last load of `entry` are forgotten first. */
  load(entry: string): Promise<LoadedModule>;
  /** Drops what `load` keeps for `entry`. */
  forget(entry: string): void;
  /** Stops lending to files that node loads by itself. */
  dispose(): void;
}

export interface LoadedModule {
  readonly exports: unknown;
  /** Source files the module is made of, installed packages excluded: what a watcher watches. */
  readonly files: readonly string[];
}

/** A failed load throws its own error with this beside it: the files that were read before it failed. */
export interface LoadFailure { readonly files: readonly string[] }

export type CreatePluginLoader = (options: { modules: Readonly<Record<string, unknown>>; folder: string }) => PluginLoader;
