import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

interface Item { readonly id: string; readonly summary: string; readonly text: string }

/**
 * What the model of a session does not know yet of decisions taken after their calls had ended. Kept on disk until it
 * was told, since the session may not be open, or the host may end first.
 */
export class News {
  readonly #root: string | undefined;
  readonly #items = new Map<string, Item[]>();
  #write: Promise<void> = Promise.resolve();

  /** `root`: absolute folder of the sessions; absent: in memory only. */
  constructor(root: string | undefined) {
    this.#root = root;
  }

  #file(sessionId: string): string | undefined {
    return this.#root === undefined ? undefined : path.join(this.#root, sessionId, 'review-news.json');
  }

  async #load(sessionId: string): Promise<Item[]> {
    const known = this.#items.get(sessionId);
    if (known !== undefined) return known;
    const file = this.#file(sessionId);
    let items: Item[] = [];
    try {
      const parsed: unknown = file === undefined ? [] : JSON.parse(await readFile(file, 'utf8'));
      if (Array.isArray(parsed)) items = parsed.filter((item): item is Item => typeof (item as Item | null)?.text === 'string');
    } catch {
      // none, or cut off by a crash: nothing that could be told
    }
    const now = this.#items.get(sessionId) ?? items;
    this.#items.set(sessionId, now);
    return now;
  }

  /** `id` names the change: later news of the same one replace earlier ones. */
  async add(sessionId: string, item: Item): Promise<void> {
    const items = await this.#load(sessionId);
    this.#items.set(sessionId, [...items.filter(({ id }) => id !== item.id), item]);
    await this.#save(sessionId);
  }

  /** Takes everything there is. */
  async take(sessionId: string): Promise<readonly Item[]> {
    const items = await this.#load(sessionId);
    if (items.length === 0) return items;
    this.#items.set(sessionId, []);
    await this.#save(sessionId);
    return items;
  }

  #save(sessionId: string): Promise<void> {
    const file = this.#file(sessionId);
    if (file === undefined) return Promise.resolve();
    const items = this.#items.get(sessionId) ?? [];
    this.#write = this.#write.catch(() => undefined).then(async () => {
      if (items.length === 0) return rm(file, { force: true });
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(`${file}.tmp`, JSON.stringify(items));
      await rename(`${file}.tmp`, file);
    });
    return this.#write;
  }

  async settled(): Promise<void> {
    await this.#write.catch(() => undefined);
  }
}
