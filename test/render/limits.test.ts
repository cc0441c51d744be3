import { describe, expect, test } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { hint } from '../../src/fragment/builders.ts';
import { fragment, type FragmentData } from '../../src/fragment/fragment.ts';
import '../../src/render/renderer.ts';
import { patience } from '../support/campaign.ts';
import { renderers } from '../support/renderers.ts';

describe.each(renderers)('$name', (renderer) => {
  /** The rendered text, or what the refusal says. */
  const shown = (data: unknown): string => {
    try {
      return renderer.render([fragment('db', data as FragmentData)]);
    } catch (error) {
      return isContextError(error, 'invalid-fragment') ? error.message : `untyped: ${String(error)}`;
    }
  };

  test('refuses a cycle, naming the way back', () => {
    const loop: Record<string, unknown> = { items: [{}] };
    (loop.items as unknown[])[0] = loop;
    expect(shown(loop)).toContain(`Fragment "db": data[0].items[0] is circular`);
    const self = fragment('self') as { data: unknown[] };
    self.data.push(self);
    expect(shown(self)).toContain(`Fragment "db": data[0].data[0] is circular`);
  });

  test('renders an object that is shared in each place', () => {
    const shared = { key: 'once' };
    const twice = renderer.render([{ name: 'o', data: { a: shared, b: shared } }]);
    expect(twice.match(/once/g)).toHaveLength(2);
  });

  test.each([5, undefined, ''])('refuses a fragment within one whose name is %j', (none) => {
    expect(() => renderer.render([fragment('a', fragment(none as string, 'x'))])).toThrow(
      expect.objectContaining({ code: 'invalid-fragment', message: 'Fragment "a": data[0] has no name' }),
    );
  });

  test('refuses a million values, also where they come of a few shared ones', { timeout: patience }, () => {
    let laughs: unknown[] = ['ha'];
    for (let i = 0; i < 40; i++) laughs = [laughs, laughs];
    expect(shown(laughs)).toContain('Fragment "db": data[0][0][0]');
  });

  test.each<[string, unknown, string]>([
    ['a function', { later: () => 1 }, 'data[0].later is a function that is not loaded yet'],
    [
      'a promise',
      { 'next up': Promise.resolve(1) },
      'data[0]["next up"] is a promise that is not loaded yet',
    ],
    ['an iterable', new Map([[1, 2]]), 'data[0] is an iterable that is not loaded yet'],
    ['a symbol', [Symbol('x')], 'data[0][0] is of type symbol'],
    ['a bigint', { n: 1n }, 'data[0].n is of type bigint'],
    ['an error', { e: new Error('x') }, 'data[0].e is of type Error'],
    ['a fragment without a name', fragment('', 'x'), 'data[0] has no name'],
  ])('refuses %s, naming the path', (_, data, text) => {
    expect(shown(data)).toContain(`Fragment "db": ${text}`);
  });

  test('shows dates as JSON does', () => {
    expect(shown({ day: new Date(0) })).toContain('1970-01-01T00:00:00.000Z');
  });

  test('takes a key __proto__ for a key', () => {
    expect(shown(JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":1}}'))).toContain(
      'yes',
    );
    expect('polluted' in {}).toBe(false);
  });

  test('leaves null and undefined out, at every depth', () => {
    const text = renderer.render([
      hint(null as never),
      fragment('a', null, { b: undefined, c: [null, 'kept'] }, fragment('d', null)),
    ]);
    expect(text).toContain('kept');
    expect(text).not.toMatch(/null|undefined|\bb\b/);
    expect(renderer.render([])).toBe('');
  });

  test('asks a codec for what it decodes to', () => {
    const codec = { encode: () => ({ type: 'hint', text: 'stored' }), decode: () => 'shown' };
    expect(renderer.render([{ name: 'own', codec }])).toContain('shown');
    expect(() => renderer.render([{ name: 'none', codec: {} as never }])).toThrow(
      'Fragment "none" is missing data and codec',
    );
  });

  test('takes rows with the columns name and data for rows', () => {
    const data = [
      { name: 'Al', data: 'x' },
      { name: 'Bo', data: 'y' },
    ];
    expect(renderer.render([{ name: 'users', data }])).toMatch(/name[^]*Al[^]*Bo/);
  });

  test('takes hand-made fragments for fragments at the top and as children', () => {
    const handMade = { name: 'hint', data: 'users' };
    expect(renderer.render([fragment('db', handMade)])).toBe(
      renderer.render([fragment('db', hint('users'))]),
    );
    expect(renderer.render([handMade])).toBe(renderer.render([hint('users')]));
  });
});
