import { HarnessError } from '../contract/error.ts';
import { defineTool } from '../contract/define-tool.ts';
import type { JsonValue } from '../contract/json.ts';
import type { ToolDefinition, ToolRunContext } from '../contract/tool.ts';
import type { CodeRunResult } from './code-runtime.ts';

/** The one tool that code modes put before the model; nobody may register or shadow it (R3.6). */
export const RUN_CODE_NAME = 'run_code';

/** A program that did not come to its end (C8.4). */
export class CodeRunFailedError extends HarnessError {
  constructor(message: string) {
    super(message, 'CODE_RUN_FAILED');
  }
}

/** Runs one program with the caller's tools bound; rejects when it cannot run at all. */
export type ProgramRunner = (program: string, exec: ToolRunContext) => Promise<CodeRunResult>;

/** Deepest indentation, in characters, that a printed result may reach before it goes on in one line (C8.3). */
const MAX_INDENT = 10;

/** JSON with 2 spaces of indentation down to `MAX_INDENT`, compact below (C8.3). */
export function prettyJson(value: JsonValue, indent = 0): string {
  const inner = indent + 2;
  if (typeof value !== 'object' || value === null || inner > MAX_INDENT) return JSON.stringify(value);
  const pad = ' '.repeat(inner);
  const members = Array.isArray(value)
    ? value.map((item) => pad + prettyJson(item, inner))
    : Object.entries(value).map(([key, member]) => `${pad}${JSON.stringify(key)}: ${prettyJson(member, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.join(',\n')}\n${' '.repeat(indent)}${close}`;
}

/** Makes the `run_code` tool of a registry (C8.2–C8.5). */
export function createRunCodeTool(run: ProgramRunner): ToolDefinition {
  return defineTool({
    name: RUN_CODE_NAME,
    description: 'Runs one program that calls tools as functions. Only what it prints or returns comes back.',
    parameters: {
      code: { type: 'string', required: true, description: 'Body of an async function: `await tools.name(args)`, `console.log`, `return`.' },
      description: { type: 'string', required: true, description: 'What the program does, in a few words.' },
    },
    output: {
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: { logs: { type: 'array', items: { type: 'string' }, required: true }, result: { type: 'json' } },
      },
      render(_args, { logs, result }) {
        const shown = result === undefined ? '' : typeof result === 'string' ? result : prettyJson(result);
        const text = [logs.join('\n'), shown].filter((part) => part !== '').join('\n');
        return [{ type: 'text', text: text === '' ? '(run_code completed with no output)' : text }];
      },
    },
    async execute({ code, description }, exec) {
      if (description.trim() === '') throw new Error('invalid description: expected a non-empty string');
      const { logs, value, error } = await run(code, exec);
      if (error) {
        const captured = logs.length > 0 ? `\nCaptured output:\n${logs.join('\n')}` : '';
        throw new CodeRunFailedError(`code run failed (${error.kind}): ${error.message}${captured}`);
      }
      return value === undefined ? { logs } : { logs, result: value };
    },
    presentCall: ({ code, description }) => ({ card: 'generic', title: description, kind: 'execute', rawInput: code }),
  });
}
