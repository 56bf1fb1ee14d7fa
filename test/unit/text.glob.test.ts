import assert from 'node:assert/strict';
import { leadsElsewhere, splitGlob } from '../../src/text/glob.ts';

describe('text.glob', () => {
  const CASES: readonly (readonly [pattern: string, fixed: string, rest: string, elsewhere: boolean])[] = [
    ['*.ts', '', '*.ts', false],
    ['src/**/*.ts', 'src', '**/*.ts', false],
    ['/etc/*.conf', '/etc', '*.conf', true],
    ['/etc/hosts', '/etc', 'hosts', true],
    ['/*.ts', '/', '*.ts', false],
    ['/etc*/x', '/', 'etc*/x', false],
    ['../a/*', '../a', '*', true],
    ['a/../../b/*', 'a/../../b', '*', true],
    ['a..b/*', 'a..b', '*', false],
    ['..', '', '..', false],
    ['{/etc,..}/*', '', '{/etc,..}/*', false],
    ['**/../x', '', '**/../x', false],
    ['[ab]/../x', '', '[ab]/../x', false],
    ['a\\*/../../x/*', 'a*/../../x', '*', true],
    ['a\\/../x/*', '', 'a\\/../x/*', false],
    ['a\\\\/../x/*', 'a\\/../x', '*', true],
  ];
  for (const [pattern, fixed, rest, elsewhere] of CASES) {
    it(`B10.26 ${pattern} begins in "${fixed}"`, () => {
      const parts = splitGlob(pattern, false);
      assert.deepEqual(parts, { fixed, rest });
      assert.equal(leadsElsewhere(parts), elsewhere);
    });
  }

  it('B10.26 on Windows a backslash separates, a drive leads elsewhere', () => {
    const parts = splitGlob('C:\\x\\*.ts', true);
    assert.deepEqual(parts, { fixed: 'C:/x', rest: '*.ts' });
    assert.equal(leadsElsewhere(parts), true);
  });
});
