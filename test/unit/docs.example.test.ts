import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SessionEvent } from '../../src/contract/event.ts';
import { startHeadless } from '../../src/headless/compose.ts';
import { OFFLINE_MODEL, OFFLINE_PROVIDER, OfflineAdapter } from '../../src/model/offline/adapter.ts';
import { lentModules } from '../../src/plugins/modules.ts';
import { PluginSet } from '../../src/plugins/plugin-set.ts';

const example = path.resolve(import.meta.dirname, '../../examples/workspace');

describe('the example workspace', function () {
  this.timeout(60_000);

  it('does what its README says to try, offline', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'dsh-example-'));
    cpSync(example, folder, { recursive: true });
    const { ctx, dispose } = await startHeadless({ workspace: folder });
    try {
      ctx.llm.registerAdapter([OFFLINE_PROVIDER], new OfflineAdapter());
      ctx.on('approval/request', async () => 'allowed-once');
      ctx.on('review/staged', (file) => void ctx.review.accept(file.id));
      await ctx.plugin(PluginSet, { file: path.join(folder, 'cordis.yml'), modules: lentModules(), watch: false });
      const { agent } = await ctx.agents.create({ meta: { cwd: folder }, agentOptions: { provider: OFFLINE_PROVIDER, model: OFFLINE_MODEL } });
      const said = [...readFileSync(path.join(example, 'README.md'), 'utf8').matchAll(/^- `([^`]+)`/gm)].map((match) => match[1]!);
      const answers: string[] = [];
      for (const words of said) {
        const from = agent.session.events.length;
        agent.followup({ content: [{ type: 'text', text: words }], source: { kind: 'user' } });
        await agent.whenIdle();
        const result = agent.session.events.slice(from).find((event): event is SessionEvent<'tool/result'> => event.type === 'tool/result');
        assert.ok(result, `${words} calls a tool`);
        const [block] = result.data.message.content;
        const text = block.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
        assert.notEqual(block.isError, true, `${words}: ${text}`);
        answers.push(text);
      }
      assert.equal(said.length, 5);
      assert.equal(answers[0], 'Hello, Ada!');
      assert.match(answers[1]!, /Found 2 matches/);
      assert.match(readFileSync(path.join(folder, 'src/main.js'), 'utf8'), /DONE/);
      assert.match(answers[4]!, /^0 1 1 2 3 5 8 13 21 34 55 89/);
    } finally {
      await dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
