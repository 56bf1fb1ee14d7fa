import path from 'node:path';
import type { Context } from '@deepseek-ai/cordis';
import type { PermissionOptions } from '../policy/permissions.ts';
import { startRuntime, type LogEntry, type Mount, type Runtime } from '../runtime.ts';
import type { LlmCallConfig } from '../agent/events.ts';
import { NodeFileSystem } from './fs.ts';
import { installedGrammar } from './grammars.ts';
import { NodeRipgrep } from './ripgrep.ts';
import { NodeShell } from './shell.ts';

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
      ...(sessionsDir === undefined ? {} : { readable: () => [sessionsDir] }),
      ...(grammar ? { grammar } : {}),
      ...options.permissions,
    },
    async providers(mount, ctx) {
      await mount(ctx.plugin(NodeFileSystem, {}));
      await mount(ctx.plugin(NodeRipgrep, {}));
      await mount(ctx.plugin(NodeShell, sessionsDir === undefined ? {} : { sessionFile: (id) => path.join(sessionsDir, `${id}.jsonl`) }));
    },
  });
}
