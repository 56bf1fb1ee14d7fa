import assert from 'node:assert/strict';
import type { PromptAssembly } from '../../src/prompt/assembly.ts';
import { CONTEXT_SNAPSHOT_NONE, joinContextSections, renderContextSnapshot, renderPrompt } from '../../src/prompt/render.ts';
import { SystemPrompt } from '../../src/prompt/system-prompt.ts';
import { openRegistry, tool } from '../fixtures/registry-host.ts';
import type { RegistryHost } from '../fixtures/registry-host.ts';

const bare = { includeHarnessIdentity: false };

describe('system prompt', () => {
  let host: RegistryHost;
  beforeEach(async () => { host = await openRegistry({ prompt: bare }); });
  afterEach(() => host.close());
  const render = async (scope?: object): Promise<string> => renderPrompt(await host.ctx.systemPrompt.assemble({ ...(scope && { scope }) }));
  const assembly = (part: Partial<PromptAssembly>): PromptAssembly => ({ sections: [], contexts: [], tools: [], variables: {}, ...part });

  it('Y14.1 every contribution is an effect, shadows by name in its scope, and tells system-prompt/change', async () => {
    let changes = 0;
    host.ctx.on('system-prompt/change', () => { changes++; });
    const a = host.agent('a');
    const { systemPrompt } = host.ctx;
    const undo = [
      systemPrompt.section({ name: 's', order: 1, text: 'global {{v}}' }), a.ctx.systemPrompt.section({ name: 's', order: 1, text: () => 'own {{v}}' }),
      systemPrompt.variable('v', () => 'G'), a.ctx.systemPrompt.variable('v', () => 'A'), systemPrompt.context({ name: 'c', order: 1, text: 'ctx' }),
      systemPrompt.tools(() => ({ schemas: [{ name: 'extra', description: '', parameters: {} }] })), a.ctx.systemPrompt.suppressRuntimeContext(),
    ];
    assert.equal(changes, 7);
    assert.deepEqual([await render(), await render(a.agent)], ['global G', 'own A']);
    for (const dispose of undo) dispose();
    assert.equal(changes, 14);
    assert.deepEqual(await systemPrompt.assemble(), assembly({ sections: [{ name: 'deployment:persona', text: '' }] }));
  });

  it('Y14.1 a name is taken once per layer; names and orders are checked', () => {
    const { systemPrompt } = host.ctx;
    const a = host.agent('a');
    for (const [what, add] of [
      ['section', (p: SystemPrompt) => p.section({ name: 'x', order: 0, text: '' })], ['context', (p: SystemPrompt) => p.context({ name: 'x', order: 0, text: '' })],
      ['variable', (p: SystemPrompt) => p.variable('x', () => '')],
    ] as const) {
      add(systemPrompt);
      add(a.ctx.systemPrompt);
      assert.throws(() => add(systemPrompt), new RegExp(`prompt ${what} "x" is already registered \\(`));
      assert.throws(() => add(a.ctx.systemPrompt), new RegExp(`prompt ${what} "x" is already registered in this scope`));
    }
    for (const name of ['X', '1x', '', 'a-b', 'ä']) assert.throws(() => systemPrompt.variable(name, () => ''), /invalid prompt variable name/);
    for (const order of [NaN, Infinity]) {
      assert.throws(() => systemPrompt.section({ name: 'o', order, text: '' }), /order must be a finite number/);
      assert.throws(() => systemPrompt.context({ name: 'o', order, text: '' }), /order must be a finite number/);
    }
  });

  it('Y14.1 providers are asked at each assembly, with its scope, agent and signal', async () => {
    const seen: unknown[] = [];
    const { agent } = host.agent('a');
    const { signal } = new AbortController();
    host.ctx.systemPrompt.section({ name: 's', order: 1, text: (given) => { seen.push(given); return ''; } });
    const given = { scope: agent, agent, signal };
    await host.ctx.systemPrompt.assemble(given);
    await host.ctx.systemPrompt.assemble();
    assert.deepEqual(seen, [given, {}]);
  });

  it('Y14.2 sections go by order, then by registration; empty ones are dropped', async () => {
    for (const [name, order, words] of [['c', 100, 'C'], ['a', -50, 'A'], ['e', 100, ''], ['d', 100, 'D'], ['b', 1, 'B']] as const) host.ctx.systemPrompt.section({ name, order, text: words });
    assert.equal(await render(), 'A\n\nB\n\nC\n\nD');
  });

  it('Y14.2 identity comes first, then the persona, and both can be chosen', async () => {
    const other = await openRegistry({ prompt: { persona: 'You are terse.' } });
    other.ctx.systemPrompt.section({ name: 'guide', order: 100, text: 'Guide.' });
    const { sections } = await other.ctx.systemPrompt.assemble();
    assert.deepEqual(sections.map(({ name }) => name), ['harness:identity', 'deployment:persona', 'guide']);
    assert.equal(sections[1]!.text, 'You are terse.');
    await other.close();
    const a = host.agent('a');
    a.ctx.systemPrompt.section({ name: 'deployment:persona', order: 0, text: 'own persona' });
    assert.deepEqual([await render(a.agent), await render()], ['own persona', '']);
  });

  const references: readonly (readonly [string, string | RegExp])[] = [
    ['{{a}} and {{b_1}}', 'A and {{a}}'], ['lone {{ brace', 'lone {{ brace'], ['}} alone', '}} alone'], ['{a}', '{a}'],
    ['{{missing}}', /unknown prompt variable "\{\{missing\}\}" in section "s"; registered variables: a, b_1, none/], ['{{none}}', /has no value/],
    ['{{A}}', /malformed/], ['{{ a }}', /malformed/], ['{{}}', /malformed/], ['{{{a}}}', /malformed/], ['{{toString}}', /malformed/], ['{{__proto__}}', /malformed/], ['{{constructor}}', /unknown/],
  ];
  for (const [words, expected] of references) {
    it(`Y14.3 ${JSON.stringify(words)} ${typeof expected === 'string' ? 'is replaced once' : 'throws'}`, () => {
      const run = (): string => renderPrompt(assembly({ sections: [{ name: 's', text: words }], variables: { a: 'A', b_1: '{{a}}', none: undefined } }));
      if (typeof expected === 'string') assert.equal(run(), expected);
      else assert.throws(run, expected);
    });
  }

  it('Y14.4 a complete section is the whole prompt, whatever the waterfall adds; two of them throw', async () => {
    host.ctx.systemPrompt.section({ name: 'other', order: -5, text: 'other' });
    const undo = host.ctx.systemPrompt.section({ name: 'all', order: 5, text: 'ALL', complete: true });
    host.ctx.on('system-prompt/assemble', async (_assembly, _context, next) => { const made = await next(); made.sections.push({ name: 'late', text: 'late' }); made.sections[0]!.text = 'spoilt'; return made; });
    assert.equal(await render(), 'ALL');
    host.ctx.systemPrompt.section({ name: 'every', order: 5, text: 'EVERY', complete: true });
    await assert.rejects(render(), /multiple complete prompt sections are active: "all", "every"/);
    undo();
    assert.equal(await render(), 'EVERY');
  });

  it('Y14.5 contexts are a snapshot of their own, ordered, interpolated, and can be suppressed', async () => {
    const a = host.agent('a');
    const { systemPrompt } = host.ctx;
    systemPrompt.variable('dir', () => '/tmp');
    systemPrompt.context({ name: 'late', order: 9, text: 'Now in {{dir}}.' });
    systemPrompt.context({ name: 'empty', order: 5, text: '' });
    systemPrompt.context({ name: 'early', order: 1, text: () => 'Morning.' });
    const made = await systemPrompt.assemble();
    assert.equal(renderPrompt(made), '');
    assert.equal(renderContextSnapshot(made), 'Current runtime context. This snapshot supersedes earlier runtime-context snapshots.\n\nMorning.\n\nNow in /tmp.');
    assert.equal(joinContextSections([]), '');
    assert.equal(CONTEXT_SNAPSHOT_NONE, 'Current runtime context: none. Earlier runtime-context snapshots no longer apply.');
    const lifts = [a.ctx.systemPrompt.suppressRuntimeContext(), a.ctx.systemPrompt.suppressRuntimeContext()];
    host.ctx.on('system-prompt/assemble', async (_assembly, _context, next) => { const late = await next(); late.contexts.push({ name: 'x', text: 'smuggled' }); return late; });
    assert.equal(renderContextSnapshot(await systemPrompt.assemble({ scope: a.agent })), '');
    lifts[0]!();
    assert.equal(renderContextSnapshot(await systemPrompt.assemble({ scope: a.agent })), '');
    lifts[1]!();
    assert.match(renderContextSnapshot(await systemPrompt.assemble({ scope: a.agent })), /Morning/);
    const without = await openRegistry({ prompt: { ...bare, includeRuntimeContext: false } });
    without.ctx.systemPrompt.context({ name: 'c', order: 0, text: 'c' });
    assert.deepEqual((await without.ctx.systemPrompt.assemble()).contexts, []);
    await without.close();
  });

  const names = async (at: RegistryHost, scope?: object): Promise<string[]> => (await at.ctx.systemPrompt.assemble({ ...(scope && { scope }) })).tools.map(({ name }) => name);

  it('Y14.6 tools go by code units of their names, whatever the registration order', async () => {
    for (const name of ['b', 'a', 'Z', 'ä', 'a-b', 'a0']) host.ctx.tools.register(tool(name));
    assert.deepEqual(await names(host), ['Z', 'a', 'a-b', 'a0', 'b', 'ä']);
  });

  it('Y14.6 toolOrder names tools around one rest marker; hidden ones may be named, unknown ones throw', async () => {
    const other = await openRegistry({ prompt: { ...bare, toolOrder: ['z', '<unlisted-tools>', 'a'] } });
    for (const name of ['a', 'c', 'b', 'z']) other.ctx.tools.register(tool(name));
    assert.deepEqual(await names(other), ['z', 'b', 'c', 'a']);
    const { ctx, agent } = other.agent('agent');
    ctx.tools.restrict({ deny: ['z'] });
    assert.deepEqual(await names(other, agent), ['b', 'c', 'a']);
    await other.close();
    const unknown = await openRegistry({ prompt: { ...bare, toolOrder: ['ghost', '<unlisted-tools>'] } });
    await assert.rejects(names(unknown), /^Error: toolOrder lists unregistered tool "ghost"/);
    await unknown.close();
    for (const toolOrder of [['a'], ['a', 'a', '<unlisted-tools>'], ['<unlisted-tools>', '<unlisted-tools>'], []]) {
      assert.throws(() => new SystemPrompt(host.ctx.isolate('systemPrompt'), { toolOrder }), /toolOrder/);
    }
  });

  it('Y14.6 the waterfall has the last word, and only sees assemblies of its scope', async () => {
    const a = host.agent('a');
    host.ctx.tools.register(tool('one'));
    a.ctx.on('system-prompt/assemble', async (_assembly, _context, next) => ({ ...(await next()), tools: [] }));
    assert.deepEqual([await names(host, a.agent), await names(host)], [[], ['one']]);
  });

  it('Y14.6 assembled tools are detached from what was registered', async () => {
    const parameters = { type: 'object', properties: { q: {} } };
    host.ctx.tools.register(tool('one', undefined, { parameters }));
    const { tools } = await host.ctx.systemPrompt.assemble();
    (tools[0]!.parameters['properties'] as Record<string, unknown>)['q'] = 'spoilt';
    assert.deepEqual((await host.ctx.systemPrompt.assemble()).tools[0]!.parameters, parameters);
  });
});
