import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../src/contract/agent.ts';
import type { UserMessageInput } from '../../src/contract/message.ts';
import type { ToolExecutionInput, ToolExecutionResult } from '../../src/contract/tool.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import { createScope } from '../../src/scope/scope.ts';

/** Stands for a running conversation: records what it is sent and what is logged. */
export interface TestAgent extends Agent {
  readonly sent: { how: 'inject' | 'followup' | 'steer'; message: UserMessageInput }[];
  readonly logged: { type: string; data: unknown }[];
  status: 'idle' | 'running';
}

export interface ToolRoom {
  readonly ctx: Context;
  /** Absolute real path of a fresh folder: the agents' working directory. */
  readonly dir: string;
  agent(id?: string): TestAgent;
  call(name: string, args: unknown, options?: Partial<ToolExecutionInput>): Promise<ToolExecutionResult>;
  dispose(): Promise<void>;
}

/** A registry and a prompt on a fresh root, for tests of tools. */
export async function toolRoom(): Promise<ToolRoom> {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dsh-test-')));
  const ctx = new Context();
  await ctx.plugin(SystemPrompt, {});
  await ctx.plugin(ToolRuntime, {});
  let calls = 0;
  return {
    ctx,
    dir,
    agent(id = 'agent-1') {
      const logged: TestAgent['logged'] = [];
      const sent: TestAgent['sent'] = [];
      const agent = {
        id, options: {}, status: 'idle', logged, sent, inbox: { nextTurn: [], nextStep: [] },
        session: {
          id: `session-${id}`, cwd: dir, header: { type: 'session', version: 0, id: `session-${id}`, cwd: dir, createdAt: 0, delegationDepth: 0 },
          events: logged, append: (type: string, data: unknown) => void logged.push({ type, data }),
        },
        inject: (message: UserMessageInput) => void sent.push({ how: 'inject', message }),
        followup: (message: UserMessageInput) => void sent.push({ how: 'followup', message }),
        steer: (message: UserMessageInput) => void sent.push({ how: 'steer', message }),
      } as unknown as TestAgent & { ctx: Context };
      agent.ctx = createScope(ctx, agent).ctx;
      return agent;
    },
    call: (name, args, options) => ctx.get('tools')!.execute({
      callId: `call-${++calls}`, name, arguments: args, signal: new AbortController().signal, ...options,
    }),
    async dispose() {
      await ctx.fiber.dispose();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Text of a result's only block. */
export function textOf(result: ToolExecutionResult): string {
  const [block] = result.content;
  if (result.content.length !== 1 || block?.type !== 'text') throw new Error(`expected one text block, got ${JSON.stringify(result.content)}`);
  return block.text;
}
