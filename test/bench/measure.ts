import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Side-by-side timing: every contender does the same work in the same process, in alternating order, and the median of
 * the rounds counts. The time is the processor's, garbage collection included, so that a busy machine does not show; work that
 * waits for something is not for this. Nothing here decides whether a number is good; a bench only reports.
 */

/** Does one unit of work; its return value is kept from being optimised away. */
export type Work = () => unknown;

export interface Contenders {
  readonly ours: Work;
  /** The opponent. */
  readonly theirs?: Work;
  /** What nobody can be faster than. */
  readonly floor?: Work;
}

/** One line of a report. Times are medians per unit of work in `unit`; `ratio` is theirs ÷ ours (floor ÷ ours without an opponent). */
export interface Measurement {
  readonly name: string;
  readonly ours: number;
  readonly theirs: number | null;
  readonly floor: number | null;
  readonly ratio: number;
  readonly unit: 'us';
}

export interface MeasureOptions {
  /** Rounds per contender; odd, so that the median is one of them. */
  readonly rounds?: number;
  /** How long one round runs, in ms. */
  readonly roundMs?: number;
  /** How long each contender runs before anything is measured, in ms: long enough that the engine has compiled what it will. */
  readonly warmMs?: number;
}

let sink: unknown;

/** Runs `work` `count` times and returns the microseconds of processor time one run took. Async work is awaited one by one. */
async function time(work: Work, count: number): Promise<number> {
  const start = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    const result = work();
    sink = result instanceof Promise ? await result : result;
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

/** Runs the contenders in turns, so that none profits from code they share having been warmed up by the one before it. */
async function warmUp(works: readonly Work[], warmMs: number): Promise<void> {
  for (let turn = 0; turn < 4; turn++) {
    for (const work of works) for (let us = 0; us < (warmMs * 1_000) / 4;) us += Math.max(1, await time(work, 1));
  }
}

/** Finds how many runs fill one round. */
async function calibrate(work: Work, roundMs: number): Promise<number> {
  let count = 1;
  for (;;) {
    const us = await time(work, count);
    if (us * count >= roundMs * 1_000) return count;
    count = Math.max(count + 1, Math.min(count * 8, Math.ceil((roundMs * 1_100) / Math.max(us, 0.001))));
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

/** Measures all contenders of one piece of work against each other. */
export async function measure(name: string, contenders: Contenders, options: MeasureOptions = {}): Promise<Measurement> {
  const { rounds = 5, roundMs = 60, warmMs = 400 } = options;
  const entries = (['ours', 'theirs', 'floor'] as const).flatMap((who) => {
    const work = contenders[who];
    return work === undefined ? [] : [{ who, work, count: 0, times: [] as number[] }];
  });
  await warmUp(entries.map(({ work }) => work), warmMs);
  for (const entry of entries) entry.count = await calibrate(entry.work, roundMs);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? entries : [...entries].reverse();
    for (const entry of order) {
      globalThis.gc?.(); // with --expose-gc, nobody pays for another's garbage
      entry.times.push(await time(entry.work, entry.count));
    }
  }
  const of = (who: string): number | null => {
    const entry = entries.find((candidate) => candidate.who === who);
    return entry === undefined ? null : round3(median(entry.times));
  };
  const ours = of('ours') ?? NaN;
  const theirs = of('theirs');
  const floor = of('floor');
  return { name, ours, theirs, floor, ratio: round3((theirs ?? floor ?? NaN) / ours), unit: 'us' };
}

function round3(value: number): number {
  return Number(value.toPrecision(4));
}

/** MiB by which a call raises the peak of a fresh process; see peak.ts. */
export async function peakOf(...args: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--import', 'tsx', path.join(import.meta.dirname, 'peak.ts'), ...args]);
  return JSON.parse(stdout) as number;
}

/** Prints one JSON line. */
export function report(line: object): void {
  console.log(JSON.stringify(line));
  if (sink === report) console.log(''); // keeps `sink` alive
}
