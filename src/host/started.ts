import type { Disposable } from 'vscode';

/** What has to end with the host, the last first; what fails to end keeps nothing else from it. */
export class Started {
  readonly #ends: (() => unknown)[] = [];

  add(end: () => unknown): void {
    this.#ends.push(end);
  }

  keep<T extends Disposable>(disposable: T): T {
    this.add(() => { disposable.dispose(); });
    return disposable;
  }

  /** Rejects with what failed, after all of it was tried. */
  async end(): Promise<void> {
    const errors: unknown[] = [];
    for (let end = this.#ends.pop(); end; end = this.#ends.pop()) {
      try {
        await end();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'some parts did not end cleanly');
  }
}
