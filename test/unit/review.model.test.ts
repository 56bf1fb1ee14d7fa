import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import fc from 'fast-check';
import { NodeFileSystem } from '../../src/headless/fs.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import { Review } from '../../src/review/review.ts';
import type { ReviewFile, ReviewHunk } from '../../src/seams/review.ts';

/** Sequences tried; the long run is `REVIEW_SEQUENCES=2000`. */
const RUNS = Number(process.env['REVIEW_SEQUENCES'] ?? 150);

/** `file` 0 and 1 are there at the start, 2 is not. */
type Op = { readonly file: number } & (
  | { readonly kind: 'propose'; readonly lines: readonly number[]; readonly insert: number; readonly remove: number }
  | { readonly kind: 'accept' | 'reject'; readonly nth: number }
  | { readonly kind: 'acceptAll' | 'rejectAll' | 'restart' | 'crash' | 'delete' }
  | { readonly kind: 'type' | 'save' | 'saveInsert'; readonly line: number }
);

const NAMES = ['a.txt', 'b.txt', 'new.txt'] as const;
const index = fc.nat({ max: 19 });
const file = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(2) });
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ file, kind: fc.constant('propose' as const), lines: fc.uniqueArray(index, { minLength: 1, maxLength: 5 }), insert: index, remove: index }) },
  { weight: 4, arbitrary: fc.record({ file, kind: fc.constantFrom('accept' as const, 'reject' as const), nth: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ file, kind: fc.constantFrom('acceptAll' as const, 'rejectAll' as const, 'restart' as const, 'crash' as const, 'delete' as const) }) },
  { weight: 3, arbitrary: fc.record({ file, kind: fc.constantFrom('type' as const, 'save' as const, 'saveInsert' as const), line: index }) },
);

const linesOf = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/));

/** The model: the file as lines. A hunk put in, or taken back, replaces just its lines. */
function splice(disk: string, hunk: ReviewHunk, direction: 'take' | 'undo'): string {
  const lines = linesOf(disk);
  const [start, from, to] = direction === 'take' ? [hunk.oldStart, hunk.oldLines, hunk.newLines] : [hunk.newStart, hunk.newLines, hunk.oldLines];
  assert.deepEqual(lines.slice(start - 1, start - 1 + from.length), [...from], 'a hunk must fit the file');
  return [...lines.slice(0, start - 1), ...to, ...lines.slice(start - 1 + from.length)].join('');
}

class House {
  readonly folder: string;
  readonly mode: 'stage' | 'apply';
  readonly pending: Promise<unknown>[] = [];
  ctx!: Context;
  count = 0;
  /** Hosts that were killed: they never hear of their end. */
  readonly dead: Context[] = [];

  constructor(folder: string, mode: 'stage' | 'apply') {
    this.folder = folder;
    this.mode = mode;
  }

  async start(): Promise<void> {
    this.ctx = new Context();
    await this.ctx.plugin(SystemPrompt, {});
    await this.ctx.plugin(ToolRuntime, {});
    await this.ctx.plugin(NodeFileSystem, {});
    await this.ctx.plugin(Review, { sessions: path.join(this.folder, 's'), mode: () => this.mode });
  }

  async stop(): Promise<void> {
    await this.ctx.fiber.dispose();
  }

  /** Another host finds what this one has left on disk. */
  async crash(): Promise<void> {
    this.dead.push(this.ctx);
    await this.start();
  }

  async end(): Promise<void> {
    await this.stop();
    for (const ctx of this.dead) await ctx.fiber.dispose();
    await Promise.all(this.pending);
  }

  change(name: string): ReviewFile | undefined {
    return this.ctx.review.files().find((change) => change.path === name);
  }

  async refreshed(name: string): Promise<ReviewFile | undefined> {
    const change = this.change(name);
    if (change !== undefined) await this.ctx.review.refresh(change.id);
    return this.change(name);
  }

  async propose(name: string, text: string): Promise<void> {
    const target = await this.ctx.fs.resolve(name, this.folder);
    const done = this.ctx.fs.write(target, text, { displayPath: name, toolName: 'write' }).then(() => undefined, () => undefined);
    if (this.mode === 'apply') return done;
    this.pending.push(done);
    await new Promise<void>((resolve) => {
      const off = this.ctx.on('review/staged', () => {
        off();
        resolve();
      });
      void done.then(resolve);
    });
  }
}

