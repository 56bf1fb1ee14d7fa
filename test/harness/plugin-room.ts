import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import type { ToolExecutionResult } from '../../src/contract/tool.ts';
import { lentModules } from '../../src/plugins/modules.ts';
import { PluginSet } from '../../src/plugins/plugin-set.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';

/** How a plugin gets at what it needs of the host, as an ES module and as CommonJS. */
export const IMPORTS = "import { defineTool } from '@deepseek-ai/dsh-tools';\nimport { HarnessError } from '@deepseek-ai/dsh-llm';\n";
export const REQUIRES = "const { defineTool } = require('@deepseek-ai/dsh-tools');\nconst { HarnessError } = require('@deepseek-ai/dsh-llm');\n";

/** A fresh folder with a `cordis.yml`, and the plugins it names on a registry and a prompt of their own. */
export interface PluginRoom {
  readonly folder: string;
  readonly ctx: Context;
  readonly set: PluginSet;
  /** Files by their path in the folder. */
  write(files: Readonly<Record<string, string>>): void;
  /** Writes the `cordis.yml` and loads what it lists. */
  list(rows: string): Promise<void>;
  call(name: string, args: unknown): Promise<ToolExecutionResult>;
  dispose(): Promise<void>;
}

/** `files` are there before the plugins are looked for. */
export async function openPluginRoom(files: Readonly<Record<string, string>> = {}): Promise<PluginRoom> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'dsh-plugins-'));
  const write = (wanted: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(wanted)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
  };
  write(files);
  const ctx = new Context();
  await ctx.plugin(SystemPrompt, {});
  await ctx.plugin(ToolRuntime, {});
  await ctx.plugin(PluginSet, { file: path.join(folder, 'cordis.yml'), modules: lentModules(), watch: false });
  const set = ctx.get('plugins') as PluginSet;
  let calls = 0;
  return {
    folder, ctx, set, write,
    async list(rows) {
      write({ 'cordis.yml': rows });
      await set.reload();
    },
    call: (name, args) => ctx.tools.execute({ callId: `call-${++calls}`, name, arguments: args, signal: new AbortController().signal }),
    async dispose() {
      await ctx.fiber.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
