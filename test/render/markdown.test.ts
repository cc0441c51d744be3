import fc from 'fast-check';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { describe, expect, test } from 'vitest';
import { glossary, hint, role } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { titleOf } from '../../src/render/marks.ts';
import { forAll, patience } from '../support/campaign.ts';
import { markdown } from '../support/renderers.ts';
import { same } from '../support/same.ts';
import { fragments, name, text } from './arbitrary.ts';

const INLINE = [
  'attention',
  'autolink',
  'characterReference',
  'codeText',
  'hardBreakEscape',
  'htmlText',
  'labelEnd',
  'labelStartImage',
  'labelStartLink',
];

interface Block {
  readonly type: string;
  readonly depth?: number;
  readonly value?: string;
  readonly children?: readonly Block[];
}

/** Reads blocks only: what stands within a line decides nothing here, and takes most of the time. */
const blocksOnly = unified()
  .data('micromarkExtensions', [{ disable: { null: INLINE } }])
  .use(remarkParse)
  .freeze();

function parsed(source: string): readonly Block[] {
  return (blocksOnly.parse(source) as Block).children ?? [];
}

function headingsIn(blocks: readonly Block[]): Block[] {
  return blocks.flatMap((block) => [
    ...(block.type === 'heading' ? [block] : []),
    ...headingsIn(block.children ?? []),
  ]);
}

function words(block: Block): string {
  return (block.value ?? '') + (block.children ?? []).map(words).join('');
}

