/** Walks through what the user said before, newest first, as a shell does. */
export class Recall {
  private at = -1;

  /** Typing ends the walk. */
  reset(): void {
    this.at = -1;
  }

  /** The text of the next older message, or undefined at the oldest. `said` is oldest first. */
  older(said: readonly string[]): string | undefined {
    if (this.at + 1 >= said.length) return undefined;
    this.at += 1;
    return said[said.length - 1 - this.at];
  }

  /** The text of the next newer message; empty after the newest; undefined when no walk is on. */
  newer(said: readonly string[]): string | undefined {
    if (this.at < 0) return undefined;
    this.at -= 1;
    return this.at < 0 ? '' : said[said.length - 1 - this.at];
  }

  /** A walk is on: arrows go on walking though the field is not empty. */
  get walking(): boolean {
    return this.at >= 0;
  }
}
