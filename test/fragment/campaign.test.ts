import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import * as builders from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment, type FragmentData } from '../../src/fragment/fragment.ts';
import { lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { encodeSerializedValue, fromFragment, toFragment } from '../../src/fragment/serialize.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { campaign, patience } from '../support/campaign.ts';
import { engineOn } from '../support/engine.ts';
import { renderers, xml } from '../support/renderers.ts';
import { same, withoutStacks } from '../support/same.ts';

/**
 * Random fragments: each comes back unchanged, or is refused with a ContextError that names the place. The arbitraries draw from small tables, so that 20,000 cases cost seconds.
 */

const drawn = { depthSize: 'small', withCrossShrink: true } as const;
const texts = ['', 'x', '__proto__', 'toString', '</hint><role>', '\n## Role', '"', '\ud800', '😀', 'a\\'];
const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);
const key = fc.constantFrom(
  'a',
  'b',
  'name',
  'data',
  'type',
  'record',
  '__proto__',
  'constructor',
  'codec',
  '',
);
const list = fc.array(text, { maxLength: 3 });
const optional = fc.option(text, { nil: undefined });
/**
 * V8 takes other escaped keys for a key of one backslash once JSON.parse has met such a one:
 * https://github.com/nodejs/node/issues/63785
 */
const term = fc.oneof(key, text).filter((one) => one !== '\\');

/** What a builder makes of its fields; an optional one may be there as undefined. */
function from(
  build: (input: never) => ContextFragment,
  fields: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<ContextFragment> {
  return fc.record(fields).map((input) => build(input as never));
}

/** A fragment of any of the nineteen kinds; those that hold others hold any of them, in lists and records. */
const { any } = fc.letrec<{ any: ContextFragment; data: FragmentData }>((tie) => {
  const policies = fc.option(fc.array(tie('data'), { maxLength: 3 }), { nil: undefined });
  const b = builders;
  return {
    data: fc.oneof(
      drawn,
      text,
      fc.constantFrom<FragmentData[]>(0, -1.5, true, null, 'hint', 'user', 'contextree:record'),
      tie('any'),
      fc.array(tie('data'), { maxLength: 2 }),
      fc.dictionary(key, tie('data'), { maxKeys: 2, noNullPrototype: true }),
    ),
    any: fc.oneof(
      drawn,
      text.map(b.hint),
      text.map(b.role),
      fc.tuple(text, text).map(([x, y]) => b.term(x, y)),
      fc.tuple(text, text).map(([x, y]) => b.alias(x, y)),
      fc.tuple(text, text).map(([x, y]) => b.preference(x, y)),
      fc.tuple(text, text).map(([x, y]) => b.correction(x, y)),
      fc.dictionary(term, text, { maxKeys: 3, noNullPrototype: true }).map(b.glossary),
      from(b.guardrail, { rule: text, reason: optional, action: optional }),
      from(b.explain, { concept: text, explanation: text, therefore: optional }),
      from(b.example, { question: text, answer: text, note: optional }),
      from(b.clarification, { when: text, ask: text, reason: text }),
      from(b.workflow, { task: text, steps: list, triggers: list, notes: optional }),
      from(b.quirk, { issue: text, workaround: text }),
      from(b.styleGuide, { prefer: text, never: optional, always: optional }),
      from(b.analogy, { concepts: list, relationship: text, insight: optional, pitfall: optional }),
      from(b.identity, { name: optional, role: optional }),
      from(b.persona, { name: text, role: optional, objective: optional, tone: optional }),
      from(b.principle, { title: text, description: text, policies }),
      from(b.policy, { rule: text, before: optional, reason: optional, policies }),
    ),
  };
});

test('a fragment comes back from its JSON: its data, its rendering, its JSON', { timeout: patience }, () => {
  fc.assert(
    fc.property(any, (made) => {
      const written = JSON.stringify(fromFragment(made));
      const again = toFragment(JSON.parse(written));
      same(JSON.stringify(again), JSON.stringify(made));
      same(xml.render([again]), xml.render([made]));
      same(JSON.stringify(fromFragment(again)), written);
      same(JSON.stringify(encodeSerializedValue([{ a: made }])), `[{"a":${written}}]`);
    }),
    campaign(3_000),
  );
});

/** What a call gives, or why it was refused. Any other error is a fault. */
function outcomeOf<T>(call: () => T): { readonly value?: T; readonly refused?: string } {
  try {
    return { value: withoutStacks(call) };
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown): { readonly refused: string } {
  if (!isContextError(error)) throw new Error('thrown, but not by us', { cause: error });
  if (!/^invalid-(?:fragment|messages)$/.test(error.code)) throw error;
  if (!/\b(?:path|field|type|name|fragment)\b/.test(Object.keys(error.details).join(' ')))
    throw new Error('does not say where', { cause: error });
  return { refused: error.message };
}

const types = [...Object.keys(builders), 'user', 'message', 'zz', 'toString', '__proto__'];
const fields = 'type name text rule reason task steps entries content title policies concepts'.split(' ');
const field = fc.oneof(fc.constantFrom(...fields), key);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    drawn,
    text,
    fc.constantFrom<unknown[]>(0, true, null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(field, fc.oneof(fc.constantFrom(...types), tie('json')), { maxKeys: 4 }),
  ),
}));
/** One that was right, until somebody wrote over it. */
const nearly = fc
  .tuple(any, fc.option(fc.tuple(field, json)))
  .map(([one, change]): unknown => ({ ...fromFragment(one), ...(change && { [change[0]]: change[1] }) }));

