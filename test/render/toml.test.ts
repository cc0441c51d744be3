import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { guardrail, hint, role, term } from '../../src/fragment/builders.ts';
import { fragment, type FragmentData } from '../../src/fragment/fragment.ts';
import { singular } from '../../src/render/singular.ts';
import { forAll, patience } from '../support/campaign.ts';
import { toml } from '../support/renderers.ts';
import { same } from '../support/same.ts';
import { fragments, isSection, wellFormed } from './arbitrary.ts';
import { all } from './vectors.ts';

/** The values that a reader of the TOML is to find, said as plainly as possible. */
function valuesOf(items: readonly FragmentData[], owner: string): Record<string, unknown> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    if (item === null || item === undefined) continue;
    const [name, value] = isSection(item)
      ? [item.name, valueOf(item.data, item.name)]
      : [singular(owner), valueOf(item, owner)];
    if (value !== undefined) found.set(wellFormed(name), [...(found.get(wellFormed(name)) ?? []), value]);
  }
  return Object.fromEntries(
    [...found].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

function valueOf(data: FragmentData, owner: string): unknown {
  if (data === null || data === undefined) return undefined;
  if (typeof data === 'string') return wellFormed(data);
  if (typeof data !== 'object') return Object.is(data, -0) ? 0 : data;
  if (isSection(data))
    return valueOf(data.data, data.name) === undefined ? undefined : valuesOf([data], owner);
  if (!Array.isArray(data)) {
    const entries = Object.entries(data).map(([key, item]) => [
      wellFormed(key),
      valueOf(item as FragmentData, key),
    ]);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  }
  const items = (data as FragmentData[]).filter((item) => valueOf(item, owner) !== undefined);
  return items.some(isSection) ? valuesOf(items, owner) : items.map((item) => valueOf(item, owner));
}

describe('TOML', () => {
  test('keeps every value of every vector', () => {
    for (const { fragments } of all)
      expect(parse(toml.render(fragments))).toEqual(
        valuesOf(
          fragments.map((item) => fragment('', item).data?.[0]),
          '',
        ),
      );
  });

  test('parses back to the same values, whatever they are', { timeout: patience }, () => {
    forAll(fragments, 2_500, (items) => {
      same(parse(toml.render(items)), valuesOf(items, ''));
    });
  });

  test('makes one list of fragments with the same name', () => {
    expect(toml.render([hint('a'), role('r'), hint('b')])).toBe('hint = ["a", "b"]\n\nrole = "r"');
    expect(toml.render([term('MRR', 'x'), term('ARR', 'y')])).toBe(
      '[[term]]\nname = "MRR"\ndefinition = "x"\n\n[[term]]\nname = "ARR"\ndefinition = "y"',
    );
  });

  test('writes single values before tables, so that none lands in a table', () => {
    expect(toml.render([guardrail({ rule: 'r' }), hint('h')])).toBe('hint = "h"\n\n[guardrail]\nrule = "r"');
  });

  test('shows a text of several lines as such', () => {
    expect(toml.render([hint('one\n"two"\\')])).toBe('hint = """\none\n\\"two\\"\\\\"""');
  });

  test('keeps what stands beside fragments under the singular of the name', () => {
    expect(parse(toml.render([fragment('rules', 'a', hint('h'), 'b')]))).toEqual({
      rules: { rule: ['a', 'b'], hint: 'h' },
    });
  });

  test('writes numbers that TOML can hold', () => {
    const numbers = [2 ** 53, -(2 ** 70), 1e21, 5e-7, NaN, Infinity, -Infinity, 0.1];
    expect(parse(toml.render([{ name: 'n', data: numbers }]))).toEqual({ n: numbers });
  });
});
