import type { ImageAttachmentRef } from '../contract/content.ts';

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

/** What a picture may be at most. */
export interface ImageLimits {
  readonly maxImageBytes: number;
  /** Pixels of the longer side. */
  readonly maxImageDimension: number;
}

export interface SaveImage {
  readonly data: Uint8Array;
  /** What the caller takes it for; checked against the bytes. */
  readonly mediaType: ImageMediaType;
  /** Shown to people; never a path. */
  readonly name?: string;
}

/** `ctx.attachments`: pictures kept beside the session log, immutable, by content. */
export interface AttachmentStore {
  readonly imageLimits: ImageLimits;
  /** Throws HarnessError ATTACHMENT_INVALID (not the picture it claims to be), ATTACHMENT_TOO_LARGE. */
  saveImage(image: SaveImage): Promise<ImageAttachmentRef>;
  /** Throws HarnessError ATTACHMENT_NOT_FOUND. */
  readImage(ref: Pick<ImageAttachmentRef, 'attachmentId'>, signal?: AbortSignal): Promise<Uint8Array>;
  /** `data:` URL for a model request; undefined when the picture is gone. */
  dataUrl(attachmentId: string): Promise<string | undefined>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { attachments: AttachmentStore }
}
