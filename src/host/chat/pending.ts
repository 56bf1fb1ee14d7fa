import type { PendingReviews } from '../../protocol.ts';
import type { ReviewFile } from '../../seams/review.ts';

/** What waits for a decision, in numbers. A file that has no lines to decide on is one change. */
export function pendingReviews(files: readonly ReviewFile[]): PendingReviews {
  const landed = files.filter((file) => file.landed).length;
  return {
    files: new Set(files.map((file) => file.realPath)).size, changes: files.reduce((sum, file) => sum + Math.max(file.hunks.length, 1), 0),
    kind: landed === 0 ? 'staged' : landed === files.length ? 'landed' : 'both',
  };
}