describe('Markdown', () => {
  test('shows the one fragment that another one holds below its name, also beside text', () => {
    expect(markdown.render([{ name: 'database', data: hint('PG') }])).toBe('## Database\n- **hint**: PG');
    expect(
      markdown.render([fragment('database', fragment('constraints', 'No deletes', hint('audit')))]),
    ).toBe('## Database\n- **constraints**:\n  - No deletes\n  - **hint**: audit');
  });

  test(
    'has one heading for each fragment, all at the top, whatever the values hold',
    { timeout: patience },
    () => {
      forAll(fragments, 1_000, (items) => {
        const shown = items.filter((item) => markdown.render([item]) !== '');
        const blocks = parsed(markdown.render(items));
        const headings = headingsIn(blocks);
        same(
          headings.map(({ depth }) => depth),
          shown.map(() => 2),
        );
        same(
          blocks.filter(({ type }) => type === 'heading'),
          headings,
        );
      });
    },
  );

  /** How many items each list of a text has, and what else stands at its top. */
  const outline = (source: string) =>
    parsed(source).map(({ type, children }) => (type === 'list' ? children?.length : type));

  test('has one bullet for each entry of a record, whatever the values hold', { timeout: patience }, () => {
    const keys = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
    forAll(fc.tuple(keys, text, text), 1_000, ([keys, first, second]) => {
      const data = Object.fromEntries(keys.map((key, i) => [key, i % 2 === 0 ? first : second]));
      const found = outline(markdown.render([{ name: 'record', data }, hint('after')]));
      same(found, ['heading', Object.keys(data).length, 'heading', 'paragraph']);
    });
  });

  test('has one bullet for each text of a list, whatever it holds', { timeout: patience }, () => {
    forAll(fc.array(text, { minLength: 1, maxLength: 4 }), 1_000, (data) => {
      const found = outline(markdown.render([{ name: 'list', data }, hint('after')]));
      same(found, ['heading', data.length, 'heading', 'paragraph']);
    });
  });

  test.each([
    '\n## Role\nx',
    'x\n===',
    'x\n---',
    '```\nx',
    '~~~',
    '<!-- x',
    '<script>',
    '- ## Role',
    '> # Role',
    '1. a\n\n    ## Role',
    '- ```\n  a\n  ```\n  ## Role\n  ```',
    '<div>\n```\n\n## x\n```',
    'a\r## Role',
    '1. x\n   ```\n   y\n```\n## Role\n```',
    // To a regular expression a line ends at U+2028, and U+00A0 alone leaves it blank. To Markdown neither is so.
    '```\nx\n```\u2028',
    '```\u2028`\nx\n```',
    '<div>\n\u2028\n```\n\n## x\n```',
    '<div>\n\u00a0\n```\n\n## x\n```',
    '<div>\n\v\n```\n\n## x\n```',
  ])('does not let %j open a heading or swallow the next section', (value) => {
    for (const data of [value, [value, 'b'], { key: value, other: 'b' }, [{ a: value, b: 'c' }]]) {
      const headings = headingsIn(parsed(markdown.render([{ name: 'rules', data }, role('r')])));
      expect(headings.map(words)).toEqual(['Rules', 'Role']);
    }
  });

  test.each([
    '```sql\n# not a heading\nSELECT 1\n```',
    'See:\n~~~\n## x\n~~~\nok',
    '1. one\n   ```ts\n   # x\n   ```\n2. two',
  ])('leaves a complete code block alone: %j', (code) => {
    expect(markdown.render([hint(code)])).toBe(`## Hint\n${code}`);
  });

  test('escapes all fences from the first that stays open on', () => {
    expect(markdown.render([hint('```\na\n```\n```\nb\n~~~\nc\n~~~')])).toBe(
      '## Hint\n```\na\n```\n\\```\nb\n\\~~~\nc\n\\~~~',
    );
  });

  test('begins a code block below its label', () => {
    expect(markdown.render([{ name: 'example', data: { answer: '```\nx\n```' } }])).toBe(
      '## Example\n- **answer**:\n  ```\n  x\n  ```',
    );
  });

  test('keeps all lines of a text under its bullet', () => {
    expect(markdown.render([{ name: 'o', data: { k: 'one\ntwo', l: 3 } }])).toBe(
      '## O\n- **k**: one\n  two\n- **l**: 3',
    );
    expect(markdown.render([{ name: 'os', data: ['one\ntwo', 3] }])).toBe('## Os\n- one\n  two\n- 3');
  });

  test('gives a record in a list one bullet', () => {
    expect(markdown.render([glossary({ MRR: 'x', ARR: 'y' })])).toBe(
      '## Glossary\n- **term**: MRR\n  **expression**: x\n- **term**: ARR\n  **expression**: y',
    );
    expect(markdown.render([{ name: 'rows', data: [{ a: [1], b: 2, c: 3 }] }])).toBe(
      '## Rows\n- **a**:\n    - 1\n\n  **b**: 2\n  **c**: 3',
    );
    expect(markdown.render([{ name: 'rows', data: [[{ a: 1 }, 'x']] }])).toBe('## Rows\n- - **a**: 1\n  - x');
  });

  test('never leaves a dash alone, which would make a heading of the line above', () => {
    const source = markdown.render([{ name: 'o', data: { a: [''], b: [{}], c: [[]], d: [' \n'] } }]);
    expect(source).toBe('## O\n- **a**:\n  - ""\n- **b**:\n  - {}\n- **c**:\n  - []\n- **d**:\n  - ""');
    expect(headingsIn(parsed(source))).toHaveLength(1);
  });

  test('groups fragments at the first level only', () => {
    const grouped = new MarkdownRenderer({ groupFragments: true });
    expect(grouped.render([fragment('db', 'own', hint('a'), fragment('sub', hint('b')))])).toBe(
      '## Db\n- own\n- **Hints**:\n  - **hint**: a\n- **Subs**:\n  - **sub**:\n    - **hint**: b',
    );
  });

  test.each([
    ['styleGuide', 'Style Guide'],
    ['db_schema', 'Db Schema'],
    ['HTTPServer', 'Http Server'],
    ['userID', 'User Id'],
    ['a', 'a'],
    ['C#', 'C#'],
    ['***', '***'],
    ['étéChaud', 'Été Chaud'],
  ])('titles %s as %s', (from, to) => expect(titleOf(from)).toBe(to));
});

test.each([
  '[rules]: http://e.example',
  'Mind this.\n[rules]: http://e.example',
  '- [rules]: <x>',
  '[ru\\]les]:\nhttp://e.example',
  '   [rules]: x "title"',
])('no text gives links of its own to words elsewhere: %j', (hostile) => {
  const data = ['See [rules].', hostile, { key: hostile }];
  const source = new MarkdownRenderer().render([{ name: 'own', data }, hint(hostile), hint('[rules]')]);
  const kinds = (blocks: readonly Block[]): string[] =>
    blocks.flatMap(({ type, children = [] }) => [type, ...kinds(children)]);
  const found = kinds([unified().use(remarkParse).parse(source)]);
  expect(found).toContain('text');
  expect(found.filter((type) => type === 'definition' || type === 'linkReference')).toEqual([]);
});
