import type { JobSnapshot } from '../../jobs/types.ts';

/** What a tool tells about a job (J7.12). */
export interface JobValue {
  id: string;
  kind: string;
  label: string;
  status: JobSnapshot['status'];
  detail?: string;
  startedAt: number;
  finishedAt?: number;
}

export function jobValue(job: JobSnapshot): JobValue {
  return {
    id: job.id, kind: job.kind, label: job.label, status: job.status, startedAt: job.startedAt,
    ...(job.detail !== undefined ? { detail: job.detail } : {}),
    ...(job.finishedAt !== undefined ? { finishedAt: job.finishedAt } : {}),
  };
}

/** `[status: completed, exit code: 0]` (B10.33). */
export function jobStatus(job: { status: string; detail?: string }): string {
  return `[status: ${job.status}${job.detail !== undefined ? `, ${job.detail}` : ''}]`;
}

/** The last `limit` bytes of a text, cut between characters, with a line that says so; undefined when it fits. */
export function lastBytes(text: string, limit: number): string | undefined {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return undefined;
  let start = bytes.length - limit;
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return `[the first ${start} of ${bytes.length} bytes are not shown]\n${bytes.subarray(start).toString('utf8')}`;
}
