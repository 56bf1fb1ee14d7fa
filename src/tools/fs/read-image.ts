import type { Context } from '@deepseek-ai/cordis';
import { defineTool } from '../../contract/define-tool.ts';
import type { ImageAttachmentRef } from '../../contract/content.ts';
import { HarnessError } from '../../contract/error.ts';
import type { ToolDefinition, ToolExecution } from '../../contract/tool.ts';
import type {} from '../../model/types.ts';
import type { ImageMediaType } from '../../seams/attachments.ts';
import type { FileStat, FileTarget } from '../../seams/fs.ts';
import { envelope } from './envelope.ts';
import { assertPath, directoryOf, notFound, observe } from './target.ts';

const MEDIA_TYPES: Record<string, ImageMediaType> = {
  png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif',
};

/** The tool `read_image` (B10.36): a picture on disk, kept as an attachment and shown to a model that can see. */
export function readImageTool(ctx: Context, cwd: string): ToolDefinition {
  return defineTool({
    name: 'read_image',
    description: 'Look at a picture file: PNG, JPEG, WebP or GIF.',
    parameters: { file_path: { type: 'string', description: 'The picture, absolute or relative to the session directory.', required: true } },
    output: {
      schema: {
        type: 'object', additionalProperties: false,
        properties: {
          path: { type: 'string', required: true },
          image: {
            type: 'object', additionalProperties: false, required: true,
            properties: {
              attachmentId: { type: 'string', required: true }, mediaType: { type: 'string', required: true },
              bytes: { type: 'integer', required: true }, width: { type: 'integer', required: true }, height: { type: 'integer', required: true },
              name: { type: 'string' },
              originalDimensions: {
                type: 'object', additionalProperties: false,
                properties: { width: { type: 'integer', required: true }, height: { type: 'integer', required: true } },
              },
            },
          },
        },
      },
      render: (_args, { path, image }) => [
        { type: 'text', text: envelope(path, 'image', `${image.mediaType}, ${image.width} x ${image.height} pixels, ${image.bytes} bytes`) },
        { type: 'image', attachment: image },
      ],
    },
    isConcurrencySafe: () => true,
    async execute(args, exec) {
      const { file_path: shown } = args;
      const { target, stat, mediaType } = await lookAtImage(ctx, cwd, shown, exec);
      const { maxImageBytes } = ctx.attachments.imageLimits;
      const parts: Buffer[] = [];
      // one byte beyond the limit tells the store that there is more
      for await (const chunk of ctx.fs.readBytes(target, { end: Math.min(stat.size, maxImageBytes + 1) }, exec.signal)) parts.push(Buffer.from(chunk));
      let image: ImageAttachmentRef;
      try {
        image = await ctx.attachments.saveImage({ data: Buffer.concat(parts), mediaType, name: shown.slice(shown.search(/[^/\\]*$/)) });
      } catch (error) {
        if (error instanceof HarnessError) throw new HarnessError(`cannot read "${shown}": ${error.message}`, error.code, { cause: error });
        throw error;
      }
      observe(ctx, target, { kind: 'present', version: stat.version }, exec.agent);
      return { path: shown, image };
    },
    presentCall: ({ file_path: path }) => ({ card: 'generic', title: `Read image ${path}`, kind: 'read', locations: [{ path }] }),
  });
}

interface FoundImage { readonly target: FileTarget; readonly stat: FileStat; readonly mediaType: ImageMediaType }

/** Throws what keeps a picture from being read, as far as that can be told without its bytes. */
export async function lookAtImage(ctx: Context, cwd: string, shown: string, exec: ToolExecution): Promise<FoundImage> {
  assertPath(shown, 'file_path');
  const mediaType = mediaTypeOf(shown);
  if (mediaType === undefined) throw new Error(`cannot read "${shown}": not a png, jpg, jpeg, webp or gif file`);
  await assertSeeing(ctx, exec);
  const target = await ctx.fs.resolve(shown, directoryOf(exec, cwd));
  const stat = await ctx.fs.stat(target);
  if (stat === null) throw notFound(ctx, target, shown, exec.agent);
  if (stat.kind !== 'file') throw new HarnessError(`cannot read "${shown}": not a regular file`, 'FS_NOT_REGULAR_FILE');
  return { target, stat, mediaType };
}

function mediaTypeOf(path: string): ImageMediaType | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(MEDIA_TYPES, extension) ? MEDIA_TYPES[extension] : undefined;
}

/** Throws unless the model that the last request went to declares image input. */
async function assertSeeing(ctx: Context, exec: ToolExecution): Promise<void> {
  const last = exec.agent?.session.events.findLast((event) => event.type === 'request/context');
  const route = last?.type === 'request/context' ? last.data : exec.agent?.options;
  const llm = ctx.get('llm');
  if (llm === undefined || route?.provider === undefined || route.model === undefined) {
    throw new Error('read_image needs a model that takes pictures, and no model is selected');
  }
  const model = await llm.resolveModel(route.provider, route.model, exec.signal);
  if (model.inputModalities?.includes('image') !== true) {
    throw new Error(`the model "${model.name}" does not take pictures; choose one that does to use read_image`);
  }
}
