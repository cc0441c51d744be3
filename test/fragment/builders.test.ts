import { describe, expect, test } from 'vitest';
import * as b from '../../src/fragment/builders.ts';
import { isFragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { fromFragment, toFragment } from '../../src/fragment/serialize.ts';

/**
 * The nineteen, one by one: what stands in the data of each, in which order, whatever the order of the argument; and
 * what is left of it when all that may be empty is.
 */

const nested = (): ContextFragment => b.policy({ rule: 'r' });
const rule = { name: 'policy', data: { rule: 'r' }, codec: {} };

const table: [name: string, full: ContextFragment, data: unknown, bare: ContextFragment, left: unknown][] = [
  ['term', b.term('n', 'd'), { name: 'n', definition: 'd' }, b.term('', ''), { name: '', definition: '' }],
  ['hint', b.hint('t'), 't', b.hint(''), ''],
  [
    'guardrail',
    b.guardrail({ action: 'a', reason: 'w', rule: 'r' }),
    { rule: 'r', reason: 'w', action: 'a' },
    b.guardrail({ rule: '', reason: '', action: '' }),
    { rule: '' },
  ],
  [
    'explain',
    b.explain({ therefore: 't', explanation: 'e', concept: 'c' }),
    { concept: 'c', explanation: 'e', therefore: 't' },
    b.explain({ concept: '', explanation: '', therefore: '' }),
    { concept: '', explanation: '' },
  ],
  [
    'example',
    b.example({ note: 'n', answer: 'a', question: 'q' }),
    { question: 'q', answer: 'a', note: 'n' },
    b.example({ question: '', answer: '', note: '' }),
    { question: '', answer: '' },
  ],
  [
    'clarification',
    b.clarification({ reason: 'r', ask: 'a', when: 'w' }),
    { when: 'w', ask: 'a', reason: 'r' },
    b.clarification({ when: '', ask: '', reason: '' }),
    { when: '', ask: '', reason: '' },
  ],
  [
    'workflow',
    b.workflow({ notes: 'n', triggers: ['x'], steps: ['s', 'u'], task: 't' }),
    { task: 't', steps: ['s', 'u'], triggers: ['x'], notes: 'n' },
    b.workflow({ task: '', steps: [], triggers: [], notes: '' }),
    { task: '', steps: [] },
  ],
  [
    'quirk',
    b.quirk({ workaround: 'w', issue: 'i' }),
    { issue: 'i', workaround: 'w' },
    b.quirk({ issue: '', workaround: '' }),
    { issue: '', workaround: '' },
  ],
  [
    'styleGuide',
    b.styleGuide({ always: 'a', never: 'n', prefer: 'p' }),
    { prefer: 'p', never: 'n', always: 'a' },
    b.styleGuide({ prefer: '', never: '', always: '' }),
    { prefer: '' },
  ],
  [
    'analogy',
    b.analogy({ pitfall: 'p', therefore: 't', insight: 'i', relationship: 'r', concepts: ['a', 'b'] }),
    { concepts: ['a', 'b'], relationship: 'r', insight: 'i', therefore: 't', pitfall: 'p' },
    b.analogy({ concepts: [], relationship: '', insight: '', therefore: '', pitfall: '' }),
    { concepts: [], relationship: '' },
  ],
  [
    'glossary',
    b.glossary({ z: 'last', a: 'first' }),
    [
      { term: 'z', expression: 'last' },
      { term: 'a', expression: 'first' },
    ],
    b.glossary({}),
    [],
  ],
  ['role', b.role('c'), 'c', b.role(''), ''],
  [
    'principle',
    b.principle({ policies: ['p', nested()], description: 'd', title: 't' }),
    { title: 't', description: 'd', policies: ['p', rule] },
    b.principle({ title: '', description: '', policies: [] }),
    { title: '', description: '' },
  ],
  [
    'policy',
    b.policy({ policies: [nested()], reason: 'w', before: 'b', rule: 'r' }),
    { rule: 'r', before: 'b', reason: 'w', policies: [rule] },
    b.policy({ rule: '', before: '', reason: '', policies: [] }),
    { rule: '' },
  ],
  [
    'identity',
    b.identity({ role: 'r', name: 'n' }),
    { name: 'n', role: 'r' },
    b.identity({ name: '', role: '' }),
    {},
  ],
  [
    'persona',
    b.persona({ tone: 't', objective: 'o', role: 'r', name: 'n' }),
    { name: 'n', role: 'r', objective: 'o', tone: 't' },
    b.persona({ name: '', role: '', objective: '', tone: '' }),
    { name: '' },
  ],
  ['alias', b.alias('t', 'm'), { term: 't', meaning: 'm' }, b.alias('', ''), { term: '', meaning: '' }],
  [
    'preference',
    b.preference('a', 'v'),
    { aspect: 'a', value: 'v' },
    b.preference('', ''),
    { aspect: '', value: '' },
  ],
  [
    'correction',
    b.correction('s', 'c'),
    { subject: 's', clarification: 'c' },
    b.correction('', ''),
    { subject: '', clarification: '' },
  ],
];

test('the table has them all', () => {
  expect(table.map(([name]) => name).toSorted()).toEqual(Object.keys(b).toSorted());
});

describe.each(table)('%s()', (name, full, data, bare, left) => {
  test('is a fragment: name, data, codec, in this order', () => {
    expect(Object.keys(full)).toEqual(['name', 'data', 'codec']);
    expect(full.name).toBe(name);
    expect(isFragment(full)).toBe(true);
  });

  test('has its fields in order', () => expect(JSON.stringify(full.data)).toBe(JSON.stringify(data)));

  test('leaves out what is optional and empty, and only that', () =>
    expect(JSON.stringify(bare.data)).toBe(JSON.stringify(left)));

  test('bare, too, comes back from its JSON', () => {
    expect(JSON.stringify(toFragment(fromFragment(bare)))).toBe(JSON.stringify(bare));
  });

  test('has a codec that decodes to its data and encodes to its JSON', () => {
    expect(full.codec?.decode()).toBe(full.data);
    expect(full.codec?.encode()).toEqual(fromFragment(full));
  });
});

test('null, undefined and false are as empty as an empty text', () => {
  for (const nothing of [null, undefined, false, 0] as never[]) {
    expect(b.guardrail({ rule: 'r', reason: nothing, action: nothing }).data).toEqual({ rule: 'r' });
    expect(b.workflow({ task: 't', steps: ['s'], triggers: nothing }).data).toEqual({
      task: 't',
      steps: ['s'],
    });
    expect(b.policy({ rule: 'r', policies: nothing }).data).toEqual({ rule: 'r' });
  }
});

test('fields that a form does not have are left out', () => {
  expect(b.quirk({ issue: 'i', workaround: 'w', secret: 's' } as never).data).toEqual({
    issue: 'i',
    workaround: 'w',
  });
});
