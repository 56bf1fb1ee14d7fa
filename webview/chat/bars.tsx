import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import * as l10n from '@vscode/l10n';
import type { ChatMeta, JobItem, PendingReviews } from '../../src/protocol.ts';
import type { TodoItem } from '../../src/contract/event.ts';
import { ansiSpans } from '../ui/ansi.ts';
import { IconButton, TextButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { formatNumber } from '../ui/l10n.ts';
import { memo } from '../ui/memo.ts';
import { ScrollBox } from '../ui/scroll-box.tsx';
import { useActions } from './context.ts';
import { TodoList, progressOf } from './todo-list.tsx';

/** What stays in sight above the composer: open changes, the checklist, background jobs, messages that wait. */
export const Bars = memo(function Bars({ meta }: { meta: ChatMeta }) {
  return (
    <div class="bars">
      <Todos todos={meta.todos} running={meta.status !== 'idle'} />
      <Jobs jobs={meta.jobs} />
      <Changes reviews={meta.reviews} />
      <Queued queued={meta.queued} />
    </div>
  );
});

function Fold({ icon, title, actions, children, startOpen }: { icon: string; title: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; startOpen?: boolean }) {
  const [open, setOpen] = useState(startOpen ?? false);
  return (
    <section class="bar">
      <div class="bar-row">
        <button type="button" class="bar-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'chevron-down' : 'chevron-right'} /><Icon name={icon} /><span class="bar-title">{title}</span>
        </button>
        {actions}
      </div>
      {open && <div class="bar-body">{children}</div>}
    </section>
  );
}

function Todos({ todos, running }: { todos: readonly TodoItem[]; running: boolean }) {
  const { done, current } = progressOf(todos);
  if (todos.length === 0 || (done === todos.length && !running)) return null;
  return (
    <Fold icon="checklist" title={<>{l10n.t('Todos ({0}/{1})', done, todos.length)}{current && <span class="bar-detail"> · {current.content}</span>}</>}>
      <TodoList todos={todos} />
    </Fold>
  );
}

function Jobs({ jobs }: { jobs: readonly JobItem[] }) {
  const { post } = useActions();
  const active = (job: JobItem): boolean => job.status === 'running' || job.status === 'stopping';
  const running = jobs.filter(active);
  if (running.length === 0) return null;
  const listed = [...running, ...jobs.filter((job) => !active(job)).slice(-FINISHED_JOBS)];
  return (
    <Fold icon="server-process" title={running.length === 1 ? <>{l10n.t('1 background job')}<span class="bar-detail"> · {running[0]?.label}</span></> : l10n.t('{0} background jobs', running.length)} >
      <ul class="jobs">
        {listed.map((job) => (
          <li key={job.id} class={active(job) ? 'job' : 'job job-over'}>
            <div class="job-row">
              <JobIcon job={job} />
              <span class="job-label mono" title={job.label}>{job.label}</span>
              {job.detail !== undefined && <span class="bar-detail">{job.detail}</span>}
              {job.callId !== undefined && <IconButton icon="link-external" label={l10n.t('Open {0} in Terminal', job.label)} onClick={() => post({ type: 'openTerminal', callId: job.callId ?? '' })} />}
              {active(job) && <IconButton icon="debug-stop" label={l10n.t('Stop {0}', job.label)} disabled={job.status === 'stopping'} onClick={() => post({ type: 'stopJob', id: job.id })} />}
            </div>
            {active(job) && job.tail !== undefined && <JobTail label={job.label} text={job.tail} />}
          </li>
        ))}
      </ul>
    </Fold>
  );
}

/** Finished jobs that stay listed beside running ones. */
const FINISHED_JOBS = 3;
/** Lines of output shown below a job. */
const TAIL_LINES = 6;

function JobIcon({ job }: { job: JobItem }) {
  switch (job.status) {
    case 'running': return <Icon name="loading" spin label={l10n.t('Running')} />;
    case 'stopping': return <Icon name="loading" spin label={l10n.t('Stopping…')} />;
    case 'completed': return <Icon name="pass" label={l10n.t('Done')} />;
    case 'killed': return <Icon name="circle-slash" label={l10n.t('Stopped')} />;
    case 'failed': return <Icon name="error" label={l10n.t('Failed')} />;
    default: return null;
  }
}

function JobTail({ label, text }: { label: string; text: string }) {
  const lines = text.replace(/\s+$/, '').split('\n').slice(-TAIL_LINES).join('\n');
  return (
    <ScrollBox as="pre" class="job-tail mono" label={l10n.t('Output of {0}', label)}>
      {ansiSpans(lines).map((span, at) => (span.style === '' ? span.text : <span key={at} class={span.style}>{span.text}</span>))}
    </ScrollBox>
  );
}

function Changes({ reviews }: { reviews: PendingReviews }) {
  const { post } = useActions();
  if (reviews.files === 0) return null;
  const landed = reviews.kind === 'landed';
  return (
    <section class="bar" aria-label={l10n.t('Changes')}>
      <div class="bar-row">
        <Icon name="diff-multiple" class="bar-icon" />
        <span class="bar-title">{countOf(reviews)}</span>
        <span class="bar-actions">
          <TextButton onClick={() => post({ type: 'command', id: 'showChanges' })}>{l10n.t('Review')}</TextButton>
          <TextButton onClick={() => post({ type: 'reviewAll', action: 'accept' })}>{landed ? l10n.t('Keep All') : l10n.t('Accept All')}</TextButton>
          <TextButton onClick={() => post({ type: 'reviewAll', action: 'reject' })}>{landed ? l10n.t('Undo All') : l10n.t('Reject All')}</TextButton>
        </span>
      </div>
    </section>
  );
}

function countOf({ changes, files }: PendingReviews): string {
  if (changes === 1) return l10n.t('1 change to review');
  return files === 1 ? l10n.t('{0} changes in 1 file to review', formatNumber(changes)) : l10n.t('{0} changes in {1} files to review', formatNumber(changes), formatNumber(files));
}

function Queued({ queued }: { queued: readonly string[] }) {
  if (queued.length === 0) return null;
  return (
    <section class="bar" aria-label={l10n.t('Waiting messages')}>
      {queued.map((text, at) => (
        <div key={at} class="bar-row queued"><Icon name="clockface" label={l10n.t('Waiting')} class="bar-icon" /><span class="bar-title" title={text}>{text}</span></div>
      ))}
    </section>
  );
}
