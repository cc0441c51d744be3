import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fragment, MarkdownRenderer, TomlRenderer, ToonRenderer, XmlRenderer } from '../../src/core.ts';
import type { ContextFragment, ContextRenderer } from '../../src/core.ts';
import { cases, fragments } from './arbitrary.ts';

const formats: readonly (() => ContextRenderer)[] = [
  () => new XmlRenderer(),
  () => new XmlRenderer({ groupFragments: true }),
  () => new MarkdownRenderer(),
  () => new TomlRenderer(),
  () => new ToonRenderer(),
];

const given = fragment('limits', { rows: 1, names: ['a', 'b'], deep: { on: true } });

const others: readonly (readonly [what: string, fragments: readonly ContextFragment[]])[] = [
  ['another value', [fragment('limits', { rows: 2, names: ['a', 'b'], deep: { on: true } })]],
  ['a text for a number', [fragment('limits', { rows: '1', names: ['a', 'b'], deep: { on: true } })]],
  ['an item more', [fragment('limits', { rows: 1, names: ['a', 'b', 'c'], deep: { on: true } })]],
  ['an item less', [fragment('limits', { rows: 1, names: ['a'], deep: { on: true } })]],
  ['a key of another name', [fragment('limits', { rows: 1, names: ['a', 'b'], deep: { off: true } })]],
  ['keys in another order', [fragment('limits', { names: ['a', 'b'], rows: 1, deep: { on: true } })]],
  ['a record for a list', [fragment('limits', { rows: 1, names: { a: 'b' }, deep: { on: true } })]],
  [
    'a fragment for a record',
    [fragment('limits', { rows: 1, names: ['a', 'b'], deep: fragment('on', true) })],
  ],
  ['another name', [fragment('bounds', { rows: 1, names: ['a', 'b'], deep: { on: true } })]],
  ['a fragment more', [given, given]],
  ['nothing', []],
];

for (const make of formats) {
  test.each(others)(`${make().name} is written anew for %s`, (_, changed) => {
    const renderer = make();
    const before = renderer.render([given]);
    expect(renderer.render(changed)).toBe(make().render(changed));
    expect(renderer.render([given])).toBe(before);
  });

  test(`${make().name} sees what was changed in the data of a hand-made fragment`, () => {
    const renderer = make();
    const rows = [{ id: 1 }, { id: 2 }];
    const table = { name: 'table', data: rows };
    renderer.render([table]);
    rows.push({ id: 3 });
    expect(renderer.render([table])).toBe(make().render([table]));
  });
}

test('whatever was rendered before, the text is the one that a new renderer makes', () => {
  fc.assert(
    fc.property(fragments, fragments, (one, other) => {
      for (const make of formats) {
        const renderer = make();
        for (const prompt of [one, other, other, one])
          expect(said(renderer, prompt)).toBe(said(make(), prompt));
      }
    }),
    cases(100),
  );
});

/** What is rendered, or why it is not. */
function said(renderer: ContextRenderer, prompt: readonly ContextFragment[]): string {
  try {
    return renderer.render(prompt);
  } catch (error) {
    return String(error);
  }
}
