/** The webview's side of VS Code's message port: typed posts, and the state that survives a reload of the view. */
interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

/** What the host page carries in `<script type="application/json" id="boot">`. */
export interface Boot {
  readonly kind: 'chat' | 'results';
  /** Contents of the l10n bundle, or null for English. */
  readonly l10n: Record<string, string> | null;
  /** BCP 47 tag, for numbers and dates. */
  readonly locale: string;
  /** `process.platform` of the machine the window runs on: names of modifier keys. */
  readonly platform: string;
}

export interface HostPort<Out> {
  post(message: Out): void;
  /** What was kept by {@link HostPort.keep}, or undefined. */
  kept(): unknown;
  keep(state: unknown): void;
  /** Calls back for every message of the host; the callback checks what it is. */
  listen(receive: (data: unknown) => void): void;
}

/** May be called once: VS Code hands its API out once. */
export function connectHost<Out>(): HostPort<Out> {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    kept: () => api.getState(),
    keep: (state) => api.setState(state),
    listen: (receive) => window.addEventListener('message', (event: MessageEvent<unknown>) => receive(event.data)),
  };
}

/** Reads the boot record; a page without one gets English. */
export function readBoot(): Boot {
  const fallback: Boot = { kind: 'chat', l10n: null, locale: 'en', platform: 'linux' };
  try {
    const parsed = JSON.parse(document.getElementById('boot')?.textContent ?? 'null') as Partial<Boot> | null;
    return { ...fallback, ...parsed };
  } catch {
    return fallback;
  }
}

/** Reports what nobody caught, so that the log has it. */
export function reportErrors(report: (message: string) => void): void {
  let left = 20;
  const send = (message: string): void => {
    if (left-- > 0) report(message.slice(0, 4000));
  };
  window.addEventListener('error', (event) => send(describe(event.error ?? event.message)));
  window.addEventListener('unhandledrejection', (event) => send(describe(event.reason)));
}

/** An error as text for the log. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
