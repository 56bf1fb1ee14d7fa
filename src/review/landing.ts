import type { FileDecision, FileIntent } from '../seams/fs.ts';
import type { Answers } from './answers.ts';
import type { ChangeBook } from './book.ts';
import { Change } from './change.ts';
import type { ReviewDisk, Written } from './disk.ts';
import { moveAlong } from './drift.ts';
import { carry } from './rebase.ts';
import { optional, recordOf, splicesOf } from './record.ts';
import { savedReport } from './report.ts';

/** Changes that land at once: open to Keep or Undo (Auto-Edit), or nobody's to decide (Full). */
export class Landing {
  readonly #book: ChangeBook;
  readonly #answers: Answers;
  readonly #disk: ReviewDisk;

  constructor(book: ChangeBook, answers: Answers, disk: ReviewDisk) {
    this.#book = book;
    this.#answers = answers;
    this.#disk = disk;
  }

  /** Full preset: the change lands and is nobody's to decide; it can still be rewound. */
  async passed(intent: FileIntent, after: string): Promise<FileDecision> {
    const { version, text } = await this.#disk.write(recordOf(intent, after, 'applied'), after, splicesOf(intent, after), intent.signal);
    this.#formatted(intent, after, text);
    return { kind: 'applied', text, version };
  }

  /** Auto-edit preset: the change lands, and stays open as Keep or Undo; several of one file are one change. */
  async applied(intent: FileIntent, after: string): Promise<FileDecision> {
    const { realPath } = intent.target;
    const fresh = recordOf(intent, after, 'applied');
    const found = this.#book.all().find((change) => change.record.realPath === realPath && change.record.state === 'applied');
    const earlier = found === undefined ? undefined : moveAlong(found, { text: intent.before?.text ?? null, version: intent.version }).change;
    const next = (text: string, version: string | null): Change => {
      if (earlier === undefined) return new Change({ ...fresh, proposed: text, original: text, version });
      const { base, proposed, original, callIds } = earlier.record;
      return earlier.with({
        base, proposed: text, original: carry(original, proposed, text), version, callIds: [...callIds, ...fresh.callIds],
        turn: fresh.turn, sessionId: fresh.sessionId,
      });
    };
    const noText = intent.version !== null && intent.before === null;
    const bytesBefore = noText && earlier === undefined ? await this.#disk.bytes(intent.target) : undefined;
    // stored first: a host that dies after the write still knows what it was
    await this.#book.saveAhead({ ...next(after, intent.version).record, ...optional('bytesBefore', bytesBefore) });
    let written: Written;
    try {
      written = await this.#disk.write(fresh, after, splicesOf(intent, after), intent.signal);
    } catch (error) {
      await (found === undefined ? this.#book.removeSaved(fresh) : this.#book.saveAhead(found.record));
      throw error;
    }
    const { text, version, createdDirectories } = written;
    if (earlier !== undefined && earlier.record.sessionId !== fresh.sessionId) await this.#book.removeSaved(earlier.record);
    const change = next(text, version).with({ ...optional('createdDirectories', earlier?.record.createdDirectories ?? createdDirectories), ...optional('bytesBefore', bytesBefore ?? earlier?.record.bytesBefore) });
    await (change.isDecided ? this.#book.drop(change) : this.#book.put(change));
    this.#formatted(intent, after, text);
    return { kind: 'applied', text, version };
  }

  #formatted(intent: FileIntent, written: string, saved: string): void {
    if (intent.callId !== undefined && written !== saved) this.#answers.report(intent.callId, savedReport(intent.displayPath, written, saved));
  }
}
