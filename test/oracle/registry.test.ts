import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { HarnessError } from '../../src/contract/error.ts';
import * as ourPrompt from '../../src/prompt/dsh-system-prompt.ts';
import * as ourTools from '../../src/registry/dsh-tools.ts';
import * as ourScope from '../../src/scope/dsh-scope.ts';
import { scenarios } from './arbitrary.ts';
import { pickedScenarios } from './cases.ts';
import { differences } from './differences.ts';
import { play } from './play.ts';
import type { Kit } from './play.ts';
import { publishedLlm, publishedPrompt, publishedScope, publishedTools } from './published.ts';
import type { Scenario } from './scenario.ts';

const ours: Kit = { tools: ourTools, prompt: ourPrompt, scope: ourScope, HarnessError };
const theirs: Kit = { tools: publishedTools, prompt: publishedPrompt, scope: publishedScope, HarnessError: publishedLlm.HarnessError };

/** How many scenarios came out how; one map for both tests, printed at the end. */
const tally = { compared: 0, equal: 0, explained: new Map(differences.map(({ clause, why }) => [`${clause} ${why}`, 0])) };

/** Plays a scenario on both sides. What differs must be what the differences that touch it say, and nothing else. */
async function compare(scenario: Scenario): Promise<void> {
  tally.compared++;
  const [mine, published] = [await play(ours, scenario), await play(theirs, scenario)];
  if (isDeepStrictEqual(mine, published)) {
    tally.equal++;
    return;
  }
  const doings = new Set(scenario.listeners.map(({ on, does }) => `${on} ${does}`));
  const touching = differences.filter(({ corrections }) => Object.keys(corrections).some((doing) => doings.has(doing)));
  const corrected = await play(theirs, scenario, Object.assign({}, ...touching.map(({ corrections }) => corrections)));
  assert.deepEqual(mine, corrected, JSON.stringify(scenario));
  for (const { clause, why } of touching) tally.explained.set(`${clause} ${why}`, tally.explained.get(`${clause} ${why}`)! + 1);
}

describe('registry against the published package', function () {
  this.timeout(300_000);

  it('R3 P4 scenarios picked by hand: results, errors and order of events are the same', async () => {
    for (const scenario of pickedScenarios) await compare(scenario);
  });

  it('R3 P4 generated scenarios: results, errors and order of events are the same', async () => {
    await fc.assert(fc.asyncProperty(scenarios, compare), { numRuns: Number(process.env['ORACLE_RUNS'] ?? 120), endOnFailure: true });
  });

  after(() => {
    const explained = [...tally.explained].filter(([, count]) => count > 0);
    console.log(`      oracle: ${tally.compared} scenarios compared, ${tally.equal} equal, ${tally.compared - tally.equal} differ as named:`);
    for (const [difference, count] of explained) console.log(`        ${count} × ${difference}`);
  });
});
