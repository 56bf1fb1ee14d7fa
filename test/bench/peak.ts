// node --expose-gc --import tsx test/bench/peak.ts read FILE OFFSET | shell LINES
// Prints by how many MiB one call raises the peak of a process that has done a small one of the same kind before.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NodeShell } from '../../src/headless/shell.ts';
import * as shellTool from '../../src/tools/shell/plugin.ts';
import { openFsRoom } from '../harness/fs-room.ts';
import { toolRoom } from '../harness/tool-room.ts';

async function peakOf(small: () => Promise<unknown>, work: () => Promise<unknown>): Promise<number> {
  await small();
  globalThis.gc?.();
  const before = process.resourceUsage().maxRSS;
  await work();
  return (process.resourceUsage().maxRSS - before) / 1024;
}

async function read(file: string, offset: number): Promise<number> {
  const room = await openFsRoom({ observation: false });
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'peak-'));
  const little = path.join(scratch, 'little.ts');
  writeFileSync(little, 'one\n'.repeat(200));
  try {
    return await peakOf(() => room.must('read', { file_path: little }), () => room.must('read', { file_path: file, offset, limit: 200 }));
  } finally {
    await room.dispose();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function shell(lines: number): Promise<number> {
  const room = await toolRoom();
  await room.ctx.plugin(NodeShell, { kind: 'bash' });
  await room.ctx.plugin(shellTool, {});
  const agent = room.agent();
  const run = (command: string): Promise<unknown> => room.call('bash', { command, description: 'Bench' }, { agent });
  try {
    return await peakOf(() => run('seq 1 1000'), () => run(`seq 1 ${lines}`));
  } finally {
    await room.dispose();
  }
}

const [what, first, second] = process.argv.slice(2);
console.log(JSON.stringify(Number((what === 'read' ? await read(first!, Number(second)) : await shell(Number(first))).toFixed(1))));
