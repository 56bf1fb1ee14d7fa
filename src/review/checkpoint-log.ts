import { createHash } from 'node:crypto';
import { appendFile, link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** What a file held. `image`: name of the kept bytes; null: there was no file; undefined: it was too big to keep. */
export interface BeforeEntry {
  readonly op: 'before';
  readonly turn: number;
  readonly path: string;
  readonly file: string;
  readonly realPath: string;
  readonly image: string | null | undefined;
  /** The file was not what the last tool had left: somebody else changed it in between. */
  readonly mixed?: boolean;
}

/** What a tool left: a hash of the content, null for no file. */
export interface AfterEntry {
  readonly op: 'after';
  readonly realPath: string;
  readonly hash: string | null;
  readonly createdDirectories?: readonly string[];
}

type Entry = BeforeEntry | AfterEntry;

/** What one session's tools did to files: an append-only list, and the bytes beside it by their hash. */
export interface CheckpointState {
  readonly before: BeforeEntry[];
  readonly after: Map<string, AfterEntry>;
}

/** `<root>/<session>/checkpoints/`: `log.jsonl`, one file per kept content, `rewind.json` for what can be taken back. */
export class CheckpointLog {
  readonly #root: string;
  readonly #states = new Map<string, Promise<CheckpointState>>();

  /** `root`: absolute folder of the sessions. */
  constructor(root: string) {
    this.#root = root;
  }

  folder(sessionId: string): string {
    return path.join(this.#root, sessionId, 'checkpoints');
  }

  /** The session's entries; lines that can't be read (cut off by a crash) are left out. */
  state(sessionId: string): Promise<CheckpointState> {
    let state = this.#states.get(sessionId);
    if (state === undefined) this.#states.set(sessionId, state = this.#load(sessionId));
    return state;
  }

  async #load(sessionId: string): Promise<CheckpointState> {
    const state: CheckpointState = { before: [], after: new Map() };
    const text = await readFile(path.join(this.folder(sessionId), 'log.jsonl'), 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      try {
        if (line !== '') take(state, JSON.parse(line) as Entry);
      } catch {
        // the last line of a host that died
      }
    }
    return state;
  }

  async append(sessionId: string, entry: Entry): Promise<void> {
    const state = await this.state(sessionId);
    await mkdir(this.folder(sessionId), { recursive: true });
    await appendFile(path.join(this.folder(sessionId), 'log.jsonl'), `${JSON.stringify(entry)}\n`);
    take(state, entry);
  }

  /** Keeps bytes once and returns their name. */
  async keep(sessionId: string, bytes: Uint8Array): Promise<string> {
    const name = createHash('sha256').update(bytes).digest('hex');
    const file = path.join(this.folder(sessionId), name);
    if (await stat(file).then(() => true, () => false)) return name;
    await mkdir(this.folder(sessionId), { recursive: true });
    await writeFile(`${file}.tmp`, bytes);
    await rename(`${file}.tmp`, file);
    return name;
  }

  image(sessionId: string, name: string): Promise<Buffer> {
    return readFile(path.join(this.folder(sessionId), name));
  }

  async saveRewind(sessionId: string, record: unknown): Promise<void> {
    const file = path.join(this.folder(sessionId), 'rewind.json');
    await mkdir(this.folder(sessionId), { recursive: true });
    await writeFile(`${file}.tmp`, JSON.stringify(record));
    await rename(`${file}.tmp`, file);
  }

  async loadRewind(sessionId: string): Promise<unknown> {
    try {
      return JSON.parse(await readFile(path.join(this.folder(sessionId), 'rewind.json'), 'utf8')) as unknown;
    } catch {
      return undefined;
    }
  }

  removeRewind(sessionId: string): Promise<void> {
    return rm(path.join(this.folder(sessionId), 'rewind.json'), { force: true });
  }

  /** The entries of turns before `turn`, for a session forked there; contents are linked, not copied. */
  async copy(fromId: string, turn: number, toId: string): Promise<void> {
    const { before, after } = await this.state(fromId);
    const kept = before.filter((entry) => entry.turn < turn);
    await mkdir(this.folder(toId), { recursive: true });
    for (const entry of kept) {
      if (typeof entry.image === 'string') await this.#share(fromId, toId, entry.image);
      await this.append(toId, entry);
      const left = after.get(entry.realPath);
      if (left !== undefined) await this.append(toId, left);
    }
  }

  async #share(fromId: string, toId: string, name: string): Promise<void> {
    const target = path.join(this.folder(toId), name);
    await link(path.join(this.folder(fromId), name), target).catch(async () => writeFile(target, await this.image(fromId, name)));
  }
}

function take(state: CheckpointState, entry: Entry): void {
  switch (entry.op) {
    case 'before':
      state.before.push(entry);
      return;
    case 'after':
      state.after.set(entry.realPath, entry);
      return;
  }
}
