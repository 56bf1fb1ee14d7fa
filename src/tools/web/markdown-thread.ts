import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

/** Ms for one page, unless told otherwise. */
const LIMIT_MS = 10_000;
/** Ms after which an idle thread is given up. */
const IDLE_MS = 60_000;

function startWorker(): Worker {
  const bundled = path.join(import.meta.dirname, 'html-markdown.cjs');
  const options = { env: {}, resourceLimits: { maxOldGenerationSizeMb: 256 }, stdin: false, stdout: true, stderr: true };
  if (existsSync(bundled)) return new Worker(bundled, { ...options, execArgv: [] });
  // from source: a thread does not inherit the loader of TypeScript
  const loader = new URL('./dist/esm/api/index.mjs', pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'))).href;
  const entry = new URL('./markdown-worker.ts', import.meta.url).href;
  const start = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(entry)}); })`;
  return new Worker(start, { ...options, eval: true, execArgv: [] });
}

/**
 * Converts pages in a thread of its own, one at a time: a hostile page can cost that thread ten seconds or its 256 MB,
 * never the editor's responsiveness.
 */
export class MarkdownWorker {
  private worker: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private readonly limitMs: number;
  private closed = false;

  /** @param limitMs for one page */
  constructor(limitMs = LIMIT_MS) {
    this.limitMs = limitMs;
  }

  /** @returns undefined when the page takes too long, too much, cannot be converted, or isn't wanted any more; that one at once */
  convert(html: string, url: string, signal: AbortSignal): Promise<string | undefined> {
    const mine = this.queue.then(() => (this.closed || signal.aborted ? undefined : this.run(html, url, signal)));
    this.queue = mine;
    return new Promise((resolve) => {
      const stopped = (): void => resolve(undefined);
      if (signal.aborted) stopped();
      signal.addEventListener('abort', stopped, { once: true });
      void mine.then((markdown) => {
        signal.removeEventListener('abort', stopped);
        resolve(markdown);
      });
    });
  }

  private run(html: string, url: string, signal: AbortSignal): Promise<string | undefined> {
    clearTimeout(this.idle);
    return new Promise((resolve) => {
      let worker: Worker;
      try {
        worker = this.worker ??= startWorker();
      } catch {
        return resolve(undefined);
      }
      const timer = setTimeout(() => settle(undefined, true), this.limitMs);
      const onMessage = (markdown: string | undefined): void => settle(markdown, false);
      const onEnd = (): void => settle(undefined, true);
      const settle = (markdown: string | undefined, lost: boolean): void => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
        signal.removeEventListener('abort', onEnd);
        if (lost) this.drop(worker);
        else {
          worker.unref();
          this.idle = setTimeout(() => this.drop(worker), IDLE_MS);
          this.idle.unref();
        }
        resolve(markdown);
      };
      worker.ref();
      worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
      signal.addEventListener('abort', onEnd, { once: true });
      worker.postMessage({ html, url });
    });
  }

  private drop(worker: Worker): void {
    if (this.worker === worker) this.worker = undefined;
    worker.on('error', () => undefined);
    void worker.terminate();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }
}
