import assert from 'node:assert/strict';
import { defineTool } from '../../src/contract/define-tool.ts';
import { Rig, callTools, ofType, say } from './agent.harness.ts';

describe('registry and the session log', () => {
  it('D5.2 content and meta of a result are logged, the value never', async () => {
    const rig = await Rig.start();
    rig.root.tools.register(defineTool({
      name: 'secretive', description: 'Returns more than it shows.', parameters: {},
      output: {
        schema: { type: 'object', additionalProperties: true }, render: () => [{ type: 'text', text: 'shown' }], presentationMeta: () => ({ card: 'data' }),
      },
      execute: async () => ({ hidden: 'canonical value' }),
    }));
    rig.replies = [callTools(['c1', 'secretive', {}]), say('done')];
    const agent = await rig.agent();
    let value: unknown;
    rig.root.on('tools/result', (_exec, result) => { value = result.value; });
    await rig.ask(agent, 'go');
    assert.deepEqual(value, { hidden: 'canonical value' });
    const [logged] = ofType(agent.session.events, 'tool/result');
    assert.deepEqual(logged!.data.message.content[0].content, [{ type: 'text', text: 'shown' }]);
    assert.deepEqual(logged!.data.meta, { card: 'data' });
    assert.equal(JSON.stringify(agent.session.events).includes('canonical value'), false);
    await rig.stop();
  });
});
