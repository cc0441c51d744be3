import { describe, expect, test } from 'vitest';
import { estimate } from '../../src/engine/estimate.ts';
import { isContextError } from '../../src/errors.ts';
import { glossary, guardrail, hint, policy } from '../../src/fragment/builders.ts';
import { copyFragment, hasLazy } from '../../src/fragment/copy.ts';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { assistant, message, messageOf, user } from '../../src/fragment/message.ts';
import { encodeSerializedValue, fromFragment, toFragment } from '../../src/fragment/serialize.ts';
import { engineOn } from '../support/engine.ts';
import { renderers, xml } from '../support/renderers.ts';

/**
 * Fragments whose getters, proxies and codecs throw, some of them values that throw again when they are read. Each
 * function refuses them with a ContextError, and leaves its engine unchanged.
 */

const throwing = (what: unknown) => (): never => {
  throw what;
};
const boom = throwing(new Error('boom'));
/** Throws a value whose text can't be read. */
const unspeakable = throwing({ toString: boom });

const proxy = (trap: () => never): ContextFragment =>
  new Proxy({ name: 'x', data: 'y' }, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap });

/** An object whose field throws when it is read. */
const unreadable = (field: string, trap: () => never, rest: object = {}): object =>
  Object.defineProperty({ ...rest }, field, { get: trap, enumerable: true });

const withCodec = (codec: unknown): ContextFragment => ({ name: 'q', codec: codec as never });

/** Each with what its error tells of the place. */
const fragments: [string, () => unknown, RegExp][] = [
  ['a proxy', () => proxy(boom), /^Fragment: it cannot be read: boom/],
  ['a proxy that was taken back', () => revoked(), /cannot be read/],
  [
    'data that throws',
    () => unreadable('data', boom, { name: 'x' }),
    /^Fragment "x": data cannot be read: boom/,
  ],
  [
    'a getter in data',
    () => fragment('x', { rows: [unreadable('a', boom)] } as never),
    /"x": data\[0\].rows\[0\].a cannot be read: boom/,
  ],
  ['a proxy in data', () => ({ name: 'x', data: [proxy(boom)] }), /"x": data\[0\] cannot be read: boom/],
  ['a proxy as a child', () => fragment('x', 'ok', proxy(boom)), /"x": data\[1\] cannot be read: boom/],
  [
    'what throws something that throws',
    () => ({ name: 'x', data: unreadable('a', unspeakable) }),
    /"x": data.a cannot be read: unknown/,
  ],
  [
    'what throws an error without words',
    () => ({
      name: 'x',
      data: unreadable('a', throwing(Object.assign(new Error('x'), { message: Symbol('s') }))),
    }),
    /"x": data.a cannot be read: Symbol\(s\)/,
  ],
];

/** What can be shown as it is, but not kept. */
const unkept: typeof fragments = [
  [
    'a name of a class',
    () =>
      new (class {
        data = 'x';
        get name() {
          return 'x';
        }
      })(),
    /name must be a text/,
  ],
  [
    'an id that is no text',
    () => ({ name: 'x', data: 'y', id: Symbol('id') }),
    /^Fragment "x": id must be a text/,
  ],
];

const codecs: [string, () => ContextFragment, RegExp][] = [
  [
    'a codec that throws',
    () => withCodec({ encode: boom, decode: boom }),
    /^Fragment "q": (?:codec|data) cannot be read: boom/,
  ],
  [
    'a codec that throws something that throws',
    () => withCodec({ encode: unspeakable, decode: unspeakable }),
    /cannot be read: unknown/,
  ],
  ['a codec that is a proxy', () => withCodec(proxy(boom)), /cannot be read: boom/],
  [
    'a codec inside of another fragment',
    () => fragment('x', withCodec({ encode: boom, decode: boom })),
    /^Fragment "x": data\[0\].data cannot be read: boom|^Unsupported fragment name: x/,
  ],
];

