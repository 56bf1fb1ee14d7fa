import { watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

/** Editors write in several steps; a save is taken once it has been quiet for this long. Milliseconds. */
const QUIET_MS = 60;

/** Tells which of a set of files changed. Watches their folders, so that atomic saves and new files are seen. */
export class FileWatcher {
  readonly #folders = new Map<string, FSWatcher>();
  readonly #files = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #onChange: (files: ReadonlySet<string>) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onChange: (files: ReadonlySet<string>) => void) {
    this.#onChange = onChange;
  }

  /** Replaces the set of watched files (absolute). */
  set(files: Iterable<string>): void {
    this.#files.clear();
    for (const file of files) this.#files.add(file);
    const wanted = new Set([...this.#files].map((file) => path.dirname(file)));
    for (const [folder, watcher] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) if (!this.#folders.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#saw(folder, name));
      watcher.on('error', () => {
        watcher.close();
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, watcher);
    } catch {
      // the folder does not exist (yet): a reload by hand still works
    }
  }

  #saw(folder: string, name: string | null): void {
    if (name === null) for (const file of this.#files) if (path.dirname(file) === folder) this.#changed.add(file);
    const file = name === null ? undefined : path.join(folder, name);
    if (file !== undefined && this.#files.has(file)) this.#changed.add(file);
    if (this.#changed.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const changed = new Set(this.#changed);
      this.#changed.clear();
      this.#onChange(changed);
    }, QUIET_MS);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    this.#files.clear();
  }
}
