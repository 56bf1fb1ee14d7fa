import assert from 'node:assert/strict';
import fc from 'fast-check';
import { complete, completionAt, fileEntries, toolEntries } from '../../webview/chat/completion.ts';
import { partialFields } from '../../webview/chat/partial-json.ts';
import { Recall } from '../../webview/chat/recall.ts';
import { isComposing, isEnter } from '../../webview/ui/keys.ts';
import { baseName, dirName, parseLocation, splitAtPath, splitMiddle } from '../../webview/ui/path.ts';
import { ansiSpans } from '../../webview/ui/ansi.ts';
import { inPlainSight } from '../../webview/ui/plain-sight.ts';

describe('webview: keys', () => {
  it('O1 Enter of an input method is no Enter', () => {
    assert.equal(isEnter({ key: 'Enter' }), true);
    assert.equal(isEnter({ key: 'Enter', isComposing: true }), false);
    assert.equal(isEnter({ key: 'Enter', keyCode: 229 }), false);
    assert.equal(isComposing({ key: 'Process', keyCode: 229 }), true);
    assert.equal(isEnter({ key: 'a' }), false);
  });
});

describe('webview: completion', () => {
  const tools = [{ name: 'web_grep', description: 'Search the web' }, { name: 'grep', description: 'Search files\nmore' }, { name: 'glob', description: 'Find files' }];
  it('knows a tool at the start and a file after white space', () => {
    assert.deepEqual(completionAt('/gr', 3), { kind: 'tool', start: 0, query: 'gr' });
    assert.deepEqual(completionAt('look at @src/a', 14), { kind: 'file', start: 8, query: 'src/a' });
    assert.deepEqual(completionAt('@', 1), { kind: 'file', start: 0, query: '' });
    for (const text of ['a /gr', 'me@example', '/grep x', 'plain']) assert.equal(completionAt(text, text.length), undefined, text);
  });
  it('lists tools that start with the query first', () => {
    assert.deepEqual(toolEntries(tools, 'gr').map((entry) => entry.label), ['/grep', '/web_grep']);
    assert.equal(toolEntries(tools, 'grep')[0]?.detail, 'Search files');
  });
  it('puts an entry in at the caret and leaves the rest', () => {
    const text = 'see @sr now';
    const query = completionAt(text, 7);
    assert.ok(query);
    const [entry] = fileEntries(['src/my file.ts']);
    assert.ok(entry);
    assert.deepEqual(complete(text, 7, query, entry), { text: 'see @"src/my file.ts" now', caret: 22 });
  });
});

describe('webview: what was said before', () => {
  it('walks back and forth', () => {
    const recall = new Recall();
    const said = ['one', 'two'];
    assert.deepEqual([recall.older(said), recall.older(said), recall.older(said)], ['two', 'one', undefined]);
    assert.equal(recall.walking, true);
    assert.deepEqual([recall.newer(said), recall.newer(said), recall.newer(said)], ['two', '', undefined]);
    assert.equal(recall.walking, false);
  });
});

describe('webview: arguments that still stream', () => {
  const shown = (json: string): string | undefined => partialFields(json)?.map(({ name, text, open }) => `${name}=${text}${open ? '…' : ''}`).join('; ');
  it('reads what has come, as it reads', () => {
    assert.equal(shown('{"file_path":"src/pa'), 'file_path=src/pa…');
    assert.equal(shown('{"file_path": "src/a.ts", "content": "one\\n\\ttwo \\"three\\" \\u00e4'), 'file_path=src/a.ts; content=one\n\ttwo "three" ä…');
    assert.equal(shown('{"n": 12, "list": [1, {"a": "}"}], "on": tru'), 'n=12; list=[1, {"a": "}"}]; on=tru…');
    assert.equal(shown('{"half'), '');
    assert.equal(shown('{"a":'), '');
    for (const text of ['', '   ', '[1]', 'plain']) assert.equal(partialFields(text), undefined, text);
  });
  it('never fails on the start of an object, and has all of it in the end (property)', () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, cut) => {
      const json = JSON.stringify(value);
      partialFields(json.slice(0, cut % (json.length + 1)));
      const whole = Object.entries(value).map(([name, member]) => [name, typeof member === 'string' ? member : JSON.stringify(member)]);
      assert.deepEqual(partialFields(json)?.map(({ name, text, open }) => (assert.equal(open, false), [name, text])), whole);
    }));
  });
});

