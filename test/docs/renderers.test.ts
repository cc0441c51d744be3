import { expect, test } from 'vitest';
import { hint } from '../../src/fragment/builders.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';

/** What the page on renderers says becomes of a text, in the order of its columns. */
const renderers = [new XmlRenderer(), new MarkdownRenderer(), new TomlRenderer(), new ToonRenderer()];

test.each<[string, string, readonly string[]]>([
  ['markup', '<b> & "c"', ['&lt;b&gt; &amp; &quot;c&quot;', '<b> & "c"', '<b> & \\"c\\"', '<b> & \\"c\\"']],
  ['a heading', 'x\n## Role', ['\n  ## Role\n', '\n\\## Role', '"""\nx\n## Role"""', '"x\\n## Role"']],
  ['a control character', 'a\u0001b', ['a\ufffdb', 'a\ufffdb', '"a\\u0001b"', '"a\\u0001b"']],
  ['half a character', 'a\ud800b', ['a\ufffdb', 'a\ufffdb', 'a\ufffdb', 'a\ufffdb']],
  ['what nobody sees', 'a\u202eb', ['a\u202eb', 'a\u202eb', 'a\u202eb', 'a\u202eb']],
])('%s', (_what, text, shown) => {
  expect(renderers.map((renderer) => renderer.render([hint(text)]))).toEqual(
    shown.map((part) => expect.stringContaining(part) as string),
  );
});

test('a name that is none', () => {
  expect(renderers.map((renderer) => renderer.render([{ name: 'my day', data: 'x' }]))).toEqual([
    '<my_x0020_day>x</my_x0020_day>',
    '## My Day\nx',
    '"my day" = "x"',
    '"my day": x',
  ]);
});
