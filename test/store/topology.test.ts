import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../../src/graph/graph.ts';
import {
  type Block,
  blockFrom,
  decodeTopology,
  encodeTopology,
  type Sealed,
} from '../../src/store/indexeddb/pack.ts';
import { BLOCK, type Topology } from '../../src/store/layout.ts';

const uuid = (i: number): string => `${i.toString(16).padStart(8, '0')}-aaaa-4bbb-8ccc-0123456789ab`;

/** A message behind the one before it, of which a test says something else. */
function sealed(i: number, id: (i: number) => string, other: Partial<NodeInfo> & object = {}): Sealed {
  const info: NodeInfo = {
    id: id(i),
    chatId: 'c',
    parentId: i === 0 ? null : id(i - 1),
    name: i % 2 === 0 ? 'user' : 'assistant',
    type: 'message',
    createdAt: 1_700_000_000_000,
    status: 'complete',
    seq: i,
    depth: i + 1,
    rev: 1,
    deviceId: '62ea1f42d4354b65b302100ce89554d9',
    v: 1,
    bodyHash: (i * 7919).toString(36).padStart(6, 'A'),
    preview: `What a list shows of the message with the number ${i} ...`,
    parts: 1,
    ...other,
  };
  return { info, changed: 100 + i };
}

function block(many: number, of: (i: number) => Sealed): Block {
  const sealed = Array.from({ length: many }, (_, i) => of(i));
  return blockFrom({ chatId: 'c', block: 0 }, sealed.toReversed());
}

const short = (i: number): string => `m${i}`;
const decoded = (record: Topology): Block | undefined => decodeTopology(structuredClone(record));

describe('the topology of a block', () => {
  const texts: Readonly<Record<string, (i: number) => string>> = {
    'that are long': (i) => `fifty characters and then the dots that say so, ${i}...`,
    'of which some are long': (i) => (i % 3 === 0 ? `short ${i}` : `longer than what is joined ${i}`),
    'that are short': (i) => `short ${i}`,
    'as long as may be joined': (i) => `twelve ${String(i).padStart(5, '0')}`,
    'longer by one': (i) => `thirteen ${String(i).padStart(4, '0')}`,
    'of one length': (i) => `text ${String(i).padStart(3, '0')}`,
    'of which one is empty': (i) => (i === 0 ? '' : `${i}`),
    'with wide characters': (i) => `${i} — 会話${'😀'.repeat(i % 4)}`,
    'with all that is escaped': (i) => `"${i}"\\ \n\t\u0000\ud83d`,
    'with what stands between texts': (i) => (i === 7 ? 'a \u007f b' : `plain ${i}`),
    'of which one is no text': (i) => (i === 9 ? (9 as unknown as string) : `plain ${i}`),
  };

  it.each(Object.entries(texts))('reads as it was written, with texts %s', (_, text) => {
    for (const id of [short, uuid, (i: number) => `${text(i)} ${i}`])
      for (const many of [BLOCK, 5, 1]) {
        const written = block(many, (i) => sealed(i, id, { preview: text(i) }));
        expect(decoded(encodeTopology(written))).toEqual(written);
      }
  });

  it('reads as it was written, whatever the numbers of its changes are', () => {
    for (const change of [(i: number) => i + 1, (i: number) => (i < 9 ? 3 * i + 7 : i + 20), () => 5]) {
      const written = block(BLOCK, (i) => ({ ...sealed(i, short), changed: change(i) }));
      expect(decoded(encodeTopology(written))).toEqual(written);
    }
  });

  it('keeps a field that nobody knows, of whatever kind', () => {
    const more = (i: number): object => ({
      later: [i],
      told: `said ${i}`,
      seldom: i === 3 ? 'this' : undefined,
    });
    const written = block(BLOCK, (i) => sealed(i, short, more(i)));
    expect(decoded(encodeTopology(written))).toEqual(written);
  });

  it('takes few characters beside ids and previews', () => {
    const { text } = encodeTopology(block(BLOCK, (i) => sealed(i, short)));
    const told = Array.from({ length: BLOCK }, (_, i) => sealed(i, short).info);
    const own = told.reduce((sum, { id, preview }) => sum + id.length + preview.length, 0);
    // One behind each id, three around a preview, six for the sum of the words.
    expect(text.length - own).toBeLessThan(BLOCK * 10 + 450);
  });

  it('of an earlier version reads as it was written', () => {
    const written = block(BLOCK, (i) => sealed(i, short));
    const record = encodeTopology(written);
    const { texts: joined, steps, each, ...others } = JSON.parse(record.text) as Record<string, object>;
    expect(Object.keys(joined ?? {})).toEqual(['bodyHash']);
    expect(steps).toEqual([100]);
    const text = JSON.stringify({
      ...others,
      ids: written.infos.map(({ id }) => id),
      each: {
        ...each,
        preview: written.infos.map(({ preview }) => preview),
        bodyHash: written.infos.map(({ bodyHash }) => bodyHash),
      },
      steps: [100, ...Array.from({ length: BLOCK - 1 }, () => 1)],
    });
    expect(decoded({ ...record, v: 4, text })?.infos).toEqual(written.infos);
  });
});

describe('a text of ids on a damaged disk', () => {
  const record = encodeTopology(block(BLOCK, (i) => sealed(i, short)));
  const even = encodeTopology(
    block(BLOCK, (i) => sealed(i, (one) => `even-${String(one).padStart(3, '0')}`)),
  );

  // An id in another one's place would give it another one's words.
  it.each([
    ['one end less', record, '\u007fm9', 'xm9'],
    ['one end more', record, 'm10', 'm\u007f0'],
    ['a character less', even, 'even-', 'eve-'],
    ['an end where none belongs', even, 'even-', 'eve\u007f-'],
  ])('is not read with %s', (_, { text, ...others }, what, by) => {
    expect(text).toContain(what);
    expect(decoded({ ...others, text: text.replace(what, by) })).toBeUndefined();
  });

  it('is read with another letter, and said to be damaged', () => {
    const found = decoded({ ...record, text: record.text.replace('m10', 'm1x') });
    expect(found?.damage).toHaveLength(1);
    expect(found?.infos.map(({ id }) => id).slice(9, 12)).toEqual(['m9', 'm1x', 'm11']);
  });
});
