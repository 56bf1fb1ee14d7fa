import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HitFinder, isTame } from '../../webview/results/hits.ts';
import { countRows, matchRows, pathRows, rowsText, treeMove } from '../../webview/results/rows.ts';

const shown = (pattern: string | undefined, line: string): string => new HitFinder(pattern).parts(line).map((part) => (part.hit ? `[${part.text}]` : part.text)).join('');

describe('webview: hits in result lines', () => {
  it('marks what the pattern finds', () => {
    assert.equal(shown('split\\(', "a.split(',').split('x')"), "a.[split(]',').[split(]'x')");
    assert.equal(shown('(?i)todo', '// TODO todo'), '// [TODO] [todo]');
    assert.equal(shown('\\bfoo\\b', 'foo food foo'), '[foo] food [foo]');
    assert.equal(shown('^\\s*import', 'import x'), '[import] x');
    assert.equal(shown('fn|let', 'let fn'), '[let] [fn]');
  });
  it('leaves lines plain when the pattern means nothing here', () => {
    for (const pattern of [undefined, '', '(', '[[:alpha:]]+', '(?P<x>a)', '\\p{L}', '(a)\\1', '(?=x)']) assert.equal(shown(pattern, 'a xx'), 'a xx', pattern);
  });
  it('refuses patterns that can run away', () => {
    for (const pattern of ['(a+)+$', '(a|a)*b', '(.*)*x', '((a)+)+', '(a|ab)+c', '(a{1,}){2,}', '.*.*.*.*x', 'a{1000}']) assert.equal(isTame(pattern), false, pattern);
    for (const pattern of ['a+b*', 'foo(bar)?', '(foo|bar)', 'x{2,3}', '[*+]+', '\\*\\+', '.*foo.*']) assert.equal(isTame(pattern), true, pattern);
  });
  it('loses no character, whatever pattern and line', () => {
    fc.assert(fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 60 }), (pattern, line) => {
      assert.equal(new HitFinder(pattern).parts(line).map((part) => part.text).join(''), line);
    }));
  });
  it('a long line keeps its end, and its hits at the start', () => {
    const line = `hit ${'x'.repeat(5000)}`;
    assert.equal(shown('hit', line), `[hit]${line.slice(3)}`);
  });
  it('stops looking when it took too long', () => {
    let clock = 0;
    const finder = new HitFinder('a', () => (clock += 200));
    assert.equal(finder.parts('a').some((part) => part.hit), true);
    finder.parts('a');
    assert.equal(finder.parts('a').some((part) => part.hit), false);
  });
  it('tells the place of the first hit', () => {
    assert.deepEqual(new HitFinder('b+').first('aabb'), { column: 3, length: 2 });
    assert.equal(new HitFinder('z').first('aabb'), undefined);
  });
});

const FILES = [
  { path: 'src/a.ts', matches: [{ lineNumber: 1, line: 'alpha' }, { lineNumber: 5, line: 'beta' }] },
  { path: 'src/b.ts', matches: [{ lineNumber: 2, line: 'gamma' }] },
];
const rows = matchRows(FILES, new Set(), '');

describe('webview: rows of results', () => {
  const brief = (list: typeof rows): string[] => list.map((row) => (row.kind === 'line' ? `  ${row.match.lineNumber}` : row.kind === 'file' ? `${row.path} ${row.count}` : row.path));
  it('groups, folds and filters', () => {
    assert.deepEqual(brief(rows), ['src/a.ts 2', '  1', '  5', 'src/b.ts 1', '  2']);
    assert.deepEqual(brief(matchRows(FILES, new Set(['src/a.ts']), '')), ['src/a.ts 2', 'src/b.ts 1', '  2']);
    assert.deepEqual(brief(matchRows(FILES, new Set(), 'BETA')), ['src/a.ts 1', '  5']);
    assert.deepEqual(brief(matchRows(FILES, new Set(), 'b.ts')), ['src/b.ts 1', '  2']);
    assert.deepEqual(brief(pathRows(['x.ts', 'y.ts'], 'y')), ['y.ts']);
    assert.equal(countRows(matchRows(FILES, new Set(['src/a.ts']), '')), 3);
  });
  it('copies as path:line: text', () => {
    assert.equal(rowsText(rows), 'src/a.ts:1: alpha\nsrc/a.ts:5: beta\nsrc/b.ts:2: gamma');
  });
  it('walks like a tree', () => {
    assert.deepEqual(treeMove(rows, 0, 'ArrowDown', 10), { to: 1 });
    assert.deepEqual(treeMove(rows, 2, 'ArrowLeft', 10), { to: 0 });
    assert.deepEqual(treeMove(rows, 0, 'ArrowLeft', 10), { toggle: 'src/a.ts' });
    assert.deepEqual(treeMove(rows, 0, 'ArrowRight', 10), { to: 1 });
    assert.deepEqual(treeMove(matchRows(FILES, new Set(['src/a.ts']), ''), 0, 'ArrowRight', 10), { toggle: 'src/a.ts' });
    assert.deepEqual(treeMove(rows, 4, 'ArrowDown', 10), { to: 4 });
    assert.deepEqual(treeMove(rows, 4, 'Home', 10), { to: 0 });
    assert.deepEqual(treeMove(rows, 0, 'PageDown', 3), { to: 3 });
    assert.equal(treeMove(rows, 0, 'x', 3), undefined);
  });
  it('10,000 rows are made at once without harm', () => {
    const many = Array.from({ length: 100 }, (_, file) => ({ path: `f${file}`, matches: Array.from({ length: 100 }, (_, at) => ({ lineNumber: at + 1, line: 'x' })) }));
    assert.equal(matchRows(many, new Set(), '').length, 10_100);
  });
});
