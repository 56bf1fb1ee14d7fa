import type { Context } from '@deepseek-ai/cordis';
import z from '@deepseek-ai/schemastery';
import '../../prompt/system-prompt.ts';
import '../../registry/runtime.ts';
import '../../seams/fs.ts';
import '../../seams/attachments.ts';
import { editTool } from './edit.ts';
import { registerWithLook } from '../preflight.ts';
import { lookAtImage, readImageTool } from './read-image.ts';
import { lookBeforeRead, readTool } from './read.ts';
import { writeTool } from './write.ts';

export interface Config {
  /** Lines a read shows by default and at most (B10.1). */
  readLimit?: number;
  /** UTF-16 units of a line. */
  readMaxLineLength?: number;
  /** UTF-8 bytes of a result. */
  readMaxBytes?: number;
  /** Bytes from which a file is streamed. */
  readStreamMinSize?: number;
  /** Where relative paths start for a call without an agent; default the process's directory. */
  cwd?: string;
}

export const name = 'tool-fs';
export const inject = ['tools', 'fs', 'systemPrompt'];

export const Config: z<Config> = z.object({
  readLimit: z.natural().min(1).default(2000),
  readMaxLineLength: z.natural().min(1).default(2000),
  readMaxBytes: z.natural().min(1).default(51_200),
  readStreamMinSize: z.natural().min(1).default(10 * 1024 * 1024),
  cwd: z.string().default(''),
});

const GUIDANCE = {
  read: 'Read files with `read` rather than with shell commands. Read what you need of a big file with offset and limit; a line that was cut can be looked at with a search or a shell command.',
  write: 'Use `write` for new files and for complete rewrites; read an existing file first.',
  edit: 'Use `edit` for changes to a part of a file. Copy old_string from what `read` showed, without the line numbers. When a file changed since you read it, read it again instead of guessing.',
};

/** The tools read, write and edit, with their prompt sections (B10.39); read_image where pictures can be kept (B10.36). */
export function apply(ctx: Context, config: Config = {}): void {
  const cwd = config.cwd || process.cwd();
  const limits = {
    readLimit: config.readLimit ?? 2000, readMaxLineLength: config.readMaxLineLength ?? 2000,
    readMaxBytes: config.readMaxBytes ?? 51_200, readStreamMinSize: config.readStreamMinSize ?? 10 * 1024 * 1024,
  };
  registerWithLook(ctx, readTool(ctx, limits, cwd), lookBeforeRead(ctx, limits, cwd));
  registerWithLook(ctx, writeTool(ctx, cwd), () => 'asks-later');
  registerWithLook(ctx, editTool(ctx, cwd), () => 'asks-later');
  ctx.inject(['attachments', 'fs', 'tools'], (inner) => {
    registerWithLook<{ file_path: string }>(inner, readImageTool(inner, cwd), async ({ file_path: shown }, exec) => void await lookAtImage(inner, cwd, shown, exec));
  });
  ctx.systemPrompt.section({ name: 'tools:read', order: 100, text: GUIDANCE.read });
  ctx.systemPrompt.section({ name: 'tools:write', order: 101, text: GUIDANCE.write });
  ctx.systemPrompt.section({ name: 'tools:edit', order: 102, text: GUIDANCE.edit });
}
