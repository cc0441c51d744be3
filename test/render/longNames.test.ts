import { decode } from '@toon-format/toon';
import { XMLParser } from 'fast-xml-parser';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';

describe('a name of 10 KB', () => {
  const name = 'long name [x] = "y" <z> # '.repeat(400);
  const items = [{ name, data: { [name]: 'value' } }];

  test('parses back from XML', () => {
    const [root] = new XMLParser({ preserveOrder: true }).parse(new XmlRenderer().render(items)) as [object];
    const tag = Object.keys(root)[0] ?? '';
    const read = tag.replace(/_x([\dA-F]+)_/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)));
    expect(read).toBe(name);
  });

  test('parses back from TOML and TOON', () => {
    expect(parse(new TomlRenderer().render(items))).toEqual({ [name]: { [name]: 'value' } });
    expect(decode(new ToonRenderer().render(items))).toEqual({ [name]: { [name]: 'value' } });
  });

  test('is one heading in Markdown', () => {
    const [heading, bullet, ...more] = new MarkdownRenderer().render(items).split('\n');
    expect([heading?.startsWith('## Long Name'), bullet?.startsWith('- **long name'), more]).toEqual([
      true,
      true,
      [],
    ]);
    expect(bullet?.endsWith('**: value')).toBe(true);
  });
});
