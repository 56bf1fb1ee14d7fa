import path from 'node:path';
import type { Context } from '@deepseek-ai/cordis';
import type { PermissionOptions } from '../policy/permissions.ts';
import { startRuntime, type LogEntry, type Mount, type Runtime } from '../runtime.ts';
import type { LlmCallConfig } from '../agent/events.ts';
import { DiskAttachments } from './attachments.ts';
import { NodeFileSystem } from './fs.ts';
import { installedGrammar } from './grammars.ts';
import { NodeRipgrep } from './ripgrep.ts';
import { NodeShell } from './shell.ts';
import { NodeSpillStore } from './spill.ts';

export interface HeadlessOptions {
  /** Absolute. */
  readonly workspace: string;
  readonly sessionsDir?: string;
  readonly model?: () => Partial<LlmCallConfig> | undefined;
  readonly permissions?: PermissionOptions;
  readonly extras?: (mount: Mount, ctx: Context) => Promise<void>;
  readonly log?: (entry: LogEntry) => void;
}

/** The core on plain node: files, shell and ripgrep of this machine. */
export async function startHeadless(options: HeadlessOptions): Promise<Runtime> {
  const { workspace, sessionsDir } = options;
  const grammar = installedGrammar();
  return startRuntime({
    ...(sessionsDir === undefined ? {} : { sessionsDir }),
    ...(options.log ? { log: options.log } : {}),
    ...(options.extras ? { extras: options.extras } : {}),
    // every delta: what a run logs must not depend on the clock
    agents: { chunkIntervalMs: 0, ...(options.model ? { defaultModel: options.model } : {}) },
    permissions: {
      roots: () => [workspace],
      ...(sessionsDir === undefined ? {} : { readable: (session) => [path.join(sessionsDir, session.id)] }),
      ...(grammar ? { grammar } : {}),
      ...options.permissions,
    },
    async providers(mount, ctx) {
      await mount(ctx.plugin(NodeFileSystem, {}));
      if (sessionsDir !== undefined) {
        await mount(ctx.plugin(NodeSpillStore, { sessions: sessionsDir }));
        await mount(ctx.plugin(DiskAttachments, { directory: path.join(sessionsDir, 'attachments') }));
      }
      await mount(ctx.plugin(NodeRipgrep, {}));
      await mount(ctx.plugin(NodeShell, sessionsDir === undefined ? {} : { sessionFile: (id) => path.join(sessionsDir, `${id}.jsonl`) }));
    },
  });
}
