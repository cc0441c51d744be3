import { decode } from '@toon-format/toon';
import { describe, expect, test } from 'vitest';
import { glossary, hint, role } from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment, type FragmentData } from '../../src/fragment/fragment.ts';
import { forAll, patience } from '../support/campaign.ts';
import { toon } from '../support/renderers.ts';
import { same } from '../support/same.ts';
import { fragments, isSection, wellFormed } from './arbitrary.ts';
import { all } from './vectors.ts';

/** The values that a reader of the TOON is to find. */
function valuesOf(items: readonly ContextFragment[]): Record<string, unknown> {
  const found = new Map<string, FragmentData[]>();
  for (const { name, data } of items) {
    if (valueOf(data) !== undefined)
      found.set(wellFormed(name), [...(found.get(wellFormed(name)) ?? []), data]);
  }
  return Object.fromEntries(
    [...found].map(([name, all]) => [name, valueOf(all.length === 1 ? all[0] : all)]),
  );
}

function valueOf(data: FragmentData): unknown {
  if (data === null || data === undefined) return undefined;
  if (typeof data === 'string') return wellFormed(data);
  if (typeof data === 'number') return Number.isFinite(data) ? data + 0 : null;
  if (typeof data !== 'object') return data;
  if (isSection(data)) return entry(data.name, valueOf(data.data));
  if (Array.isArray(data))
    return (data as FragmentData[])
      .map((item) => lone(item) ?? valueOf(item))
      .filter((item) => item !== undefined);
  return Object.assign(
    {},
    ...Object.entries(data).map(([key, item]) => entry(key, valueOf(item as FragmentData)) ?? {}),
  ) as unknown;
}

function entry(key: string, value: unknown): Record<string, unknown> | undefined {
  return value === undefined ? undefined : { [wellFormed(key)]: value };
}

/** The one form that the vectors fix and that a decoder reads in its own way: the dash becomes a part of the key. */
function lone(item: FragmentData): unknown {
  if (!isSection(item) || !Array.isArray(item.data)) return undefined;
  const inner = (item.data as FragmentData[]).filter(
    (value) => value !== null && value !== undefined && valueOf(value) !== undefined,
  );
  const [only] = inner;
  if (
    inner.length !== 1 ||
    only === undefined ||
    !isSection(only) ||
    typeof only.data === 'object' ||
    !/^[A-Za-z_][\w.]*$/.test(only.name)
  )
    return undefined;
  return { [wellFormed(item.name)]: { [`- ${only.name}`]: valueOf(only.data) } };
}

describe('TOON', () => {
  test('keeps every value of every vector', () => {
    for (const { fragments } of all)
      expect(decode(toon.render(fragments))).toEqual(
        valuesOf(fragments.map((item) => fragment('', item).data?.[0] as ContextFragment)),
      );
  });

  test('decodes to the same values, whatever they are', { timeout: patience }, () => {
    forAll(fragments, 2_500, (items) => {
      const text = toon.render(items);
      same(text === '' ? {} : decode(text), valuesOf(items));
    });
  });

  test('makes one list of fragments with the same name', () => {
    expect(toon.render([hint('a'), role('r'), hint('b')])).toBe('hint[2]: a,b\nrole: r');
  });

  test('makes a table of like records only', () => {
    expect(toon.render([glossary({ MRR: 'a', ARR: 'b' })])).toBe(
      'glossary[2]{term,expression}:\n  MRR,a\n  ARR,b',
    );
    expect(toon.render([fragment('rows', { a: 1, b: 2 }, { a: 3 })])).toBe(
      'rows[2]:\n  - a: 1\n    b: 2\n  - a: 3',
    );
  });

  test('keeps lists that stand inside of a fragment in a list', () => {
    expect(toon.render([fragment('db', hint('h'), fragment('tables', 'users', 'orders'))])).toBe(
      'db[2]:\n  - hint: h\n  - tables[2]: users,orders',
    );
  });

  test('quotes what would be read as something else', () => {
    expect(toon.render([{ name: 'v', data: ['- x', "it's"] }])).toBe(`v[2]: "- x","it's"`);
    const texts = [
      '',
      ' a',
      'true',
      'NULL',
      '05',
      '-1',
      '1e5',
      '- x',
      'a:b',
      'a,b',
      '[x]',
      'a|b',
      '\0',
      'a\tb',
    ];
    expect(decode(toon.render([{ name: 'v', data: texts }]))).toEqual({ v: texts });
  });

  test('quotes a cell that would make its row a comment, and no other', () => {
    const rows = [
      { a: '# x', b: '#y' },
      { a: 'z', b: 1 },
    ];
    const text = toon.render([{ name: 'v', data: rows }]);
    expect(text).toBe('v[2]{a,b}:\n  "# x",#y\n  z,1');
    expect(decode(text)).toEqual({ v: rows });
    expect(toon.render([{ name: 'v', data: '# x' }])).toBe('v: # x');
  });
});
