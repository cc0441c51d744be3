import { decode } from '@toon-format/toon';
import { XMLParser } from 'fast-xml-parser';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { hint } from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment, type FragmentData } from '../../src/fragment/fragment.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say } from '../support/engine.ts';

const throwing = (): never => {
  throw new Error('closed');
};

describe.each<[string, () => unknown]>([
  ['getter', () => Object.defineProperty({}, 'secret', { enumerable: true, get: throwing })],
  ['toJSON', () => ({ toJSON: throwing })],
  ['Proxy', () => new Proxy({}, { ownKeys: throwing })],
  [
    'toString of what is thrown',
    () =>
      Object.defineProperty({}, 'secret', {
        enumerable: true,
        get: () => {
          throw { toString: throwing };
        },
      }),
  ],
])('a %s that throws', (_, hostile) => {
  const refused = { code: 'invalid-fragment', details: { path: expect.stringMatching(/^data/) } };

  test('when fragments are set leaves the engine as it was', async () => {
    const engine = engineOn(new InMemoryContextStore()).set(hint('kept'));
    await say(engine, 'q1');
    const before = engine.state.getState();
    expect(() => engine.set(fragment('db', hostile() as FragmentData))).toThrow(
      expect.objectContaining(refused),
    );
    expect(engine.state.getState()).toBe(before);
    expect(engine.render()).toBe('<hint>kept</hint>');
  });

  test('only at resolve() and render() leaves the engine as it was', async () => {
    const engine = engineOn(new InMemoryContextStore()).set(hint('kept'));
    await say(engine, 'q1');
    const codec = { encode: () => ({ type: 'hint' }), decode: () => hostile() as FragmentData };
    engine.set({ name: 'late', codec } as ContextFragment);
    const before = engine.state.getState();
    expect(() => engine.render()).toThrow(expect.objectContaining(refused));
    await expect(engine.resolve()).rejects.toMatchObject(refused);
    expect(engine.state.getState()).toBe(before);
    expect(engine.state.getState().messages).toEqual([said('q1')]);
  });
});

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
