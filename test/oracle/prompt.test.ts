import assert from 'node:assert/strict';
import { Context } from '@deepseek-ai/cordis';
import fc from 'fast-check';
import * as ours from '../../src/prompt/dsh-system-prompt.ts';
import { jsonSchemaToTs, renderToolsSdk } from '../../src/registry/dsh-tools.ts';
import { createScope } from '../../src/scope/dsh-scope.ts';
import { jsonSchema } from '../fixtures/contract-arbitraries.ts';
import { publishedPrompt, publishedScope, publishedTools } from './published.ts';

/** A value, or that there was none: error texts are each side's own. */
async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return { value: await run() };
  } catch {
    return 'throws';
  }
}

const text = fc.array(fc.constantFrom('{{', '}}', '{', '}', '{{a}}', '{{b_1}}', '{{none}}', '{{A}}', '{{ a }}', 'word ', '\n', '{{{a}}}'), { maxLength: 6 }).map((parts) => parts.join(''));
const assembly: fc.Arbitrary<unknown> = fc.record({
  sections: fc.array(fc.record({ name: fc.constant('s'), text }), { maxLength: 3 }), contexts: fc.array(fc.record({ name: fc.constant('c'), text }), { maxLength: 3 }),
  tools: fc.constant([]), variables: fc.constant({ a: 'A', b_1: '{{a}}', none: undefined }),
});

interface Entry { what: 'section' | 'context' | 'variable' | 'suppress'; name: string; order: number; text: string; scoped: boolean; complete: boolean }
const entry: fc.Arbitrary<Entry> = fc.record({
  what: fc.constantFrom('section', 'section', 'context', 'variable', 'suppress'), name: fc.constantFrom('x', 'y', 'deployment:persona'), order: fc.constantFrom(-200, 0, 1, 1, 50, NaN),
  text: fc.constantFrom('', 'text', '{{x}} and {{y}}'), scoped: fc.boolean(), complete: fc.constantFrom(false, false, false, true),
});
const tools = fc.uniqueArray(fc.constantFrom('b', 'a', 'Z', 'ä', 'a-b', '<unlisted-tools>'), { maxLength: 4 });
const order = fc.option(fc.array(fc.constantFrom('a', 'b', 'Z', 'ghost', '<unlisted-tools>'), { maxLength: 4 }), { nil: undefined });

interface PromptScene { entries: Entry[]; names: string[]; toolOrder: string[] | undefined; wants: boolean }

async function assemble(kit: { prompt: typeof ours; createScope: typeof createScope }, scene: PromptScene): Promise<unknown> {
  const root = new Context();
  const seen: unknown[] = [];
  await outcome(() => root.plugin(kit.prompt.SystemPrompt, { includeHarnessIdentity: false, persona: 'P', ...(scene.toolOrder && { toolOrder: scene.toolOrder }) }));
  await root.plugin({
    name: 'scene', inject: ['systemPrompt'],
    async apply(ctx: Context) {
      const key = {};
      const scope = kit.createScope(ctx, key).ctx;
      scope.on('system-prompt/change', () => { seen.push('change'); });
      for (const { what, name, order: at, text: words, scoped, complete } of scene.entries) {
        const { systemPrompt } = scoped ? scope : ctx;
        seen.push(await outcome(() => {
          if (what === 'section') systemPrompt.section({ name, order: at, text: words, ...(complete && { complete }) });
          else if (what === 'context') systemPrompt.context({ name, order: at, text: () => words });
          else if (what === 'variable') systemPrompt.variable(name, () => (words === '' ? undefined : words));
          else systemPrompt.suppressRuntimeContext();
        }));
      }
      ctx.systemPrompt.tools(() => ({ schemas: scene.names.map((name) => ({ name, description: '', parameters: {} })) }));
      for (const view of [undefined, key]) {
        const made = await outcome(() => ctx.systemPrompt.assemble({ ...(view && { scope: view }) }));
        seen.push(made, await outcome(() => kit.prompt.renderPrompt((made as { value: never }).value)), await outcome(() => kit.prompt.renderContextSnapshot((made as { value: never }).value)));
      }
    },
  });
  await root.fiber.dispose();
  return seen;
}

describe('prompt against the published package', function () {
  this.timeout(120_000);

  it('Y14.2 Y14.3 Y14.5 rendering, references and snapshots are the same', async () => {
    await fc.assert(fc.asyncProperty(assembly, async (made) => {
      const whole = made as ours.PromptAssembly;
      for (const render of ['renderPrompt', 'renderContextSnapshot', 'renderContextSections'] as const) {
        assert.deepEqual(await outcome(() => ours[render](whole)), await outcome(() => publishedPrompt[render](whole)));
      }
    }), { numRuns: 500 });
  });

  it('Y14.1 Y14.4 Y14.6 assemblies over layers, scopes and orders are the same', async () => {
    await fc.assert(fc.asyncProperty(fc.record({ entries: fc.array(entry, { maxLength: 6 }), names: tools, toolOrder: order, wants: fc.boolean() }), async (scene) => {
      assert.deepEqual(
        await assemble({ prompt: ours, createScope }, scene),
        await assemble({ prompt: publishedPrompt, createScope: publishedScope.createScope }, scene),
      );
    }), { numRuns: 150 });
  });

  it('C8.7 C8.8 the TypeScript of schemas and the declarations of tools are the same', () => {
    fc.assert(fc.property(jsonSchema(true), jsonSchema(false), (one, two) => {
      const schemas = [one, two].map((made) => made.make() as never);
      // Brackets aside: the published text has more of them than it needs.
      const bare = (words: string | undefined): string | undefined => words?.replace(/[()]/g, '');
      for (const schema of schemas) assert.equal(bare(jsonSchemaToTs(schema)), bare(publishedTools.jsonSchemaToTs(schema)));
      const declared = (render: typeof renderToolsSdk): string | undefined => render(schemas.map((schema, at) => (
        { name: ['z', 'a-b'][at]!, description: 'does\n it */', parameters: schema, output: schemas[1 - at]! }
      ))).split('```ts')[1];
      assert.equal(bare(declared(renderToolsSdk)), bare(declared(publishedTools.renderToolsSdk as typeof renderToolsSdk)));
    }), { numRuns: 500 });
  });
});
