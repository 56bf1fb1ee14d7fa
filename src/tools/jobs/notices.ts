import type { Context } from '@deepseek-ai/cordis';
import type { Agent } from '../../contract/agent.ts';
import type { UserMessageInput } from '../../contract/message.ts';
import type { JobSnapshot } from '../../jobs/types.ts';
import '../../agent/events.ts';
import { jobStatus } from './text.ts';

export interface NoticeConfig {
  /** `wakeup` opens a turn in an idle conversation, `quiet` waits for the next one; default `wakeup` (J7.10). */
  readonly completionDelivery?: 'wakeup' | 'quiet';
  /** Turns that notices may open one after the other until the user says something; default 3 (J7.10). */
  readonly maxConsecutiveWakes?: number;
}

const SUMMARY_CHARS = 120;

function notice(job: JobSnapshot): UserMessageInput {
  const what = `background job ${job.id} (${job.kind}: ${job.label}) finished`;
  const summary = `background job ${job.id} finished ${jobStatus(job)}`;
  return {
    content: [{ type: 'text', text: `${what} ${jobStatus(job)}. Read its output with job_output.` }],
    source: {
      kind: 'plugin', plugin: 'tool-jobs', form: 'notice',
      summary: summary.length > SUMMARY_CHARS ? `${summary.slice(0, SUMMARY_CHARS - 1)}…` : summary,
    },
  };
}

/** Tells an owner once that a job of its is over, unless it knows already (J7.10). */
export function deliverNotices(ctx: Context, config: NoticeConfig): void {
  const wakes = new WeakMap<Agent, number>();
  const limit = config.maxConsecutiveWakes ?? 3;

  ctx.jobs.onJobDone((job, owner) => {
    if (owner === undefined || job.reported) return;
    const count = wakes.get(owner) ?? 0;
    const wake = config.completionDelivery !== 'quiet' && owner.status === 'idle' && count < limit;
    try {
      if (wake) {
        owner.followup(notice(job));
        wakes.set(owner, count + 1);
      } else {
        owner.inject(notice(job));
      }
    } catch (error) {
      // an owner on its way out takes no mail (A6.6)
      ctx.logger.debug('no notice of %s: %s', job.id, error);
    }
  });
  ctx.on('agent/inbox/claimed', ({ agent, message }) => {
    if (message.source.kind === 'user') wakes.delete(agent);
  });
}
