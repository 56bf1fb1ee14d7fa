import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ChangeRecord } from './change.ts';

/** Pending changes on disk, so that they survive a reload and a crash: `<root>/<session>/reviews/<id>.json`. */
export class ChangeStore {
  readonly #root: string;
  readonly #writes = new Map<string, Promise<void>>();
  #closed = false;

  /** `root`: absolute folder of the sessions. */
  constructor(root: string) {
    this.#root = root;
  }

  #folder(sessionId: string): string {
    return path.join(this.#root, sessionId, 'reviews');
  }

  /** Writes one after the other per change, each whole or not at all. */
  save(record: ChangeRecord): Promise<void> {
    return this.#queue(record.id, async () => {
      const file = path.join(this.#folder(record.sessionId), `${record.id}.json`);
      await mkdir(path.dirname(file), { recursive: true });
      // texts are megabytes at times: what is there twice is written once
      const { original, ...rest } = record;
      await writeFile(`${file}.tmp`, JSON.stringify(original === record.proposed ? rest : record));
      await rename(`${file}.tmp`, file);
    });
  }

  remove(record: ChangeRecord): Promise<void> {
    return this.#queue(record.id, () => rm(path.join(this.#folder(record.sessionId), `${record.id}.json`), { force: true }));
  }

  #queue(id: string, work: () => Promise<void>): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const next = (this.#writes.get(id) ?? Promise.resolve()).then(work, work);
    this.#writes.set(id, next);
    void next.catch(() => undefined).finally(() => {
      if (this.#writes.get(id) === next) this.#writes.delete(id);
    });
    return next;
  }

  /** Every pending change of every session. Files that can't be read are left where they are and reported. */
  async load(report: (message: string) => void): Promise<ChangeRecord[]> {
    const records: ChangeRecord[] = [];
    for (const session of await readdir(this.#root).catch(() => [] as string[])) {
      const folder = this.#folder(session);
      for (const name of await readdir(folder).catch(() => [] as string[])) {
        if (!name.endsWith('.json')) continue;
        try {
          const stored = JSON.parse(await readFile(path.join(folder, name), 'utf8')) as ChangeRecord;
          const record = { ...stored, original: stored.original ?? stored.proposed };
          if (typeof record.id !== 'string' || typeof record.base !== 'string' || typeof record.proposed !== 'string') throw new Error('fields are missing');
          records.push(record);
        } catch (error) {
          report(`pending change ${path.join(folder, name)} can't be read: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
    }
    return records;
  }

  /** Waits for what was asked for; from now on nothing is written: another host may own the files. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#writes.values());
  }
}