function revoked(): object {
  const { proxy: gone, revoke } = Proxy.revocable({}, {});
  revoke();
  return gone;
}

const doors: [string, (fragment: ContextFragment) => unknown][] = [
  ['copyFragment()', copyFragment],
  ['hasLazy()', hasLazy],
  ['fromFragment()', (one) => fromFragment(one)],
  ...renderers.map((renderer): (typeof doors)[number] => [renderer.name, (one) => renderer.render([one])]),
];

/** The error that a call ends in, if it is one of ours; else what happened. */
function refusalOf(call: () => unknown): string {
  try {
    call();
    return 'taken';
  } catch (error) {
    return isContextError(error, 'invalid-fragment') ? error.message : 'thrown, but not by us';
  }
}

describe.each(doors)('%s refuses', (_door, enter) => {
  test.each(fragments)('%s', (_what, make, told) => {
    expect(refusalOf(() => enter(make() as ContextFragment))).toMatch(told);
  });
});

describe.each(doors.filter(([door]) => door !== 'copyFragment()'))('%s refuses', (_door, enter) => {
  test.each(codecs)('%s', (_what, make, told) => {
    expect(refusalOf(() => enter(make()))).toMatch(told);
  });
});

test('encodeSerializedValue() refuses the same, at a place in its value', () => {
  for (const [, make] of [...fragments, ...codecs])
    expect(refusalOf(() => encodeSerializedValue({ a: make() } as never))).toMatch(
      /^Fragment "|^Unsupported/,
    );
});

describe('an engine', () => {
  test.each([...fragments, ...unkept])('refuses %s, and is as before', (_what, make, told) => {
    const engine = engineOn().set(hint('kept'), user('kept', { id: 'q1' }));
    const before = engine.state.getState();
    const broken = make() as ContextFragment;
    for (const enter of [
      () => engine.set(hint('one'), user('two'), broken),
      () => engine.mountFragments({}, 1, [hint('one'), broken]),
    ])
      expect(refusalOf(enter)).toMatch(told);
    expect(engine.state.getState()).toBe(before);
    expect(engine.render()).toBe('<hint>kept</hint>');
  });

  test.each([null, undefined, 0, '', Symbol('s')])('refuses %s in place of a fragment', (value) => {
    const engine = engineOn();
    expect(refusalOf(() => engine.set(value as never))).toMatch(/^Not a fragment/);
    expect(refusalOf(() => engine.mountFragments({}, 1, [value as never]))).toMatch(/^Not a fragment/);
  });

  test.each(codecs)('takes %s, and refuses to show it', async (_what, make, told) => {
    const engine = engineOn().set(make());
    expect(refusalOf(() => engine.render())).toMatch(told);
    await expect(engine.resolve()).rejects.toMatchObject({ code: 'invalid-fragment' });
    expect((await engine.inspect()).fragments.context).toHaveLength(1);
    engine.clear();
    expect((await engine.resolve()).systemPrompt).toBe('');
  });

  test('refuses messages that throw', () => {
    const engine = engineOn();
    const before = engine.state.getState();
    const broken = { ...withCodec({ encode: boom, decode: boom }), name: 'user', type: 'message' } as const;
    for (const given of [
      [broken],
      [{ ...user('x'), codec: proxy(boom) as never }],
      [{ ...user('x'), id: { toString: boom } as never }],
      [hint('one'), broken],
    ])
      expect(() => engine.set(...given)).toThrow(expect.objectContaining({ name: 'ContextError' }));
    expect(engine.state.getState()).toBe(before);
    expect(engine.render()).toBe('');
  });
});

const [lazy, circle] = [
  fragment('x', { a: () => boom() }),
  { name: 'x', data: {} as Record<string, unknown> },
];
circle.data.self = circle.data;

