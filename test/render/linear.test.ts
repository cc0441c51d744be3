import { describe, expect, test } from 'vitest';
import { fragment } from '../../src/fragment/fragment.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';

/**
 * No text and no name makes a renderer take time by the square of its length. A quadratic pattern takes minutes for the
 * 100,000 characters tried here, a linear one milliseconds; the bound is far from both.
 */
const LENGTH = 100_000;

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

describe.each(renderers)('$name is done with 100,000 characters in no time', (renderer) => {
  test.each(endless)(
    '%j',
    (input) => {
      const [mark = '', end = ''] = input.split('|');
      const long = mark.repeat(LENGTH / mark.length) + end;
      const start = busy();
      renderer.render([
        { name: 'text', data: long },
        { name: 'list', data: [long, { key: long }] },
        { name: `n${long}`, data: { [`k${long}`]: [1, 2], [long]: 'x' } },
        fragment('outer', fragment(long, 'x', 'y'), fragment(long, 'z')),
      ]);
      expect(busy() - start).toBeLessThan(5000);
    },
    60_000,
  );
});
