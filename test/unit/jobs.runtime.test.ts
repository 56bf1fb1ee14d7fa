import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { JsonValue } from '../../src/contract/json.ts';
import { JobRuntime } from '../../src/jobs/runtime.ts';
import type { JobHandle, JobOutcome, JobService } from '../../src/jobs/types.ts';
import * as jobTools from '../../src/tools/jobs/plugin.ts';
import { textOf, toolRoom } from '../harness/tool-room.ts';
import type { TestAgent, ToolRoom } from '../harness/tool-room.ts';

interface Work extends JobHandle { finish(outcome: JobOutcome): void; fail(error: unknown): void; print(text: string): void; cancelled: (string | undefined)[] }

/** A job whose end, output and cancellation the test decides. */
function work(options: { stream?: boolean; onCancel?: (work: Work) => void } = {}): Work {
  let finish!: (outcome: JobOutcome) => void;
  let fail!: (error: unknown) => void;
  let pending = '';
  const done = new Promise<JobOutcome>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const made: Work = {
    done, finish, fail, cancelled: [],
    print: (text) => { pending += text; },
    cancel(reason) {
      made.cancelled.push(reason);
      if (options.onCancel !== undefined) options.onCancel(made);
      else if (reason?.endsWith('disposed') === true) finish({ status: 'killed' });
    },
    ...(options.stream === true ? { readOutput: () => {
      const text = pending;
      pending = '';
      return text;
    } } : {}),
  };
  return made;
}