test('any JSON is a fragment, or is refused by type, field or path', { timeout: patience }, () => {
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(json, nearly), (flat) => {
      const { value } = outcomeOf(() => toFragment(flat as never));
      if (!value) return;
      read += 1;
      const written = fromFragment(value);
      same(fromFragment(toFragment(written)), written);
      same(typeof xml.render([value]), 'string');
    }),
    campaign(3_000),
  );
  expect(read).toBeGreaterThan(1000);
});

const boom = (): never => {
  throw new Error('boom');
};
const unspeakable = (): never => {
  throw Object.assign(new Error('x'), { message: { toString: boom } });
};
const traps = (trap: () => never): object =>
  new Proxy(
    {},
    { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap },
  );
const ring: unknown[] = [];
ring.push({ ring });

// oxlint-disable-next-line unicorn/no-thenable -- what to do with such a value is the question here
const THEN = 'then';
/** A promise of its own making. */
const later = (how: PropertyDescriptor): object => Object.defineProperty({}, THEN, how);

/** Makes a value anew for each case, where fast-check does not touch it. */
type Make = () => unknown;

/** Values that a fragment must refuse. */
const bombs: readonly Make[] = [
  () => traps(boom),
  () => traps(unspeakable),
  () => ring,
  () => Symbol('s'),
  () => 1n,
  () => Number.NaN,
  () => new Map([['a', 1]]),
  () => new Uint8Array(2),
  () => Object.assign([], { length: 3 }),
  () => Object.create(null),
  () => new Date(Number.NaN),
  () => new Error('x'),
  () => ({ toJSON: boom }),
  () => ({ toJSON: unspeakable }),
  () => Object.defineProperty({}, 'a', { get: unspeakable, enumerable: true }),
  () => boom,
  () => unspeakable,
  () => () => traps(boom),
  () => async () => unspeakable(),
  () => later({ get: boom }),
  () => later({ value: boom }),
  () => ({ [Symbol.iterator]: unspeakable }),
  () => ({ [Symbol.asyncIterator]: boom }),
  () => new Set([1, ring]),
  () => () => new Set(['ok', () => 'ok']),
];
const codecs: readonly Make[] = [
  null,
  5,
  {},
  traps(boom),
  { encode: boom, decode: boom },
  { encode: unspeakable, decode: unspeakable },
  { encode: () => ring, decode: () => ring },
  { encode: () => ({ type: 'hint', text: 'x' }), decode: () => () => 'x' },
  { encode: () => null, decode: () => null },
].map((codec) => () => codec);

const plain = (values: fc.Arbitrary<unknown>): fc.Arbitrary<Make> => values.map((value) => () => value);
const oneOf = (...makes: readonly Make[]): fc.Arbitrary<Make> => fc.constantFrom(...makes);
const thenMade = <T>(values: fc.Arbitrary<T>, make: (value: T) => unknown): fc.Arbitrary<Make> =>
  values.map((value) => () => make(value));
const all = (makes: Record<string, Make>): unknown =>
  Object.fromEntries(Object.entries(makes).map(([name, make]) => [name, make()]));

const { hostile } = fc.letrec<{ hostile: Make; data: Make; odd: Make; nested: Make }>((tie) => ({
  hostile: fc.oneof(tie('odd'), tie('nested')),
  data: fc.oneof(
    drawn,
    plain(text),
    oneOf(...bombs),
    thenMade(fc.array(tie('data'), { maxLength: 3 }), (makes) => makes.map((make) => make())),
    thenMade(fc.dictionary(key, tie('data'), { maxKeys: 3 }), all),
    tie('odd'),
    tie('nested'),
  ),
  nested: fc.oneof(
    drawn,
    plain(any),
    thenMade(fc.tuple(text, tie('data')), ([name, make]) => fragment(name, make() as FragmentData)),
    thenMade(tie('data'), (make) => builders.policy({ rule: 'r', policies: make() as never })),
    oneOf(() => lastAssistantMessage('x')),
    thenMade(tie('data'), (make) => user('x', { id: 'q', metadata: make() })),
  ),
  odd: fc.oneof(
    drawn,
    oneOf(...[null, undefined, 'x', traps(boom), traps(unspeakable)].map((value) => () => value)),
    thenMade(
      fc.record(
        {
          name: fc.oneof(plain(text), oneOf(...[null, Symbol('s')].map((name) => () => name))),
          data: tie('data'),
          id: fc.oneof(plain(text), oneOf(...[null, 5, Symbol('s'), traps(boom)].map((id) => () => id))),
          type: plain(fc.constantFrom('fragment', 'message', 5)),
          codec: oneOf(...codecs),
        },
        { requiredKeys: ['name'], noNullPrototype: true },
      ),
      all,
    ),
  ),
}));

const shows = [...renderers, new XmlRenderer({ groupFragments: true })];

test('no fragment breaks an engine: it is taken, or nothing has changed', { timeout: patience }, async () => {
  const engine = engineOn();
  await engine.ready();
  let shown = 0;
  await fc.assert(
    fc.asyncProperty(hostile, async (make) => {
      const before = engine.state.getState();
      const given = outcomeOf(() => make() as ContextFragment);
      if (given.refused !== undefined) return;
      const one = given.value as ContextFragment;
      outcomeOf(() => fromFragment(one));
      const isRefused = outcomeOf(() => engine.set(one)).refused !== undefined;
      same(!isRefused || engine.state.getState() === before, true);
      if (isRefused) return;
      for (const renderer of shows) outcomeOf(() => engine.render(renderer));
      const resolved = await engine.resolve().catch(refusal);
      if (!('refused' in resolved)) shown += 1;
      for (const { id } of engine.state.getState().pending) engine.unset(id ?? one);
      engine.unset(one).clear();
      same(await engine.resolve(), { systemPrompt: '', messages: [] });
    }),
    campaign(3_000),
  );
  expect(shown).toBeGreaterThan(1000);
});