const unsized: typeof fragments = [
  ['a function that throws', () => lazy, /^Fragment "x": data\[0\].a could not be loaded: boom/],
  ['a circle', () => circle, /^Fragment "x": data.self is circular/],
  ['no fragment', () => null, /^Not a fragment/],
  ['no message', () => ({ name: 'user', type: 'message', codec: { encode: () => ({}) } }), /: id must be/],
];

describe('estimate() rejects', () => {
  const told = (told: RegExp): object => ({
    code: expect.stringMatching(/^invalid-(?:fragment|messages)$/),
    details: { path: expect.any(String) },
    message: expect.stringMatching(told),
  });

  test.each([...fragments, ...unkept, ...codecs, ...unsized])('%s', async (_what, make, where) => {
    const one = make() as ContextFragment;
    await expect(estimate('', xml, hint('fine'), one)).rejects.toMatchObject(told(where));
    await expect(engineOn().estimate({ fragments: [hint('fine'), one] })).rejects.toMatchObject(told(where));
  });

  test('a prompt that resolve() rejects, of which inspect() tells', async () => {
    const engine = engineOn().set(hint('fine'), lazy);
    const where = told(/^Fragment "x": data\[0\].a could not be loaded: boom/);
    await expect(engine.resolve()).rejects.toMatchObject(where);
    await expect(engine.estimate()).rejects.toMatchObject(where);
    expect((await engine.inspect()).estimate.fragments).toMatchObject([
      { name: 'hint' },
      { problem: expect.stringContaining('boom') },
    ]);
  });

  test('a renderer that can not show one', async () => {
    const renderer = { name: 'own', render: boom };
    await expect(estimate('', renderer, hint('x'))).rejects.toMatchObject(
      told(/^Fragment "hint": it could not be rendered: boom/),
    );
  });

  test.each<[string, unknown, RegExp]>([
    ['that throws', proxy(boom), /^Message: it cannot be read: boom/],
    ['that is none', null, /^Message: it must be a message/],
    ['without parts', { id: 'q1', role: 'user' }, /^Message: parts must be a list/],
  ])('a message %s', async (_what, message, where) => {
    const messages = [message] as never;
    await expect(engineOn().estimate({ messages })).rejects.toMatchObject(told(where));
  });
});

describe('the builders refuse', () => {
  test.each<[string, () => unknown, string]>([
    ['no fields', () => guardrail(undefined as never), 'guardrail(): rule cannot be read'],
    [
      'a field that throws',
      () => policy(unreadable('reason', boom, { rule: 'r' }) as never),
      'policy(): reason cannot be read: boom',
    ],
    ['no entries', () => glossary(null as never), 'glossary(): it cannot be read'],
    ['a user message that throws', () => user(proxy(boom) as never), 'user(): it cannot be read: boom'],
    [
      'an answer that throws',
      () => assistant(proxy(unspeakable) as never),
      'assistant(): it cannot be read: unknown',
    ],
    ['a message that throws', () => message(proxy(boom) as never), 'Message: it cannot be read: boom'],
  ])('%s', (_what, build, told) => {
    const message = expect.stringContaining(told) as string;
    expect(build).toThrow(expect.objectContaining({ name: 'ContextError', message }));
  });

  test('but user() passes over options that are none', () => {
    expect(messageOf(user('x', undefined as never)).parts).toEqual([{ type: 'text', text: 'x' }]);
    expect(messageOf(user('x', null as never, { id: 'q' })).id).toBe('q');
  });
});

test('a registry that throws is named', () => {
  const registry = { zz: { toFragment: boom, fromFragment: boom }, odd: { toFragment: () => proxy(boom) } };
  const read = (type: string, fields: object = {}) =>
    refusalOf(() => toFragment({ type, ...fields }, { registry }));
  expect([
    refusalOf(() => fromFragment(fragment('zz'), { registry })),
    read('zz'),
    read('policy', { rule: 'r', policies: [{ type: 'odd' }] }),
  ]).toEqual([
    'Fragment "zz": registry cannot be read: boom',
    'Serialized fragment "zz": registry cannot be read: boom',
    'Fragment: it cannot be read: boom',
  ]);
});

