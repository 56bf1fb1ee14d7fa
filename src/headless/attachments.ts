import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import type { ImageAttachmentRef } from '../contract/content.ts';
import { HarnessError } from '../contract/error.ts';
import type { AttachmentStore, ImageLimits, SaveImage } from '../seams/attachments.ts';
import { putFile, statPath } from './disk.ts';
import { imageHeader } from './image-header.ts';

export interface Config {
  /** Absolute directory, made on demand. */
  directory: string;
  /** Default 10 MiB. */
  maxImageBytes?: number;
  /** Pixels; default 8000. */
  maxImageDimension?: number;
}

const EXTENSIONS: Record<string, string> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp', 'image/gif': 'gif' };

/** `ctx.attachments` in a directory: one file a picture, named by its hash. */
export class DiskAttachments extends Service implements AttachmentStore {
  readonly imageLimits: ImageLimits;
  private readonly directory: string;

  constructor(ctx: Context, config: Config) {
    super(ctx, 'attachments');
    this.directory = config.directory;
    this.imageLimits = { maxImageBytes: config.maxImageBytes ?? 10 * 1024 * 1024, maxImageDimension: config.maxImageDimension ?? 8000 };
  }

  async saveImage({ data, mediaType, name }: SaveImage): Promise<ImageAttachmentRef> {
    const { maxImageBytes, maxImageDimension } = this.imageLimits;
    if (data.length > maxImageBytes) {
      throw new HarnessError(`the picture is too large (${data.length} bytes; the limit is ${maxImageBytes})`, 'ATTACHMENT_TOO_LARGE');
    }
    const header = imageHeader(data);
    if (header === undefined) throw new HarnessError('the file is not a PNG, JPEG, WebP or GIF picture', 'ATTACHMENT_INVALID');
    if (header.mediaType !== mediaType) {
      throw new HarnessError(`the picture is ${header.mediaType}, not ${mediaType} as its name says`, 'ATTACHMENT_INVALID');
    }
    const { width, height } = header;
    if (Math.max(width, height) > maxImageDimension) {
      throw new HarnessError(`the picture is too large (${width} x ${height} pixels; the limit is ${maxImageDimension})`, 'ATTACHMENT_TOO_LARGE');
    }
    const attachmentId = `${createHash('sha256').update(data).digest('hex')}.${EXTENSIONS[mediaType] ?? 'bin'}`;
    const file = path.join(this.directory, attachmentId);
    await fs.mkdir(this.directory, { recursive: true });
    if (await statPath(file) === null) await putFile(file, [data], undefined, attachmentId);
    return { attachmentId, mediaType, bytes: data.length, width, height, ...(name !== undefined && { name }) };
  }

  async readImage({ attachmentId }: Pick<ImageAttachmentRef, 'attachmentId'>, signal?: AbortSignal): Promise<Uint8Array> {
    // ids come back from logs: never let one name a path
    if (!/^[0-9a-f]{64}\.(png|jpg|webp|gif)$/.test(attachmentId)) throw new HarnessError('unknown attachment', 'ATTACHMENT_NOT_FOUND');
    try {
      return await fs.readFile(path.join(this.directory, attachmentId), { signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new HarnessError(`the attachment ${attachmentId} is gone`, 'ATTACHMENT_NOT_FOUND', { cause: error });
    }
  }

  async dataUrl(attachmentId: string): Promise<string | undefined> {
    const data = await this.readImage({ attachmentId }).catch(() => undefined);
    const header = data === undefined ? undefined : imageHeader(data);
    return data === undefined || header === undefined ? undefined : `data:${header.mediaType};base64,${Buffer.from(data).toString('base64')}`;
  }
}