async function run(ops: readonly Op[], ending: string, mode: 'stage' | 'apply'): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'dsh-review-model-'));
  const house = new House(folder, mode);
  const start = Array.from({ length: 20 }, (_, i) => `line ${i}${ending}`).join('');
  const disk: (string | null)[] = [start, start, null];
  /** What the file held before anything that is open now, while nobody else changed it. */
  const untouched: (string | null | undefined)[] = [start, start, null];
  try {
    for (const name of NAMES.slice(0, 2)) await writeFile(path.join(folder, name), start);
    await house.start();
    for (const step of ops) {
      const name = NAMES[step.file]!;
      const now = disk[step.file]!;
      const change = await house.refreshed(name);
      const eol = (now ?? change?.proposed ?? '').includes('\r\n') ? '\r\n' : '\n'; // a new file gets LF
      if (change === undefined) untouched[step.file] = now;
      const set = async (text: string): Promise<void> => {
        disk[step.file] = text;
        untouched[step.file] = undefined;
        await writeFile(path.join(folder, name), text);
      };
      switch (step.kind) {
        case 'propose': {
          if (change !== undefined && mode === 'stage') break;
          const lines = linesOf(now ?? start.replaceAll(ending, eol));
          for (const line of step.lines) if (line < lines.length) lines[line] = `proposed ${house.count++}${eol}`;
          lines.splice(step.insert, 0, `inserted ${house.count++}${eol}`);
          if (step.remove < lines.length) lines.splice(step.remove, 1);
          const text = lines.join('');
          if (mode === 'apply') disk[step.file] = text;
          await house.propose(name, text.replaceAll('\r\n', '\n'));
          break;
        }
        case 'accept': case 'reject': {
          const hunk = change?.hunks[step.nth % Math.max(change.hunks.length, 1)];
          if (change === undefined || hunk === undefined) break;
          if (step.kind === 'accept') {
            if (mode === 'stage') disk[step.file] = splice(now ?? '', hunk, 'take');
            await house.ctx.review.acceptHunk(change.id, hunk.id);
          } else if (hunk.edited === true) {
            await assert.rejects(house.ctx.review.rejectHunk(change.id, hunk.id), { code: 'REVIEW_EDITED' });
          } else {
            if (mode === 'apply') disk[step.file] = splice(now ?? '', hunk, 'undo');
            await house.ctx.review.rejectHunk(change.id, hunk.id);
            if (mode === 'apply' && disk[step.file] === '' && change.operation === 'create') disk[step.file] = null;
          }
          break;
        }
        case 'acceptAll':
          if (change === undefined) break;
          if (mode === 'stage') disk[step.file] = [...change.hunks].reverse().reduce((text, hunk) => splice(text, hunk, 'take'), now ?? '');
          await house.ctx.review.accept(change.id);
          break;
        case 'rejectAll': {
          if (change === undefined) break;
          const free = change.hunks.filter((hunk) => hunk.edited !== true);
          if (free.length === 0) {
            await assert.rejects(house.ctx.review.reject(change.id), { code: 'REVIEW_EDITED' });
            break;
          }
          if (mode === 'apply') {
            disk[step.file] = [...free].reverse().reduce((text, hunk) => splice(text, hunk, 'undo'), now ?? '');
            if (disk[step.file] === '' && change.operation === 'create') disk[step.file] = null;
          }
          await house.ctx.review.reject(change.id);
          // whoever rejects everything gets the file from before, byte for byte
          if (untouched[step.file] !== undefined && change.decided.length === 0) assert.equal(disk[step.file], untouched[step.file]);
          break;
        }
        case 'type': {
          if (change === undefined || mode === 'apply') break;
          const lines = linesOf(change.proposed);
          if (lines.length > 0) lines[step.line % lines.length] = `typed ${house.count++}${eol}`;
          await house.ctx.review.setProposed(change.id, lines.join(''));
          break;
        }
        case 'save': case 'saveInsert': {
          if (now === null) break;
          const lines = linesOf(now);
          lines.splice(step.line % Math.max(lines.length, 1), step.kind === 'save' ? 1 : 0, `saved ${house.count++}${eol}`);
          await set(lines.join(''));
          break;
        }
        case 'delete':
          if (now === null) break;
          disk[step.file] = null;
          untouched[step.file] = undefined;
          await rm(path.join(folder, name));
          break;
        case 'restart':
          await house.stop();
          await house.start();
          break;
        case 'crash':
          await house.crash();
          break;
      }
      for (const [i, other] of NAMES.entries()) {
        const file = path.join(folder, other);
        assert.equal(existsSync(file) ? await readFile(file, 'latin1') : null, disk[i], `${other} after ${step.kind}`);
      }
      // what the user saved is never lost to a decision
      if (step.kind !== 'propose' && !step.kind.startsWith('save') && step.kind !== 'delete') {
        const saved = (text: string | null) => linesOf(text ?? '').filter((line) => line.startsWith('saved'));
        if (mode === 'apply') assert.deepEqual(saved(now).filter((line) => !saved(disk[step.file]!).includes(line)), []);
      }
    }
  } finally {
    await house.end();
    await rm(folder, { recursive: true, force: true });
  }
}

describe('review, against a model', function () {
  this.timeout(1_200_000);

  for (const mode of ['stage', 'apply'] as const) {
    it(`B1 B3 B5 ${mode}: random proposals, decisions, edits, saves and restarts leave just what the model says, byte for byte`, async () => {
      await fc.assert(fc.asyncProperty(fc.array(op, { minLength: 3, maxLength: 14 }), fc.constantFrom('\n', '\r\n'), async (ops, ending) => {
        await run(ops, ending, mode);
      }), { numRuns: Math.ceil(RUNS / 2) });
    });
  }
});
