import { describe, expect, test } from 'vitest';
import * as b from '../../src/fragment/builders.ts';
import { isFragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { fromFragment, toFragment, type SerializedFragment } from '../../src/fragment/serialize.ts';
import { refusal } from './refusal.ts';

/**
 * The nineteen, one by one: what stands in the data of each, in which order, whatever the order of the argument; what is
 * left of it when all that may be empty is; how it is written down, and that it comes back.
 */

type Fields = Readonly<Record<string, unknown>>;

type Build = (...args: readonly unknown[]) => ContextFragment;

const inner = b.policy({ rule: 'x' });

/** The fields that each needs, and those that may be empty. */
const table: [name: keyof typeof b, needed: Fields, optional?: Fields][] = [
  ['term', { name: 'n', definition: 'd' }],
  ['hint', { text: 't' }],
  ['guardrail', { rule: 'r' }, { reason: 'w', action: 'a' }],
  ['explain', { concept: 'c', explanation: 'e' }, { therefore: 't' }],
  ['example', { question: 'q', answer: 'a' }, { note: 'n' }],
  ['clarification', { when: 'w', ask: 'a', reason: 'r' }],
  ['workflow', { task: 't', steps: ['s', 'u'] }, { triggers: ['x'], notes: 'n' }],
  ['quirk', { issue: 'i', workaround: 'w' }],
  ['styleGuide', { prefer: 'p' }, { never: 'n', always: 'a' }],
  ['analogy', { concepts: ['a', 'b'], relationship: 'r' }, { insight: 'i', therefore: 't', pitfall: 'p' }],
  ['glossary', { entries: { z: 'last', a: 'first' } }],
  ['role', { content: 'c' }],
  ['principle', { title: 't', description: 'd' }, { policies: ['p', inner] }],
  ['policy', { rule: 'r' }, { before: 'b', reason: 'w', policies: [inner] }],
  ['identity', {}, { name: 'n', role: 'r' }],
  ['persona', { name: 'n' }, { role: 'r', objective: 'o', tone: 't' }],
  ['alias', { term: 't', meaning: 'm' }],
  ['preference', { aspect: 'a', value: 'v' }],
  ['correction', { subject: 's', clarification: 'c' }],
];

/** These are given their fields one by one. */
const apart = ['term', 'hint', 'glossary', 'role', 'alias', 'preference', 'correction'];

function build(name: keyof typeof b, fields: Fields): ContextFragment {
  const make = new Map<string, unknown>(Object.entries(b)).get(name) as Build;
  const turned = Object.fromEntries(Object.entries(fields).toReversed());
  return apart.includes(name) ? make(...Object.values(fields)) : make(turned);
}

/** The data that these fields make: of a hint and a role their text, of a glossary a list. */
function dataOf(fields: Fields): unknown {
  if (fields.entries)
    return Object.entries(fields.entries).map(([term, expression]) => ({ term, expression }));
  return fields.text ?? fields.content ?? fields;
}

function emptied(fields: Fields): Fields {
  const empty = (value: unknown): unknown =>
    Array.isArray(value) ? [] : typeof value === 'object' ? {} : '';
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, empty(value)]));
}

/** What a field must not hold: a number, neither in its place nor in a list or record of texts. */
function mistyped(field: string, value: unknown): unknown[] {
  if (typeof value === 'string' || field === 'policies') return [5];
  return [5, Array.isArray(value) ? ['t', 5] : { t: 5 }];
}

/** As JSON, where the order of fields counts. */
const json = (value: unknown): string => JSON.stringify(value);

test('the table has them all', () => {
  expect(table.map(([name]) => name).toSorted()).toEqual(Object.keys(b).toSorted());
});

describe.each(table)('%s()', (name, needed, optional = {}) => {
  const fields: Fields = { ...needed, ...optional };
  const full = build(name, fields);
  const written = JSON.parse(json({ type: name, ...fields }), (_, value) =>
    value?.codec ? { type: 'policy', rule: 'x' } : value,
  ) as SerializedFragment;

  test('is a fragment: name, data, codec, in this order', () => {
    expect(Object.keys(full)).toEqual(['name', 'data', 'codec']);
    expect(full.name).toBe(name);
    expect(isFragment(full)).toBe(true);
  });

  test('has its fields in order', () => expect(json(full.data)).toBe(json(dataOf(fields))));

  test('leaves out what is optional and empty, and only that, and comes back so from its JSON', () => {
    const bare = build(name, emptied(fields));
    expect(json(bare.data)).toBe(json(dataOf(emptied(needed))));
    expect(json(toFragment(fromFragment(bare)))).toBe(json(bare));
  });

  test('has a codec that decodes to its data and encodes to its JSON: its type and fields', () => {
    expect(full.codec?.decode()).toBe(full.data);
    expect(full.codec?.encode()).toEqual(written);
    expect(fromFragment(full)).toEqual(written);
  });

  test('is refused with the name of a field that is missing or mistyped', () => {
    for (const [field, value] of Object.entries(fields))
      for (const wrong of mistyped(field, value))
        expect(() => toFragment({ ...written, [field]: wrong })).toThrow(
          refusal(`Serialized fragment "${name}": "${field}" must be `),
        );
    for (const first of Object.keys(needed).slice(0, 1))
      expect(() => toFragment({ type: name })).toThrow(refusal(`"${first}" must be`));
  });
});

test('null, undefined and false are as empty as an empty text', () => {
  for (const nothing of [null, undefined, false, 0] as never[]) {
    expect(b.guardrail({ rule: 'r', reason: nothing, action: nothing }).data).toEqual({ rule: 'r' });
    expect(b.workflow({ task: 't', steps: [], triggers: nothing }).data).toEqual({ task: 't', steps: [] });
    expect(b.policy({ rule: 'r', policies: nothing }).data).toEqual({ rule: 'r' });
  }
});

test('fields that a form does not have are left out', () => {
  const fields = { issue: 'i', workaround: 'w' };
  expect(b.quirk({ ...fields, secret: 's' } as never).data).toEqual(fields);
});
