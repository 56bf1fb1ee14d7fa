import { spawn } from 'node:child_process';
import { NodeShell } from '../../src/headless/shell.ts';
import * as shellTool from '../../src/tools/shell/plugin.ts';
import { toolRoom } from '../harness/tool-room.ts';
import { peakOf, report } from './measure.ts';

/** bash through the registry against the shell alone, its output read and thrown away; and how much memory the tool takes. */

const LINES = Number(process.env.BENCH_LINES ?? 2_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const room = await toolRoom();

function alone(command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { cwd: room.dir, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

async function clock(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round((performance.now() - start) * 1000);
}

try {
  await room.ctx.plugin(NodeShell, { kind: 'bash' });
  await room.ctx.plugin(shellTool, {});
  const agent = room.agent();
  const run = async (command: string): Promise<void> => {
    const result = await room.call('bash', { command, description: 'Bench' }, { agent });
    if (result.isError || (result.value as { exitCode: number }).exitCode !== 0) throw new Error(JSON.stringify(result.content).slice(0, 300));
  };
  for (const [name, command] of [['shell/true', 'true'], [`shell/seq-${LINES}`, `seq 1 ${LINES}`]] as const) {
    const best = { ours: Infinity, floor: Infinity };
    for (let round = 0; round < ROUNDS; round++) {
      globalThis.gc?.();
      best.ours = Math.min(best.ours, await clock(() => run(command)));
      best.floor = Math.min(best.floor, await clock(() => alone(command)));
    }
    report({ name, ...best, theirs: null, ratio: Number((best.floor / best.ours).toPrecision(4)), unit: 'us' });
  }
  for (const lines of [LINES, LINES * 5]) report({ name: `shell/seq-${lines}/memory`, ours: await peakOf('shell', String(lines)), unit: 'MiB' });
} finally {
  await room.dispose();
}
