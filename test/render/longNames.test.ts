import { decode } from '@toon-format/toon';
import { XMLParser } from 'fast-xml-parser';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { markdown, toml, toon, xml } from '../support/renderers.ts';

describe('a name of 10 KB', () => {
  const name = 'long name [x] = "y" <z> # '.repeat(400);
  const items = [{ name, data: { [name]: 'value' } }];

  test('parses back from XML', () => {
    const [root] = new XMLParser({ preserveOrder: true }).parse(xml.render(items)) as [object];
    const tag = Object.keys(root)[0] ?? '';
    const read = tag.replace(/_x([\dA-F]+)_/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)));
    expect(read).toBe(name);
  });

  test('parses back from TOML and TOON', () => {
    expect(parse(toml.render(items))).toEqual({ [name]: { [name]: 'value' } });
    expect(decode(toon.render(items))).toEqual({ [name]: { [name]: 'value' } });
  });

  test('is one heading in Markdown', () => {
    const [heading, bullet, ...more] = markdown.render(items).split('\n');
    expect(heading).toMatch(/^## Long Name/);
    expect(bullet).toMatch(/^- \*\*long name/);
    expect(more).toEqual([]);
    expect(bullet?.endsWith('**: value')).toBe(true);
  });
});
