import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import type { SpillStore, SpillText, SpilledText } from '../seams/spill.ts';

export interface SpillConfig {
  /** Absolute folder of the sessions; a session's spilled texts are in `<id>/spill` below it. */
  readonly sessions: string;
}

/** One segment of a path, whatever the name was. */
function segment(name: string): string {
  const safe = name.replace(/[^\w.-]+/g, '_').replace(/^\.+/, '_').slice(-80);
  return safe === '' ? '_' : safe;
}

/** `ctx.spillStore` in the sessions' folder (C8.21). */
export class NodeSpillStore extends Service implements SpillStore {
  private readonly sessions: string;

  constructor(ctx: Context, config: SpillConfig) {
    super(ctx, 'spillStore');
    this.sessions = config.sessions;
  }

  async directory(owner: { readonly sessionId: string }): Promise<string> {
    const folder = path.join(this.sessions, segment(owner.sessionId), 'spill');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async saveText(text: SpillText): Promise<SpilledText> {
    const folder = await this.directory(text.owner);
    const { name, ext } = path.parse(segment(text.suggestedName));
    const stem = `${name}-${segment(text.source.callId)}${text.source.label === 'result' ? '' : `-${segment(text.source.label)}`}`;
    for (let n = 1; ; n++) {
      const locator = path.join(folder, `${stem}${n === 1 ? '' : `-${n}`}${ext || '.txt'}`);
      try {
        const file = await open(locator, 'wx', 0o600);
        try {
          await file.writeFile(text.content);
        } finally {
          await file.close();
        }
        return { locator, retrievalHint: 'Read a part of it with read (offset, limit), or search in it with grep.' };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
}
