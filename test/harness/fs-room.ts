import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import type { Fiber, Plugin } from '@deepseek-ai/cordis';
import type { Agent } from '../../src/contract/agent.ts';
import type { ToolExecutionResult } from '../../src/contract/tool.ts';
import { NodeFileSystem } from '../../src/headless/fs.ts';
import type { Config as FileSystemConfig } from '../../src/headless/fs.ts';
import * as observation from '../../src/policy/observation.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import * as toolFs from '../../src/tools/fs/plugin.ts';
import type { Config as ToolConfig } from '../../src/tools/fs/plugin.ts';

export interface FsRoomOptions {
  readonly fs?: FileSystemConfig;
  readonly tools?: ToolConfig;
  /** Read before write (default true). */
  readonly observation?: boolean;
  readonly FileSystem?: Plugin.Constructor;
  readonly plugins?: readonly Plugin.Object[];
}

/** A temporary directory with the file tools on it, as an agent uses them. */
export interface FsRoom {
  readonly root: Context;
  readonly directory: string;
  readonly agent: Agent;
  /** Of the plugin that registers read, write and edit. */
  readonly toolFiber: Fiber;
  call(name: string, args: unknown, options?: { agent?: Agent | null; signal?: AbortSignal }): Promise<ToolExecutionResult>;
  /** Calls, and fails the test when the call failed. */
  must(name: string, args: unknown): Promise<ToolExecutionResult>;
  /** The error message of a call that must fail. */
  refuse(name: string, args: unknown, options?: { agent?: Agent | null }): Promise<string>;
  put(name: string, content: string | Uint8Array): Promise<string>;
  bytes(name: string): Promise<Buffer>;
  text(name: string): Promise<string>;
  dispose(): Promise<void>;
}

/** An agent as far as the file tools look at one: itself as scope key, its session and directory. */
export function bareAgent(cwd: string): Agent {
  return { id: 'agent', session: { id: 'session', cwd } } as unknown as Agent;
}

export async function openFsRoom(options: FsRoomOptions = {}): Promise<FsRoom> {
  const directory = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'fs-room-')));
  const root = new Context();
  await root.plugin(SystemPrompt);
  await root.plugin(ToolRuntime);
  await root.plugin((options.FileSystem ?? NodeFileSystem) as Plugin.Constructor, options.fs ?? {});
  if (options.observation !== false) await root.plugin(observation);
  const toolFiber = root.plugin(toolFs, options.tools ?? {});
  await toolFiber;
  for (const plugin of options.plugins ?? []) await root.plugin(plugin);
  const agent = bareAgent(directory);
  let calls = 0;
  const call: FsRoom['call'] = (name, args, { agent: caller = agent, signal = new AbortController().signal } = {}) => root.tools.execute({
    callId: `call-${++calls}`, name, arguments: args, signal, ...(caller !== null && { agent: caller }),
  });
  return {
    root, directory, agent, toolFiber, call,
    async must(name, args) {
      const result = await call(name, args);
      if (result.isError) throw new Error(`${name} failed: ${result.error.message}`);
      return result;
    },
    async refuse(name, args, callOptions) {
      const result = await call(name, args, callOptions);
      if (!result.isError) throw new Error(`${name} succeeded`);
      return result.error.message;
    },
    async put(name, content) {
      const file = path.join(directory, name);
      await fs.mkdir(path.dirname(file), { recursive: true });
      await fs.writeFile(file, content);
      return file;
    },
    bytes: (name) => fs.readFile(path.join(directory, name)),
    text: (name) => fs.readFile(path.join(directory, name), 'utf8'),
    async dispose() {
      await root.fiber.dispose();
      await fs.rm(directory, { recursive: true, force: true });
    },
  };
}

/** The one text block of a result. */
export function textOf(result: ToolExecutionResult): string {
  const [block] = result.content;
  if (result.content.length !== 1 || block?.type !== 'text') throw new Error('expected one text block');
  return block.text;
}
