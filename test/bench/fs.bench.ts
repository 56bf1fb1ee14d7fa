import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { openFsRoom } from '../harness/fs-room.ts';
import { measure, peakOf, report } from './measure.ts';
import { Account } from './processor.ts';

/**
 * The file tools, through the registry, against the plainest thing that does the same: a window near the end of a big
 * file against `tail`, an edit in a 10 MB file against read, replace, write of the bytes. BENCH_FULL=1 takes 500 MB.
 */

const MEGABYTE = 1_000_000;
const size = (process.env.BENCH_FULL === '1' ? 500 : 50) * MEGABYTE;
const exec = promisify(execFile);
const room = await openFsRoom({ observation: false });
const scratch = await fs.mkdtemp(path.join(os.tmpdir(), 'fs-bench-'));

/** Writes lines of source-like lengths until `bytes` are full; returns how many. */
async function fill(file: string, bytes: number): Promise<number> {
  const block: string[] = [];
  for (let i = 0; i < 5_000; i++) block.push(`${' '.repeat((i % 5) * 2)}const value${i} = compute(${'x'.repeat((i * 31) % 60)});\n`);
  const text = block.join('');
  const stream = createWriteStream(file);
  let lines = 0;
  for (let written = 0; written < bytes; written += text.length) {
    if (!stream.write(text)) await once(stream, 'drain');
    lines += block.length;
  }
  stream.end();
  await once(stream, 'close');
  return lines;
}

/** Microseconds by the clock. */
async function clock(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round((performance.now() - start) * 1000);
}

/** The best of several rounds by the clock, turn by turn: other processes and the disk count, the machine's load hardly. */
async function compare(name: string, work: () => Promise<unknown>, plain: () => Promise<unknown>, rounds: number): Promise<void> {
  let [ours, floor] = [Infinity, Infinity];
  const processor = { ours: new Account(), floor: new Account() };
  for (let round = 0; round < rounds; round++) {
    globalThis.gc?.();
    ours = Math.min(ours, await processor.ours.during(() => clock(work)));
    globalThis.gc?.();
    floor = Math.min(floor, await processor.floor.during(() => clock(plain)));
  }
  const ratio = (a: number, b: number): number => Number((a / b).toPrecision(4));
  report({ name, ours, theirs: null, floor, ratio: ratio(floor, ours), processorRatio: ratio(processor.floor.total, processor.ours.total), unit: 'us' });
}

try {
  const big = path.join(scratch, 'big.ts');
  const offset = await fill(big, size) - 199;
  const read = async (): Promise<void> => {
    const { value } = await room.must('read', { file_path: big, offset, limit: 200 });
    if ((value as { lines: unknown[] }).lines.length !== 200) throw new Error('the window is not 200 lines');
  };
  await read();
  report({ name: `read/window-at-end-${size / MEGABYTE}MB/memory`, ours: await peakOf('read', big, String(offset)), unit: 'MiB' });
  const tail = (): Promise<unknown> => exec('tail', ['-n', `+${offset}`, big], { maxBuffer: 2 ** 26 });
  await compare(`read/window-at-end-${size / MEGABYTE}MB`, read, tail, 7);

  const file = path.join(scratch, 'ten.ts');
  const plainFile = path.join(scratch, 'plain.ts');
  await fill(file, 10 * MEGABYTE - 500_000);
  await fs.appendFile(file, 'MARK 0 MARK\n');
  await fs.appendFile(file, await fs.readFile(file).then((bytes) => bytes.subarray(0, 200_000)));
  await fs.copyFile(file, plainFile);
  let ourTurn = 0;
  let plainTurn = 0;
  const rewrite = async (sync: boolean): Promise<void> => {
    const bytes = await fs.readFile(plainFile);
    const wanted = Buffer.from(`MARK ${plainTurn} MARK`);
    const at = bytes.indexOf(wanted);
    if (at === -1) throw new Error('the mark is gone');
    const next = Buffer.concat([bytes.subarray(0, at), Buffer.from(`MARK ${++plainTurn} MARK`), bytes.subarray(at + wanted.length)]);
    await fs.writeFile(plainFile, next, { flush: sync });
  };
  const edit = async (): Promise<void> => {
    const from = `MARK ${ourTurn} MARK`;
    await room.must('edit', { file_path: file, old_string: from, new_string: `MARK ${++ourTurn} MARK` });
  };
  await compare('edit/10MB', edit, () => rewrite(false), 15);
  await compare('edit/10MB-synced', edit, () => rewrite(true), 15);

  const small = path.join(scratch, 'small.ts');
  await fs.writeFile(small, 'one\ntwo\n');
  report(await measure('read/small', { ours: () => room.must('read', { file_path: small }), floor: () => fs.readFile(small, 'utf8') }));
} finally {
  await room.dispose();
  await fs.rm(scratch, { recursive: true, force: true });
}
