import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Context } from '@deepseek-ai/cordis';
import fc from 'fast-check';
import { NodeFileSystem } from '../../src/headless/fs.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { ToolRuntime } from '../../src/registry/runtime.ts';
import { Review } from '../../src/review/review.ts';
import type { ReviewHunk } from '../../src/seams/review.ts';

/** Sequences tried; the long run is `REVIEW_SEQUENCES=2000`. */
const RUNS = Number(process.env['REVIEW_SEQUENCES'] ?? 150);

type Op =
  | { kind: 'propose'; lines: readonly number[]; insert: number; remove: number }
  | { kind: 'accept' | 'reject'; nth: number }
  | { kind: 'acceptAll' | 'rejectAll' | 'restart' }
  | { kind: 'type' | 'save'; line: number };

const index = fc.nat({ max: 19 });
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('propose' as const), lines: fc.uniqueArray(index, { minLength: 1, maxLength: 5 }), insert: index, remove: index }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('accept' as const, 'reject' as const), nth: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('acceptAll' as const, 'rejectAll' as const, 'restart' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('type' as const, 'save' as const), line: index }) },
);

/** The model: the file as lines; taking a hunk replaces its old lines by its new ones, everything else leaves the disk alone. */
function take(disk: string, hunk: ReviewHunk): string {
  const lines = disk.split(/(?<=\n)/);
  assert.deepEqual(lines.slice(hunk.oldStart - 1, hunk.oldStart - 1 + hunk.oldLines.length), [...hunk.oldLines]);
  return [...lines.slice(0, hunk.oldStart - 1), ...hunk.newLines, ...lines.slice(hunk.oldStart - 1 + hunk.oldLines.length)].join('');
}

class House {
  readonly folder: string;
  ctx!: Context;
  pending: Promise<unknown> = Promise.resolve();
  count = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  get file(): string {
    return path.join(this.folder, 'a.txt');
  }

  async start(): Promise<void> {
    this.ctx = new Context();
    await this.ctx.plugin(SystemPrompt, {});
    await this.ctx.plugin(ToolRuntime, {});
    await this.ctx.plugin(NodeFileSystem, {});
    await this.ctx.plugin(Review, { sessions: path.join(this.folder, 's'), mode: () => 'stage' });
  }

  change() {
    return this.ctx.review.files()[0];
  }

  async refreshed() {
    const change = this.change();
    if (change !== undefined) await this.ctx.review.refresh(change.id);
    return this.change();
  }
}

describe('review, against a model', function () {
  this.timeout(600_000);

  it(`B1 B3 random proposals, decisions, edits, saves and restarts: the disk is what the model says, byte for byte`, async () => {
    let run = 0;
    await fc.assert(fc.asyncProperty(fc.array(op, { minLength: 3, maxLength: 14 }), fc.constantFrom('\n', '\r\n'), async (ops, ending) => {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'dsh-review-model-'));
      const house = new House(folder);
      let disk = Array.from({ length: 20 }, (_, i) => `line ${i}${ending}`).join('');
      try {
        run++;
        await writeFile(house.file, disk);
        await house.start();
        for (const step of ops) {
          const change = await house.refreshed();
          switch (step.kind) {
            case 'propose': {
              if (change !== undefined) break;
              const lines = disk.split(/(?<=\n)/);
              for (const line of step.lines) if (line < lines.length) lines[line] = `proposed ${house.count++}${ending}`;
              lines.splice(step.insert, 0, `inserted ${house.count++}${ending}`);
              if (step.remove < lines.length) lines.splice(step.remove, 1);
              const target = await house.ctx.fs.resolve('a.txt', folder);
              house.pending = house.ctx.fs.write(target, lines.join('').replaceAll('\r\n', '\n'), { displayPath: 'a.txt', toolName: 'write' }).catch(() => undefined);
              for (let i = 0; i < 400 && house.change() === undefined; i++) await new Promise((resolve) => setTimeout(resolve, 1));
              break;
            }
            case 'accept': case 'reject': {
              const hunk = change?.hunks[step.nth % Math.max(change.hunks.length, 1)];
              if (change === undefined || hunk === undefined) break;
              if (step.kind === 'accept') {
                disk = take(disk, hunk);
                await house.ctx.review.acceptHunk(change.id, hunk.id);
              } else await house.ctx.review.rejectHunk(change.id, hunk.id);
              break;
            }
            case 'acceptAll':
              if (change === undefined) break;
              disk = [...change.hunks].reverse().reduce(take, disk);
              await house.ctx.review.accept(change.id);
              break;
            case 'rejectAll':
              if (change !== undefined) await house.ctx.review.reject(change.id);
              break;
            case 'type': {
              if (change === undefined) break;
              const lines = change.proposed.split(/(?<=\n)/);
              lines[step.line % lines.length] = `typed ${house.count++}${ending}`;
              await house.ctx.review.setProposed(change.id, lines.join(''));
              break;
            }
            case 'save': {
              const lines = disk.split(/(?<=\n)/);
              lines[step.line % lines.length] = `saved ${house.count++}${ending}`;
              disk = lines.join('');
              await writeFile(house.file, disk);
              break;
            }
            case 'restart':
              await house.ctx.fiber.dispose();
              await house.start();
              break;
          }
          assert.equal(await readFile(house.file, 'latin1'), disk);
        }
      } finally {
        await house.ctx.fiber.dispose();
        await rm(folder, { recursive: true, force: true });
      }
    }), { numRuns: RUNS });
    assert.ok(run >= RUNS);
  });
});
