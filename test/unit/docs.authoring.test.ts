import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import type { Agent } from '../../src/contract/agent.ts';
import { callView, resultView } from '../../src/contract/card.ts';
import type { SessionEvent } from '../../src/contract/event.ts';
import { startHeadless } from '../../src/headless/compose.ts';
import { OFFLINE_MODEL, OFFLINE_PROVIDER, OfflineAdapter } from '../../src/model/offline/adapter.ts';
import { lentModules } from '../../src/plugins/modules.ts';
import { PluginSet } from '../../src/plugins/plugin-set.ts';
import type { Runtime } from '../../src/runtime.ts';
import { stepsOf, type Step } from '../fixtures/guide.ts';

const root = path.resolve(import.meta.dirname, '../..');
const guide = readFileSync(path.join(root, 'docs/tool-authoring.md'), 'utf8');
const steps = stepsOf(guide);
const PLUGIN = /^plugins\//;
const OURS: Readonly<Record<string, string>> = {
  'cordis': 'node_modules/@deepseek-ai/cordis',
  'schemastery': 'node_modules/@deepseek-ai/schemastery',
  '@deepseek-ai/dsh-tools': 'src/registry/dsh-tools.ts',
  '@deepseek-ai/dsh-llm': 'src/registry/dsh-llm.ts',
  '@deepseek-ai/dsh-system-prompt': 'src/prompt/dsh-system-prompt.ts',
  '@deepseek-ai/dsh-jobs': 'src/jobs/types.ts',
};

