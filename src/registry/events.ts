import type { Agent } from '../contract/agent.ts';
import type { CallId, ContentBlock } from '../contract/content.ts';
import type {
  PostToolDecision, PreToolDecision, ToolDispatchExecution, ToolExecution, ToolExecutionResult,
} from '../contract/tool.ts';
import type { Scoped } from '../scope/carrier.ts';
import type { ToolRuntime } from './runtime.ts';

/** One settled sub-call of a `run_code` program, about to be logged (C8.14). */
export interface CodeDispatchLog {
  /** The outer `run_code` execution. */
  readonly exec: ToolExecution;
  readonly agent?: Agent;
  /** `<callId>:code:<n>`. */
  readonly subCallId: CallId;
  readonly name: string;
  readonly isError: boolean;
  readonly content: ContentBlock[];
}

declare module '@deepseek-ai/cordis' {
  interface Context { tools: ToolRuntime }
  interface Events {
    /** Allow, deny or ask before a call runs (P4.8). Scope-filtered by the calling agent. */
    'tools/pre-execute'(this: Scoped<ToolRuntime>, exec: ToolExecution, next: () => Promise<PreToolDecision>): Promise<PreToolDecision>;
    /** Around the body: timeouts, retries, measures (P4.18). Scope-filtered. */
    'tools/execute'(
      this: Scoped<ToolRuntime>, exec: ToolDispatchExecution, next: () => Promise<ToolExecutionResult>,
    ): Promise<ToolExecutionResult>;
    /** Accept, replace or block a result (P4.27). Scope-filtered. */
    'tools/post-execute'(
      this: Scoped<ToolRuntime>, exec: ToolExecution, result: Readonly<ToolExecutionResult>, next: () => Promise<PostToolDecision>,
    ): Promise<PostToolDecision>;
    /** May replace the logged copy of a sub-call's content (C8.14). Scope-filtered. */
    'tools/code-dispatch-log'(this: Scoped<ToolRuntime>, dispatch: CodeDispatchLog, next: () => Promise<ContentBlock[]>): Promise<ContentBlock[]>;
    /** The final, frozen outcome of a call; listeners cannot change or break it (P4.34). Scope-filtered. */
    'tools/result'(this: Scoped<ToolRuntime>, exec: Readonly<ToolExecution>, result: Readonly<ToolExecutionResult>): unknown;
    /** The set of tools changed, in whichever scope (R3.8). */
    'tools/change'(): void;
  }
}
