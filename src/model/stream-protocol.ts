import { assertNever } from '../contract/never.ts';
import type { ContentBlockType } from '../contract/content.ts';
import type { StreamChunk } from '../contract/event.ts';
import { LlmError } from './types.ts';

/**
 * Holds an adapter to the chunk protocol (M16.1): blocks open before their deltas and close once, deltas fit their
 * block, usage comes before finish, and a good finish leaves no block open. `accept` throws BAD_STREAM on a breach.
 */
export class StreamProtocol {
  private readonly open = new Map<number, ContentBlockType>();
  private readonly closed = new Set<number>();
  private finished = false;

  accept(chunk: StreamChunk): StreamChunk {
    if (this.finished) throw breach('sent something after its finish');
    switch (chunk.type) {
      case 'block-start':
        if (this.open.has(chunk.index) || this.closed.has(chunk.index)) throw breach(`opened block ${chunk.index} twice`);
        this.open.set(chunk.index, chunk.blockType);
        return chunk;
      case 'text-delta':
        return this.delta(chunk, chunk.index, 'text');
      case 'reasoning-delta':
        return this.delta(chunk, chunk.index, 'reasoning');
      case 'tool-call-delta':
        return this.delta(chunk, chunk.index, 'tool-call');
      case 'block-end': {
        const type = this.open.get(chunk.index);
        if (type === undefined) throw breach(`closed block ${chunk.index}, which is not open`);
        if (type !== chunk.block.type) throw breach(`closed the ${type} block ${chunk.index} as ${chunk.block.type}`);
        this.open.delete(chunk.index);
        this.closed.add(chunk.index);
        return chunk;
      }
      case 'usage':
        return chunk;
      case 'finish': {
        const good = chunk.reason.kind !== 'aborted' && chunk.reason.kind !== 'error';
        if (good && this.open.size > 0) throw breach(`finished with block ${[...this.open.keys()].join(', ')} still open`);
        this.finished = true;
        return chunk;
      }
      default:
        return assertNever(chunk, 'stream chunk');
    }
  }

  private delta(chunk: StreamChunk, index: number, wanted: ContentBlockType): StreamChunk {
    const type = this.open.get(index);
    if (type !== wanted) throw breach(`sent a ${wanted} delta for block ${index}, which is ${type ?? 'not open'}`);
    return chunk;
  }
}

function breach(what: string): LlmError {
  return new LlmError(`the model adapter ${what}`, 'BAD_STREAM');
}
