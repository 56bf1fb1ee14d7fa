/** Identifies one tool call inside a session. Opaque: made by the model or by Code Mode (`<callId>:code:<n>`). */
export type CallId = string;

/** A picture kept beside the session log; only this reference is logged (D5.3). */
export interface ImageAttachmentRef {
  attachmentId: string;
  mediaType: string;
  /** Size of the stored file in bytes. */
  bytes: number;
  /** Pixels. */
  width: number;
  /** Pixels. */
  height: number;
  name?: string;
  originalDimensions?: { width: number; height: number };
}

export interface TextBlock { type: 'text'; text: string }
export interface ReasoningBlock { type: 'reasoning'; text: string }
export interface ImageBlock { type: 'image'; attachment: ImageAttachmentRef }
/** `arguments` is the model's raw text, kept verbatim even when it is not JSON (O15.2). */
export interface ToolCallBlock { type: 'tool-call'; id: CallId; name: string; arguments: string }
export interface ToolResultBlock { type: 'tool-result'; toolCallId: CallId; content: ContentBlock[]; isError?: boolean }

/** Merge-extensible table of content blocks (D5.3). */
export interface ContentBlockMap {
  text: TextBlock;
  reasoning: ReasoningBlock;
  image: ImageBlock;
  'tool-call': ToolCallBlock;
  'tool-result': ToolResultBlock;
}
export type ContentBlockType = keyof ContentBlockMap;
export type ContentBlock = ContentBlockMap[ContentBlockType];

/** What the model is told about one tool (R3.11). */
export interface ToolSchema {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}
