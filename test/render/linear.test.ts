import { describe, expect, test } from 'vitest';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';

/**
 * The time of a renderer is linear in the length of any text and name. A quadratic pattern takes seconds for
 * the 40,000 characters tried here, a linear one milliseconds; the bound is far from both. Names are shorter, since each
 * of their marks is written as seven.
 */
const TEXT = { length: 40_000, ms: 800 } as const;
const NAME = { length: 25_000, ms: 500 } as const;

const renderers = [
  new XmlRenderer({ groupFragments: true }),
  new MarkdownRenderer({ groupFragments: true }),
  new TomlRenderer(),
  new ToonRenderer(),
];

const endless = [
  'a|!',
  '-|x',
  '- |x',
  '>|x',
  '1. |x',
  '# |x',
  '=|x',
  ' |x',
  '\t|x',
  '\n|x',
  '\r|x',
  '`|x',
  '```a\n|x',
  '```\n |x',
  '~~~\n|~',
  '   ```a\n|x',
  '- ```a\n|x',
  '<|x',
  '<a|>',
  '<!--|x',
  '&|;',
  '"|',
  '\\|"',
  '_x|',
  '_xA|',
  'aA|1',
  'A|1',
  's|1',
  'ies|_',
  '.|x',
  'é|1',
  '\0|x',
  '\x1b|x',
  '\u2028|x',
  '\ud800|x',
  ',|x',
  '1|x',
  '1e|x',
  '-1|x',
  'true|x',
  '[|x',
  '*|x',
];

/** Milliseconds that this process was given: on a busy machine the others' work does not count. */
function busy(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

describe.each(renderers)('$name is done with 40,000 characters in no time', (renderer) => {
  /** Milliseconds that these take. */
  const timeFor = (...items: readonly ContextFragment[]): number => {
    const start = busy();
    renderer.render(items);
    return busy() - start;
  };

  test.each(endless)(
    '%j',
    (input) => {
      const [mark = '', end = ''] = input.split('|');
      const long = (length: number): string => mark.repeat(length / mark.length) + end;
      const text = long(TEXT.length);
      expect(
        timeFor({ name: 'text', data: text }, { name: 'list', data: [text, { key: text }] }),
      ).toBeLessThan(TEXT.ms);
      const name = long(NAME.length);
      expect(
        timeFor(
          { name: `n${name}`, data: { [`k${name}`]: [1, 2], [name]: 'x' } },
          fragment('outer', fragment(name, 'x', 'y'), fragment(name, 'z')),
        ),
      ).toBeLessThan(NAME.ms);
    },
    60_000,
  );
});