function write(folder: string, name: string, text: string): void {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe('the tool-authoring guide', function () {
  this.timeout(60_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'dsh-guide-'));
    for (const step of steps) if (step.kind === 'file') write(folder, step.name, step.text);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('T2.8 starts with the greet tool of the example workspace', () => {
    const greet = steps.find((step) => step.kind === 'file' && step.name === 'plugins/greet.ts');
    assert.ok(greet?.kind === 'file');
    assert.equal(greet.text.replace(/^.*\n/, ''), readFileSync(path.join(root, 'examples/workspace/plugins/greet.ts'), 'utf8'));
  });

  it('its plugins pass the strict type check of an author\'s editor', () => {
    const files = steps.filter((step) => step.kind === 'file' && step.name.endsWith('.ts')).map((step) => path.join(folder, (step as { name: string }).name));
    const paths = Object.fromEntries(Object.entries(OURS).map(([name, file]) => [name, [path.join(root, file)]]));
    const program = ts.createProgram(files, {
      strict: true, noEmit: true, target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true, skipLibCheck: true, noUncheckedIndexedAccess: true, types: ['node'], typeRoots: [path.join(root, 'node_modules/@types')],
      paths: { ...paths, '@deepseek-ai/*': [path.join(root, 'node_modules/@deepseek-ai/*')] },
    });
    const problems = files.flatMap((file) => {
      const source = program.getSourceFile(file);
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((problem) => {
        const line = problem.file === undefined || problem.start === undefined ? 0 : problem.file.getLineAndCharacterOfPosition(problem.start).line + 1;
        return `${path.basename(file)}:${line}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`;
      });
    });
    assert.deepEqual(problems, []);
  });

  describe('in a running host', () => {
    let runtime: Runtime;
    let agent: Agent;
    let set: PluginSet;
    let answer: 'allow' | 'reject' | undefined;
    let callIds = 0;
    let last: { tool: string; args: unknown; content: { type: 'text'; text: string }[]; isError: boolean; meta?: unknown } | undefined;

    before(async () => {
      runtime = await startHeadless({ workspace: folder });
      const { ctx } = runtime;
      ctx.llm.registerAdapter([OFFLINE_PROVIDER], new OfflineAdapter());
      ctx.on('approval/request', async () => (answer === 'allow' ? 'allowed-once' : 'rejected'));
      await ctx.plugin(PluginSet, { file: path.join(folder, 'cordis.yml'), patches: [path.join(folder, 'cordis.patch.yml')], modules: lentModules(), watch: false });
      set = ctx.get('plugins') as PluginSet;
      ({ agent } = await ctx.agents.create({ meta: { cwd: folder }, agentOptions: { provider: OFFLINE_PROVIDER, model: OFFLINE_MODEL } }));
    });
    after(() => runtime.dispose());

    const plain = (blocks: readonly { type: string }[]) => blocks.map((block) => (block as { text?: string }).text ?? '').join('');

    async function say(words: string): Promise<string> {
      const from = agent.session.events.length;
      agent.followup({ content: [{ type: 'text', text: words }], source: { kind: 'user' } });
      await agent.whenIdle();
      const events = agent.session.events.slice(from);
      const find = <T extends SessionEvent['type']>(type: T) => events.find((event) => event.type === type) as SessionEvent<T> | undefined;
      const call = find('tool/call');
      const result = find('tool/result');
      if (call === undefined || result === undefined) return `no tool was called: ${JSON.stringify(events.map((event) => event.type))}`;
      const [block] = result.data.message.content;
      last = { tool: call.data.name, args: JSON.parse(call.data.arguments), content: block.content as typeof last extends { content: infer C } | undefined ? C : never, isError: block.isError === true, meta: result.data.meta };
      return plain(block.content);
    }

    async function call(name: string, args: unknown): Promise<string> {
      const result = await runtime.ctx.tools.execute({ callId: `guide-${++callIds}`, name, arguments: args, agent, signal: AbortSignal.timeout(30_000) });
      return plain(result.content);
    }

    async function perform(step: Step): Promise<void> {
      switch (step.kind) {
        case 'file':
          return;
        case 'rows': {
          const file = path.join(folder, step.name);
          let before = '';
          try { before = readFileSync(file, 'utf8'); } catch { /* the first rows */ }
          writeFileSync(file, before + step.text);
          await set.reload();
          assert.deepEqual(set.list().filter((plugin) => plugin.status.state !== 'active').map((plugin) => [plugin.id, plugin.status]), [], 'every plugin of the page so far is loaded');
          return;
        }
        case 'call': {
          answer = step.answer;
          assert.equal(await (step.words === undefined ? call(step.tool!, step.args) : say(step.words)), step.reads);
          return;
        }
        case 'card': {
          assert.ok(last, 'a card needs a call before it');
          const definition = runtime.ctx.tools.get(last.tool, agent);
          const view = step.which === 'call'
            ? callView(definition, last.tool, last.args)
            : resultView(definition, last.args, { content: last.content, isError: last.isError, ...(last.meta === undefined ? {} : { meta: last.meta as never }) });
          assert.deepEqual(view, step.view);
          return;
        }
      }
    }

    for (const step of steps) {
      if (step.kind === 'file') continue;
      const what = step.kind === 'call' ? step.words ?? `call ${step.tool}` : step.kind === 'rows' ? `${step.name}: ${step.text.match(/\.\/\S+/g)?.join(' ')}` : `the ${step.which}'s card`;
      it(`line ${step.line}: ${what}`, () => perform(step));
    }

    it('loads every plugin it prints', () => {
      const printed = steps.flatMap((step) => (step.kind === 'file' && PLUGIN.test(step.name) ? [`./${step.name}`] : []));
      assert.deepEqual(printed.filter((name) => !set.list().some((plugin) => plugin.name === name)), []);
    });

    it('X13.8 X13.9 lists the modules and the services that there are', () => {
      const names = (from: string, to: string) => [...guide.slice(guide.indexOf(from) + from.length, guide.indexOf(to, guide.indexOf(from))).matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
      assert.deepEqual(names('These modules are the host\'s own', 'For types in the editor').sort(), Object.keys(lentModules({ vscode: {} })).sort());
      const services = names('The services the host offers:', 'Writing through');
      // kept with the sessions, which this runtime has in memory; the logger is a part of every context
      const withSessions = ['spillStore', 'attachments'];
      assert.deepEqual(services.filter((name) => runtime.ctx.get(name as never) === undefined && name !== 'logger' && !withSessions.includes(name)), []);
    });

    it('V9.1 shows every kind of result card, each well-formed', () => {
      const definition = runtime.ctx.tools.get('show_card', agent);
      const kinds = ((definition?.parameters as { properties?: { kind?: { enum?: string[] } } }).properties?.kind?.enum) ?? [];
      const cards = kinds.map((kind) => resultView(definition, { kind }, { content: [], isError: false }));
      assert.deepEqual(cards.map((view) => [view.card, (view as { shape?: string; kind?: string }).shape ?? (view as { kind?: string }).kind].filter(Boolean).join(' ')),
        ['generic', 'terminal', 'diff', 'search matches', 'search paths', 'read', 'web search', 'web fetch']);
      for (const [index, kind] of kinds.entries()) assert.deepEqual(cards[index], definition?.presentResult?.({ kind }, { content: [], isError: false }), kind);
    });

    it('A6.2 the memo reaches the model with the next step', () => {
      const injected = agent.session.events.some((event) => event.type === 'user/message' && plain(event.data.content) === 'Remember: tea at five');
      assert.ok(injected);
    });

    it('D1 the countdown stops when it is told to', async () => {
      const stop = new AbortController();
      const running = runtime.ctx.tools.execute({ callId: 'stop', name: 'countdown', arguments: { from: 3, interval_ms: 600_000 }, signal: stop.signal });
      stop.abort();
      assert.equal((await running).isError, true);
    });

    it('X13.5 the patch took the gate\'s list away', async () => {
      answer = 'reject';
      assert.equal(await say('/countdown 1 1'), '1 0');
    });
  });

  it('its unit test passes on the published packages', async () => {
    // beside node_modules, so that packages are found
    const beside = path.join(root, 'out');
    mkdirSync(beside, { recursive: true });
    const published = mkdtempSync(path.join(beside, 'guide-'));
    try {
      for (const step of steps) if (step.kind === 'file' && /greet/.test(step.name)) write(published, step.name, step.text);
      const tsx = path.join(root, 'node_modules/tsx/dist/loader.mjs');
      const env = { ...process.env };
      delete env['NODE_TEST_CONTEXT'];
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', `file://${tsx}`, '--test', 'greet.test.ts'], { cwd: published, env });
      assert.match(stdout, /pass 1\b/);
    } finally {
      rmSync(published, { recursive: true, force: true });
    }
  });
});
