import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MarkdownStream, splitMarkdown } from '../../webview/ui/markdown-blocks.ts';
import { blockHtml, readReferences } from '../../webview/ui/markdown-html.ts';
import type { MarkdownEnv } from '../../webview/ui/markdown-html.ts';
import { tokenLines } from '../../webview/ui/highlight/tokens.ts';

/** Feeds a text in pieces; returns how many characters would have been parsed in all. */
function parsedWork(text: string, size: number): number {
  const stream = new MarkdownStream();
  let work = 0;
  let settled = 0;
  let last = '';
  for (let at = 0; at < text.length; at += size) {
    assert.equal(stream.feed(text.slice(0, at + size)), true);
    for (; settled < stream.settled.length; settled++) work += stream.settled[settled]?.text.length ?? 0;
    const tail = stream.tail();
    if (tail?.kind === 'text' && tail.parsed !== last) {
      work += tail.parsed.length;
      last = tail.parsed;
    }
  }
  return work;
}
const kinds = (text: string): string[] => splitMarkdown(text).map((block) => (block.kind === 'fence' ? `fence(${block.lang}${block.closed ? '' : ', open'}):${block.text}` : block.text.trim()));

describe('webview: Markdown block by block', () => {
  it('splits paragraphs, headings, fences and list items', () => {
    assert.deepEqual(kinds('# A\nfirst\n\nsecond\nline\n```ts\nconst a = 1;\n\nconst b;\n```\nafter\n\n- x\n- y\n\n  still y\n- z\n'), [
      '# A', 'first', 'second\nline', 'fence(ts):const a = 1;\n\nconst b;', 'after', '- x', '- y\n\n  still y', '- z',
    ]);
  });
  it('keeps a fence inside a list item together, and ends it where the item ends', () => {
    assert.deepEqual(kinds('1. do\n   ```sh\n   a\n\n   b\n   ```\n2. then\n'), ['1. do\n   ```sh\n   a\n\n   b\n   ```', '2. then']);
    assert.deepEqual(kinds('- ```sh\n  a\n\nfree\n'), ['- ```sh\n  a', 'free']);
  });
  it('an unclosed fence is a fence, and a longer or other marker does not close it', () => {
    assert.deepEqual(kinds('````md\n```\n~~~\ntext'), ['fence(md, open):```\n~~~\ntext']);
    assert.deepEqual(kinds('```js\na\n```'), ['fence(js):a']);
  });
  it('reads CRLF and an indented fence', () => {
    assert.deepEqual(kinds('a\r\n\r\n  ```py\r\n  x\r\n  ```\r\nb'), ['a', 'fence(py):x', 'b']);
  });
  it('tells when a text does not continue what was there', () => {
    const stream = new MarkdownStream();
    stream.feed('abc');
    assert.equal(stream.feed('abx'), false);
    assert.equal(stream.feed('ab'), false);
    assert.equal(stream.feed('abcd'), true);
  });

  const SIZE = 200_000;
  const shapes: Record<string, string> = {
    paragraphs: 'Some words that make a line of text.\n\n'.repeat(SIZE / 38),
    'one line': 'word '.repeat(SIZE / 5),
    'one paragraph of lines': 'a line of text that goes on\n'.repeat(SIZE / 28),
    'one list': '- an item of a list\n'.repeat(SIZE / 20),
    'one table': `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(SIZE / 10)}`,
    'one fence': `\`\`\`ts\n${'const a = 1;\n'.repeat(SIZE / 13)}`,
    'one quote': '> quoted\n'.repeat(SIZE / 9),
  };
  for (const [name, text] of Object.entries(shapes)) {
    it(`F3 a reply of 200 KB in pieces of 20 characters is parsed in linear work: ${name}`, () => {
      const work = parsedWork(text, 20);
      assert.ok(work <= text.length * 12, `${Math.round(work / text.length)} times the text was parsed`);
    });
  }
  it('F3 the work grows with the length, not with its square', () => {
    const at = (length: number): number => parsedWork('word '.repeat(length / 5), 20) / length;
    assert.ok(at(200_000) < at(50_000) * 1.5);
  });

  const piece = fc.constantFrom('# head\n', 'text\n', '\n', '- item\n', '  more\n', '1. one\n', '```js\n', '```\n', '> quote\n', '    code\n', '| a | b |\n|---|---|\n', '---\n', '*em* `c`\n', '~~~\n');
  it('blocks put together are the whole text, however it comes', () => {
    fc.assert(fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (pieces, size) => {
      const text = pieces.join('');
      const stream = new MarkdownStream();
      for (let at = 0; at < text.length; at += size) stream.feed(text.slice(0, at + size));
      stream.feed(text);
      assert.deepEqual(stream.finish(), splitMarkdown(text));
    }));
  });
  it('renders paragraphs, headings, fences and quotes as the whole would', () => {
    const safe = fc.constantFrom('# head\n\n', 'text *em*\n\n', '> quote\n\n', '| a | b |\n|---|---|\n| 1 | 2 |\n\n', '```js\nx\n\ny\n```\n\n', 'a\nb\n\n', '***\n\n');
    fc.assert(fc.property(fc.array(safe, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      const whole = blockHtml(text, {}).replace(/\s+/g, ' ');
      const parts = splitMarkdown(text).map((block) => (block.kind === 'text' ? blockHtml(block.text, {}) : blockHtml(`\`\`\`${block.lang}\n${block.text}\n\`\`\``, {}))).join('');
      assert.equal(parts.replace(/\s+/g, ' ').trim(), whole.trim());
    }));
  });
});

describe('webview: Markdown as HTML', () => {
  it('K5 a picture becomes a link, raw HTML stays text', () => {
    const html = blockHtml('![alt](https://example.com/p.png) <img src="https://example.com/q.png" onerror="x()"> <script>x()</script>', {});
    assert.ok(!/<img|<script/i.test(html), html);
    assert.match(html, /<a href="https:\/\/example\.com\/p\.png" class="image-link">alt<\/a>/);
  });
  it('a script address is no link', () => {
    assert.ok(!blockHtml('[x](javascript:alert(1)) ![y](javascript:alert(1))', {}).includes('href="javascript:'));
  });
  it('a place in code becomes a link to the file, other code does not', () => {
    assert.match(blockHtml('`src/a b.ts:12`', {}), /<code>/);
    assert.match(blockHtml('`src/a.ts:12`', {}), /data-path="src\/a\.ts" data-line="12"/);
    assert.ok(!blockHtml('`a.b()` `https://x.org/a.ts` `git status`', {}).includes('data-path'));
  });
  it('a definition at the end serves a link before it', () => {
    const env: MarkdownEnv = {};
    readReferences('see [x][1]\n\n[1]: https://example.com/x\n', env);
    assert.match(blockHtml('see [x][1]', env), /href="https:\/\/example\.com\/x"/);
  });
});

describe('webview: highlighted lines', () => {
  it('splits spans over lines and reads entities', () => {
    assert.deepEqual(tokenLines('<span class="hljs-comment">/* a\nb */</span> x &lt; &quot;y&quot;\n'), [
      [{ scope: 'hljs-comment', text: '/* a' }], [{ scope: 'hljs-comment', text: 'b */' }, { scope: '', text: ' x < "y"' }], [],
    ]);
  });
});
