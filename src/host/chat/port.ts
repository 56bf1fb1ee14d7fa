import type * as vscode from 'vscode';
import type { ChatState, HostToView, ViewToHost } from '../../protocol.ts';
import { parseViewToHost } from '../../protocol.ts';
import { log } from '../log.ts';

type Unnumbered = HostToView extends infer M ? (M extends HostToView ? Omit<M, 'seq'> : never) : never;

/**
 * One view's end of the protocol: numbers what is sent, holds everything back until the view said it is ready, and
 * answers a gap with the whole state (F7).
 */
export class ChatPort {
  readonly #webview: vscode.Webview;
  readonly #state: () => ChatState;
  readonly #receive: (message: ViewToHost, port: ChatPort) => void;
  /** How many of the newest items the view has asked for; undefined: the first page. */
  shown: number | undefined;
  #seq = 0;
  #ready = false;

  constructor(webview: vscode.Webview, state: () => ChatState, receive: (message: ViewToHost, port: ChatPort) => void) {
    this.#webview = webview;
    this.#state = state;
    this.#receive = receive;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** Listens; returns the disposer. */
  open(): vscode.Disposable {
    return this.#webview.onDidReceiveMessage((raw: unknown) => {
      const message = parseViewToHost(raw);
      if (message === undefined) {
        log().warn('chat view: dropped a message that is not part of the protocol');
        return;
      }
      if (message.type === 'ready' || message.type === 'resync') {
        this.#ready = true;
        this.sendState();
      } else this.#receive(message, this);
    });
  }

  sendState(): void {
    this.shown = undefined;
    this.send({ type: 'state', state: this.#state() });
  }

  send(message: Unnumbered): void {
    if (!this.#ready) return;
    void this.#webview.postMessage({ ...message, seq: ++this.#seq } as HostToView);
  }
}
