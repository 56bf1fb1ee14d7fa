import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { PreToolDecision } from '../../src/contract/tool.ts';
import { openRegistry, text, tool } from '../fixtures/registry-host.ts';

type Stage = 'pre' | 'execute' | 'post' | 'result';
const doings = {
  pre: ['next', 'allow', 'deny', 'throw', 'odd'], execute: ['next', 'answer', 'throw'], post: ['next', 'block', 'throw', 'replace'], result: ['watch', 'throw'],
} as const;
const plugin = fc.constantFrom<Stage>('pre', 'execute', 'post', 'result').chain((stage) => fc.record({
  stage: fc.constant(stage), does: fc.constantFrom(...doings[stage]), prepend: fc.boolean(), scope: fc.constantFrom('global', 'agent', 'preset', 'other'),
}));
type Plugin = typeof plugin extends fc.Arbitrary<infer T> ? T : never;

/** Which listeners of a stage the call reaches, outermost first, up to and including the one that decides alone (P4.8). */
function reached(plugins: readonly Plugin[], stage: Stage): { readonly ids: number[]; readonly last: string } {
  const order: number[] = [];
  plugins.forEach(({ stage: own, prepend, scope }, id) => {
    if (own !== stage || scope === 'other') return;
    if (prepend) order.unshift(id);
    else order.push(id);
  });
  if (stage === 'result') return { ids: order, last: 'next' };
  const stop = order.findIndex((id) => plugins[id]!.does !== 'next');
  return stop < 0 ? { ids: order, last: 'next' } : { ids: order.slice(0, stop + 1), last: plugins[order[stop]!]!.does };
}

/** The lines a call must leave, by the rules of P4 alone. */
function expected(plugins: readonly Plugin[], guards: readonly boolean[]): string[] {
  const lines: string[] = [];
  const add = (stage: Stage): string => {
    const { ids, last } = reached(plugins, stage);
    lines.push(...ids.map((id) => `${stage} ${id}`));
    return last;
  };
  const end = (): string[] => {
    lines.push('finalize');
    add('result');
    return lines;
  };
  const decided = add('pre');
  if (decided === 'throw') return end();
  let open = decided === 'next' || decided === 'allow';
  if (open) {
    const denies = guards.indexOf(true);
    lines.push(...guards.slice(0, denies < 0 ? guards.length : denies + 1).map((_, at) => `guard ${at}`));
    open = denies < 0;
  }
  if (open) {
    const wrapped = add('execute');
    if (wrapped === 'throw') return end();
    lines.push(wrapped === 'next' ? 'body' : 'own answer');
    lines.push('render');
  }
  const posted = add('post');
  if (posted === 'replace' && open) lines.push('render');
  return end();
}

describe('registry order of events', () => {
  it('P4.8 P4.17 P4.18 P4.27 P4.30 P4.34 any set of policy plugins runs in the order the stages say', async () => {
    await fc.assert(fc.asyncProperty(fc.array(plugin, { maxLength: 8 }), fc.array(fc.boolean(), { maxLength: 3 }), async (plugins, guards) => {
      const host = await openRegistry();
      const preset = host.agent('preset');
      const agent = host.agent('agent', preset);
      const contexts = { global: host.ctx, agent: agent.ctx, preset: preset.ctx, other: host.agent('other').ctx };
      const lines: string[] = [];
      host.ctx.tools.register(tool('one', () => { lines.push('body'); return 'ran'; }, {
        output: { schema: { type: 'string' }, render: (_args, value) => { if (value === 'own') lines.push('own answer'); lines.push('render'); return text(String(value)); } },
        finalizeContent: () => { lines.push('finalize'); return undefined; },
      }));
      plugins.forEach(({ stage, does, prepend, scope }, id) => {
        const ctx = contexts[scope as keyof typeof contexts];
        const say = (): void => {
          lines.push(`${stage} ${id}`);
          if (does === 'throw') throw new Error(`${stage} ${id}`);
        };
        if (stage === 'pre') {
          const decisions: Record<string, unknown> = { allow: { kind: 'allow' }, deny: { kind: 'deny', reason: 'no' }, odd: { kind: 'odd' } };
          ctx.on('tools/pre-execute', async (_exec, next) => { say(); return (decisions[does] as PreToolDecision | undefined) ?? next(); }, { prepend });
        } else if (stage === 'execute') {
          ctx.on('tools/execute', async (_exec, next) => { say(); return does === 'answer' ? { isError: false, value: 'own', content: [] } : next(); }, { prepend });
        } else if (stage === 'post') {
          ctx.on('tools/post-execute', async (_exec, _result, next) => {
            say();
            if (does === 'block') return { kind: 'block', feedback: [] };
            return does === 'replace' ? { kind: 'accept', value: 'new' } : next();
          }, { prepend });
        } else {
          ctx.on('tools/result', say, { prepend });
        }
      });
      guards.forEach((denies, at) => host.ctx.tools.guard(() => { lines.push(`guard ${at}`); return denies ? 'guarded' : undefined; }));
      await host.call('one', {}, { agent: agent.agent });
      assert.deepEqual(lines, expected(plugins, guards));
      await host.close();
    }), { numRuns: 200 });
  }).timeout(120_000);
});