/** Whether something is still held by somebody. */
async function isKept(held: WeakRef<object>): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let round = 0; round < 10 && held.deref() !== undefined; round++) {
    await tick();
    gc();
  }
  return held.deref() !== undefined;
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('jobs.runtime', () => {
  let room: ToolRoom;
  let jobs: JobService;
  let agent: TestAgent;
  let fiber: { dispose(): Promise<void> };

  beforeEach(async () => {
    room = await toolRoom();
    fiber = await room.ctx.plugin(JobRuntime, {});
    jobs = room.ctx.get('jobs')!;
    agent = room.agent();
  });
  afterEach(() => room.dispose());

  const tools = (config = {}) => room.ctx.plugin(jobTools, config);
  const start = (handle: JobHandle, more = {}) => jobs.start({ kind: 'bash', label: 'make', owner: agent, run: () => handle, ...more });

  it('J7.1 without a controller no job starts', async () => {
    assert.throws(() => start(work()), { message: 'background jobs unavailable: no job controller serves this agent (load @deepseek-ai/dsh-tool-jobs in its composition)' });
    const controller = await agent.ctx.plugin(jobTools, {});
    assert.equal(start(work()), 'bash-1');
    const other = room.agent('agent-2');
    assert.throws(() => start(work(), { owner: other }), /no job controller serves this agent/);
    await controller.dispose();
    assert.throws(() => start(work()), /no job controller/);
  });

  it('J7.1 arguments are checked before run is called', async () => {
    await tools();
    let ran = 0;
    const run = () => (ran++, work());
    assert.throws(() => start(work(), { kind: '', run }), /kind must be a non-empty string/);
    assert.throws(() => start(work(), { label: '', run }), /label must be a non-empty string/);
    for (const outputLimitBytes of [0, -1, 1.5, NaN]) assert.throws(() => start(work(), { outputLimitBytes, run }), /positive safe integer/);
    assert.equal(ran, 0);
  });

  it('J7.1 an owner that is gone owns nothing', async () => {
    await tools();
    await agent.ctx.fiber.dispose();
    assert.throws(() => start(work()), { message: 'agent "agent-1" is not the registered agent instance (background job owner must be live)' });
  });

  it('J7.1 ten active jobs an owner, unowned ones share a bucket', async () => {
    await tools();
    const handles = Array.from({ length: 10 }, () => work());
    handles.forEach((handle) => start(handle));
    assert.throws(() => start(work()), { message: 'background job limit reached for this owner (limit: 10); use job_kill to stop an unneeded job, wait for it to finish, then retry' });
    assert.equal(start(work(), { owner: undefined }), 'bash-11');
    handles[0]!.finish({ status: 'completed' });
    await tick();
    assert.equal(start(work()), 'bash-12');
  });

  it('J7.2 a failed start uses no number, kinds count on their own', async () => {
    await tools();
    assert.throws(() => start(work(), { run: () => { throw new Error('no'); } }), /^Error: no$/);
    assert.deepEqual(jobs.list(agent), []);
    assert.equal(start(work()), 'bash-1');
    assert.equal(start(work(), { kind: 'subagent' }), 'subagent-1');
    assert.equal(start(work()), 'bash-2');
  });

  it('J7.3 a rejected outcome is a failure with its text', async () => {
    await tools();
    const handle = work();
    const id = start(handle);
    handle.fail(new Error('boom'));
    await tick();
    assert.deepEqual([jobs.get(id, agent).status, jobs.get(id, agent).detail], ['failed', 'boom']);
  });

  it('J7.3 a job that is over holds on to nothing of its producer but the output', async () => {
    await tools();
    const run = (): { id: string; held: WeakRef<Work> } => {
      const handle = work({ stream: true });
      const id = start(handle);
      handle.print('the last words');
      handle.finish({ status: 'completed' });
      return { id, held: new WeakRef(handle) };
    };
    const { id, held } = run();
    await tick();
    assert.equal(await isKept(held), false);
    assert.equal(jobs.read(id, agent).text, 'the last words');
    assert.equal(jobs.read(id, agent).text, '');
    assert.equal(jobs.kill(id, agent), 'already-finished');
  });

  it('J7.4 running, stopping, killed', async () => {
    await tools();
    const handle = work();
    const id = start(handle);
    assert.equal(jobs.get(id, agent).status, 'running');
    assert.equal(jobs.kill(id, agent, 'enough'), 'requested');
    assert.deepEqual([jobs.get(id, agent).status, handle.cancelled], ['stopping', ['enough']]);
    handle.finish({ status: 'killed', detail: 'signal: SIGTERM' });
    await tick();
    const job = jobs.get(id, agent);
    assert.deepEqual([job.status, job.detail, job.reported], ['killed', 'signal: SIGTERM', true]);
    assert.ok(job.finishedAt! >= job.startedAt);
    assert.equal(jobs.kill(id, agent), 'already-finished');
  });

  it('J7.5 only the owner reaches a job, unowned ones are open', async () => {
    await tools();
    const id = start(work());
    const open = start(work(), { owner: undefined });
    const other = room.agent('agent-2');
    for (const reach of [() => jobs.get(id, other), () => jobs.read(id), () => jobs.kill(id, other)]) {
      assert.throws(reach, { message: `job ${id} belongs to another session` });
    }
    await assert.rejects(jobs.wait(id, 10, other), /belongs to another session/);
    assert.deepEqual(jobs.list(other).map((job) => job.id), [open]);
    assert.throws(() => jobs.get('bash-99', agent), { message: 'unknown job bash-99' });
  });

  it('J7.6 a stream is read once, a final output as often as asked', async () => {
    await tools();
    const stream = work({ stream: true });
    const id = start(stream);
    stream.print('one\n');
    assert.equal(jobs.read(id, agent).text, 'one\n');
    assert.equal(jobs.read(id, agent).text, '');
    stream.print('two\n');
    stream.finish({ status: 'completed' });
    await tick();
    assert.deepEqual([jobs.read(id, agent).text, jobs.read(id, agent).text, jobs.get(id, agent).reported], ['two\n', '', true]);
    const final = work();
    const other = start(final);
    assert.equal(jobs.read(other, agent).text, '');
    final.finish({ status: 'completed', output: 'all' });
    await tick();
    assert.deepEqual([jobs.read(other, agent).text, jobs.read(other, agent).text], ['all', 'all']);
  });

  it('J7.6 a cancel that throws changes nothing', async () => {
    await tools();
    const id = start(work({ onCancel: () => { throw new Error('stuck'); } }));
    assert.throws(() => jobs.kill(id, agent), /stuck/);
    assert.deepEqual([jobs.get(id, agent).status, jobs.get(id, agent).reported], ['running', false]);
  });

  it('J7.6 wait: time runs out, the caller leaves, the job ends', async () => {
    await tools();
    const handle = work();
    const id = start(handle);
    assert.equal((await jobs.wait(id, 5, agent)).status, 'running');
    for (const ms of [0, -1, NaN, Infinity]) await assert.rejects(jobs.wait(id, ms, agent), /positive number/);
    const leave = new AbortController();
    const left = jobs.wait(id, 60_000, agent, leave.signal);
    leave.abort();
    await assert.rejects(left, { message: 'wait aborted' });
    const waited = jobs.wait(id, 60_000, agent);
    handle.finish({ status: 'completed', detail: 'exit code: 0' });
    assert.deepEqual([(await waited).status, (await waited).reported], ['completed', true]);
    assert.equal((await jobs.wait(id, 5, agent, leave.signal)).status, 'completed');
    assert.equal(agent.sent.length, 0);
  });

  it('J7.7 a snapshot is fresh', async () => {
    await tools();
    const handle = work();
    const id = start(handle, { outputLimitBytes: 7 });
    const before = jobs.get(id, agent);
    handle.finish({ status: 'completed' });
    await tick();
    assert.equal(before.status, 'running');
    assert.deepEqual([before.ownerSession, before.outputLimitBytes], ['session-agent-1', 7]);
  });

  it('J7.8 listeners hear of it in order, and cannot break one another', async () => {
    await tools({ completionDelivery: 'quiet' });
    const seen: string[] = [];
    jobs.onJobsChanged(() => void seen.push('changed'));
    jobs.onJobDone(() => { throw new Error('mine'); });
    const off = jobs.onJobDone((job) => void seen.push(`done ${job.status}`));
    const handle = work();
    start(handle);
    handle.finish({ status: 'completed' });
    await tick();
    assert.deepEqual(seen, ['changed', 'changed', 'done completed']);
    off();
    const second = work();
    start(second);
    second.finish({ status: 'completed' });
    await tick();
    assert.equal(seen.filter((line) => line.startsWith('done')).length, 1);
  });

  it('D5 J7.9 an owner that goes takes its jobs along, and waits for them', async () => {
    await tools();
    const handle = work({ onCancel: (mine) => setTimeout(() => mine.finish({ status: 'killed' }), 20) });
    const id = start(handle);
    await agent.ctx.fiber.dispose();
    assert.deepEqual(handle.cancelled, ['owner disposed']);
    assert.throws(() => jobs.get(id, agent), /unknown job/);
    assert.deepEqual(agent.sent, []);
  });

  it('D5 J7.9 the service takes all jobs along', async () => {
    await tools();
    const handle = work({ onCancel: (mine) => mine.finish({ status: 'killed' }) });
    const stuck = work({ onCancel: () => { throw new Error('stuck'); } });
    start(handle);
    start(stuck, { owner: undefined });
    await fiber.dispose();
    assert.deepEqual(handle.cancelled, ['jobs service disposed']);
    assert.deepEqual(stuck.cancelled, ['jobs service disposed']);
  });

  it('J7.10 a busy owner is told at the next step, an idle one is woken three times', async () => {
    await tools();
    const end = async () => {
      const handle = work();
      start(handle);
      handle.finish({ status: 'completed', detail: 'exit code: 1' });
      await tick();
    };
    agent.status = 'running';
    await end();
    agent.status = 'idle';
    for (let i = 0; i < 4; i++) await end();
    assert.deepEqual(agent.sent.map(({ how }) => how), ['inject', 'followup', 'followup', 'followup', 'inject']);
    assert.deepEqual(agent.sent[0]!.message, {
      content: [{ type: 'text', text: 'background job bash-1 (bash: make) finished [status: completed, exit code: 1]. Read its output with job_output.' }],
      source: { kind: 'plugin', plugin: 'tool-jobs', form: 'notice', summary: 'background job bash-1 finished [status: completed, exit code: 1]' },
    });
    room.ctx.emit(agent as never, 'agent/inbox/claimed', { agent, turn: 1, message: { source: { kind: 'user' } } } as never);
    await end();
    assert.equal(agent.sent.at(-1)!.how, 'followup');
  });

  it('J7.10 quiet never wakes; what is known is not told again', async () => {
    await tools({ completionDelivery: 'quiet' });
    const handle = work();
    start(handle);
    handle.finish({ status: 'completed' });
    await tick();
    const killed = work({ onCancel: (mine) => mine.finish({ status: 'killed' }) });
    jobs.kill(start(killed), agent);
    await tick();
    assert.deepEqual(agent.sent.map(({ how }) => how), ['inject']);
  });

  it('B10.33 job_output, job_list and job_kill', async () => {
    await tools();
    assert.equal(textOf(await room.call('job_list', {}, { agent })), '(no background jobs)');
    const handle = work({ stream: true });
    const id = start(handle);
    handle.print('line\n');
    const read = await room.call('job_output', { job_id: id }, { agent });
    assert.equal(textOf(read), 'line\n[status: running]');
    assert.deepEqual(Object.keys((read as unknown as { value: { job: object } }).value.job), ['id', 'kind', 'label', 'status', 'startedAt']);
    assert.equal(textOf(await room.call('job_output', { job_id: id, wait: true, timeout_ms: 5 }, { agent })), '(no new output)\n[status: running]');
    assert.equal(textOf(await room.call('job_list', {}, { agent })), 'bash-1 [bash] running — make');
    assert.equal(textOf(await room.call('job_kill', { job_id: id }, { agent })), 'requested cancellation of job bash-1');
    handle.finish({ status: 'killed', detail: 'signal: SIGTERM' });
    await tick();
    assert.equal(textOf(await room.call('job_kill', { job_id: id }, { agent })), 'job bash-1 had already finished [status: killed, signal: SIGTERM]');
    assert.equal(textOf(await room.call('job_output', { job_id: '' }, { agent })), 'Error: invalid job_id: expected a non-empty string, got ""');
    assert.equal(textOf(await room.call('job_output', { job_id: id }, { agent: room.agent('agent-2') })), `Error: job ${id} belongs to another session`);
  });

  it('J7.12 tools tell id, kind, label, status, detail and times of a job, and nothing else', async () => {
    await tools();
    const handle = work({ stream: true });
    const id = start(handle, { outputLimitBytes: 9_000, callId: 'call-x' });
    const seen = async (name: string, args: JsonValue): Promise<unknown> => {
      const { value } = await room.call(name, args, { agent }) as unknown as { value: { job?: object } | object[] };
      return Object.keys(Array.isArray(value) ? value[0]! : value.job!);
    };
    assert.deepEqual(await seen('job_list', {}), ['id', 'kind', 'label', 'status', 'startedAt']);
    handle.finish({ status: 'completed', detail: 'exit code: 0' });
    await tick();
    for (const [name, args] of [['job_list', {}], ['job_output', { job_id: id }], ['job_kill', { job_id: id }]] as const) {
      assert.deepEqual((await seen(name, args) as string[]).sort(), ['detail', 'finishedAt', 'id', 'kind', 'label', 'startedAt', 'status'], name);
    }
  });

  it('B10.33 outputLimitBytes caps what the model reads', async () => {
    await tools();
    const handle = work({ stream: true });
    const id = start(handle, { outputLimitBytes: 30 });
    handle.print(`${'é'.repeat(100)}END`);
    const text = textOf(await room.call('job_output', { job_id: id }, { agent }));
    assert.match(text, /^\[the first \d+ of 221 bytes are not shown\]\né*END\n\[status: running\]$/);
  });

  it('D1 a wait that is stopped says so', async () => {
    await tools();
    const id = start(work());
    const stop = new AbortController();
    const pending = room.call('job_output', { job_id: id, wait: true }, { agent, signal: stop.signal });
    await tick();
    stop.abort();
    const result = await pending;
    assert.deepEqual(result.isError && result.error.info, { name: 'AbortError', code: 'ABORTED' });
  });
});
