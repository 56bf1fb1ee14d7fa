import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { clausesIn, coverage, resultsPage, titlesOf } from '../../scripts/contract-coverage.mjs';

describe('contract coverage page', () => {
  const source = `
    describe('room', () => {
      it('P4.1 does it', () => {});
      it.skip('P4.2 skipped', () => {});
      // it('P4.3 commented out', () => {});
      for (const x of []) it(\`S1.2-S1.4 makes \${x} | <b>\`, () => {});
      describe('T2.1 inner', () => { it('one', () => {}); });
    });`;

  it('reads titles from the code: comments and skipped tests do not count', () => {
    assert.deepEqual(titlesOf(source), ['room › P4.1 does it', 'room › S1.2-S1.4 makes … | <b>', 'room › T2.1 inner › one']);
  });

  it('spells ranges out', () => {
    assert.deepEqual([...clausesIn('S1.2-S1.4 and P4.10')].sort(), ['P4.10', 'S1.2', 'S1.3', 'S1.4']);
  });

  it('no clause and no case is without a test', () => {
    const script = path.resolve(import.meta.dirname, '../../scripts/contract-coverage.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    const told = [...stdout.matchAll(/^(\d+) of (\d+) (\w+) have tests(.*)$/gm)];
    assert.deepEqual(told.map(([, , , what]) => what), ['clauses', 'cases'], stderr);
    for (const [line, with_, all, , without] of told) {
      assert.equal(with_, all, line);
      assert.equal(without, '');
    }
    assert.ok(Number(told[0]![2]) > 129);
  });

  it('tells case, test and result of a run', () => {
    const tests = [{ title: 'room A1 a | b', state: 'passed', file: 'test/unit/a.test.ts' }, { title: 'room A1 A5 c', state: 'failed', file: 'b.test.ts' }, { title: 'other', state: 'passed', file: 'c' }];
    assert.equal(resultsPage([{ section: 'A', clauses: { A1: '', A3: '', A5: '' } }], tests), [
      '| case | test | result |', '| --- | --- | --- |', '| A1 | `a.test.ts`: room A1 a \\| b | passed |', '| A1 | `b.test.ts`: room A1 A5 c | failed |',
      '| A3 | | not run |', '| A5 | `b.test.ts`: room A1 A5 c | failed |', '',
    ].join('\n'));
  });

  it('names clauses without tests', () => {
    const { page, empty } = coverage([{ section: '1', clauses: { 'S1.3': 'words', 'P4.2': 'more' } }], [{ name: 'a.test.ts', source }]);
    assert.deepEqual(empty, ['P4.2']);
    assert.match(page, /\| S1\.3 \| words \| `a\.test\.ts`: S1\.2-S1\.4 makes … \\\| &lt;b> \|/);
    assert.match(page, /\| P4\.2 \| more \| \*\*none\*\* \|/);
  });
});
