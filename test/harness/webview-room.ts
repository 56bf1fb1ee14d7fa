import assert from 'node:assert/strict';
import type { ChatState, ResultsPage } from '../../src/protocol.ts';
import { WebviewBench } from './webview-page.ts';
import type { PageOptions, WebviewPage } from './webview-page.ts';

/** A browser for a file of tests, and pages in it. */
export interface WebviewRoom {
  open(options: PageOptions): Promise<WebviewPage>;
  /** The chat as it stands, with nothing posted yet. */
  chat(state: ChatState, options?: Partial<PageOptions>): Promise<WebviewPage>;
  /** The results view with a page in it. */
  results(page: ResultsPage | undefined, options?: Partial<PageOptions>): Promise<WebviewPage>;
}

/** To be called in a `describe`: what a test opened is closed behind it, and what went wrong in a page fails its test. */
export function webviewRoom(): WebviewRoom {
  let bench: WebviewBench;
  let open: WebviewPage[] = [];
  before(async () => {
    bench = await WebviewBench.start();
  });
  after(() => bench?.stop());
  afterEach(async function () {
    const errors = open.flatMap((view) => view.errors);
    for (const view of open) await view.close();
    open = [];
    if (this.currentTest?.state === 'passed') assert.deepEqual(errors, []);
  });
  const room: WebviewRoom = {
    async open(options) {
      const view = await bench.open(options);
      open.push(view);
      return view;
    },
    async chat(state, options = {}) {
      const view = await room.open({ kind: 'chat', ...options });
      await view.send({ type: 'state', state });
      await view.clearPosted();
      return view;
    },
    async results(page, options = {}) {
      assert.ok(page);
      const view = await room.open({ kind: 'results', width: 700, height: 500, ...options });
      await view.waitPosted('ready');
      await view.send({ type: 'page', page });
      await view.clearPosted();
      return view;
    },
  };
  return room;
}
