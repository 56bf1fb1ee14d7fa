import type { Context } from '@deepseek-ai/cordis';
import * as vscode from 'vscode';
import type { AgentHandle, CreateAgent } from '../../agent/agents.ts';
import type { Agent, Session } from '../../contract/agent.ts';
import type { SessionEvent } from '../../contract/event.ts';
import type { ChatMeta, TranscriptPatch } from '../../protocol.ts';
import { Transcript } from '../../transcript/transcript.ts';
import { transcriptWords } from './words.ts';

/** How long a session that another window holds is waited for, and between two tries. Milliseconds. */
const HELD_MS = 6_000;
const RETRY_MS = 300;

export interface SlotParts {
  readonly ctx: Context;
  /** Absolute folder new sessions work in. */
  readonly cwd: () => string;
  /** What changed with the newest event. */
  readonly changed: (patches: readonly TranscriptPatch[], meta: Partial<ChatMeta>) => void;
}

/** The session on show: nothing yet, an agent of ours, or one that another window holds and that is only looked at. */
export class SessionSlot {
  readonly #parts: SlotParts;
  #handle: AgentHandle | undefined;
  #viewed: Session | undefined;
  /** Sessions come and go one at a time: of two clicks the later one is what stays on show. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #transcript: Transcript;
  #unsubscribe: () => void = () => undefined;

  constructor(parts: SlotParts) {
    this.#parts = parts;
    this.#transcript = this.#newTranscript();
  }

  get agent(): Agent | undefined {
    return this.#handle?.agent;
  }

  get session(): Session | undefined {
    return this.#handle?.agent.session ?? this.#viewed;
  }

  get transcript(): Transcript {
    return this.#transcript;
  }

  get cwd(): string {
    return this.session?.cwd ?? this.#parts.cwd();
  }

  #newTranscript(): Transcript {
    const { ctx } = this.#parts;
    return new Transcript({ tool: (name) => ctx.tools.get(name, this.agent), review: (callId) => ctx.review.forCall(callId), words: transcriptWords(), cwd: () => this.cwd });
  }

  #queue<T>(step: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const result = this.#last.then(() => {
      this.#waiting--;
      return step();
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Leaves the session on show and opens a stored one. A window that was just reloaded may still hold it: waits a little. */
  open(id: string): Promise<void> {
    return this.#queue(() => this.#open(id));
  }

  async #open(id: string): Promise<void> {
    await this.#close();
    const { agents, sessions } = this.#parts.ctx;
    for (let waited = 0; waited === 0 || (waited <= HELD_MS && this.#waiting === 0); waited += RETRY_MS) {
      try {
        this.#enter(await agents.resume({ resumeSessionId: id }));
        return;
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'SESSION_IN_USE') throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    this.#viewed = await sessions.view(id);
    for (const event of this.#viewed.events) this.#transcript.apply(event);
    void vscode.window.showInformationMessage(vscode.l10n.t('This session is open in another window. Your next message continues it as a copy.'));
  }

  /** The agent of the session on show, made with the first message. `made` tells views that there is one now. */
  ensureAgent(made: () => void): Promise<Agent> {
    return this.#queue(async () => {
      if (this.#handle !== undefined) return this.#handle.agent;
      const handle = await this.#parts.ctx.agents.create(this.#origin());
      this.#enter(handle);
      made();
      return handle.agent;
    });
  }

  /** What a new session starts from: nothing, or the whole turns of the one on show. */
  #origin(): CreateAgent {
    const viewed = this.#viewed;
    if (viewed === undefined) return { meta: { cwd: this.#parts.cwd() } };
    const end = viewed.events.findLastIndex((event) => event.type === 'turn/end') + 1;
    return { meta: { cwd: viewed.cwd, parentSession: viewed.id }, seed: viewed.events.slice(0, end) };
  }

  #enter(handle: AgentHandle): void {
    this.#handle = handle;
    this.#viewed = undefined;
    this.#transcript = this.#newTranscript();
    const { session } = handle.agent;
    for (const event of session.events) this.#transcript.apply(event);
    this.#unsubscribe = session.onAppend((event) => this.#take(event));
  }

  #take(event: SessionEvent): void {
    const transcript = this.#transcript;
    const { todos } = transcript;
    const patches = transcript.apply(event);
    const usage = event.type === 'assistant/message' || event.type === 'request/context' ? transcript.usage : undefined;
    this.#parts.changed(patches, {
      ...(transcript.todos === todos ? {} : { todos: transcript.todos }),
      ...(event.type === 'user/message' ? { title: transcript.title } : {}),
      ...(event.type === 'agent/inbox/spliced' ? { queued: transcript.queued } : {}),
      ...(usage?.used ? { usage } : {}),
    });
  }

  /** Leaves the session on show; an agent that runs is stopped and waited for. */
  close(): Promise<void> {
    return this.#queue(() => this.#close());
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#unsubscribe();
    this.#unsubscribe = () => undefined;
    this.#handle = undefined;
    this.#viewed = undefined;
    this.#transcript = this.#newTranscript();
    await handle?.dispose();
  }
}
