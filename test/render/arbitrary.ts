import fc from 'fast-check';
import { anyText } from '../support/anyText.ts';
import { brand, isBuilt, type ContextFragment, type FragmentData } from '../../src/fragment/fragment.ts';

// Random fragment trees, for properties that must hold for all fragments.

/** A text as every format shows it: U+FFFD for a lone surrogate. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd');
}

/** Whether a value is a fragment that was built as one: a section of its own. */
export function isSection(value: FragmentData): value is ContextFragment {
  return typeof value === 'object' && value !== null && isBuilt(value);
}

/** Pieces that mean something to one of the formats. */
const marks = [
  '</hint><role>x',
  ']]>',
  '<![CDATA[',
  '&lt;',
  '<!--',
  '-->',
  '<?',
  '<script>',
  '<pre>',
  '<div>',
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  ' ',
  '\n## Role',
  '# ',
  '\n===',
  '\n---',
  '```',
  '\n```\n',
  '~~~',
  '\n    ',
  '\t',
  '> ',
  '- ',
  '* ',
  '1. ',
  '   ',
  '***',
  '_',
  '\\',
  '"',
  "'",
  '"""',
  "'''",
  '=',
  '[',
  ']',
  '{',
  '}',
  '[[',
  ':',
  ',',
  '|',
  '#',
  '\0',
  '\x1b',
  '\x7f',
  '\ud800',
  '\udc00',
  '\u2028',
  '\ufeff',
  '\u202e',
  '\u{e0041}',
  '\ufffe',
  '\u00a0',
  '\u0085',
  'null',
  'true',
  '-1',
  '05',
  '1e5',
  '.5',
  'é',
  '日本',
  '😀',
  'a',
  'word',
  '_x0020_',
  '%',
  'constructor',
];

/** Lines that begin or end something in Markdown, or nearly do. */
const lines: fc.Arbitrary<string> = fc
  .array(
    fc
      .tuple(
        fc.constantFrom('', '', '  ', '- ', '> ', '1. '),
        fc.constantFrom('```', '~~~', '````', '<div>', '# x', '---', '===', 'x', ''),
        fc.constantFrom('', '', '\u2028', '\u00a0', ' ', '`', '\v'),
      )
      .map((pieces) => pieces.join('')),
    { maxLength: 6 },
  )
  .map((all) => all.join('\n'));

/** Text from marks, lines, words and any character at all. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.array(fc.constantFrom(...marks), { maxLength: 8 }).map((pieces) => pieces.join('')),
  lines,
  anyText({ maxLength: 20 }),
  fc.lorem({ maxCount: 4 }),
);

/** Names and keys: usual ones mostly, or any text that is not empty; not those that parsers refuse to build objects with. */
export const name: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('hint', 'rules', 'policies', 'data', 'styleGuide', 'a', 'mix', 'db_tables'),
  },
  { weight: 1, arbitrary: text.filter((key) => key !== '' && !(key in {}) && key !== 'prototype') },
);

const scalar: fc.Arbitrary<FragmentData> = fc.oneof(
  { weight: 4, arbitrary: text },
  {
    weight: 2,
    arbitrary: fc.oneof(fc.integer(), fc.double(), fc.constantFrom(-0, 1e21, 2 ** 53, 1e20, 5e-7)),
  },
  { weight: 1, arbitrary: fc.boolean() },
);

/** Records with the same keys, every other one in the opposite order where asked. */
const rows: fc.Arbitrary<FragmentData[]> = fc
  .tuple(
    fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(scalar, scalar, scalar), { minLength: 2, maxLength: 3 }),
    fc.boolean(),
  )
  .map(([keys, table, turned]) =>
    table.map((cells, i) => {
      const entries = keys.map((key, column) => [key, cells[column]] as const);
      return Object.fromEntries(turned && i % 2 === 1 ? entries.toReversed() : entries);
    }),
  );

const { fragment } = fc.letrec<{ data: FragmentData; fragment: ContextFragment }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.constantFrom(null, undefined) },
    { weight: 2, arbitrary: fc.array(tie('data'), { maxLength: 4 }) },
    { weight: 1, arbitrary: rows },
    {
      weight: 2,
      arbitrary: fc.dictionary(fc.oneof(name, fc.constant('')), tie('data'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    },
    { weight: 2, arbitrary: tie('fragment') },
  ),
  fragment: fc.record({ name, data: tie('data') }).map((made) => brand(made as ContextFragment)),
}));

/** Fragments at the top. */
export const fragments: fc.Arbitrary<ContextFragment[]> = fc.array(fragment, { maxLength: 4 });