describe('data from a stranger', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'zz', ''])(
    'type %j is no type',
    (type) => {
      const text = `Unsupported serialized fragment type: ${type}`;
      expect(refusalOf(() => toFragment(JSON.parse(JSON.stringify({ type })) as never))).toBe(text);
      expect(refusalOf(() => toFragment({ type }, { registry: {} }))).toBe(text);
    },
  );

  test.each([null, undefined, 5, 'hint', [], {}, ...[null, 5, true, [], {}].map((type) => ({ type }))])(
    '%j is no serialised fragment',
    (value) => {
      const text = 'A serialized fragment is an object with a string type.';
      expect(refusalOf(() => toFragment(value as never))).toBe(text);
    },
  );

  test('a key __proto__ is a key: nothing is polluted, nothing is lost', () => {
    const text = '{"type":"glossary","entries":{"__proto__":"x","constructor":"y"}}';
    const made = toFragment(JSON.parse(text) as never);
    expect(JSON.stringify(fromFragment(made))).toBe(text);
    expect(xml.render([made])).toContain('<term>__proto__</term>');
    const nested = '{"type":"policy","rule":"r","policies":[{"__proto__":{"polluted":true}}]}';
    expect(JSON.stringify(fromFragment(toFragment(JSON.parse(nested) as never)))).toBe(nested);
    expect('polluted' in {}).toBe(false);
  });

  test('20,000 levels are refused in both directions, as data and as fragments', () => {
    let [data, serialized, nested]: unknown[] = ['x', 'x', hint('x')];
    for (let i = 0; i < 20_000; i++) {
      data = i % 2 ? [data] : { a: data };
      serialized = { type: 'policy', rule: 'r', policies: [serialized] };
      nested = policy({ rule: 'r', policies: [nested as never] });
    }
    const told = /is nested deeper than 128 levels/;
    for (const [, enter] of doors) {
      expect(refusalOf(() => enter({ name: 'x', data: data as never }))).toMatch(told);
      expect(refusalOf(() => enter(nested as ContextFragment))).toMatch(told);
    }
    expect(refusalOf(() => toFragment(serialized as never))).toMatch(told);
    expect(refusalOf(() => engineOn().set(nested as never))).toMatch(told);
  });

  test.each<[string, unknown, RegExp]>([
    [
      'a list of 100,000,000 holes',
      Object.assign([], { length: 1e8 }),
      /is one value too many: 1000000 are allowed/,
    ],
    ['a BigInt', [1n], /policies\[0\] is of type bigint/],
    ['a function', [boom], /policies\[0\] is of type function/],
    ['a map', [new Map()], /policies\[0\] is of type Map/],
  ])('%s is refused in its place', (_what, policies, told) => {
    expect(refusalOf(() => toFragment({ type: 'policy', rule: 'r', policies }))).toMatch(told);
  });

  test('dates, NaN, -0, holes and a long text are what JSON makes of them', () => {
    const long = 'x'.repeat(1_000_000);
    // oxlint-disable-next-line no-sparse-arrays
    const policies = [new Date(0), Number.NaN, -0, , long];
    const made = JSON.stringify(fromFragment(toFragment({ type: 'policy', rule: 'r', policies })));
    expect(made === JSON.stringify({ type: 'policy', rule: 'r', policies })).toBe(true);
  });

  test('a name of 10 KB is kept whole', () => {
    const name = 'n'.repeat(10_240);
    expect(copyFragment({ name, data: 'x' }).name).toBe(name);
    expect(refusalOf(() => fromFragment({ name, data: 'x' }))).toBe(
      `Unsupported fragment name: ${name.slice(0, 199)}…`,
    );
    for (const renderer of renderers)
      expect(renderer.render([{ name, data: 'x' }]).toLowerCase()).toContain(name);
  });
});