describe('webview: paths', () => {
  it('splits where the middle may give way', () => {
    assert.deepEqual(splitMiddle('Edit src/deep/a.ts'), { head: 'Edit src/deep', tail: '/a.ts' });
    assert.deepEqual(splitMiddle('Edit C:\\x\\a.ts'), { head: 'Edit C:\\x', tail: '\\a.ts' });
    assert.deepEqual(splitMiddle('Search for split\\('), { head: 'Search for split\\(', tail: '' });
    assert.deepEqual(splitMiddle('npm test'), { head: 'npm test', tail: '' });
    assert.equal(splitMiddle('Fetch https://example.com/a/b').tail, '', 'of an address the start is what counts');
  });
  it('finds the file that a title names, whole or by its path within the workspace', () => {
    const found = (title: string, path: string) => Object.values(splitAtPath(title, path) ?? {}).join('|');
    assert.equal(found('Edit src/a.ts', 'src/a.ts'), 'Edit|src/a.ts|');
    assert.equal(found('Read src/a.ts (120 - 159)', '/home/ada/shop/src/a.ts'), 'Read|src/a.ts|(120 - 159)');
    assert.equal(found('Read my files/a b.ts', '/home/ada/my files/a b.ts'), 'Read|my files/a b.ts|');
    assert.equal(found('Edit C:\\shop\\a.ts', 'C:\\shop\\a.ts'), 'Edit|C:\\shop\\a.ts|');
    for (const [title, path] of [['Edit src/a.tsx', 'src/a.ts'], ['Edit xsrc/a.ts', 'src/b/a.ts'], ['src/a.ts', 'src/a.ts'], ['Edit', 'src/a.ts'], ['Edit src/a.ts', '']] as const) {
      assert.equal(splitAtPath(title, path), undefined, `${title} ${path}`);
    }
  });
  it('takes paths apart', () => {
    assert.deepEqual(['a/b.ts', 'b.ts', 'a/b/', 'c:\\x\\y.ts'].map(baseName), ['b.ts', 'b.ts', 'b', 'y.ts']);
    assert.deepEqual(['a/b.ts', 'b.ts', '/b.ts'].map(dirName), ['a', '', '']);
  });
  it('E1 E3 knows a place when it sees one', () => {
    assert.deepEqual(parseLocation('src/a.ts:12:3'), { path: 'src/a.ts', line: 12 });
    assert.deepEqual(parseLocation('a.ts:7'), { path: 'a.ts', line: 7 });
    assert.deepEqual(parseLocation('C:\\x\\a.ts'), { path: 'C:\\x\\a.ts' });
    for (const text of ['a.ts', 'obj.method', 'https://a.org/b.ts', 'x = y/z', '3.14']) assert.equal(parseLocation(text), undefined, text);
  });
});

describe('webview: terminal text', () => {
  const shown = (text: string): string => ansiSpans(text).map((span) => (span.style === '' ? span.text : `<${span.style}>${span.text}</>`)).join('');
  it('keeps colours, drops every other sequence', () => {
    assert.equal(shown('a\x1b[1;31mred\x1b[0m\x1b[2K\x1b]0;title\x07b\x1b[?25l'), 'a<ansi-red ansi-bold>red</>b');
    assert.equal(shown('\x1b[38;5;10mg\x1b[39m\x1b[48;2;1;2;3mx\x1b[m'), '<ansi-bright-green>g</>x');
    assert.equal(shown('\x1b[91;44mx'), '<ansi-bright-red ansi-bg-blue>x</>');
  });
  it('a line that starts over shows what it ends as', () => {
    assert.equal(shown('10%\r50%\r100%\nok\r\nend'), '100%\nok\nend');
    assert.equal(shown('broken \x1b['), 'broken [');
  });
});

describe('webview: plain sight', () => {
  it('draws what turns the direction of text by its name, and leaves letters alone', () => {
    assert.equal(inPlainSight('rm \u202e/ \u2066# safe'), 'rm ⟨U+202E⟩/ ⟨U+2066⟩# safe');
    assert.equal(inPlainSight('שלום \u200f عربي'), 'שלום \u200f عربي');
  });
});
